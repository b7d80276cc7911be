"""Four hours of 4 KiB random writes on both drives: the first 30 minutes and the steady state."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ssdlab.studies.context import Context
from ssdlab.studies.contract import Range, Row, StudyResult
from ssdlab.studies.pny_over_provisioning.drives import COMPETITOR, DRIVES, FOLDER, PNY, figure

if TYPE_CHECKING:
    import polars

    from ssdlab.report.figure import Figure

Series = Mapping[tuple[str, str, int], "polars.DataFrame"]
"""By drive, state and seed: the series of the random writes."""

SCALE = "1/16"
GAIN = Range(*figure("speed gain of 7 % over-provisioning in the steady state"))
STEADY_HOURS = Range(*figure("time until steady"))
SEEDS = 3
HOURS = 4
FIRST_MINUTES = 30
STATES = {"written once in sequence first": "random-writes", "straight after the secure erase": "random-writes-fresh"}
PREPARED, FRESH = STATES

# The steady state is what the last hour shows.
_SETTLED_FROM_HOURS = 3
_SETTLED_WITHIN = 0.1


def run(context: Context) -> StudyResult:
    """Both drives from both states, over several seeds."""
    import polars as pl

    import ssdlab
    from ssdlab.studies import over_time
    from ssdlab.targets.simulated import specify

    scale = context.scale(SCALE)
    seconds = round(HOURS * 3600 * float(scale or 1))
    labels = {
        (drive, state, seed): f"{drive}, {state}, seed {seed}"
        for state in STATES
        for seed in (context.seeds(SEEDS) if state == PREPARED else context.seeds(1))
        for drive in DRIVES
    }
    specifications = {
        label: specify(
            context.job(FOLDER / f"{STATES[state]}.fio", SECONDS=str(seconds)),
            ssdlab.drive(DRIVES[drive], scale=scale),
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
            "gain of 7 % OP in the steady state",
            GAIN,
            gains[0],
            "%",
            tolerance=2,
            in_points=True,
            spread=(min(gains), max(gains)),
            group=group,
        ),
        Row(
            "the same straight after a secure erase",
            GAIN,
            fresh_gain,
            "%",
            in_points=True,
            group=group,
            note="Four hours leave some addresses unwritten, and unwritten space is spare area: it helps the drive "
            "that has the least of it.",
        ),
        *(
            Row(
                f"{drive}: steady after",
                STEADY_HOURS,
                hours,
                "h",
                group=group,
                note="From a secure erase, until the rate stays within 10 % of that of the last hour. It goes with the "
                "raw speed of the drives, which the white paper does not give.",
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
        "faster, with the same flash.",
        rows=rows,
        figures=[_first_minutes(series, context), _whole(series, gain, context)],
        series={"random-writes": frame},
    )


def _steady_after(rows: "polars.DataFrame") -> float:
    """Hours until the rate stays near that of the last hour."""
    from ssdlab.studies import over_time

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
        caption="Writes a second in the first half hour: on drives that were written once in sequence, and fresh from "
        "a secure erase, where the fall comes when the random writes have used up what was erased.",
        lines=lines,
        x_title="time, minutes",
        y_title="4 KiB random writes a second",
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
        title=f"In the steady state 7 % of over-provisioning make the drive {gain:.0f} % faster; published: over 80 %",
        caption="Writes a second over four hours, on drives that were written once in sequence; "
        f"the shade is the spread over {SEEDS} seeds.",
        lines=lines,
        x_title="time, hours",
        y_title="4 KiB random writes a second",
        number_format=",.0f",
    )
