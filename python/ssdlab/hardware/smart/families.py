"""The table of families: the meaning of each attribute by its number, the name that smartctl gives it, and the
model."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from ssdlab.foundation.foreign import JsonObject

Kind = Literal["level left", "level used", "raw left", "raw used"]
"""Whether the normalized value (`level`) or the raw value is the percentage, and of what."""

_OEM_MODEL = re.compile(r"[EMVL][KORTX](\d{4}|\d{6})[A-Z]{5}")
"""HPE's names of drives of several manufacturers, whom the worldwide name (WWN) tells apart."""


@dataclass(frozen=True)
class Identity:
    """What a report says of whose drive it is."""

    model_family: str | None
    """smartctl's name of the family; None if its database does not know the drive."""
    model: str
    firmware: str = ""
    oui: int | None = None
    """The manufacturer's number in the worldwide name."""


@dataclass(frozen=True)
class Counter:
    """An attribute that counts writes, and the bytes that one count represents."""

    id: int
    name: str
    unit_bytes: int = 1
    assumed: str | None = None
    """The part of its meaning that is not published, or None if all of it is."""


@dataclass(frozen=True)
class LifeCounter:
    """An attribute that says how much of the rated life, or of the spare blocks, is used or left."""

    id: int
    name: str
    kind: Kind = "level left"


@dataclass(frozen=True)
class Pages:
    """NAND pages programmed for the host and in the background. WAF is their sum divided by the host's."""

    host: Counter
    background: tuple[Counter, ...]
    """Alternative names of the same counter."""


@dataclass(frozen=True)
class Family:
    """Drives whose attributes have the same meaning."""

    name: str
    model_family: re.Pattern[str] | None
    model: re.Pattern[str] | None
    """Pattern for drives that smartctl does not know, or for all drives if `needs_model` is set."""
    firmware: re.Pattern[str] | None
    """Pattern for drives that smartctl does not know and whose model says nothing."""
    oui: int | None
    """The manufacturer of drives with names of HPE."""
    needs_model: bool
    host: tuple[Counter, ...]
    """In order of preference; the first that a drive has is used."""
    nand: tuple[tuple[Counter, ...], ...]
    """Alternative sums of counters of NAND writes; the first whose counters are all present is used. Empty: not
    available."""
    pages: Pages | None
    life_left: tuple[LifeCounter, ...]
    spare: tuple[LifeCounter, ...]
    """Attributes whose normalized value is the share of spare blocks left."""
    reduces_data: bool
    nand_not_counted: str | None
    """The reason why a counter with a matching name does not count NAND writes, or None."""
    source: str

    def taken_from(self, identity: Identity) -> str | None:
        """What makes a drive one of the family, in words; None if it is none."""
        is_model = bool(self.model and self.model.match(identity.model))
        if self.needs_model or identity.model_family:
            named = self.model_family and identity.model_family and self.model_family.fullmatch(identity.model_family)
            is_member = is_model if self.needs_model else named
            return "smartctl's database" if is_member and identity.model_family else "its model" if is_member else None
        if is_model:
            return "its model"
        if self.firmware and self.firmware.fullmatch(identity.firmware):
            return f"its firmware {identity.firmware}"
        if self.oui and self.oui == identity.oui and _OEM_MODEL.fullmatch(identity.model):
            return f"the manufacturer in its WWN, {identity.oui:06x}"
        return None

    @property
    def counters(self) -> tuple[Counter | LifeCounter, ...]:
        """All attributes with a meaning."""
        pages = (self.pages.host, *self.pages.background) if self.pages else ()
        return (*self.host, *(each for way in self.nand for each in way), *pages, *self.life_left, *self.spare)


@cache
def families() -> tuple[Family, ...]:
    """All known families, in order of precedence."""
    text = files("ssdlab.hardware.smart").joinpath("families.toml").read_text(encoding="utf-8")
    return tuple(_family(entry) for entry in tomllib.loads(text)["family"])


@cache
def family_of(identity: Identity) -> tuple[Family, str] | None:
    """The first matching family and what it is taken from; None if no family matches."""
    found = ((family, family.taken_from(identity)) for family in families())
    return next(((family, source) for family, source in found if source), None)


def family_by_names(named: Iterable[tuple[int, str]]) -> tuple[Family, str] | None:
    """The first family with one of these attributes, by number and name, for a table that does not say whose it is.
    The names must not be smartctl's default ones."""
    present = set(named)
    return next(
        (
            (family, "the names of its attributes")
            for family in families()
            if not family.needs_model and present & {(counter.id, counter.name) for counter in family.counters}
        ),
        None,
    )


def _family(entry: JsonObject) -> Family:
    pages = entry.get("pages")
    return Family(
        name=entry["name"],
        model_family=_pattern(entry.get("model_family")),
        model=_pattern(entry.get("model")),
        firmware=_pattern(entry.get("firmware")),
        oui=entry.get("oui"),
        needs_model=entry.get("needs_model", False),
        host=tuple(Counter(**counter) for counter in entry["host"]),
        nand=tuple(tuple(Counter(**counter) for counter in way) for way in entry.get("nand", ())),
        pages=pages and Pages(Counter(**pages["host"]), tuple(Counter(**counter) for counter in pages["background"])),
        life_left=tuple(LifeCounter(**counter) for counter in entry.get("life_left", ())),
        spare=tuple(LifeCounter(**counter) for counter in entry.get("spare", ())),
        reduces_data=entry.get("reduces_data", False),
        nand_not_counted=entry.get("nand_not_counted"),
        source=entry["source"],
    )


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return re.compile(text) if text else None
