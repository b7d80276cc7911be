"""Compares every depth of every ladder, with a picture of the requests a second."""

from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import StudyResult
from ssdlab.experiments.studies.queue_depths import fitting, ladders, predicting
from ssdlab.simulator.drives import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.experiments.studies.queue_depths.fitting import LadderFit
    from ssdlab.experiments.studies.queue_depths.ladders import Step
    from ssdlab.presentation.report.figure import Figure

FIGURES = Path(__file__).parent / "figures.csv"


def run(context: Context) -> StudyResult:
    """Fits a drive to two depths of each ladder and simulates all depths."""
    found = predicting.predict(context, ladders.load(FIGURES), load(str(fitting.BASE)))
    return StudyResult(
        finding=found.finding,
        rows=found.rows,
        figures=[_picture(found.fits, found.steps)],
        tables=[fitting.median_table(found.fits, found.steps)],
        notes=[
            "Rows of depths other than 1 and 32 are predictions: nothing was fitted to them.",
            "A ladder of a drive of your own: ssdlab fit --queue-depths FILE.csv.",
        ],
    )


def _picture(fits: "Mapping[str, LadderFit]", steps: "Mapping[str, Mapping[int, Step]]") -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    def points(of: "Mapping[int, Step]") -> "Sequence[tuple[float, float]]":
        return [(float(depth), step.iops / 1000) for depth, step in of.items()]

    reads = {label: found for label, found in fits.items() if found.ladder.is_reads}
    return published_lines(
        name="reads-by-depth",
        title="Random reads a second by queue depth: depths 1 and 32 are fitted, the others are predicted",
        caption="4 KiB, SATA: lines simulated, marks measured.",
        lines=[Line(label, points(steps[label])) for label in reads],
        marks=[Marks(label, points(found.ladder.steps)) for label, found in reads.items()],
        x_title="requests outstanding",
        y_title="thousand reads a second",
        scale_x="log",
    )
