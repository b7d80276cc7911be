"""Fits keys of a drive file to measured points by simulation; the fitted file names the points as its source.

A point is a line of a CSV file: `workload` (a job file, relative to the CSV), `space_in_use` (the part of the drive
that the job uses: `100GiB`, or empty), `metric` and `value`. The job file has `${SPACE}` in place of that size.
Optional columns: `rate` (requests per second, `${RATE}` in the job file), `job` (the job of the last stage whose
requests count; by default all), `drive` (the measured drive, if several are fitted together) and `use` (`predict`: the
drive is not fitted to the point).
"""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from ssdlab.errors import InputError, RunFailed, check_word, near
from ssdlab.experiments.advice.fit import Model, Parameter
from ssdlab.foundation.quantities import parse_bytes
from ssdlab.simulator.drives import DriveFile, resolve
from ssdlab.simulator.drives import settings as drive_settings
from ssdlab.simulator.drives.older_names import current_key
from ssdlab.simulator.drives.schema import keys
from ssdlab.simulator.results.latency import OBSERVATIONS_ABOVE_MIN, Latency, merged
from ssdlab.simulator.results.speed import speed
from ssdlab.simulator.runs import run_many
from ssdlab.simulator.targets.preconditioning import specify_beginning
from ssdlab.simulator.workloads import jobs

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.results.job_result import JobResult
    from ssdlab.simulator.results.speed import DirectionSpeed
    from ssdlab.simulator.specification import Specification
    from ssdlab.simulator.targets.side_by_side import Progress
    from ssdlab.simulator.workloads.specifying import Beginning, Until

    _Key = tuple[str, Path, str, float | None]

COLUMNS = ("workload", "space_in_use", "metric", "value")
OPTIONAL_COLUMNS = ("rate", "job", "drive", "use")
USES = ("fit", "predict")
_EXPECTED = f"expected is a CSV file with the columns {', '.join(COLUMNS)}"
_BYTES_PER_MIB = 1 << 20
Side = Literal["read", "write"]
Metric = Callable[["Result", str], float]
"""The figure of a run, or of one job of its last stage if the name is not empty."""


RANKS: Mapping[str, float] = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99, "p99_999": 99.999}
"""Latency percentiles in percent, by the suffixes of their metrics' names."""


def _write_mib_s(result: "Result", job: str) -> float:
    return _mb_s(result, "write", job) * 1e6 / _BYTES_PER_MIB


def _read_mib_s(result: "Result", job: str) -> float:
    return _mb_s(result, "read", job) * 1e6 / _BYTES_PER_MIB


def _write_iops(result: "Result", job: str) -> float:
    return _iops(result, "write", job)


def _read_iops(result: "Result", job: str) -> float:
    return _iops(result, "read", job)


def _waf(result: "Result", job: str) -> float:
    if not job:
        return _measured(result.settled_waf)
    ledgers = [each.ledger for each in _jobs(result, job)]
    host_bytes = sum(each.host_written_bytes for each in ledgers)
    return _measured(sum(each.programmed_bytes for each in ledgers) / host_bytes if host_bytes else None)


def _seconds(result: "Result", job: str) -> float:
    of_jobs = [each.seconds for each in _jobs(result, job)] if job else [result.last_stage_seconds]
    return max(_measured(seconds) for seconds in of_jobs) / float(Fraction(result.specification.scale))


def _mean_us(side: "Side") -> "Metric":
    return lambda result, job: _measured(_latency(result, side, job).mean_ns) / 1000


def _percentile_us(side: "Side", percent: float) -> "Metric":
    def us(result: "Result", job: str) -> float:
        latency = _latency(result, side, job)
        needed = math.ceil(OBSERVATIONS_ABOVE_MIN / (1 - percent / 100) - 1e-6)
        if latency.count < needed:
            raise RunFailed(
                f"{percent:g} % of {latency.count:,} {side}s: too few for this percentile, {needed:,} are needed; use "
                "a longer job or a larger scale"
            )
        return _measured(latency.percentile_ns(percent)) / 1000

    return us


METRICS: "Mapping[str, Metric]" = {
    "write_mib_s": _write_mib_s,
    "read_mib_s": _read_mib_s,
    "write_iops": _write_iops,
    "read_iops": _read_iops,
    "waf": _waf,
    "seconds": _seconds,
    "read_us_mean": _mean_us("read"),
    "write_us_mean": _mean_us("write"),
    **{f"read_us_{name}": _percentile_us("read", percent) for name, percent in RANKS.items()},
    **{f"write_us_{name}": _percentile_us("write", percent) for name, percent in RANKS.items()},
}
"""The metrics of points: of the steady state if the run searches for it, else of the last stage.

Latencies are in microseconds, from the issue of a request to its completion.
"""


@dataclass(frozen=True)
class Point:
    """A measured point; `where` is its file and line, for messages and sources."""

    workload: Path
    space_in_use: str
    metric: str
    value: float
    where: str
    rate: float | None = None
    """Requests per second; None if the job file does not use it."""
    job: str = ""
    """The job of the last stage whose requests count; "" for all."""
    drive: str = ""
    """The name of the measured drive; "" if there is only one."""
    is_predicted: bool = False
    """Whether the point is predicted by the fitted drive, which is not fitted to it."""

    @property
    def title(self) -> str:
        """The title of the point without its metric: the workload with its inserted values."""
        rate = "" if self.rate is None else f"{self.rate:g}/s"
        of_drive = f"{self.drive}:" if self.drive else ""
        return " ".join(part for part in (of_drive, self.workload.stem, self.space_in_use, rate, self.job) if part)


@dataclass(frozen=True)
class Runs:
    """How points are simulated."""

    scale: Fraction | None = None
    seed: int = 1
    workers: int | None = None
    steady: bool = True
    """Whether runs continue until the steady state; otherwise until the job is done."""
    precondition: "Beginning" = "none"
    """How the drive begins."""
    on_progress: "Progress | None" = None


def read_points(path: Path) -> list[Point]:
    """The points of a CSV file. Raises InputError, which names file, line, column, value and what is allowed."""
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
        allowed = COLUMNS + OPTIONAL_COLUMNS
        for column in reader.fieldnames or []:
            if column not in allowed:
                known = f"(columns: {', '.join(COLUMNS)}; also {', '.join(OPTIONAL_COLUMNS)})"
                raise InputError(f"{path}: column {column!r} is unknown{near(column, allowed)} {known}")
        points = [_point(path, at, row) for (at, _), row in zip(lines[1:], reader, strict=True)]
    except (csv.Error, ValueError) as error:
        # A quotation mark that is not closed joins lines.
        raise InputError(f"{path}: is not a table with one point per line ({error}); {_EXPECTED}") from None
    if not points:
        raise InputError(f"{path}: no points below the header")
    return points


def _point(path: Path, line: int, row: Mapping[str, str | None]) -> Point:
    where = f"{path}:{line}"
    cell = {column: (row.get(column) or "").strip() for column in COLUMNS + OPTIONAL_COLUMNS}
    if cell["metric"] not in METRICS:
        hint = near(cell["metric"], METRICS)
        raise InputError(f"{where}: metric {cell['metric']!r} is unknown{hint} (known: {', '.join(METRICS)})")
    value = _above_0(cell["value"], "value", where)
    rate = _above_0(cell["rate"], "rate", where) if cell["rate"] else None
    if cell["space_in_use"]:
        try:
            parse_bytes(cell["space_in_use"])
        except InputError as error:
            raise InputError(f"{where}: space_in_use: {error}") from None
    workload = path.parent / cell["workload"]
    if not workload.is_file():
        raise InputError(f"{where}: workload {cell['workload']!r}: no such job file in the folder of {path.name}")
    check_word(f"{where}: use", cell["use"] or "fit", USES)
    is_predicted = cell["use"] == "predict"
    return Point(
        workload, cell["space_in_use"], cell["metric"], value, where, rate, cell["job"], cell["drive"], is_predicted
    )


def _above_0(text: str, column: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise InputError(f"{where}: {column} {text!r} should be a number above 0")
    return value


def parameter(text: str, drive: DriveFile) -> Parameter:
    """Parses `nand.read_us=20..200`; the search begins at the drive's own value. Raises InputError."""
    key, equals, bounds = text.partition("=")
    low_text, dots, high_text = bounds.partition("..")
    if not equals or not dots:
        raise InputError(f"--free {text}: write table.key=low..high, such as --free nand.read_us=20..200")
    key = current_key(key, f"--free {text}")
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
    """The drive with these values of the keys, rounded for keys that are whole numbers."""
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
    """The model whose figures come from simulations of all points with given values of the keys."""

    def model(values: Sequence[float]) -> list[float]:
        return simulate(changed(drive, names, values), points, runs)

    return model


def simulate(drive: DriveFile, points: Sequence[Point], runs: Runs) -> list[float]:
    """The figures of all points on this drive. Points with the same workload, space and rate share a run."""
    return simulate_all({drive.name: drive}, points, runs)


def simulate_all(drives: Mapping[str, DriveFile], points: Sequence[Point], runs: Runs) -> list[float]:
    """The figures of all points, each on the drive of its name; points without one are for the only drive."""
    only = next(iter(drives))
    resolved = {name: resolve(drive, scale=runs.scale) for name, drive in drives.items()}
    until: Until = "steady" if runs.steady else "job"
    specifications: dict[_Key, Specification] = {}
    results: dict[_Key, Result] = {}
    with TemporaryDirectory(prefix="ssdlab-") as folder:
        for point in points:
            key = _key(point)
            if key not in specifications:
                filled = {"SPACE": str(_size(point))} | ({} if point.rate is None else {"RATE": str(round(point.rate))})
                job = jobs.load(point.workload, environment=filled)
                drive = resolved[point.drive or only]
                specifications[key] = specify_beginning(
                    job, drive, runs.precondition, Path(folder), seed=runs.seed, until=until, timed=True
                )
        keys = list(specifications)
        with closing(run_many(list(specifications.values()), runs.workers, runs.on_progress)) as running:
            for index, result in running:
                if result.failure:
                    drive_name, workload, space, rate = keys[index]
                    of_rate = "" if rate is None else f", {rate:g} requests a second"
                    raise RunFailed(f"{drive_name or only}, {workload.name} {space}{of_rate}: {result.failure}")
                results[keys[index]] = result
    return [_figure(point, results[_key(point)]) for point in points]


def _key(point: Point) -> "_Key":
    return point.drive, point.workload, point.space_in_use, point.rate


def _figure(point: Point, result: "Result") -> float:
    try:
        return METRICS[point.metric](result, point.job)
    except RunFailed as error:
        raise RunFailed(f"{point.where}: {point.metric}: {error}") from None


def _size(point: Point) -> int | str:
    return parse_bytes(point.space_in_use) if point.space_in_use else ""


def source_of(points: Sequence[Point]) -> str:
    """The text that lists the points as the source of a fitted value."""
    return "; ".join(f"{_place(point)}: {point.metric} {point.value:g}" for point in points)


def _place(point: Point) -> str:
    at = [point.space_in_use, "" if point.rate is None else f"{point.rate:g}/s"]
    given = ", ".join(part for part in at if part)
    of = [point.workload.name, f"at {given}" if given else "", f"job {point.job}" if point.job else ""]
    on = f"on {point.drive}" if point.drive else ""
    return " ".join(part for part in (*of, on) if part)


def _mb_s(result: "Result", side: Side, job: str) -> float:
    if job:
        return math.fsum(_measured(getattr(each, side).bw_bytes) for each in _jobs(result, job)) / 1e6
    return _speed(result, side).mb_s


def _iops(result: "Result", side: Side, job: str) -> float:
    if job:
        return math.fsum(_measured(getattr(each, side).iops) for each in _jobs(result, job))
    return _speed(result, side).iops


def _latency(result: "Result", side: Side, job: str) -> Latency:
    if not job and result.steady_state:
        timing = result.steady_state.timing
        found = [timing.latency[side]] if timing is not None else []
    else:
        found = [each for of in _jobs(result, job) if (each := getattr(of, side).latency) is not None]
    if not found:
        raise RunFailed("the run has no clock")
    return merged(found)


def _jobs(result: "Result", job: str) -> "list[JobResult]":
    """The jobs of the last stage: all, or those with this name. Raises RunFailed if there are none."""
    if job and result.steady_state:
        raise RunFailed(f"job {job}: a steady state is that of all jobs together; use --until job, or no job")
    last = result.specification.jobs[-1]["stage"]
    of_stage = [each for each in result.jobs if each.stage == last]
    found = [each for each in of_stage if job in ("", each.name)]
    if not found:
        names = [each.name for each in of_stage]
        raise RunFailed(f"job {job!r} is not in the last stage{near(job, names)} (there: {', '.join(names)})")
    return found


def _speed(result: "Result", direction: Side) -> "DirectionSpeed":
    found = speed(result)
    if found is None:
        raise RunFailed("a point has fewer than ten reads and writes: its speed is unknown; use a larger scale")
    return found.read if direction == "read" else found.write


def _measured(value: float | None) -> float:
    if value is None:
        raise RunFailed("a point has no such figure: its workload has no such requests")
    return value
