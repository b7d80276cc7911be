"""Four hours of 4 KiB random writes on both drives: the first 30 minutes and the steady state."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ssdlab.drives import drive as drive_of
from ssdlab.studies import over_time
from ssdlab.studies.context import Context
from ssdlab.studies.contract import Range, Row, StudyResult, Table
from ssdlab.studies.pny_over_provisioning.drives import COMPETITOR, DRIVES, FOLDER, PNY, TOLERANCE, figure
from ssdlab.workloads.specifying import specify

if TYPE_CHECKING:
    import polars

    from ssdlab.report.figure import Figure
    from ssdlab.results import Result

Series = Mapping[tuple[str, str, int], "polars.DataFrame"]
"""By drive, state and seed: the series of the random writes."""

SCALE = "1/16"
GAIN = Range(figure("speed gain of 7 % over-provisioning in the steady state")[0])
STEADY_HOURS = Range(*figure("time until steady"))
SEEDS = 3
HOURS = 4
FIRST_MINUTES = 30
STATES = {"written once sequentially first": "random-writes", "straight after the secure erase": "random-writes-fresh"}
PREPARED, FRESH = STATES

# The steady state is what the last hour shows.
_SETTLED_FROM_HOURS = 3
_SETTLED_WITHIN = 0.1


def run(context: Context) -> StudyResult:
    """Both drives from both states, over several seeds."""
    import polars as pl

    scale = context.scale(SCALE)
    labels = {
        (drive, state, seed): f"{drive}, {state}, seed {seed}"
        for state in STATES
        for seed in (context.seeds(SEEDS) if state == PREPARED else context.seeds(1))
        for drive in DRIVES
    }
    specifications = {
        label: specify(
            context.job(FOLDER / f"{STATES[state]}.fio", SECONDS=str(round(HOURS * 3600))),
            drive_of(DRIVES[drive], scale=scale),
            seed=seed,
        )
        for (drive, state, seed), label in labels.items()
    }
    results = context.simulate(specifications)
    series = {key: over_time.last_stage(results[label]) for key, label in labels.items()}
    settled = {
        key: over_time.rate(rows, "write", _SETTLED_FROM_HOURS * 3600, HOURS * 3600 * 1.001)
        for key, rows in series.items()
    }
    gains = [
        100 * (settled[PNY, PREPARED, seed] / settled[COMPETITOR, PREPARED, seed] - 1) for seed in context.seeds(SEEDS)
    ]
    fresh_gain = 100 * (settled[PNY, FRESH, context.seed] / settled[COMPETITOR, FRESH, context.seed] - 1)
    steady_hours = [_steady_after(series[drive, FRESH, context.seed]) for drive in DRIVES]
    group = "Speed: 4 KiB random writes, 32 outstanding, 4 hours"
    rows = [
        Row(
            "gain of 7 % OP in the last hour, straight after the secure erase",
            GAIN,
            fresh_gain,
            "%",
            tolerance=TOLERANCE,
            printed="text",
            group=group,
            note="The steps as published. Some addresses are still unwritten then: see the table of unwritten space.",
        ),
        Row(
            "the same, every address written in sequence first",
            GAIN,
            gains[0],
            "%",
            tolerance=TOLERANCE,
            printed="text",
            spread=(min(gains), max(gains)),
            group=group,
            note="What the tester does when it makes its test file, which the white paper does not mention.",
        ),
        *(
            Row(
                f"{drive}: steady after",
                STEADY_HOURS,
                hours,
                "h",
                tolerance=TOLERANCE,
                printed="text",
                group=group,
                note="From a secure erase, until the rate stays within 10 % of that of the last hour. It depends on "
                "the raw speed of the drives, which the white paper does not give.",
            )
            for drive, hours in zip(DRIVES, steady_hours, strict=True)
        ),
        *(
            Row(f"{drive}: steady state", None, settled[drive, PREPARED, context.seed], "IOPS", group=group)
            for drive in DRIVES
        ),
    ]
    frame = pl.concat(
        rows_.select(
            pl.lit(drive).alias("drive"),
            pl.lit(state).alias("state"),
            pl.lit(seed).alias("seed"),
            "seconds",
            "write_iops",
            "waf",
        )
        for (drive, state, seed), rows_ in series.items()
    )
    gain = gains[0]
    return StudyResult(
        finding=f"In the steady state of 4 KiB random writes the drive with 7 % of over-provisioning is {gain:.0f} % "
        f"faster, with the same flash; {fresh_gain:.0f} % while a last part of the addresses is still unwritten.",
        rows=rows,
        figures=[_first_minutes(series, context), _whole(series, gain, context)],
        series={"random-writes": frame},
        tables=[_unwritten_table(results, labels, context)],
        notes=[
            "A random write reaches an address for the first time with a probability that falls with each drive write: "
            "after n of them a share of exp(-n) is still unwritten, and unwritten space is spare area. After four "
            "hours it is under 1 % on both drives; but the drive with 7.3 % of spare area gains a tenth of it, the one "
            "with 14.5 % hardly anything, so the gain is 65 % instead of 84 %. A white paper that found over 80 % in a "
            "steady state reached after two to three hours must have measured drives whose every address was written.",
        ],
    )


def _unwritten_table(
    results: "Mapping[str, Result]", labels: Mapping[tuple[str, str, int], str], context: Context
) -> Table:
    rows = []
    for state in (FRESH, PREPARED):
        for drive in DRIVES:
            result = results[labels[drive, state, context.seed]]
            host_bytes = result.jobs[-1].ledger.host_written_bytes
            drive_writes = host_bytes / result.capacity.user_bytes
            effective = result.capacity.effective_over_provisioning
            rows.append(
                (
                    f"{drive}, {state}",
                    drive_writes,
                    100 * math.exp(-drive_writes) if state == FRESH else 0.0,
                    100 * result.capacity.over_provisioning,
                    None if effective is None else 100 * effective,
                )
            )
    return Table(
        "Unwritten space after four hours of random writes",
        ("drive", "drive writes", "unwritten, % (exp of minus drive writes)", "OP, %", "effective OP at the end, %"),
        rows,
        "Effective OP is what garbage collection has at the end: spare area and unwritten space, less reserve and open "
        "erase units.",
    )


def _steady_after(rows: "polars.DataFrame") -> float:
    """Hours until the rate stays near that of the last hour."""
    last_hour = over_time.rate(rows, "write", _SETTLED_FROM_HOURS * 3600, HOURS * 3600 * 1.001)
    return over_time.settled_after(rows, "write", last_hour, _SETTLED_WITHIN) / 3600


def _first_minutes(series: Series, context: Context) -> "Figure":
    from ssdlab.report.charts.published import Line, published_lines

    lines = []
    for (drive, state, seed), rows in series.items():
        if seed == context.seed:
            label = drive if state == PREPARED else f"{drive.split(',')[0]}, fresh"
            points = rows.select("seconds", "write_iops").iter_rows()
            lines.append(Line(label, [(s / 60, iops) for s, iops in points if s <= FIRST_MINUTES * 60]))
    return published_lines(
        name="first-30-minutes",
        title="Both drives start at the same speed, and the one with less spare area loses it sooner and further",
        caption="Writes per second in the first half hour: drives written once sequentially, and drives after a "
        "secure erase, where the drop comes when the random writes have used up what was erased.",
        lines=lines,
        x_title="time, minutes",
        y_title="4 KiB random writes per second",
        number_format=",.0f",
    )


def _whole(series: Series, gain: float, context: Context) -> "Figure":
    import polars as pl

    from ssdlab.report.charts.published import Line, published_lines

    lines = []
    for drive in DRIVES:
        own = [series[drive, PREPARED, seed].select("seconds", "write_iops") for seed in context.seeds(SEEDS)]
        spread = (
            pl.concat(own)
            .with_columns(hours=(pl.col("seconds") / 3600).round(4))
            .group_by("hours")
            .agg(low=pl.col("write_iops").min(), high=pl.col("write_iops").max(), seeds=pl.len())
            .filter(pl.col("seeds") == len(own))
            .sort("hours")
        )
        points = [(seconds / 3600, iops) for seconds, iops in own[0].iter_rows()]
        lines.append(Line(drive, points, list(spread.select("hours", "low", "high").iter_rows())))
    return published_lines(
        name="four-hours",
        title=f"In the steady state 7 % of over-provisioning makes the drive {gain:.0f} % faster; published: over 80 %",
        caption="Writes per second over four hours, on drives that were written once sequentially; "
        f"the shade is the spread over {SEEDS} seeds.",
        lines=lines,
        x_title="time, hours",
        y_title="4 KiB random writes per second",
        number_format=",.0f",
    )
