"""A data sheet in one line, as shops and boxes print it: `960 GB, 550/520 MB/s, 98k/28k IOPS, PLP`.

Parts are separated by commas; a comma between a digit and three digits separates thousands. Two values with a slash
between are read and write. What a line cannot say (block sizes, depths, sources row by row) belongs into `[datasheet]`
of a drive file.
"""

import re
from dataclasses import dataclass

from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import parse_bytes
from ssdlab.simulator.drives.data_sheet import STATES, State

EXAMPLE = "960 GB, 550/520 MB/s, 98k/28k IOPS, PLP"
SOURCE = "one line of a data sheet, given on the command line"
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6}
_SEPARATOR = re.compile(r"(?<!\d),|,(?!\d{3}(?!\d))")
"""A comma between parts, which end in letters."""
_PART = re.compile(
    # What is rated is the most that the drive does, whether the line says so or not.
    r"(?:up to\s+)?"
    # A k or M is a factor unless it begins the unit, as in MB/s.
    r"(?P<values>[\d.]+(?:\s*[km](?=[\s/]|iops))?(?:\s*/\s*[\d.]+(?:\s*[km](?=\s|iops))?)?)"
    r"\s*(?P<unit>[a-zµμ][a-zµμ/]*)(?:\s+(?P<state>[a-z]+))?",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<factor>[km]?)", re.IGNORECASE)
_SPEEDS = {
    "mb/s": ("sequential read", "sequential write", "MB/s", 1.0),
    "gb/s": ("sequential read", "sequential write", "MB/s", 1000.0),
    "iops": ("random read", "random write", "IOPS", 1.0),
    "us": ("random read latency", "random write latency", "us", 1.0),
    "µs": ("random read latency", "random write latency", "us", 1.0),
    "μs": ("random read latency", "random write latency", "us", 1.0),
}
"""For each unit: the quantities of the value before the slash and of the one behind it, their unit, and its factor."""
_RATINGS = {"tbw": ("endurance", "TB"), "dwpd": ("endurance", "DWPD")}
_PROTECTION = {"plp": True, "no plp": False}
_CAPACITIES = ("gb", "tb", "gib", "tib")
_ALLOWED = (
    "a capacity (960 GB); READ/WRITE or one value in MB/s, GB/s, IOPS or us; TBW or DWPD; PLP or no PLP (power-loss"
    f" protection); behind a speed of writes also {', '.join(STATES)}"
)


@dataclass(frozen=True)
class Line:
    """What a line says: rows in the form of `[datasheet]`, and the capacity on the label, if it has one."""

    rows: list[JsonObject]
    sold_bytes: int | None = None


def parse(text: str, *, steady: bool) -> Line:
    """Reads a line. `steady`: speeds without a state are of a filled drive, IOPS of writes of the steady state, as
    data-centre drives are rated; otherwise of a new drive, as client drives are.

    Raises InputError with the part that cannot be read and what is allowed.
    """
    rows: list[JsonObject] = []
    sold_bytes: int | None = None
    for part in (each.strip() for each in _SEPARATOR.split(text)):
        if part.casefold() in _PROTECTION:
            found = [{"quantity": "power-loss protection", "value": _PROTECTION[part.casefold()]}]
        elif part.casefold().endswith(_CAPACITIES):
            if sold_bytes is not None:
                raise _refused(part, text, "a second capacity")
            sold_bytes = _size(part, text)
            found = []
        else:
            found = _rows(part, text, steady=steady)
        for row in found:
            if any(row["quantity"] == other["quantity"] for other in rows):
                raise _refused(part, text, f"{row['quantity']} is given twice")
        rows += found
    if not any("IOPS" in row.get("unit", "") or row.get("unit") in ("MB/s", "us") for row in rows):
        raise InputError(f"data sheet {text!r}: no speed is given; write, for example, {EXAMPLE!r}")
    return Line(rows, sold_bytes)


def _rows(part: str, text: str, *, steady: bool) -> list[JsonObject]:
    match = _PART.fullmatch(part.replace(",", ""))
    if match is None:
        raise _refused(part, text, "cannot be read")
    unit, state = match["unit"].casefold(), match["state"]
    said = [each.strip() for each in match["values"].split("/")]
    values = [_value(each, part, text) for each in said]
    if said[0][-1].isdigit() and not said[-1][-1].isdigit() and values[0] < 1000:
        raise _refused(part, text, f"{said[0]!r} has no {said[-1][-1]} as {said[-1]!r} has: write it behind both")
    if unit in _RATINGS and len(values) == 1 and state is None:
        quantity, rated_unit = _RATINGS[unit]
        return [{"quantity": quantity, "value": values[0], "unit": rated_unit}]
    if unit not in _SPEEDS:
        raise _refused(part, text, f"unit {match['unit']!r} is unknown")
    if state is not None and state.casefold() not in STATES:
        raise _refused(part, text, f"{state!r} is no state of a drive")
    *quantities, rated_unit, factor = _SPEEDS[unit]
    rows: list[JsonObject] = []
    for quantity, value in zip(quantities, values, strict=False):
        row: JsonObject = {"quantity": quantity, "value": _plain(value * float(factor)), "unit": rated_unit}
        usual: State = "steady" if rated_unit == "IOPS" and "write" in str(quantity) else "filled"
        row["state"] = usual if steady or rated_unit == "us" else "fresh"
        if "write" in str(quantity) and state:
            row["state"] = state.casefold()
        rows.append(row)
    return rows


def _value(text: str, part: str, line: str) -> float:
    match = _VALUE.fullmatch(text)
    value = float(match["number"]) * _FACTORS[match["factor"].casefold()] if match else 0.0
    if value <= 0:
        raise _refused(part, line, f"{text!r} is no number above 0")
    return value


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _size(part: str, text: str) -> int:
    try:
        return parse_bytes(part)
    except InputError as error:
        raise _refused(part, text, str(error)) from None


def _refused(part: str, text: str, why: str) -> InputError:
    return InputError(f"data sheet {text!r}: {part!r}: {why}; allowed, with commas between: {_ALLOWED}")
