"""Compares published watts with those of `[power]`, and the published speeds with a run on the same drive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from ssdlab.experiments.studies import over_time
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, StudyResult, Table, published
from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.drives import drive
from ssdlab.simulator.results.energy import CAUSES, Cause, Energy, Flash, energy
from ssdlab.simulator.results.ledger import PARTS, Ledger, Part, ReadCause
from ssdlab.simulator.specification import PowerJson
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
FIGURES = published(FOLDER / "figures.csv")
COUNTED_SCALE, TIMED_SCALE = "1/16", "1/32"
COUNTED, TIMED = "random writes, counted", "random writes, with the clock"
SERIES_POINTS_MAX = 16384
"""Garbage collection takes whole victims, which fewer points would not resolve."""
WATTS_TOLERANCE, SPEED_TOLERANCE, TIME_TOLERANCE = 0.05, 0.10, 0.05
MIB, GIB = 2**20, 2**30
INTERVAL_SECONDS = 10
WRITTEN_BYTES = 340 * GIB
UNIT_BYTES = 4096
Constant = Literal["idle_watts", "read_uj", "program_uj", "transfer_nj_per_byte"]
CONSTANTS: tuple[Constant, ...] = get_args(Constant)
OF_POWER = Fitted(tuple(f"power.{key}" for key in CONSTANTS), 12)
OF_SPEED = Fitted(("nand.blocks_per_plane", "nand.program_us", "controller.command_us"), 3)
FAST_MIB_S = 305
"""Between the speed that the host asks for, 340 MiB/s, and what garbage collection leaves of it."""
BEFORE, AFTER_START = 100, 600
"""Seconds of the two speeds that the drive was fitted to."""
PLATEAU = 320, 900
"""Seconds between which garbage collection limits the speed, and takes blocks of the fill."""
AFTER_SECOND_FALL_GIB = 280, 300
POLICIES = (("greedy", "single"), ("fifo", "host-gc-split"))
"""Other ones than the drive file's, to show what decides."""


@dataclass(frozen=True)
class Point:
    """A published row: its bytes to and from flash in a second, and its watts."""

    kind: str
    at: int
    watts: float
    mib_s: float
    is_fitted: bool
    ledger: Ledger


def run(context: Context) -> StudyResult:
    """Simulates the random writes twice, and returns the rows in the order of the figures."""
    specifications = {
        COUNTED: specification(context, COUNTED_SCALE, timed=False),
        TIMED: specification(context, TIMED_SCALE, timed=True),
        **{
            f"{victim}, {placement}": specification(
                context, TIMED_SCALE, timed=False, victim=victim, placement=placement
            )
            for victim, placement in POLICIES
        },
    }
    results = context.simulate(specifications)
    power = file_power()
    points = points_of(results[COUNTED])
    rows = [_watts_row(point, watts(power, point).watts_mean) for point in points]
    speeds = speeds_of(results[TIMED])
    speed_rows = _speed_rows(speeds)
    return StudyResult(
        finding=_finding(rows, speed_rows),
        rows=[*rows, *speed_rows],
        figures=[_watts_figure(power, points), _speed_figure(speeds), _reads_figure(power, points)],
        tables=[_constants(power, fit(points)), _by_cause(power, points), _policies(results)],
        notes=[
            "The first fall comes when the spare area is written, 97 GiB after the fill. From then on the flash "
            "programs as much as it can, and each host byte costs what is left valid in a block of the fill, which "
            "falls as the host overwrites: the speed rises in proportion to what was written. fio writes each address "
            "once, so that the second fall comes when all blocks of the fill have been collected, after 97 GiB times "
            "e; what garbage collection wrote is next, and has fewer invalid units.",
            "Rows from 260 to 300 s are missed: the drive begins to collect before its spare area is used up, at first "
            "at the host's full speed, and nothing published says by which rule.",
        ],
    )


def specification(context: Context, scale: str, *, timed: bool, **policies: str) -> "Specification":
    """The fill and the random writes; `policies` are other ones than the drive file's."""
    job = context.job(FOLDER / "random-writes.fio", WRITTEN=str(WRITTEN_BYTES))
    settings = {f"ftl.{kind}": name for kind, name in policies.items()}
    resolved = drive(FOLDER / "drive.toml", scale=context.scale(scale), settings=settings)
    return specify(job, resolved, seed=context.seed, timed=timed, series_points_max=SERIES_POINTS_MAX)


def file_power() -> PowerJson:
    """`[power]` of the study's drive file."""
    power = drive(FOLDER / "drive.toml").power
    assert power is not None, "the file has it"
    return power


def flash() -> Flash:
    return Flash(drive(FOLDER / "drive.toml").file.nand.page_bytes, 1)


def points_of(result: "Result") -> list[Point]:
    """The published rows with a speed, each with the counters of one second."""
    found, written = [], 0.0
    for figure in FIGURES:
        if not figure["mib_s"]:
            continue
        mib_s, at = float(figure["mib_s"]), int(figure["at"])
        if figure["kind"] == "write":
            ends = written, written + INTERVAL_SECONDS * mib_s * MIB
            written = ends[1]
            ledger = _ledger(written=mib_s * MIB, moved=mib_s * MIB * max(0.0, waf_between(result, *ends) - 1))
        else:
            # A read of less than a mapping unit reads one.
            ledger = _ledger(read=mib_s * MIB, flash_read=mib_s * MIB * max(1.0, UNIT_BYTES / 1024 / at))
        is_fitted = figure["fit"] == "yes"
        found.append(Point(figure["kind"], at, float(figure["watts"]), mib_s, is_fitted, ledger))
    return found


def waf_between(result: "Result", start_bytes: float, end_bytes: float) -> float:
    """Write amplification between two amounts written since the fill, in bytes of the full drive."""
    import numpy as np

    pairs = np.asarray(result.programmed_over_host_bytes, dtype=np.float64) / float(
        Fraction(result.specification.scale)
    )
    filled = result.specification.as_sold(result.stages[-1]["host_written_bytes_start"])
    programmed = np.interp((start_bytes, end_bytes), pairs[:, 0] - filled, pairs[:, 1])
    return float(programmed[1] - programmed[0]) / (end_bytes - start_bytes)


def _ledger(*, written: float = 0, moved: float = 0, read: float = 0, flash_read: float = 0) -> Ledger:
    """The counters of a second, in bytes; what garbage collection programs it has read."""
    units: dict[Part, int] = dict.fromkeys(PARTS, 0)
    units |= {"host": round(written / UNIT_BYTES), "gc": round(moved / UNIT_BYTES)}
    reads: dict[ReadCause, int] = {"host": round(flash_read / UNIT_BYTES), "gc": round(moved / UNIT_BYTES)}
    return Ledger(UNIT_BYTES, UNIT_BYTES, round(written), round(read), 0, units, reads, 0, 0, 0)


def watts(power: PowerJson, point: Point) -> Energy:
    """The energy of one second of the point. The study fits no energy of commands and erases."""
    return energy(power, flash(), point.ledger, 0, 1.0)


def fit(points: Sequence[Point]) -> dict[Constant, float]:
    """The constants by least squares of relative deviations, over the points that are marked for it."""
    import numpy as np

    none: PowerJson = {
        "idle_watts": 0.0,
        "read_uj": 0.0,
        "program_uj": 0.0,
        "erase_uj": 0.0,
        "transfer_nj_per_byte": 0.0,
        "command_uj": 0.0,
    }
    chosen = [point for point in points if point.is_fitted]
    # The energy is linear in each constant.
    columns = []
    for key in CONSTANTS:
        one = none.copy()
        one[key] = 1.0
        columns.append([(watts(one, point).watts_mean or 0.0) / point.watts for point in chosen])
    solved, *_ = np.linalg.lstsq(np.asarray(columns).T, np.ones(len(chosen)), rcond=None)
    return dict(zip(CONSTANTS, map(float, solved), strict=True))


def speeds_of(result: "Result") -> list[tuple[float, float]]:
    """Pairs: the second at which a published interval begins, and the simulated MiB/s in it."""
    rows = over_time.last_stage(result)
    ends = [int(figure["at"]) for figure in FIGURES if figure["kind"] == "write"]
    last = float(rows["seconds"][-1])
    return [
        (at, over_time.rate(rows, "write", max(0, at - 5), at + 15) * UNIT_BYTES / MIB) for at in ends if at + 15 < last
    ]


def falls(speeds: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The seconds of both falls: when the speed is first below `FAST_MIB_S`, and when it is so again after it has
    returned. Raises ValueError if it does not fall twice."""
    slow = [at for at, mib_s in speeds if mib_s < FAST_MIB_S and at > BEFORE]
    back = [at for at, mib_s in speeds if mib_s >= FAST_MIB_S and slow and at > slow[0]]
    again = [at for at in slow if back and at > back[-1]]
    if not again:
        raise ValueError("the speed does not fall twice")
    return slow[0], again[0]


def _watts_row(point: Point, simulated: float | None) -> Row:
    is_write = point.kind == "write"
    return Row(
        f"at {point.at:,} s" if is_write else f"{point.at:,} KiB",
        point.watts,
        simulated,
        "W",
        tolerance=WATTS_TOLERANCE,
        fitted=OF_POWER,
        is_left_out=not point.is_fitted,
        group="Random writes through the first garbage collection" if is_write else "Random reads by size",
        note="" if point.is_fitted else "predicted",
    )


def _measured_speeds() -> list[tuple[float, float]]:
    return [(int(each["at"]), float(each["mib_s"])) for each in FIGURES if each["kind"] == "write"]


def _speed_rows(speeds: Sequence[tuple[float, float]]) -> list[Row]:
    measured, simulated = dict(_measured_speeds()), dict(speeds)
    (first, second), (own_first, own_second) = falls(list(measured.items())), falls(speeds)
    values = [
        (f"speed at {BEFORE} s", measured[BEFORE], simulated[BEFORE], "MiB/s", True),
        ("first fall", first, own_first, "s", False),
        *((f"speed at {at} s", measured[at], simulated[at], "MiB/s", at == AFTER_START) for at in range(330, 931, 90)),
        ("second fall", second, own_second, "s", True),
        *((f"speed at {at} s", measured[at], simulated[at], "MiB/s", False) for at in (1060, 1150)),
    ]
    return [
        Row(
            what,
            figure,
            own,
            unit,
            tolerance=TIME_TOLERANCE if unit == "s" else SPEED_TOLERANCE,
            fitted=OF_SPEED,
            is_left_out=not is_fitted,
            group="Speed over time, simulated with the clock",
            note="" if is_fitted else "predicted",
        )
        for what, figure, own, unit, is_fitted in values
    ]


def _finding(rows: Sequence[Row], speed_rows: Sequence[Row]) -> str:
    predicted = [row for row in rows if row.is_left_out]
    within = sum(bool(row.is_within_tolerance) for row in predicted)
    falls = {row.what: row for row in speed_rows}
    first, second = falls["first fall"], falls["second fall"]
    return (
        f"Four constants, fitted to {OF_POWER.points} points, give the power at {within} of the {len(predicted)} "
        f"others within {format_share(WATTS_TOLERANCE)}. The writes of a simulated drive of 1 TB, greedy and with "
        "garbage collection apart from the host, slow down "
        f"at {first.simulated:,.0f} s; measured: {first.published:,.0f} s. "
        f"They slow down again at {second.simulated:,.0f} s; measured, and fitted to: {second.published:,.0f} s."
    )


def _constants(power: PowerJson, again: Mapping[Constant, float]) -> Table:
    units: dict[Constant, str] = {
        "idle_watts": "W",
        "read_uj": "uJ",
        "program_uj": "uJ",
        "transfer_nj_per_byte": "nJ/B",
    }
    rows: list[list[str | float]] = [[key, power[key], again[key], units[key]] for key in CONSTANTS]
    return Table("The constants", ("key of [power]", "drive file", "fitted again", "unit"), rows, "Energies of a page.")


def _by_cause(power: PowerJson, points: Sequence[Point]) -> Table:
    rows: list[list[str | float | None]] = []
    for point in points:
        if (point.kind, point.at) in {("write", 100), ("write", 310), ("write", 900), ("read", 16), ("read", 4096)}:
            found = watts(power, point)
            what = f"writes at {point.at} s" if point.kind == "write" else f"reads of {point.at} KiB"
            causes: list[Cause] = [cause for cause in CAUSES if cause != "other"]
            rows.append([what, *(found.per_host_gib(cause) for cause in causes), found.per_host_gib("total")])
    return Table(
        "Joules for each GiB of the host",
        ("when", "host", "garbage collection", "idle", "total"),
        rows,
        "Idle is the power that does not grow with speed, over the time that the GiB takes.",
    )


def _policies(results: Mapping[str, "Result"]) -> Table:
    start, end = AFTER_SECOND_FALL_GIB
    rows: list[list[str | float]] = [["measured, if the flash programs as fast as before", _measured_waf(start, end)]]
    for label, result in results.items():
        if label != TIMED:
            name = "greedy, host-gc-split" if label == COUNTED else label
            rows.append([name, waf_between(result, start * GIB, end * GIB)])
    return Table(
        "Which policies",
        ("victim, placement", "write amplification"),
        rows,
        f"After the second fall, between {start} and {end} GiB written.",
    )


def _measured_waf(start_gib: int, end_gib: int) -> float:
    """What the published speeds say of write amplification: between the falls the flash programs at a constant speed,
    the host's speed times U over what was written."""
    user_bytes = drive(FOLDER / "drive.toml").capacity.user_bytes
    programmed_mib_s, after_mib_s, written = [], [], 0.0
    for at, mib_s in _measured_speeds():
        written += INTERVAL_SECONDS * mib_s * MIB
        if PLATEAU[0] <= at <= PLATEAU[1]:
            programmed_mib_s.append(mib_s * user_bytes / written)
        if start_gib * GIB <= written <= end_gib * GIB:
            after_mib_s.append(mib_s)
    return sum(programmed_mib_s) / len(programmed_mib_s) / (sum(after_mib_s) / len(after_mib_s))


def _watts_figure(power: PowerJson, points: Sequence[Point]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    writes = [point for point in points if point.kind == "write"]
    low, high = writes[10], max(writes, key=lambda point: point.watts)
    return published_lines(
        name="watts-over-time",
        title=f"The drive draws {low.watts:.1f} W before garbage collection and {high.watts:.1f} W with it",
        caption="Power, means of 10 s: marks published; the line from four constants, the published speed and the "
        "simulated programs for each host byte.",
        lines=[Line("from the constants", [(each.at, watts(power, each).watts_mean or 0.0) for each in writes])],
        marks=[Marks("measured", [(each.at, each.watts) for each in writes])],
        x_title="time, s",
        y_title="power, W",
    )


def _speed_figure(speeds: Sequence[tuple[float, float]]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    first, second = falls(speeds)
    return published_lines(
        name="speed-over-time",
        title=f"The speed falls at {first:.0f} s, returns, and falls again at {second:.0f} s",
        caption="MiB/s of 4 KiB random writes after one sequential fill: marks published, means of 10 s; the line "
        "simulated, means of 20 s.",
        lines=[Line("simulated", list(speeds))],
        marks=[Marks("measured", _measured_speeds())],
        x_title="time, s",
        y_title="speed, MiB/s",
    )


def _reads_figure(power: PowerJson, points: Sequence[Point]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    reads = [point for point in points if point.kind == "read"]
    return published_lines(
        name="watts-of-reads",
        title=f"Reads draw {reads[0].watts:.1f} W at 1 KiB and {reads[-1].watts:.1f} W at 4 MiB",
        caption="Power under random reads: marks published; the line from the four constants and the published speeds.",
        lines=[Line("from the constants", [(each.at, watts(power, each).watts_mean or 0.0) for each in reads])],
        marks=[Marks("measured", [(each.at, each.watts) for each in reads])],
        x_title="size of a read, KiB",
        y_title="power, W",
        scale_x="log",
    )
