"""The published experiments, one folder each, with a common contract and common code to run, print and draw them.

A study is a folder of this package that holds

- `study.py` with one object `STUDY`, a `Study`: name, title, source, assumptions, job files, `run`;
- its job files (`*.fio`): the steps of the experiment as data, so that another target can run the same steps;
- `figures.csv` with the published figures and their source, read by `published`;
- `README.md`, a short page: the procedure, the assumptions with reasons, the results.

and has a line in `registry.py`. `study.py` is imported to list the studies, so heavy imports belong inside `run`.

`run(context)` gets a `Context` and returns a `StudyResult`:

    def run(context: Context) -> StudyResult:
        scale = context.scale("1/16")                       # None with --full
        job = context.job(FOLDER / "random-writes.fio", MINUTES="240")   # ${MINUTES} in the file
        specifications = {label: specify(job, drive_of(name, scale=scale), seed=context.seed) for ...}
        results = context.simulate(specifications)          # in worker processes, with progress
        rows = [Row("steady state, 7 % over 0 %", Range(80), simulated=..., unit="%", tolerance=0.05)]
        figures = [published_lines(name=..., title="a finding in one sentence", ...)]
        return StudyResult(finding="...", rows=rows, figures=figures, series={"over-time": frame})

Rules. A simulated figure comes only from the engine and a drive file. Every row with a published figure has a
tolerance in `figures.csv`, by one rule for all rows of a study, set before anything is fitted. A row has the way its
figure is printed (`printed`; a range read from words or a picture is `"ours"`), the parameters fitted and the number of
points (`fitted`; a choice counts if the figure depends on it), and the figure with the fitted keys reset (`unfitted`).
The verdict counts every published figure: met, missed, input, saturated. A figure whose cause is missing in the model
counts as missed and is marked (`is_unexplained`). The procedure as published comes first; variants follow and are not
counted again. A picture named `choice-of-NAME` shows a figure as a function of each choice; a table has the results of
other assumptions.
A row that a target cannot measure has `simulated=None` and a `note` with the reason. A deviation is a share of the
published figure, or, with `in_points`, a difference in the row's unit (for figures that are percentages). The title of
a figure is its finding. Charts set no colours: see `ssdlab.presentation.report.theme`;
`ssdlab.presentation.report.charts.published` draws lines with their spread over seeds and published marks.
"""

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import (
    Assumption,
    Fitted,
    Range,
    Row,
    Study,
    StudyResult,
    Table,
    joined,
    published,
)

__all__ = ["Assumption", "Context", "Fitted", "Range", "Row", "Study", "StudyResult", "Table", "joined", "published"]
