"""Throughput against space in use, with and without reserved space; leave-one-out fits; the cost of a copy."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.experiments.advice import fit_drive
from ssdlab.experiments.advice.fit import leave_one_out
from ssdlab.experiments.advice.fit_drive import METRICS
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, StudyResult, Table, published
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.drives import load
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.drives import DriveFile
    from ssdlab.simulator.results import Result

FOLDER = Path(__file__).parent
FIGURES = published(FOLDER / "figures.csv")
(TOLERANCE,) = {float(row["tolerance"]) for row in FIGURES}
DRIVE = "iodrive-duo-320gb-slc"
SCALE = "1/32"
FITTED_KEY = "nand.copy_read_us"
ARRAY_READ_US = 25.0
"""The read time of a page of this SLC flash. Of a page that is copied, the drive file has the fitted time of a copy
without its program."""
CURVE_GIB = (60, 80, 100, 125, 150, 175, 200, 225, 250)
FRESH_GIB = 60
"""Little enough that garbage collection only erases and copies nothing."""
RESERVED_BYTES = 240 * 10**9 // 4096 * 4096
"""A quarter reserved: formatted to 240 GB."""
SEEDS = 2
FREE = "nand.copy_read_us=10..1000"

_ONE_CARD_BYTES = 155 * 10**9 // 4096 * 4096
"""Half of what both offer."""
_BUS_BOUND = {
    FITTED_KEY: str(ARRAY_READ_US),
    "nand.dies_per_channel": "4",
    "nand.blocks_per_plane": "477",
    "nand.channel_mb_s": "30.0",
}
FORMATTED, RESERVED, PLAIN, BUS_BOUND, UNBUFFERED = "full format", "25 % reserved", "plain", "bus", "unbuffered"
VICTIMS = ("random", "fifo")
"""Other choices of what garbage collection collects; the drive file's is greedy."""
ONE_CARD = "one card"
ONE_CARD_GIB = 100
"""The file of the source's remark: 100 GiB on a card of 160 GB are not 100 GiB on 320 GB."""


@dataclass(frozen=True)
class _Variant:
    what: str
    settings: dict[str, str]


VARIANTS = {
    FORMATTED: _Variant("the fitted drive", {}),
    RESERVED: _Variant("the same, a quarter reserved", {"ftl.user_bytes": str(RESERVED_BYTES)}),
    PLAIN: _Variant("dies are the bound: array read, transfer and program", {FITTED_KEY: str(ARRAY_READ_US)}),
    BUS_BOUND: _Variant("channels are the bound: a copy crosses its channel twice", _BUS_BOUND),
    ONE_CARD: _Variant("one of the two cards", {"stripe.devices": "1", "ftl.user_bytes": str(_ONE_CARD_BYTES)}),
    **{victim: _Variant(victim, {"ftl.victim": victim}) for victim in VICTIMS},
    UNBUFFERED: _Variant("the same, and writes wait for the flash", _BUS_BOUND | {"write_buffer.bytes": "0"}),
}
Speeds = dict[tuple[str, int, int], tuple[float, float]]
"""MiB/s and WAF by variant, space in GiB and seed."""


def run(context: Context) -> StudyResult:
    """Simulates all runs and returns the rows."""
    import polars as pl

    points = {int(row["file_size_gib"]): float(row["throughput_mib_s"]) for row in FIGURES}
    runs = [(FORMATTED, space, seed) for space in CURVE_GIB for seed in context.seeds(SEEDS)]
    runs += [(RESERVED, space, context.seed) for space in CURVE_GIB if space * 2**30 < RESERVED_BYTES]
    runs += [(name, space, context.seed) for name in (PLAIN, BUS_BOUND, UNBUFFERED, *VICTIMS) for space in points]
    runs += [(name, FRESH_GIB, context.seed) for name in (FORMATTED, PLAIN, BUS_BOUND, UNBUFFERED)]
    runs += [(ONE_CARD, space, context.seed) for space in (ONE_CARD_GIB // 2, ONE_CARD_GIB)]
    speeds = _simulated(context, list(dict.fromkeys(runs)))
    left_out = _left_out(context)
    rows = _rows(context, points, speeds, left_out)
    frame = pl.DataFrame(
        [
            {"variant": name, "space_in_use_gib": space, "seed": seed, "mib_s": speed, "waf": waf}
            for (name, space, seed), (speed, waf) in speeds.items()
        ]
    )
    worst = max(abs(row.deviation or 0.0) for row in rows[: len(points)])
    copies = _copy_costs(context, speeds, FORMATTED, tuple(points))
    return StudyResult(
        finding="Random writes slow down as the cards fill, because each write causes more copies: one fitted "
        f"parameter, what a copy costs, repeats the three points within {100 * worst:.1f} %. A copy then costs "
        f"{sum(copies) / len(copies):.1f} host writes, one more than flash and channels explain.",
        rows=rows,
        figures=[_curve(context, points, speeds)],
        series={"curve": frame},
        tables=[_mechanisms(context, points, speeds), _collectors(context, points, speeds)],
        notes=[
            "What a copy costs: where dies are the bound, an additional array read makes it little more than "
            "a host write. Where channels are the bound, as they are in a card of a hundred slow dies, a copy crosses "
            "its channel twice and costs two. The third host write that the published points ask for stays open: it "
            "could be a read that verifies each copy, whole packets of the log read for the blocks in them that live, "
            "or the driver's own work on the host. None of these was published.",
            "The fitted key is nand.copy_read_us: it represents all costs of a copy in addition to its program. The "
            "card's own reads take nand.read_us.",
            "With the flash that holds data free as well the points cannot tell less flash from dearer copies: 276 GiB "
            "with copies at two "
            "host writes, or 298 GiB with copies at three.",
        ],
    )


def _simulated(context: Context, runs: Sequence[tuple[str, int, int]]) -> Speeds:
    scale = context.scale(SCALE)
    labels = {(name, space, seed): f"{name}, {space} GiB, seed {seed}" for name, space, seed in runs}
    specifications = {
        label: specify(
            context.job(FOLDER / "random-writes.fio", SPACE=str(space * 2**30)),
            drive_of(DRIVE, scale=scale, settings=VARIANTS[name].settings),
            seed=seed,
        )
        for (name, space, seed), label in labels.items()
    }
    results = context.simulate(specifications)
    return {key: _measured(results[label]) for key, label in labels.items()}


def _measured(result: "Result") -> tuple[float, float]:
    return METRICS["write_mib_s"](result, ""), METRICS["waf"](result, "")


def _left_out(context: Context) -> list[float]:
    """For each published point, the prediction of a fit to the other two."""
    points = fit_drive.read_points(FOLDER / "points.csv")
    drive: DriveFile = load(DRIVE)
    free = fit_drive.parameter(FREE, drive)
    runs = fit_drive.Runs(scale=context.scale(SCALE), seed=context.seed, workers=context.workers, steady=False)
    model = fit_drive.simulated_model(drive, [free.name], points, runs)
    known: dict[float, Sequence[float]] = {}

    def remembered(values: Sequence[float]) -> Sequence[float]:
        # The fits start at the same values and share their first steps.
        key = round(values[0], 3)
        if key not in known:
            with context.show_progress([f"leave one out: {free.name} = {key:g}"]):
                known[key] = model([key])
        return known[key]

    return leave_one_out(remembered, [free], [point.value for point in points])


def _copy_costs(context: Context, speeds: Speeds, name: str, spaces: Sequence[int]) -> list[float]:
    """The cost of copying a unit, in host writes: the additional time per copied unit over the time of a host write."""
    fresh, _ = speeds[name, FRESH_GIB, context.seed]
    measured = [speeds[name, space, context.seed] for space in spaces]
    return [(fresh / speed - 1) / (waf - 1) for speed, waf in measured]


def _rows(context: Context, points: dict[int, float], speeds: Speeds, left_out: Sequence[float]) -> list[Row]:
    seed = context.seed
    rows = []
    for space, value in points.items():
        values = [speeds[FORMATTED, space, each][0] for each in context.seeds(SEEDS)]
        rows.append(
            Row(
                f"{space} GiB in use",
                value,
                values[0],
                "MiB/s",
                tolerance=TOLERANCE,
                fitted=Fitted(("what a copy costs",), len(points)),
                unfitted=speeds[PLAIN, space, seed][0],
                spread=(min(values), max(values)),
                group="Random writes, 16 KiB, both devices",
                note="Fitted: what a copy costs. Unfitted: an array read of 25 us, so that dies are the bound.",
            )
        )
    for (space, value), predicted in zip(points.items(), left_out, strict=True):
        rows.append(
            Row(
                f"{space} GiB, from a fit to the other two",
                value,
                predicted,
                "MiB/s",
                tolerance=TOLERANCE,
                fitted=Fitted(("what a copy costs",), len(points) - 1),
                is_left_out=True,
                group="Each point left out",
            )
        )
    both = speeds[FORMATTED, ONE_CARD_GIB, seed][0]
    rows += [
        Row(
            f"{space} GiB on one card over {ONE_CARD_GIB} GiB on both",
            None,
            speeds[ONE_CARD, space, seed][0] / both,
            "x the speed",
            group="One card against two",
            note="Half of the speed at the same share of the space in use: what counts is the share, not the size.",
        )
        for space in (ONE_CARD_GIB // 2, ONE_CARD_GIB)
    ]
    for space in points:
        apart = 100 * (speeds[RESERVED, space, seed][0] / speeds[FORMATTED, space, seed][0] - 1)
        rows.append(
            Row(
                f"{space} GiB in use, reserved over not reserved",
                0.0,
                apart,
                "% apart",
                tolerance=100 * TOLERANCE,
                in_points=True,
                printed="ours",
                is_input=True,
                group="A quarter of the cards reserved",
                note="The source says almost identical. Here the flash is the same with and without the reservation, "
                "so that nothing else could come out.",
            )
        )
    return rows


def _curve(context: Context, points: dict[int, float], speeds: Speeds) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    lines = []
    for name in (FORMATTED, RESERVED):
        spaces = [space for space in CURVE_GIB if (name, space, context.seed) in speeds]
        own = [(float(space), speeds[name, space, context.seed][0]) for space in spaces]
        all_seeds = {space: [speeds[key][0] for key in speeds if key[:2] == (name, space)] for space in spaces}
        spread = [(float(space), min(values), max(values)) for space, values in all_seeds.items()]
        lines.append(Line(name, own, spread))
    lines += [
        Line(label, [(float(space), speeds[name, space, context.seed][0]) for space in points])
        for label, name in (("nothing fitted", PLAIN), ("a copy crosses its channel twice", BUS_BOUND))
    ]
    return published_lines(
        name="throughput-against-space",
        title="Two thirds full, the cards write at a third of their speed; a reservation changes nothing at equal use",
        caption="16 KiB random writes to both devices against the space in use, out of 298 GiB; diamonds: published. "
        "The line of the reserved cards lies on the other. Nothing fitted: an array read of 25 us. Where channels are "
        "the bound instead, a copy crosses its channel twice and costs two host writes.",
        lines=lines,
        marks=[Marks("published", [(float(space), value) for space, value in points.items()])],
        x_title="space in use, GiB",
        y_title="random writes, MiB/s",
        number_format=",.0f",
    )


def _mechanisms(context: Context, points: dict[int, float], speeds: Speeds) -> Table:
    rows: list[Sequence[str | float | None]] = []
    for name in (PLAIN, BUS_BOUND, UNBUFFERED, FORMATTED):
        fresh, _ = speeds[name, FRESH_GIB, context.seed]
        costs = _copy_costs(context, speeds, name, tuple(points))
        rows.append((VARIANTS[name].what, f"{fresh:,.0f}", *costs))
    return Table(
        "What a copy costs, in host writes",
        ("mechanism", "fresh, MiB/s", *(f"at {space} GiB" for space in points)),
        rows,
        "From the engine: (fresh speed / speed - 1) / (WAF - 1).",
    )


def _collectors(context: Context, points: dict[int, float], speeds: Speeds) -> Table:
    victims = {"the one with the least to copy": FORMATTED, "any one": VICTIMS[0], "the one written first": VICTIMS[1]}
    rows = [
        (what, *(f"{speeds[name, space, context.seed][0]:,.0f}" for space in points)) for what, name in victims.items()
    ]
    return Table(
        "Which erase unit is collected",
        ("erase unit that garbage collection takes", *(f"MiB/s at {space} GiB" for space in points)),
        rows,
        "The same cards with another rule. What theirs is was not published; the first is that of the drive file.",
    )
