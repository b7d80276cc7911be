"""`ssdlab.study`: repeats a published experiment and returns its rows."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ssdlab.errors import InputError
from ssdlab.experiments.studies import output, registry, wording
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Range, Row, Study, StudyResult
from ssdlab.presentation.report.chosen import Pictures, choosing
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.runs import ShowProgress, silent


@dataclass(frozen=True, repr=False)
class Studied(Shown):
    """A finished study: its rows, published and simulated, and its pictures."""

    study: Study
    result: StudyResult
    context: Context

    def __repr__(self) -> str:
        return f"<Studied: {self.study.name}, {wording.verdict(self.result.rows)}>"

    @property
    def finding(self) -> str:
        """The answer in one or two sentences."""
        return self.result.finding

    def frame(self) -> pl.DataFrame:
        """A frame with one row per figure.

        Columns: group, what, unit, published_min and published_max (equal for a single number; null for no upper end,
        or if nothing was published), simulated, deviation (a share, or in `unit` for rows with `in_points`), verdict.
        """
        return pl.DataFrame([_row(row) for row in self.result.rows], schema=_SCHEMA)

    def figures(self) -> Sequence[Figure]:
        """The pictures of the study's page."""
        return self.result.figures

    def write(self, directory: str | Path, *, pictures: Pictures | None = None) -> list[str]:
        """Writes report.html, result.json and the series as Parquet, all or none. Returns their names.

        `pictures="svg"` or `"all"` (SVG and PNG) also writes the page's pictures as separate files.
        """
        context = self.context
        line = command_line(
            self.study.name, full=context.full, seed=context.seed, drive=context.drive, readings=context.readings
        )
        with choosing(pictures):
            return output.write(self.study, self.result, self.context, Path(directory), line)


def study(
    name: str,
    *,
    seed: int = 1,
    full: bool = False,
    workers: int | None = None,
    drive: str | None = None,
    readings: Sequence[str | Path] = (),
    show_progress: ShowProgress = silent,
) -> Studied:
    """Repeats a published experiment on simulated drives, as `ssdlab study NAME`.

    `full` simulates the full capacity for studies that are scaled by default. `workers` is the number of processes, by
    default as many as processors and memory allow. `drive` limits `data-sheets` and
    `ocp-acceptance` to one drive, a name or a drive file.
    `readings` are files of readers' drives, which internal-fragmentation draws beside its own.
    Raises InputError, with the known names, for an unknown name; RunFailed if a run failed.

        ssdlab.study("pny-over-provisioning").frame().select("what", "published_min", "simulated", "verdict")
    """
    chosen = registry.study(name)
    if drive is not None and not chosen.takes_drive:
        raise InputError(f"{name} has drives of its own; data-sheets and ocp-acceptance can study one drive")
    if readings and name != "internal-fragmentation":
        raise InputError(f"{name} takes no readings of other drives; internal-fragmentation does")
    files = tuple(Path(each) for each in readings)
    context = Context(seed=seed, full=full, workers=workers, show_progress=show_progress, drive=drive, readings=files)
    return Studied(chosen, chosen.run(context), context)


def command_line(what: str, *, full: bool, seed: int, drive: str | None = None, readings: Sequence[Path] = ()) -> str:
    """The command line that repeats a study. `what` is its name, or --all."""
    files = [word for path in readings for word in ("--readings", str(path))]
    options = [*(["--drive", drive] if drive else []), *files, *(["--full"] if full else []), "--seed", str(seed)]
    return shlex.join(["ssdlab", "study", what, *options])


_SCHEMA = {
    "group": pl.String,
    "what": pl.String,
    "unit": pl.String,
    "published_min": pl.Float64,
    "published_max": pl.Float64,
    "simulated": pl.Float64,
    "deviation": pl.Float64,
    "in_points": pl.Boolean,
    "verdict": pl.String,
}


def _row(row: Row) -> dict[str, str | float | None]:
    low, high = (row.published.low, row.published.high) if isinstance(row.published, Range) else (row.published,) * 2
    return {
        "group": row.group,
        "what": row.what,
        "unit": row.unit,
        "published_min": low,
        "published_max": high,
        "simulated": row.simulated,
        "deviation": row.deviation,
        "in_points": row.in_points,
        "verdict": row.verdict,
    }
