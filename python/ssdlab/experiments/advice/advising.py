"""`ssdlab.advise`: the smallest spare area with which a workload meets its limits, and the evidence."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import polars as pl

from ssdlab.errors import notify
from ssdlab.experiments.advice import limits, page, placement, words
from ssdlab.experiments.advice.alternatives import alternatives
from ssdlab.experiments.advice.confirmation import at_second_scale, confirmed, with_drive_as_sold
from ssdlab.experiments.advice.described import Described
from ssdlab.experiments.advice.placement import Placement
from ssdlab.experiments.advice.recorded import Trace
from ssdlab.experiments.advice.search import Found, least, rounded_out
from ssdlab.experiments.advice.setting import Setting, larger_of
from ssdlab.experiments.advice.trials import Demand, Progress, Trials
from ssdlab.experiments.advice.words import Sentence
from ssdlab.experiments.advice.workload import Reading, daily_writes, workload_of
from ssdlab.foundation.quantities import format_share
from ssdlab.presentation.report.figure import Figure
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.drives import load

# Mapping units of a miniature: enough for a write amplification within one or two percent of the full drive's.
_UNITS = 1_000_000
_UNITS_TIMED = 400_000


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """The share of the drive that should stay empty, and every run that supports it."""

    headline: Sentence
    sentences: Sequence[Sentence]
    """Figures, their uncertainty and alternatives; each sentence names its runs."""
    found: Found
    trials: Trials
    placement: Placement | None = None
    """The effect of placement and its value; None for a workload without writes, or if nothing was run."""

    def __repr__(self) -> str:
        share = self.over_provisioning
        said = "no spare area holds the limits" if share is None else f"over-provisioning {format_share(share)}"
        return f"<Advice: {self.trials.setting.file.name}, {said}, {len(self.trials.done)} runs>"

    @property
    def over_provisioning(self) -> float | None:
        """The smallest share, (T - U) / U, that meets all limits; None if none of the tested ones does."""
        return self.found.over_provisioning

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each run.

        Columns: run (its name in the sentences), purpose, over_provisioning (share), scale (text), seed, its figures
        (waf, years, write_mb_s, latencies in ns, prices), and failure (text).
        """
        names = dict.fromkeys(name for trial in self.trials.done for name in trial.figures)
        rows = [
            {
                "run": trial.name,
                "purpose": trial.purpose,
                "over_provisioning": trial.over_provisioning,
                "scale": str(trial.scale or 1),
                "seed": trial.seed,
                **{_column(name): trial.figure(name) for name in names},
                "failure": trial.failure,
            }
            for trial in self.trials.done
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def figures(self) -> list[Figure]:
        """One picture for each limit: its figure against over-provisioning, with the bound."""
        return page.figures(self.trials, self.found)

    def write(self, directory: str | Path, *, question: str = "Spare area", command_line: str = "") -> list[str]:
        """Writes report.html, its pictures and result.json, all or none. Returns their names."""
        return page.write(
            self.trials,
            self.found,
            self.headline,
            self.sentences,
            Path(directory),
            placement=self.placement.to_dict() if self.placement else None,
            question=question,
            line=command_line,
        )


def advise(
    workload: str | Path | Sequence[str | Path] | Described,
    drive: str | Path,
    *,
    life: str | None = None,
    writes_per_day: str | None = None,
    waf: float | None = None,
    write_rate: str | None = None,
    latency: str | Sequence[str] = (),
    price: str | None = None,
    drive_price: float | None = None,
    settings: Mapping[str, str] | None = None,
    format_name: str | None = None,
    volume: str | None = None,
    merge_volumes: bool = False,
    skip_bad: int = 0,
    columns: str | None = None,
    device: str | None = None,
    whole: bool = False,
    scale: Fraction | None = None,
    seed: int = 1,
    workers: int | None = None,
    on_progress: Progress | None = None,
) -> Advice:
    """Finds the smallest spare area with which a workload meets its limits, as `ssdlab advise space`.

    `workload` is a fio job file, the files of a trace, or a log of rates, such as of iostat, with its `device`. The
    `format_name` of a trace is detected by default; `volume` names one of its volumes, `merge_volumes` uses all at
    their recorded addresses, `skip_bad` is the number of malformed lines that can be skipped, `columns` those of a text
    in no known format. `drive` is a name from the catalogue or a .toml file, with `settings` of its keys. At least one
    limit is needed: `life` ("5y", needs `writes_per_day`, "2TB", by default that of a trace), `waf` (maximum),
    `write_rate` ("400MB/s"), `latency` ("write.p99=2ms"); `price` ("0.08USD/GB" usable) limits the spare area from
    above. `drive_price` is the price of the drive, by default that of the drive file. `whole` verifies with runs of the
    whole drive, which take minutes; `scale` is that of the runs that search, by default about a million mapping units,
    and `seed` the first of their seeds. `on_progress` is called with the current step and the share of it that is done.

    Notes on the workload are warnings of the category `ssdlab.errors.Note`. Raises InputError, which names the option
    of the command, its value and what is allowed, and RunFailed if a run fails.

        advice = ssdlab.advise("jobs/randwrite.fio", "generic-tlc-480", life="5y", writes_per_day="500GB")
        advice.over_provisioning, advice.headline.text
    """
    several = [latency] if isinstance(latency, str) else latency
    with asked(
        workload,
        drive,
        limits.Wanted(life, writes_per_day, waf, write_rate, several, price, drive_price),
        settings=settings,
        reading=Reading(format_name, volume, merge_volumes, skip_bad, columns, device),
        workers=workers,
        scale=scale,
        seed=seed,
    ) as trials:
        notify(trials.notes)
        trials.on_progress = on_progress
        found = answer(trials, whole=whole)
        return explained(trials, found)


@contextmanager
def asked(
    workload: str | Path | Sequence[str | Path] | Described,
    drive: str | Path,
    wanted: limits.Wanted,
    *,
    settings: Mapping[str, str] | None = None,
    reading: Reading | None = None,
    workers: int | None = None,
    scale: Fraction | None = None,
    seed: int = 1,
) -> Iterator[Trials]:
    """The inputs of `advise`, read and checked; nothing has been run. Raises InputError."""
    file = load(str(drive))
    setting = Setting(file, dict(settings or {}), str(drive))
    with ExitStack() as stack:
        read: Described | Trace
        if isinstance(workload, Described):
            read = workload
        else:
            files = [workload] if isinstance(workload, str | Path) else workload
            read = workload_of([str(each) for each in files], setting.user_bytes_least, reading or Reading(), stack)
        daily_bytes, assumed = daily_writes(wanted.writes_per_day, read, needed=False)
        bounds = wanted.limits(daily_bytes)
        demand = Demand(daily_bytes, wanted.drive_price or file.market.price_usd)
        trials = Trials(read, setting, demand, bounds, workers, seed=seed, scale=scale)
        trials.notes = [*read.notes(timed=trials.timed), *assumed]
        yield trials


def answer(trials: Trials, *, whole: bool = False) -> Found:
    """The smallest spare area, searched with miniatures and verified with larger runs, or with `whole` drives, and what
    a second scale says of it."""
    scale = _scale(trials)
    larger = None if whole or scale is None else larger_of(trials.workload, trials.setting, scale)
    return at_second_scale(trials, confirmed(trials, least(trials, scale), larger), scale)


def explained(trials: Trials, found: Found) -> Advice:
    """The answer with its evidence and alternatives. This needs more runs, which do not change the answer."""
    headline = words.headline(trials, found)
    found = with_drive_as_sold(trials, found)
    scale = _scale(trials)
    curve = rounded_out(trials, found, scale) if found.curve else found
    others = alternatives(trials, curve, scale) if curve.curve else []
    placed = placement.placement(trials, curve, scale)
    said = words.sentences(trials, curve, others)
    if placed is not None:
        said.append(placement.sentence(placed, curve))
    return Advice(headline, said, curve, trials, placed)


def _scale(trials: Trials) -> Fraction | None:
    return trials.scale_for(_UNITS_TIMED if trials.timed else _UNITS)


def _column(figure: str) -> str:
    """The column of a figure: `write.p99` becomes `write_p99_ns`."""
    return f"{figure.replace('.', '_')}_ns" if "." in figure else figure
