"""The published experiments, repeated: a folder each, one contract, one way to run, print and draw them.

A study is a folder of this package that holds

- `study.py` with one object `STUDY`, a `Study`: name, title, source, assumptions, job files, `run`;
- its job files (`*.fio`): the steps of the experiment as data, so that another target can run the very same ones;
- `figures.csv` with the published figures and their source, read by `published`;
- `README.md`, a short page: what was done, what is assumed and why, what came out.

and a line in `registry.py`. `study.py` is imported to list the studies, so it imports what is heavy inside `run`.

`run(context)` gets a `Context` and gives a `StudyResult`:

    def run(context: Context) -> StudyResult:
        scale = context.scale("1/16")                       # None with --full
        job = context.job(FOLDER / "random-writes.fio", MINUTES="240")   # ${MINUTES} in the file
        specifications = {label: specify(job, drive_of(name, scale=scale), seed=context.seed) for ...}
        results = context.simulate(specifications)          # in worker processes, with progress
        rows = [Row("steady state, 7 % over 0 %", Range(80), simulated=..., unit="%", tolerance=0.05)]
        figures = [published_lines(name=..., title="a finding in one sentence", ...)]
        return StudyResult(finding="...", rows=rows, figures=figures, series={"over-time": frame})

Rules. A simulated figure comes from the engine and a drive file alone. Every row with a published figure has a
tolerance, which stands in `figures.csv` and is the same rule for all rows of a study; it was set before anything was
fitted. A row says how its figure is printed (`printed`; a range that was read out of words or a picture is `"ours"`),
what was fitted to how many points (`fitted`; a choice counts where the figure depends on it), and what the same drive
gives with the fitted keys taken back (`unfitted`). The verdict counts every published figure: met, missed, input,
saturated. A figure that comes of something the model does not have is missed and says so (`is_unexplained`). The
procedure as published comes first; variants of it come after and are not counted again. A picture named
`choice-of-NAME` shows how a figure moves with each choice; what other assumptions would give is a table.
A row that a target cannot measure has `simulated=None` and a `note` why. A deviation is a share of the published
figure, or, with `in_points`, a difference in the row's unit (for figures that are percentages themselves). The title
of a figure is its finding. Charts name no colours: see `ssdlab.report.theme`; `ssdlab.report.charts.published` draws
lines with their spread over seeds and published marks.
"""

from ssdlab.studies.context import Context
from ssdlab.studies.contract import Assumption, Fitted, Range, Row, Study, StudyResult, Table, joined, published

__all__ = ["Assumption", "Context", "Fitted", "Range", "Row", "Study", "StudyResult", "Table", "joined", "published"]
