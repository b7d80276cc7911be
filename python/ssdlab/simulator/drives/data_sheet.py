"""The table `[datasheet]` of a drive file: what the maker says of the product.

A record of facts: the engine never sees it. The study `data-sheets` simulates its rows; `standing.py` says how near the
drive of the catalogue comes to them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from ssdlab.errors import InputError, near
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_bytes_binary, parse_bytes

KEY = "datasheet"
State = Literal["fresh", "filled", "steady"]
"""fresh: nothing was written before; filled: written once in sequence; steady: random writes until garbage collection
settled."""
STATES: tuple[State, ...] = get_args(State)
UNITS = {
    "sequential read": ("MB/s",),
    "sequential write": ("MB/s",),
    "random read": ("IOPS",),
    "random write": ("IOPS",),
    "random 70/30": ("IOPS",),
    "random read latency": ("us",),
    "random write latency": ("us",),
    "sequential read latency": ("us",),
    "sequential write latency": ("us",),
    "power-loss protection": ("",),
    "endurance": ("TB", "DWPD"),
    "idle power": ("W",),
    "read power": ("W",),
    "write power": ("W",),
}
"""The allowed units of each quantity."""
SPEEDS = tuple(quantity for quantity, units in UNITS.items() if units[0] in ("MB/s", "IOPS", "us"))
"""The quantities that a simulated drive has."""
_PROTECTION = "power-loss protection"
_TABLE_KEYS = ("source", "rows")
_ROW_KEYS = ("quantity", "value", "unit", "block", "depth", "state", "source", "fitted")


@dataclass(frozen=True)
class Rated:
    """One row: a quantity, as the maker states it."""

    quantity: str
    value: float | bool
    unit: str
    source: str
    """The document, its revision, and where it is."""
    block_bytes: int | None = None
    """None if the source does not say, as `depth`."""
    depth: int | None = None
    """Requests outstanding at a time, of all jobs together."""
    state: State = "filled"
    fitted: tuple[str, ...] = ()
    """The keys of the drive file that were chosen with this value in view."""

    @property
    def condition(self) -> str:
        """The condition that the source gives, in words; the state only for what depends on it."""
        said = [format_bytes_binary(self.block_bytes)] if self.block_bytes else []
        said += [f"depth {self.depth}"] if self.depth else []
        is_usual = "read" in self.quantity and self.state == "filled"
        return ", ".join([*said, *([self.state] if self.quantity in SPEEDS and not is_usual else [])])


def rows_of(content: Mapping[str, Any]) -> tuple[Rated, ...]:
    """The rows of a drive file's content, which has been checked; empty without `[datasheet]`."""
    table = content.get(KEY)
    if table is None:
        return ()
    return tuple(_row(row, table.get("source", "")) for row in table.get("rows", []))


def check(content: Mapping[str, Any], where: str) -> None:
    """Raises InputError with all errors of the table, one per line, each after `where`."""
    table = content.get(KEY)
    if table is None:
        return
    if wrong := _problems(table):
        raise InputError("\n".join(f"{where}: {KEY}{each}" for each in wrong))


def without(content: Mapping[str, Any]) -> JsonObject:
    """The content without the table, as the engine takes it."""
    return {key: value for key, value in content.items() if key != KEY}


def _row(row: Mapping[str, Any], source: str) -> Rated:
    block = row.get("block")
    return Rated(
        quantity=row["quantity"],
        value=row["value"],
        unit=row.get("unit", ""),
        source=row.get("source", source),
        block_bytes=parse_bytes(block) if isinstance(block, str) else block,
        depth=row.get("depth"),
        state=cast(State, row.get("state", "filled")),
        fitted=tuple(row.get("fitted", ())),
    )


def _problems(table: object) -> list[str]:
    """The errors of the table, each with the key that follows `datasheet`."""
    if not isinstance(table, Mapping):
        return [f" = {table!r} should be a table with {' and '.join(_TABLE_KEYS)}"]
    wrong = [
        f".{key}: unknown key{near(key, _TABLE_KEYS)} (known: {', '.join(_TABLE_KEYS)})"
        for key in table
        if key not in _TABLE_KEYS
    ]
    source, rows = table.get("source"), table.get("rows")
    if source is not None and not (isinstance(source, str) and source):
        wrong.append(f".source = {source!r} should be a text: the document, its revision, and where it is")
    if not isinstance(rows, list) or not rows:
        return [*wrong, f".rows = {rows!r} should be a list of rows, such as {_EXAMPLE}"]
    for number, row in enumerate(rows, start=1):
        wrong += [f".rows, row {number}: {each}" for each in _problems_of_row(row, has_source=bool(source))]
    return wrong


_EXAMPLE = '{ quantity = "random write", value = 28000, unit = "IOPS", state = "steady" }'


def _problems_of_row(row: object, *, has_source: bool) -> list[str]:
    if not isinstance(row, Mapping):
        return [f"{row!r} should be a row, such as {_EXAMPLE}"]
    wrong = [
        f"unknown key {key!r}{near(key, _ROW_KEYS)} (known: {', '.join(_ROW_KEYS)})"
        for key in row
        if key not in _ROW_KEYS
    ]
    quantity, value, unit = row.get("quantity"), row.get("value"), row.get("unit", "")
    if quantity not in UNITS:
        wrong.append(f"quantity = {quantity!r} is unknown{near(str(quantity), UNITS)} (known: {', '.join(UNITS)})")
    else:
        if unit not in UNITS[quantity]:
            wrong.append(f"unit = {unit!r} should be {' or '.join(map(repr, UNITS[quantity]))} for {quantity!r}")
        if (quantity == _PROTECTION) != isinstance(value, bool):
            wrong.append(f"value = {value!r} should be {'true or false' if quantity == _PROTECTION else 'a number'}")
        elif not isinstance(value, int | float) or (quantity != _PROTECTION and not 0 < value < float("inf")):
            wrong.append(f"value = {value!r} should be a number above 0")
    if row.get("state", STATES[0]) not in STATES:
        wrong.append(f"state = {row['state']!r} should be one of {', '.join(STATES)}")
    if not _is_count(row.get("depth", 1)):
        wrong.append(f"depth = {row['depth']!r} should be a number of requests, 1 or more")
    if (problem := _block_problem(row.get("block", 1))) is not None:
        wrong.append(problem)
    own_source, fitted = row.get("source", "inherited" if has_source else None), row.get("fitted", [])
    if not (isinstance(own_source, str) and own_source):
        wrong.append("no source: give the row one, or the table one for all of its rows")
    if not isinstance(fitted, list) or not all(isinstance(key, str) for key in fitted):
        wrong.append(f'fitted = {fitted!r} should be a list of keys, such as ["nand.program_us"]')
    return wrong


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _block_problem(block: object) -> str | None:
    if isinstance(block, str):
        try:
            block = parse_bytes(block)
        except InputError as error:
            return f"block: {error}"
    return None if _is_count(block) else f'block = {block!r} should be a size, such as "4 KiB"'
