"""Fitting keys of a drive file to measured points by simulation; the fitted file says what it was fitted to.

A point is a line of a CSV file: `workload` (a job file, by its path from the CSV), `space_in_use` (how much of the
drive the job works on: `100GiB`, or empty), `metric` and `value`. The job file says `${SPACE}` where that size belongs.
"""

import csv
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ssdlab.advice.fit import Fit, Model, Parameter
from ssdlab.drives import DriveFile, Source, resolve
from ssdlab.drives import settings as drive_settings
from ssdlab.drives.schema import keys
from ssdlab.errors import InputError, RunFailed, near
from ssdlab.quantities import parse_bytes
from ssdlab.results.speed import speed
from ssdlab.runs import run_many
from ssdlab.workloads import jobs
from ssdlab.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.results import Result
    from ssdlab.results.speed import DirectionSpeed
    from ssdlab.runs import Progress
    from ssdlab.specification import Specification

COLUMNS = ("workload", "space_in_use", "metric", "value")
_EXPECTED = f"expected is a CSV file with the columns {', '.join(COLUMNS)}"
_BYTES_PER_MIB = 1 << 20


def _write_mib_s(result: "Result") -> float:
    return _speed(result, "write").mb_s * 1e6 / _BYTES_PER_MIB


def _read_mib_s(result: "Result") -> float:
    return _speed(result, "read").mb_s * 1e6 / _BYTES_PER_MIB


def _write_iops(result: "Result") -> float:
    return _speed(result, "write").iops


def _read_iops(result: "Result") -> float:
    return _speed(result, "read").iops


def _waf(result: "Result") -> float:
    return _measured(result.settled_waf)


def _seconds(result: "Result") -> float:
    last = result.specification.jobs[-1]["stage"]
    of_stage = [job.seconds for job in result.jobs if job.stage == last]
    return max(_measured(seconds) for seconds in of_stage) / float(Fraction(result.specification.scale))


METRICS: Mapping[str, Callable[["Result"], float]] = {
    "write_mib_s": _write_mib_s,
    "read_mib_s": _read_mib_s,
    "write_iops": _write_iops,
    "read_iops": _read_iops,
    "waf": _waf,
    "seconds": _seconds,
}
"""What a point may measure: of the steady state where the job looks for one, else of the job's last stage."""


@dataclass(frozen=True)
class Point:
    """A measured point; `where` is its file and line, for messages and sources."""

    workload: Path
    space_in_use: str
    metric: str
    value: float
    where: str


@dataclass(frozen=True)
class Runs:
    """How points are simulated."""

    scale: Fraction | None = None
    seed: int = 1
    workers: int | None = None
    steady: bool = True
    """Until the steady state; otherwise until the job is done."""
    on_progress: "Progress | None" = None


def read_points(path: Path) -> list[Point]:
    """The points of a CSV file. InputError names the file, the line, the column, its value and what is allowed."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot read the points: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not text (byte {error.start} is not UTF-8); {_EXPECTED}") from None
    if "\0" in text:
        raise InputError(f"{path}: is not text (byte {text.index(chr(0))} is 0); {_EXPECTED}")
    lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    reader = csv.DictReader(line for _, line in lines)
    try:
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or [])]
        if missing:
            raise InputError(f"{path}: the header lacks {', '.join(missing)} (columns: {', '.join(COLUMNS)})")
        points = [_point(path, at, row) for (at, _), row in zip(lines[1:], reader, strict=True)]
    except (csv.Error, ValueError) as error:
        # A quotation mark that is not closed joins lines.
        raise InputError(f"{path}: is not a table with one point per line ({error}); {_EXPECTED}") from None
    if not points:
        raise InputError(f"{path}: no points below the header")
    return points


def _point(path: Path, line: int, row: Mapping[str, str | None]) -> Point:
    where = f"{path}:{line}"
    cell = {column: (row.get(column) or "").strip() for column in COLUMNS}
    if cell["metric"] not in METRICS:
        hint = near(cell["metric"], METRICS)
        raise InputError(f"{where}: metric {cell['metric']!r} is unknown{hint} (known: {', '.join(METRICS)})")
    try:
        value = float(cell["value"])
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise InputError(f"{where}: value {cell['value']!r} should be a number above 0")
    if cell["space_in_use"]:
        try:
            parse_bytes(cell["space_in_use"])
        except InputError as error:
            raise InputError(f"{where}: space_in_use: {error}") from None
    workload = path.parent / cell["workload"]
    if not workload.is_file():
        raise InputError(f"{where}: workload {cell['workload']!r}: no such job file in the folder of {path.name}")
    return Point(workload, cell["space_in_use"], cell["metric"], value, where)


def parameter(text: str, drive: DriveFile) -> Parameter:
    """`nand.read_us=20..200` as a parameter that begins at the drive's own value. InputError says what is wrong."""
    key, equals, bounds = text.partition("=")
    low_text, dots, high_text = bounds.partition("..")
    if not equals or not dots:
        raise InputError(f"--free {text}: write table.key=low..high, such as --free nand.read_us=20..200")
    known = [key for key in keys() if "." in key]
    if key not in known:
        raise InputError(f"--free {text}: unknown key {key!r}{near(key, known)}")
    try:
        low, high = (_number(part) for part in (low_text, high_text))
    except (ValueError, InputError):
        raise InputError(f"--free {text}: the bounds should be numbers, or sizes such as 10GB") from None
    if not 0 < low < high:
        raise InputError(f"--free {text}: the bounds should be above 0, the lower one first")
    table, _, name = key.partition(".")
    own = getattr(getattr(drive, table), name)
    if isinstance(own, bool) or not isinstance(own, int | float):
        raise InputError(f"--free {text}: {key} is not a number in this drive file")
    return Parameter(key, low, high, own if low <= own <= high else None)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float(parse_bytes(text))


def changed(drive: DriveFile, names: Sequence[str], values: Sequence[float]) -> DriveFile:
    """The drive with these keys at these values, rounded where the key is a whole number."""
    return drive_settings.apply(
        drive, {name: _text(drive, name, value) for name, value in zip(names, values, strict=True)}
    )


def _text(drive: DriveFile, key: str, value: float) -> str:
    table, _, name = key.partition(".")
    if not isinstance(getattr(getattr(drive, table), name), int):
        return repr(float(value))
    if name.endswith("_bytes") and value >= drive.ftl.mapping_unit_bytes:
        return str(round(value / drive.ftl.mapping_unit_bytes) * drive.ftl.mapping_unit_bytes)
    return str(round(value))


def simulated_model(drive: DriveFile, names: Sequence[str], points: Sequence[Point], runs: Runs) -> Model:
    """The figures of all points at given values of the keys, each by a run of the engine."""

    def model(values: Sequence[float]) -> list[float]:
        return simulate(changed(drive, names, values), points, runs)

    return model


def simulate(drive: DriveFile, points: Sequence[Point], runs: Runs) -> list[float]:
    """The figures of all points on this drive. Points of one workload and space share a run."""
    resolved = resolve(drive, scale=runs.scale)
    specifications: dict[tuple[Path, str], Specification] = {}
    for point in points:
        key = (point.workload, point.space_in_use)
        if key not in specifications:
            job = jobs.load(point.workload, environment={"SPACE": str(_size(point))})
            specifications[key] = specify(job, resolved, seed=runs.seed, until="steady" if runs.steady else "job")
    results: dict[tuple[Path, str], Result] = {}
    keys = list(specifications)
    with closing(run_many(list(specifications.values()), runs.workers, runs.on_progress)) as running:
        for index, result in running:
            if result.failure:
                raise RunFailed(f"{keys[index][0].name}, {keys[index][1]}: {result.failure}")
            results[keys[index]] = result
    return [METRICS[point.metric](results[point.workload, point.space_in_use]) for point in points]


def _size(point: Point) -> int | str:
    return parse_bytes(point.space_in_use) if point.space_in_use else ""


def fitted_drive(drive: DriveFile, parameters: Sequence[Parameter], found: Fit, points: Sequence[Point]) -> DriveFile:
    """The drive with the found values, each of kind `fitted` with the points as its source."""
    names = [each.name for each in parameters]
    values = "; ".join(
        f"{point.workload.name}{f' at {point.space_in_use}' if point.space_in_use else ''}: "
        f"{point.metric} {point.value:g}"
        for point in points
    )
    sources = {
        name: Source(kind="fitted", source=f"ssdlab fit, {len(names)} free, {len(points)} points: {values}")
        for name in names
    }
    result = changed(drive, names, found.values)
    return result.with_sources(sources)


def _speed(result: "Result", direction: Literal["read", "write"]) -> "DirectionSpeed":
    found = speed(result)
    if found is None:
        raise RunFailed(
            "a point ended before the first interval of the series: its speed is unknown; use a larger scale"
        )
    return found.read if direction == "read" else found.write


def _measured(value: float | None) -> float:
    if value is None:
        raise RunFailed("a point has no such figure: its workload has no such requests")
    return value
