"""The results of the runs: rows with the published figures, and the pictures of the original."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Printed, Range, Row, StudyResult, Table, published
from ssdlab.experiments.studies.over_provisioning_blog.runs import (
    ACCOUNTS,
    CACHE,
    CHOICES_OF_FLUSH,
    CHOICES_OF_RESERVE_GB,
    DRIVE,
    FOLDER,
    FREE_SHARE,
    NAIVE,
    OWN_COPIES,
    PARTITIONED,
    POOL,
    RESERVE,
    RESERVE_GB,
    SEEDS,
    SHRUNK,
    SHRUNK_BYTES,
    SMALL,
    TRIMMED,
    WHOLE,
    WRITES_A_FLUSH,
    WRITES_A_ROUND,
    Key,
    Runs,
    free_gb,
)
from ssdlab.foundation.quantities import rounded
from ssdlab.simulator.drives import drive as drive_of

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure

Found = Mapping[Key, Runs]


def result(found: Found, context: Context) -> StudyResult:
    """The rows, pictures and finding of the runs."""
    import polars as pl

    seed = context.seed
    whole, partitioned = found[Key(RESERVE, WHOLE, seed=seed)], found[Key(RESERVE, PARTITIONED, seed=seed)]
    frame = pl.concat(
        pl.DataFrame(
            {
                "account": key.account,
                "state": key.state,
                "reserve_gb": key.reserve_gb if key.account == RESERVE else 0.0,
                "writes_a_flush": key.writes_a_flush,
                "seed": key.seed,
                "run": list(range(1, len(runs.written_bytes) + 1)),
                "written_gb": runs.written_gb(),
                "write_mb_s": runs.speeds(),
            }
        )
        for key, runs in found.items()
    )
    fall_gb = whole.fall_gb()
    fallen = f"falls to {100 * whole.last():.0f} % after {fall_gb:.1f} GB" if fall_gb is not None else "does not fall"
    return StudyResult(
        finding=f"With a reserve that leaves hardly any spare area the full drive {fallen}, and with unpartitioned "
        f"space it keeps {100 * partitioned.last():.0f} % over all 36 runs. Of the other accounts, an SLC cache of 5 "
        "GB ends at "
        f"{100 * found[Key(CACHE, PARTITIONED, seed=seed)].last():.0f} % over-provisioned too, and a pool over a dirty "
        f"spare area keeps {100 * found[Key(POOL, WHOLE, seed=seed)].last():.0f} % on the full drive. An SLC cache "
        f"with a share of the free space ends at {100 * found[Key(FREE_SHARE, WHOLE, seed=seed)].last():.0f} % and "
        f"{100 * found[Key(FREE_SHARE, PARTITIONED, seed=seed)].last():.0f} %: the published pictures cannot tell it "
        "from the reserve.",
        rows=_of_the_reserve(found, context),
        figures=_figures(found, context),
        series={"runs": frame},
        tables=[_table(found, context)],
    )


FITTED = Fitted(("reserve", "writes per flush"), 2)
"""Fitted to the position of the drop, which depends on the reserve, and to the speed with over-provisioning, which
depends on the flushes."""


@dataclass(frozen=True)
class _Figure:
    value: float | Range
    printed: Printed
    tolerance: float


def _published(what: str) -> _Figure:
    (row,) = (row for row in published(FOLDER / "figures.csv") if row["what"] == what)
    low, high = float(row["low"]), float(row["high"])
    printed: Printed = "text" if row["printed"] == "text" else "ours"
    return _Figure(low if low == high else Range(low, high), printed, float(row["tolerance"]))


def _of_the_reserve(found: Found, context: Context) -> list[Row]:
    seed = context.seed
    whole = [found[Key(RESERVE, WHOLE, seed=each)] for each in context.seeds(SEEDS)]
    partitioned = [found[Key(RESERVE, PARTITIONED, seed=each)] for each in context.seeds(SEEDS)]
    small = {each: [found[Key(RESERVE, state, seed=each)].first() for state in SMALL] for each in context.seeds(SEEDS)}
    gains = [100 * (partitioned / whole - 1) for whole, partitioned in small.values()]
    naive = {
        state: found[Key(NAIVE, state, seed=seed)].until(len(whole[0].written_bytes))
        for state in (WHOLE, PARTITIONED, TRIMMED)
    }
    falls = [gb for runs in whole if (gb := runs.fall_gb()) is not None]
    lasts = [100 * runs.last() for runs in whole]
    kept = [100 * runs.last() for runs in partitioned]
    group = f"36 runs, with a reserve that leaves hardly any spare area (a flush every {WRITES_A_FLUSH} writes)"
    fall, kept_speed = _published("written before the fall"), _published("speed at the end over-provisioned")
    trimmed, gain = _published("speed at the end after fstrim"), _published("gain in the small test")
    left, free, own, shrunk = (
        _published("left free by the copies"),
        _published("free in the file system"),
        found[Key(RESERVE, OWN_COPIES, seed=seed)],
        found[Key(RESERVE, SHRUNK, seed=seed)],
    )
    blogs = "The blog's own commands: copies of 80 files, then the aged file system shrunk"
    return [
        Row(
            "written before the speed falls",
            fall.value,
            whole[0].fall_gb(),
            "GB",
            tolerance=fall.tolerance,
            printed=fall.printed,
            fitted=FITTED,
            unfitted=naive[WHOLE].fall_gb(),
            spread=(min(falls), max(falls)) if falls else None,
            group=group,
            note="Published: shortly after 5 GB. Without the reserve all of the hidden spare area is free, and the 36 "
            "runs end before any fall: see the comparison of the hypotheses.",
        ),
        Row(
            "speed of the last 12 runs, of the first 3",
            None,
            lasts[0],
            "%",
            fitted=FITTED,
            unfitted=100 * naive[WHOLE].last(),
            spread=(min(lasts), max(lasts)),
            group=group,
            note="The source shows a collapse in a picture and prints no number.",
        ),
        Row(
            "the same, over-provisioned",
            kept_speed.value,
            kept[0],
            "%",
            tolerance=kept_speed.tolerance,
            in_points=True,
            printed=kept_speed.printed,
            fitted=FITTED,
            unfitted=100 * naive[PARTITIONED].last(),
            spread=(min(kept), max(kept)),
            group=group,
        ),
        Row(
            "the same, not over-provisioned, after fstrim",
            trimmed.value,
            100 * found[Key(RESERVE, TRIMMED, seed=seed)].last(),
            "%",
            tolerance=trimmed.tolerance,
            in_points=True,
            printed=trimmed.printed,
            fitted=FITTED,
            is_left_out=True,
            unfitted=100 * naive[TRIMMED].last(),
            group=group,
            note="Predicted: the fit needed neither this row nor anything that was published of it.",
        ),
        Row(
            "gain from over-provisioning with 64 GiB of files on an empty drive",
            gain.value,
            gains[0],
            "%",
            tolerance=gain.tolerance,
            in_points=True,
            printed=gain.printed,
            spread=(min(gains), max(gains)),
            is_unexplained=True,
            group=group,
            note="Not explained: nothing in the model makes the over-provisioned drive slower when nothing is full. "
            "A test of a real drive is not that exact: three runs of sequential writes on a Toshiba XG6 lay 13 % apart "
            "(github.com/jhkay/nvmevirt-xg6-reproducibility, appendix A.4).",
        ),
        Row(
            "free in the file system of the whole drive",
            free.value,
            free_gb(drive_of(DRIVE).capacity.user_bytes),
            "GB",
            tolerance=free.tolerance,
            printed=free.printed,
            is_input=True,
            group=blogs,
            note="140 GiB of files on a drive of 256 GB cannot leave only 50 GB; the file system of 186 GiB leaves "
            "nearly that, and may be what is meant.",
        ),
        Row("free in the file system of 186 GiB", None, free_gb(SHRUNK_BYTES), "GB", group=blogs),
        Row(
            "left free to the controller by test_file.[1-8]?",
            left.value,
            own.left_bytes / 1e9,
            "GB",
            tolerance=left.tolerance,
            printed=left.printed,
            group=blogs,
            note="Published: about 5 GB. Copies of 82 files instead of 80 leave as much; the other rows are of these.",
        ),
        Row(
            "written before the speed falls",
            fall.value,
            own.fall_gb(),
            "GB",
            tolerance=fall.tolerance,
            printed=fall.printed,
            fitted=FITTED,
            is_left_out=True,
            group=blogs,
            note="Predicted with the reserve that was fitted to the fall with 5 GB left.",
        ),
        Row(
            "speed of the last 12 runs over-provisioned, of the first 3",
            kept_speed.value,
            100 * shrunk.last(),
            "%",
            tolerance=kept_speed.tolerance,
            in_points=True,
            printed=kept_speed.printed,
            fitted=FITTED,
            is_left_out=True,
            group=blogs,
            note="fstrim, resize 186GiB, copies, 36 more runs on the file system that the first runs aged.",
        ),
    ]


def _table(found: Found, context: Context) -> Table:
    rows: list[list[str | float | None]] = []
    for writes in (WRITES_A_FLUSH, WRITES_A_ROUND):
        for account in ACCOUNTS:
            whole, partitioned = (found[Key(account, state, writes, context.seed)] for state in (WHOLE, PARTITIONED))
            ends = [100 * whole.last(), partitioned.fall_gb(), 100 * partitioned.last()]
            rows.append([account, str(writes), whole.first(), whole.fall_gb(), *ends])
    return Table(
        "Comparison of the hypotheses",
        [
            "account",
            "writes per flush",
            "first speed, MB/s",
            "falls after, GB",
            "speed at the end, %",
            "over-provisioned: falls after, GB",
            "over-provisioned: at the end, %",
        ],
        rows,
        "Published: a fall shortly after 5 GB, and none over-provisioned. An empty cell: it does not fall. With a "
        "flush behind 100 writes only, 36 runs write so much that the free space of the "
        "over-provisioned drive is used up as well.",
    )


def _figures(found: Found, context: Context) -> "list[Figure]":
    from ssdlab.presentation.report.charts.published import Line, Marks, Panel, published_lines, published_panels

    of_reserve = {state: found[Key(RESERVE, state, seed=context.seed)] for state in (WHOLE, PARTITIONED)}
    fall_gb = of_reserve[WHOLE].fall_gb() or 0.0
    spread = {
        state: [found[Key(RESERVE, state, seed=seed)] for seed in context.seeds(SEEDS)]
        for state in (WHOLE, PARTITIONED)
    }

    def fall_of(value: str) -> "list[Marks]":
        """The first run after the fall of the full drive."""
        runs = of_reserve[WHOLE]
        at = next((run for run, gb in enumerate(runs.written_gb()) if gb > fall_gb), None)
        return [] if not fall_gb or at is None else [Marks("the fall", [(float(at + 1), getattr(runs, value)()[at])])]

    def band(state: str, values: "list[list[float]]") -> "list[tuple[float, float, float]]":
        return [(float(run), min(each), max(each)) for run, each in enumerate(zip(*values, strict=True), start=1)]

    def lines_of(value: str) -> "list[Line]":
        made = []
        for state, runs in of_reserve.items():
            points = [(float(run), y) for run, y in enumerate(getattr(runs, value)(), start=1)]
            several = [getattr(each, value)() for each in spread.get(state, [])]
            made.append(Line(state, points, band(state, several) if several else ()))
        return made

    pictures = [
        published_panels(
            name="speed-and-data",
            title=f"The full drive collapses after {fall_gb:.1f} GB of random writes; with unpartitioned space it "
            "does not",
            caption="Speed of each of 36 runs of sysbench fileio rndwr, 10 s each, over 140 GiB of files, and below it "
            "what they have written; with a reserve that leaves hardly any spare area. The shade is the spread over "
            f"{SEEDS} seeds; the diamond, the first run after the fall. Published: a fall shortly after 5 GB without "
            "over-provisioning, and none with it.",
            panels=[
                Panel("speed, MB/s", lines_of("speeds"), fall_of("speeds")),
                Panel("written, GB", lines_of("written_gb"), fall_of("written_gb")),
            ],
            x_title="run",
        ),
    ]
    ends = {
        (account, state): 100 * found[Key(account, state, seed=context.seed)].last()
        for account in ACCOUNTS
        for state in (WHOLE, PARTITIONED)
    }
    for name, state, title in (
        (
            "accounts",
            WHOLE,
            f"Full: a reserve ends at {ends[RESERVE, WHOLE]:.0f} %, an SLC cache at {ends[CACHE, WHOLE]:.0f} %, a pool "
            f"over dirty spare area at {ends[POOL, WHOLE]:.0f} %",
        ),
        (
            "accounts-over-provisioned",
            PARTITIONED,
            f"Over-provisioned: a reserve keeps {ends[RESERVE, PARTITIONED]:.0f} %, an SLC cache "
            f"{ends[CACHE, PARTITIONED]:.0f} %, a pool {ends[POOL, PARTITIONED]:.0f} %",
        ),
    ):
        chosen = {
            account: found[Key(account, state, seed=context.seed)]
            for account in (NAIVE, RESERVE, POOL, CACHE, FREE_SHARE)
        }
        lines = [
            Line(
                account,
                [(gb, 100 * speed / runs.first()) for gb, speed in zip(runs.written_gb(), runs.speeds(), strict=True)],
            )
            for account, runs in chosen.items()
        ]
        pictures.append(
            published_lines(
                name=name,
                title=title,
                caption=f"Speed of each run as a share of the first three, against what has been written, {state}: the "
                "accounts of why the drive falls so early, and what all of its hidden spare area would give.",
                lines=lines,
                x_title="written, GB",
                y_title="speed, % of the first runs",
            )
        )
    return [*pictures, _choice_of_reserve(found, context), _choice_of_flush(found, context)]


def _choice_of_reserve(found: Found, context: Context) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    fall = _published("written before the fall").value
    assert isinstance(fall, Range) and fall.high is not None
    falls = [
        (reserve, found[Key(RESERVE, WHOLE, seed=context.seed, reserve_gb=reserve)].fall_gb())
        for reserve in CHOICES_OF_RESERVE_GB
    ]
    known = [(reserve, gb) for reserve, gb in falls if gb is not None]
    title = "Written before the fall, by reserve"
    if len(known) > 1:
        (less, late), (more, early) = known[0], known[-1]
        title = f"{rounded(more - less)} GB more of reserve let the fall come {rounded(late - early)} GB sooner"
    return published_lines(
        name="choice-of-the-reserve",
        title=title,
        caption="Written before the speed falls on the full drive, against the flash that the drive reserves; the "
        'diamonds are the ends of our reading of "shortly after 5 GB", at the reserve that was fitted.',
        lines=[Line("simulated", known, dotted=True)],
        marks=[Marks("our reading", [(RESERVE_GB, fall.low), (RESERVE_GB, fall.high)])],
        x_title="reserve, GB",
        y_title="written before the fall, GB",
    )


def _choice_of_flush(found: Found, context: Context) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    lines = [
        Line(
            state,
            [
                (float(writes), 100 * found[Key(RESERVE, state, writes, context.seed)].last())
                for writes in CHOICES_OF_FLUSH
            ],
            dotted=True,
        )
        for state in (WHOLE, PARTITIONED)
    ]
    kept = _published("speed at the end over-provisioned").value
    assert isinstance(kept, float)
    return published_lines(
        name="choice-of-the-flush",
        title="Flushes after every few writes are what spares the over-provisioned drive within 36 runs",
        caption="Speed of the last 12 runs as a share of the first 3, against the writes between two flushes; the "
        "diamond is our reading of the published picture, at the number that was chosen.",
        lines=lines,
        marks=[Marks(PARTITIONED, [(float(WRITES_A_FLUSH), kept)])],
        x_title="writes per flush",
        y_title="speed at the end, % of the first runs",
        scale_x="log",
    )
