"""The article's steps on a file in a folder, or on a device: how much slower it reads after each rewriting."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.contract import Range, Row, published
from ssdlab.experiments.studies.internal_fragmentation.drives import CELLS, FOLDER, STEPS
from ssdlab.experiments.studies.real import Real, ratio, step, steps

FILE_BYTES = 4 << 30
READINGS = 3


def points(setting: Setting) -> Sequence[Point]:
    size = min(setting.size_bytes, FILE_BYTES)
    made = steps(FOLDER / "rewrites.fio", Fraction(size, FILE_BYTES))
    if setting.quick:
        made = [replace(each, idle_seconds=0.0) for each in made if each.name != "read-after-an-hour"]
    return [Point("", made)]


def rows(figures: Sequence[Figures]) -> list[Row]:
    table = published(FOLDER / "figures.csv")
    (tolerance,) = {float(row["tolerance"]) for row in table}
    found = []
    fresh = _seconds(figures, "fresh")
    for amount, cell in zip(STEPS[1:], CELLS[1:], strict=True):
        slowdowns = [float(row[cell]) / float(row["fresh"]) for row in table]
        found.append(
            Row(
                f"reading after {amount} MiB of 4 GiB rewritten",
                Range(round(min(slowdowns), 2), round(max(slowdowns), 2)),
                ratio(_seconds(figures, str(amount)), fresh),
                "x the fresh one's time",
                tolerance=tolerance,
                group="Sequential reading; published: ten drives",
            )
        )
    remedied = ratio(step(figures, "read-after-remedy").seconds, fresh)
    return [*found, Row("reading after the remedy", 1.0, remedied, "x the fresh one's time", tolerance=tolerance)]


def _seconds(figures: Sequence[Figures], amount: str) -> float | None:
    """The mean of the known times of three readings; None if none is known."""
    each = [step(figures, f"read-{amount}-{number}").seconds for number in range(1, READINGS + 1)]
    known = [seconds for seconds in each if seconds is not None]
    return sum(known) / len(known) if known else None


REAL = Real(
    Protocol(
        name="internal-fragmentation",
        title="Does a file that was rewritten at random read slower in sequence?",
        source="rewrites.fio, scaled to the place where it is smaller than 4 GiB",
        quick_gives_up="all waits, the hour among them, in which a drive may repair itself",
        points=points,
        columns=("read_mb_s", "write_mb_s", "waf"),
    ),
    rows,
)
