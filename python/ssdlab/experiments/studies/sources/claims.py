"""The file of the claims, `claims.toml`: what each document says, and where the study shows it."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

CLAIMS = Path(__file__).parent / "claims.toml"


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `claims.toml`."""

    kind: Literal["claim", "number", "procedure", "question"]
    says: str
    """What the document says, in our words."""
    command: str
    rows: tuple[str, ...] = ()
    """Patterns of the rows that show it, as in a shell: "GROUP: WHAT"."""
    pictures: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    part: str = ""
    """What of it is shown, if something is missing."""
    in_part: str = ""
    """What is missing, and why."""
    note: str = ""
    """What must be known of it; no verdict follows from it."""
    not_shown: str = ""
    """Why nothing shows it."""
    not_to_be_had: str = ""
    """Why nobody can compare it."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document, and the study that repeats it."""

    study: str
    title: str
    claims: tuple[Claim, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    documents: tuple[Source, ...]


def sources() -> Sequence[Source]:
    """The documents with their claims, in the order of the file."""
    return msgspec.convert(tomllib.loads(CLAIMS.read_text(encoding="utf-8")), _File).documents
