"""One fit of a drive to its data sheet: closed forms (`starting.py`), then a few rounds of simulations.

Each free value belongs to one row, so that a fit has as many parameters as rows it is fitted to: the agreement of those
rows is no evidence for the model. Rows without a value of their own are predictions. A round simulates the rows of all
free values and moves each by the secant of its row in logarithms; the rounds are few and counted, so that a fit ends.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ssdlab.errors import InputError
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Row
from ssdlab.experiments.studies.data_sheets import comparison, simulating, starting
from ssdlab.experiments.studies.data_sheets.starting import EFFECTIVE_OP, Free, Start
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_count, parse_bytes
from ssdlab.simulator.drives import DriveFile, Source, data_sheet, data_sheet_line, loader
from ssdlab.simulator.drives.data_sheet import KEY, Rated
from ssdlab.simulator.drives.schema import changed, drive_of, mean_us
from ssdlab.simulator.runs import ShowProgress, run_all, silent

if TYPE_CHECKING:
    import polars as pl

    from ssdlab.experiments.studies.contract import RowJson
    from ssdlab.simulator.results import Result

ROUNDS_MAX = 6
NEAR = 0.01
"""A row that is nearer than this is not moved any more; steady rates are known to about 2 %."""
_ELASTICITY = (0.25, 4.0)
"""Secants outside of this are noise, or a value that does not act: the step is bounded."""
_STEP_MAX = math.log(2)


Kind = Literal["fitted", "given", "chosen"]


class ValueJson(TypedDict):
    """A value that the fit set. `kind` is fitted, given (the row is the value) or chosen, so that rows are possible."""

    key: str
    value: object
    kind: Kind
    why: str


class SheetFitJson(TypedDict):
    """The result as JSON."""

    drive: str
    parameters: int
    rows_fitted_to: int
    simulations: int
    at_bound: list[str]
    values: list[ValueJson]
    rows: "list[RowJson]"


@dataclass(frozen=True)
class SheetFit:
    """A drive fitted to its data sheet."""

    drive: DriveFile
    """With `[datasheet]` whose rows name the keys that were fitted to them, and a source for each value."""
    parameters: int
    """Free values, and as many rows that they were fitted to."""
    fitted: Mapping[str, str]
    """The fitted keys, and the row of each."""
    given: Mapping[str, str]
    chosen: Mapping[str, str]
    at_bound: Mapping[str, str]
    """Fitted keys that ended at a bound, with whose bound it is: no value within the bounds meets the row."""
    simulations: int
    rows: Sequence[Row]
    """Every row that can be simulated, rated and simulated."""

    @property
    def finding(self) -> str:
        """How many rows are met, in a sentence."""
        return comparison.finding(self.rows)

    def frame(self) -> "pl.DataFrame":
        """A frame with a line for each row: row, unit, rated, simulated, deviation (a share), fitted."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "row": row.what,
                    "unit": row.unit,
                    "rated": row.published,
                    "simulated": row.simulated,
                    "deviation": row.deviation,
                    "fitted": row.fitted is not None,
                }
                for row in self.rows
            ]
        )

    def values(self) -> list[ValueJson]:
        """All values that the fit set, with their reasons."""
        kinds: tuple[tuple[Kind, Mapping[str, str]], ...] = (
            ("fitted", self.fitted),
            ("given", self.given),
            ("chosen", self.chosen),
        )
        return [
            {"key": key, "value": _value_of(self.drive, key), "kind": kind, "why": why}
            for kind, of_kind in kinds
            for key, why in of_kind.items()
            if kind == "fitted" or key not in self.fitted
        ]

    def to_dict(self) -> SheetFitJson:
        return {
            "drive": self.drive.name,
            "parameters": self.parameters,
            "rows_fitted_to": self.parameters,
            "simulations": self.simulations,
            "at_bound": list(self.at_bound),
            "values": self.values(),
            "rows": [row.to_dict() for row in self.rows],
        }


def of_file(path: str, like: str | None = None) -> DriveFile:
    """The drive of a file with `[datasheet]`. A file that names no drive that it is based on and describes no flash is
    completed by `like`, or by the generic drive of its class, with as much flash for each byte as that has.

    Raises InputError, also for a file without `[datasheet]`.
    """
    if not path.endswith(".toml"):
        raise InputError(f"--data-sheet {path}: the name of a drive file ends in .toml; ssdlab drives NAME shows one")
    content = loader.read(Path(path), path)
    rows = data_sheet.rows_of(content)
    if not rows:
        raise InputError(f"{path}: has no [datasheet]; docs/simulate/fitting.md shows how to write one")
    if loader.says_what_it_is(content):
        if like:
            raise InputError(f"--drive {like}: {path} says itself what drive it is: based_on, or [nand]")
        return loader.load(path)
    base = loader.load(like) if like else starting.class_of(rows)
    size = _capacity(content, path)
    return loader.load(path, base=_at_capacity(base, size, path))


def of_line(line: str, like: DriveFile, name: str) -> DriveFile:
    """A drive like another, with what one line of a data sheet says. Raises InputError."""
    read = data_sheet_line.parse(line, steady=like.write_buffer.power_loss_protection)
    base = _at_capacity(like, read.sold_bytes, f"data sheet {line!r}")
    own = {key: value for key, value in base.content.items() if key != "identity"}
    sources = {key: value for key, value in own["sources"].items() if not key.startswith("identity.")}
    description = f"like {like.name}, fitted to a line of a data sheet"
    sheet = {"source": data_sheet_line.SOURCE, "rows": read.rows}
    content = {**own, "sources": sources, "name": name, "description": description, data_sheet.KEY: sheet}
    return drive_of(content, name)


def _at_capacity(drive: DriveFile, size: int | None, where: str) -> DriveFile:
    """The drive with the capacity that a file or line gives, if it gives one."""
    try:
        return starting.of_capacity(drive, size) if size else drive
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _capacity(content: Mapping[str, Any], path: str) -> int | None:
    """The capacity that a file gives, for the host or on the label."""
    for table, key in (("ftl", "user_bytes"), ("market", "sold_bytes")):
        size = content.get(table, {}).get(key)
        try:
            size = parse_bytes(size) if isinstance(size, str) else size
        except InputError as error:
            raise InputError(f"{path}: {table}.{key}: {error}") from None
        if isinstance(size, int) and size > 0:
            return size
    return None


def fit(
    drive: DriveFile, *, seed: int = 1, workers: int | None = None, show_progress: ShowProgress = silent
) -> SheetFit:
    """Fits the drive to the rows of its own `[datasheet]`. Raises InputError if they give nothing to fit."""
    start = starting.start(drive)
    search = _Search(drive.data_sheet, start, seed, workers, show_progress)
    found, values = search.run()
    keys = {key: _label(drive.data_sheet[free.row]) for free in start.free for key in _keys_of(free, found, drive)}
    off = search.deviations(search.results)
    at_bound = {
        key: bound
        for free, value, deviation in zip(start.free, values, off, strict=True)
        for key in _keys_of(free, found, drive)
        if (bound := free.bound_at(value)) is not None and abs(deviation) >= NEAR
    }
    whole = _with_rows(_with_sources(found, keys, start), drive, start)
    context = Context(seed=seed, workers=workers, show_progress=show_progress, known=search.results)
    rows = comparison.compare(context, [whole])
    simulations = search.simulations + len(rows) - len(search.results)
    return SheetFit(whole, len(start.free), keys, start.inputs, start.chosen, at_bound, simulations, rows)


@dataclass
class _Search:
    """The rounds of a fit."""

    rows: Sequence[Rated]
    start: Start
    seed: int
    workers: int | None
    show_progress: ShowProgress
    simulations: int = 0
    results: "list[Result]" = field(default_factory=list)
    """Of the last round that was the best so far."""

    def run(self) -> tuple[DriveFile, list[float]]:
        """The drive of the best round, and its values."""
        free = self.start.free
        values = [each.start for each in free]
        slopes = [each.elasticity for each in free]
        best: tuple[float, DriveFile, list[float]] | None = None
        before: tuple[list[float], list[float]] | None = None
        for _ in range(ROUNDS_MAX):
            drive = self.at(values)
            results = self._simulated(drive)
            off = self.deviations(results)
            squares = sum(each * each for each in off)
            if best is None or squares < best[0]:
                best = squares, drive, values
                self.results = results
            if before is not None:
                slopes = [
                    _secant(slope, now - then, math.log(value / value_then))
                    for slope, now, then, value, value_then in zip(
                        slopes, off, before[0], values, before[1], strict=True
                    )
                ]
            before = off, values
            moved = [
                _moved(each, value, deviation, slope)
                for each, value, deviation, slope in zip(free, values, off, slopes, strict=True)
            ]
            if moved == values:
                break
            values = moved
        assert best is not None, "a fit has a round"
        return best[1], best[2]

    def at(self, values: Sequence[float]) -> DriveFile:
        """The drive with these values. The spare area comes last, since it depends on the number of blocks."""
        content: JsonObject = self.start.content
        for each, value in zip(self.start.free, values, strict=True):
            if each.key != EFFECTIVE_OP:
                content = changed(content, {each.key: _typed(content, each.key, value)}, {})
        drive = drive_of(content, "the fit")
        for each, value in zip(self.start.free, values, strict=True):
            if each.key == EFFECTIVE_OP:
                drive = drive_of(changed(content, starting.at_effective_op(drive, value), {}), "the fit")
        return drive

    def _simulated(self, drive: DriveFile) -> "list[Result]":
        """The result of each free value's row."""
        rows = [self.rows[each.row] for each in self.start.free]
        specifications = [simulating.specify(simulating.resolved(drive, row), row, seed=self.seed) for row in rows]
        self.simulations += len(rows)
        return run_all([_label(row) for row in rows], specifications, self.workers, self.show_progress)

    def deviations(self, results: "Sequence[Result]") -> list[float]:
        """The logarithm of simulated over rated of each free value's row."""
        rows = [self.rows[each.row] for each in self.start.free]
        return [
            math.log(simulating.simulated(result, row) / float(row.value))
            for result, row in zip(results, rows, strict=True)
        ]


def _moved(free: Free, value: float, deviation: float, slope: float) -> float:
    """The next value: where the secant meets the rated figure, within the bounds and a factor of two."""
    if abs(deviation) < NEAR:
        return value
    step = min(max(-deviation / slope, -_STEP_MAX), _STEP_MAX)
    return min(max(value * math.exp(step), free.low), free.high)


def _secant(slope: float, rise: float, run: float) -> float:
    """The elasticity between two rounds, with the sign of the closed form."""
    if abs(run) < 1e-6:
        return slope
    size = min(max(rise / run / math.copysign(1, slope), _ELASTICITY[0]), _ELASTICITY[1])
    return math.copysign(size, slope)


def _typed(content: Mapping[str, object], key: str, value: float) -> object:
    """The value in the form of the key: whole numbers, and times by page of a word line as the drive has them."""
    if key == "controller.commands_per_second_max":
        return round(value)
    table, _, name = key.partition(".")
    tables = content.get(table)
    own = tables.get(name) if isinstance(tables, Mapping) else None
    rounded = float(f"{value:.4g}")
    return [float(f"{each * value / mean_us(own):.4g}") for each in own] if isinstance(own, list) else rounded


def _keys_of(free: Free, found: DriveFile, before: DriveFile) -> list[str]:
    if free.key != EFFECTIVE_OP:
        return [free.key]
    has_more_blocks = not found.ftl.reserved_bytes and found.nand.blocks_per_plane != before.nand.blocks_per_plane
    return ["nand.blocks_per_plane"] if has_more_blocks else ["ftl.reserved_bytes"]


def _with_sources(drive: DriveFile, keys: Mapping[str, str], start: Start) -> DriveFile:
    count = len(start.free)
    sources = {
        key: Source(
            kind="fitted", source=f"ssdlab fit --data-sheet, {count} free, {count} rows: to {row} of the data sheet"
        )
        for key, row in keys.items()
    }
    sources |= {key: Source(kind="datasheet", source=f"{row} in the data sheet") for key, row in start.inputs.items()}
    sources |= {
        key: Source(kind="assumed", source=f"ssdlab fit --data-sheet, chosen for {why}")
        for key, why in start.chosen.items()
        if key not in sources
    }
    return drive.with_sources(sources)


def _with_rows(found: DriveFile, asked: DriveFile, start: Start) -> DriveFile:
    """The drive with the data sheet, each row with the keys that were fitted to it."""
    table = dict(asked.content[KEY])
    rows = [{key: value for key, value in row.items() if key != "fitted"} for row in table["rows"]]
    for free in start.free:
        rows[free.row]["fitted"] = [*rows[free.row].get("fitted", []), *_keys_of(free, found, asked)]
    return drive_of({**found.content, KEY: {**table, "rows": rows}}, asked.name)


def _label(row: Rated) -> str:
    value = float(row.value)
    return f"{row.quantity}, {format_count(int(value)) if value == int(value) else f'{value:g}'} {row.unit}"


def _value_of(drive: DriveFile, key: str) -> object:
    table, _, name = key.partition(".")
    return getattr(getattr(drive, table), name)
