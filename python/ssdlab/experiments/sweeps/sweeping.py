"""`ssdlab.sweep`: executes the runs of a sweep file, stores the results, and returns their rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ssdlab.errors import InputError
from ssdlab.experiments.sweeps import pictures
from ssdlab.experiments.sweeps.cluster import on_cluster
from ssdlab.experiments.sweeps.dataset import Dataset, query
from ssdlab.experiments.sweeps.execution import Progress, Sweep, carry_out, on_this_machine
from ssdlab.experiments.sweeps.file import SweepFile, load
from ssdlab.experiments.sweeps.plan import plan
from ssdlab.experiments.sweeps.rows import column
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.shown import Shown


@dataclass(frozen=True, repr=False)
class Swept(Shown):
    """A sweep and its stored results."""

    content: SweepFile
    runs: Sweep

    def __repr__(self) -> str:
        return f"<Swept: {self.content.name}, {len(self.runs.all_keys())} runs over {', '.join(self.axes)}>"

    @property
    def axes(self) -> Sequence[str]:
        """The columns of the axes, in the order of the file."""
        return [column(axis) for axis in self.content.axes]

    def rows(self) -> pl.DataFrame:
        """A frame with one row for each stored run and all columns of `ssdlab.experiments.sweeps.rows.row`."""
        kept = self.runs.dataset.keys()
        return self.runs.dataset.frame([key for key in self.runs.all_keys() if key in kept])

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each run: the axes that vary, then figures; `ssdlab.experiments.sweeps.rows.row`
        describes them.

        The data set under `runs.dataset` has the complete results and the columns that do not vary.
        """
        rows = self.rows()
        return rows.drop("result_json", *(name for name in self.axes if rows[name].n_unique() == 1))

    def figures(self) -> list[Figure]:
        """WAF, rates and latency against the numeric axis with the most values."""
        return pictures.figures(self.rows(), self.axes)

    def query(self, sql: str) -> pl.DataFrame:
        """Executes one SELECT in DuckDB's SQL over `runs` (stored runs of this sweep) and `all_runs` (all stored runs).

        Raises InputError for other statements, with DuckDB's message, or if no run of the sweep is stored.
        """
        rows = self.rows()
        if rows.is_empty():
            place = self.runs.dataset.place
            raise InputError(f"{place}: no result of this sweep is stored yet; run it without --query first")
        return query(rows, self.runs.dataset.frame(), sql)

    def write_report(self, directory: str | Path, *, command_line: str | None = None) -> None:
        """Writes report.html and its pictures; the page shows `command_line` as the command that repeats the sweep."""
        about = f"{len(self.runs.all_keys())} runs over {', '.join(self.content.axes)}"
        pictures.write_report(
            self.rows(),
            self.axes,
            Path(directory),
            subtitle=f"{self.content.name}: {self.content.description or about}",
            line=command_line,
        )


def swept(file: str | Path, output: str | Path | None = None) -> Swept:
    """The sweep of a file with its stored results; nothing is run. Raises InputError."""
    path = Path(file)
    content = load(path)
    place = str(output) if output is not None else str(Path("out") / f"sweep-{content.name}")
    return Swept(content, Sweep(plan(content, path), Dataset(place)))


def sweep(
    file: str | Path,
    *,
    output: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    on_progress: Progress | None = None,
) -> Swept:
    """Executes the runs of a sweep file without a stored result, as `ssdlab sweep`.

    `output` is a folder or an fsspec URL ("s3://..."), by default out/sweep-NAME. Results are stored there under the
    hash of their specification, so that the next call continues after an interruption. `workers` is the number of
    parallel processes, by default as many as processors and memory allow. `cluster` is a Dask scheduler
    ("tcp://scheduler:8786") to use instead of local processes. `on_progress` is called with the number of finished
    runs, and the sum of the finished shares of the running ones.

    Raises InputError for an invalid file, point or place before anything is run; RunFailed if a run fails.

        swept = ssdlab.sweep("sweeps/spare-area.toml")
        swept.frame(), swept.query("select op, avg(waf) from runs group by op")
    """
    if cluster and workers:
        raise InputError("--jobs counts processes of this machine; with --cluster the workers' own threads count")
    asked = swept(file, output)
    asked.runs.dataset.make()
    asked.runs.dataset.tidy()
    carry_out(asked.runs, on_cluster(cluster) if cluster else on_this_machine(workers, on_progress))
    return asked
