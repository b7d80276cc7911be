"""What stands behind the name of a drive: measurements, a data sheet, or its geometry alone; in one line for reports.

The counts are those of the study `data-sheets`, stored in `standing.json` by `tools/standing.py`, so that no report
simulates them again. A test finds counts that are no longer those of the catalogue.
"""

import hashlib
import json
from dataclasses import asdict
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, TypedDict

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_count, format_share
from ssdlab.simulator.drives.loader import load, names
from ssdlab.simulator.drives.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ssdlab.simulator.drives.schema import DriveFile
    from ssdlab.simulator.engine import plain

NEAR, TOLERANCE = 0.10, 0.15
"""A row within the first is counted as near; one beyond the second belies the name of the drive."""
FROM_MEMORY = "from memory, not looked up"
"""The source of a row that nobody looked up."""
FILE = "standing.json"
_GENERIC = "a generic drive: it stands for no product"
_OWN = "a drive file of your own: its sources say what it was compared with"
_SPEEDS = "speeds are not those of the product"
_GEOMETRY = f"only its geometry is known; {_SPEEDS}"
_UNLINKED = "its file names no host link, so that no rate is limited by an interface"


class RowJson(TypedDict):
    """A row of a data sheet and its simulated value, in `unit`."""

    row: str
    unit: str
    rated: float
    simulated: float
    from_memory: bool


class StandingJson(TypedDict):
    """What is stored of a drive."""

    sha256: str
    """Of the drive and its data sheet, as they were simulated."""
    fitted_to: int
    """Figures of the study `real-drives` that a value of the drive was fitted to."""
    compared_with: int
    """All figures of that study."""
    rows: list[RowJson]


class FileJson(TypedDict):
    """The content of `standing.json`."""

    version: str
    date: str
    drives: dict[str, StandingJson]


@cache
def stored() -> FileJson:
    """The stored counts, by drive of the catalogue."""
    text = (resources.files("ssdlab.simulator.drives") / FILE).read_text(encoding="utf-8")
    found: FileJson = json.loads(text)
    return found


def fingerprint(file: "DriveFile") -> str:
    """SHA-256 of everything that the counts of a drive depend on, except for the engine."""
    whole = {"drive": file.specification, "rows": [asdict(row) for row in file.data_sheet]}
    return hashlib.sha256(json.dumps(whole, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def behind(drive: "plain.Drive", scale: str | Fraction = "1") -> str:
    """What stands behind the name of a drive scaled by `scale`, and that no host link limits it where that is so."""
    link = drive["host_link"]
    unlinked = f"; {_UNLINKED}" if link["interface"] == "none" and link["mb_s"] is None else ""
    return _evidence(drive, Fraction(scale)) + unlinked


def _evidence(drive: "plain.Drive", scale: Fraction) -> str:
    name = drive["name"]
    if name not in names():
        return _OWN
    if not _is_product_named(name):
        return _no_product(name)
    if drive != _of_catalogue(name, scale):
        speeds = f"; {_SPEEDS}" if _SPEEDS in of_name(name) else ""
        return f"changed from {name}: what is known of that drive does not hold for this one{speeds}"
    return of_name(name)


def with_settings(file: "DriveFile", settings: "Mapping[str, str]") -> str:
    """What stands behind the name of a drive with `settings` applied, before any scaling."""
    return behind(resolve(file, settings=settings).specification())


def of_name(name: str) -> str:
    """What stands behind a drive of the catalogue, unchanged."""
    if not _is_product_named(name):
        return _no_product(name)
    whole = stored()
    known = whole["drives"].get(name)
    if known is None or not (known["rows"] or known["compared_with"]):
        return _GEOMETRY
    fitted = sum(bool(row.fitted) for row in load(name).data_sheet)
    of_rows = "all of its rows" if fitted == len(known["rows"]) else f"{fitted} of the rows"
    said = f"; values were fitted to {of_rows}" if fitted else ""
    return f"{sentence(known)}{said} (ssdlab {whole['version']}, {whole['date']})"


def _no_product(name: str) -> str:
    maker = load(name).identity.maker
    return f"a drive of {maker} whose model is not named; {_SPEEDS}" if maker else _GENERIC


def is_product(file: "DriveFile") -> bool:
    """Whether the drive bears the name of a product."""
    return file.identity.model is not None


@cache
def _is_product_named(name: str) -> bool:
    return is_product(load(name))


@cache
def _of_catalogue(name: str, scale: Fraction) -> "plain.Drive | None":
    """The drive of that name at that scale; None if it cannot be that small."""
    try:
        return resolve(load(name), scale=scale).specification()
    except InputError:
        return None


def sentence(known: StandingJson) -> str:
    """The line of what is stored, without its date."""
    parts = []
    if known["fitted_to"]:
        parts.append(f"fitted to measurements ({format_count(known['fitted_to'])} rows)")
    elif known["compared_with"]:
        parts.append(f"compared with measurements ({format_count(known['compared_with'])} rows), not fitted to them")
    if known["rows"]:
        parts.append(_of_sheet(known["rows"], has_measurements=bool(parts)))
    return "; ".join(parts)


def _of_sheet(rows: list[RowJson], *, has_measurements: bool) -> str:
    off = [abs(row["simulated"] / row["rated"] - 1) for row in rows]
    near = f"{sum(each <= NEAR for each in off)} of {len(rows)} rows within {format_share(NEAR)}"
    beyond = sum(each > TOLERANCE for each in off)
    worst = rows[off.index(max(off))]
    figures = f"{worst['row']}: {_value(worst['simulated'])} instead of {_value(worst['rated'])} {worst['unit']}"
    remembered = sum(row["from_memory"] for row in rows)
    sheet = f"its data sheet{f', {FROM_MEMORY},' if remembered == len(rows) else ''}"
    if not beyond:
        within = "" if max(off) <= NEAR else f" within {format_share(TOLERANCE)}"
        said = f"keeps {sheet}{within} ({near})".replace(", (", " (")
    elif has_measurements:
        said = f"of {sheet} {near}, {beyond} off by more than {format_share(TOLERANCE)} ({figures})"
    else:
        said = f"{_SPEEDS}: of {sheet} {near}, {beyond} off by more than {format_share(TOLERANCE)} ({figures})"
    return f"{said}; {remembered} of the rows {FROM_MEMORY}" if 0 < remembered < len(rows) else said


def _value(value: float) -> str:
    return format_count(round(value)) if value >= 100 else f"{value:.1f}"
