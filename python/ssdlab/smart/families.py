"""The table of families: the meaning of each attribute by its number, the name that smartctl gives it, and the
model."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ssdlab.foreign import JsonObject


@dataclass(frozen=True)
class Counter:
    """An attribute that counts writes, and the bytes that one count represents."""

    id: int
    name: str
    unit_bytes: int = 1
    assumed: str | None = None
    """The part of its meaning that is not published, or None if all of it is."""


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
    needs_model: bool
    host: tuple[Counter, ...]
    """In order of preference; the first that a drive has is used."""
    nand: tuple[tuple[Counter, ...], ...]
    """Alternative sums of counters of NAND writes; the first whose counters are all present is used. Empty: not
    available."""
    pages: Pages | None
    life_left: tuple[Counter, ...]
    """Attributes whose normalized value falls from 100 to 0 with wear."""
    reduces_data: bool
    nand_not_counted: str | None
    """The reason why a counter with a matching name does not count NAND writes, or None."""
    source: str

    def has(self, model_family: str | None, model: str) -> bool:
        """Whether a drive belongs to the family, by smartctl's name of the family or else by its model."""
        is_model = bool(self.model and self.model.match(model))
        if self.needs_model or not model_family:
            return is_model
        return bool(self.model_family and self.model_family.fullmatch(model_family))


@cache
def families() -> tuple[Family, ...]:
    """All known families, in order of precedence."""
    text = files("ssdlab.smart").joinpath("families.toml").read_text(encoding="utf-8")
    return tuple(_family(entry) for entry in tomllib.loads(text)["family"])


@cache
def family_of(model_family: str | None, model: str) -> Family | None:
    """The first matching family, by smartctl's name or else by the model; None if no family matches."""
    return next((family for family in families() if family.has(model_family, model)), None)


def _family(entry: JsonObject) -> Family:
    pages = entry.get("pages")
    return Family(
        name=entry["name"],
        model_family=_pattern(entry.get("model_family")),
        model=_pattern(entry.get("model")),
        needs_model=entry.get("needs_model", False),
        host=tuple(Counter(**counter) for counter in entry["host"]),
        nand=tuple(tuple(Counter(**counter) for counter in way) for way in entry.get("nand", ())),
        pages=pages and Pages(Counter(**pages["host"]), tuple(Counter(**counter) for counter in pages["background"])),
        life_left=tuple(Counter(**counter) for counter in entry.get("life_left", ())),
        reduces_data=entry.get("reduces_data", False),
        nand_not_counted=entry.get("nand_not_counted"),
        source=entry["source"],
    )


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return re.compile(text) if text else None
