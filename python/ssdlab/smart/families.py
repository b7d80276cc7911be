"""The table of families: which attribute counts what, by the number and the name that smartctl gives it."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Counter:
    """An attribute that counts writes, and what one count stands for."""

    id: int
    name: str
    unit_bytes: int = 1
    assumed: str | None = None
    """What of it is no published fact; None when all is."""


@dataclass(frozen=True)
class Pages:
    """NAND pages programmed for the host and in the background: WAF is their sum over the host's."""

    host: Counter
    background: tuple[Counter, ...]
    """Names that the same counter goes by."""


@dataclass(frozen=True)
class Family:
    """Drives whose attributes mean the same."""

    name: str
    model_family: re.Pattern[str]
    host: tuple[Counter, ...]
    """The first that a drive has counts."""
    nand: tuple[tuple[Counter, ...], ...]
    """Ways of counting NAND writes, each a sum; the first that a drive has in full counts. Empty: not available."""
    pages: Pages | None
    source: str


@cache
def families() -> tuple[Family, ...]:
    """All that are known."""
    text = files("ssdlab.smart").joinpath("families.toml").read_text(encoding="utf-8")
    return tuple(_family(entry) for entry in tomllib.loads(text)["family"])


def family_of(model_family: str | None) -> Family | None:
    """By what smartctl calls the family; None where it knows none, or one that is not in the table."""
    if model_family is None:
        return None
    return next((family for family in families() if family.model_family.fullmatch(model_family)), None)


def _family(entry: dict[str, Any]) -> Family:
    pages = entry.get("pages")
    return Family(
        name=entry["name"],
        model_family=re.compile(entry["model_family"]),
        host=tuple(Counter(**counter) for counter in entry["host"]),
        nand=tuple(tuple(Counter(**counter) for counter in way) for way in entry.get("nand", ())),
        pages=pages and Pages(Counter(**pages["host"]), tuple(Counter(**counter) for counter in pages["background"])),
        source=entry["source"],
    )
