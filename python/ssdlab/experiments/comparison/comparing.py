"""`ssdlab.compare`: compares one workload on several drives, spare areas or settings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from ssdlab.errors import notify
from ssdlab.evidence.estimate import Estimate
from ssdlab.experiments.comparison import output
from ssdlab.experiments.comparison.output import ComparedJson
from ssdlab.experiments.comparison.request import (
    Names,
    Running,
    Settings,
    SpareAreas,
    Stages,
    Variants,
    check_energy,
)
from ssdlab.experiments.comparison.variant import Variant
from ssdlab.foundation.quantities import AUTO
from ssdlab.presentation.report import headlines
from ssdlab.presentation.report.chosen import Pictures, choosing, write_figures
from ssdlab.presentation.report.shown import Shown, said
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import left_empty_sentences
from ssdlab.simulator.results import Result, drive_state
from ssdlab.simulator.results.compared import outcome
from ssdlab.simulator.results.latency import merged
from ssdlab.simulator.runs import ShowProgress, run_all, silent
from ssdlab.simulator.targets import auto_scale
from ssdlab.simulator.targets.preconditioning import specify_beginning
from ssdlab.simulator.workloads.specifying import PRECISION, Beginning, Until

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure

_RANKS = {"p50": 50.0, "p99": 99.0, "p99_9": 99.9}
_NS_PER_US = 1000


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The results of a comparison's variants, in the order of drives, settings, spare areas."""

    question: str
    """The workload and the number of variants, as text."""
    subtitle: str
    variants: Sequence[Variant]
    notes: Sequence[str] = ()
    """Sentences about options of the workload that have no effect on a simulated drive."""
    facts: Sequence[str] = ()
    """Sentences with further information about the runs."""
    start: str = "none"
    """The state of the drives at the start: a value of `--precondition`, or "saved"."""

    def __repr__(self) -> str:
        wafs = [waf for each in self.variants if (waf := each.result.settled_waf) is not None]
        found = f"WAF {said(min(wafs))} to {said(max(wafs))}" if wafs else "WAF not measured"
        return f"<{type(self).__name__}: {self.question}, {found}>"

    def __getitem__(self, label: str) -> Result:
        """The result of the variant with this label, such as "7 %". Raises KeyError, with the labels, if unknown."""
        results = {each.label: each.result for each in self.variants}
        if label not in results:
            raise KeyError(f"{label!r}; there are: {', '.join(results)}")
        return results[label]

    def __iter__(self) -> Iterator[Variant]:
        return iter(self.variants)

    def __len__(self) -> int:
        return len(self.variants)

    @property
    def headline(self) -> str:
        """The result of the comparison in one sentence."""
        said = headlines.of_variants([outcome(each.label, each.result, each.speed) for each in self.variants])
        caveats = [drive_state.caveat(each.result, self.start) for each in self.variants]
        return said + next(filter(None, caveats), "")

    def frame(self) -> pl.DataFrame:
        """A tidy frame: one row per variant, one column per quantity.

        Columns: variant (label), drive, op (over-provisioning, a share), policy (the victim policy), placement, seed;
        then waf, iops (1/s, reads and writes together), and p50, p99 and p99_9 (latencies of reads and writes together,
        in microseconds), each with _low and _high, the ends of its 95 % interval.

        Further: effective_over_provisioning (a share), theory (WAF in closed form), mb_s (10^6 bytes/s), read_ and
        write_latency_us_mean and _p999 (microseconds), tbw_bytes, years (at the comparison's drive writes per day),
        failure (text); over_provisioning is the older name of op. A value that was not measured is null.
        """
        rows = pl.DataFrame([_row(variant) for variant in self.variants], infer_schema_length=None)
        # A column without any value would have no type.
        return rows.with_columns(pl.col("failure").cast(pl.String)).with_columns(pl.col(pl.Null).cast(pl.Float64))

    def to_dict(self) -> ComparedJson:
        """The object of `result.json`: in fio's schema, with the jobs of all variants."""
        return output.one_object(self.variants)

    def series(self) -> pl.DataFrame:
        """A frame with one row per window of host writes of each variant: `variant` and the columns of
        `Result.timeseries`."""
        return output.labelled(self.variants, [each.result.timeseries for each in self.variants])

    def figures(self) -> "list[Figure]":
        """The pictures of the report."""
        from ssdlab.presentation.report.comparison import comparison_figures

        return comparison_figures(output.compared(self.variants, self.notes))

    def paper(self, directory: str | Path, *, command_line: str = "") -> list[str]:
        """Writes each picture for a paper: PDF and SVG, 3.3 inches wide, without titles, for print in grey.

        Beside each is its caption as text, with `command_line`, which should repeat it. Returns the names, below
        `pictures/` of the folder. Raises RunFailed if there is not enough memory to draw.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        with choosing("paper", command_line):
            return write_figures(self.figures(), folder)

    def write(
        self, directory: str | Path, *, command_line: str | None = None, pictures: Pictures | None = None
    ) -> list[str]:
        """Writes report.html, result.json and the series as Parquet, all or none. Returns their names.

        `pictures="svg"`, `"all"` (SVG and PNG) or `"paper"` (as `paper`) also writes the pictures. `command_line` is
        shown on the page; it should reproduce the files. Raises RunFailed if the disk is full.
        """
        with choosing(pictures, command_line):
            return output.write(
                self.variants,
                Path(directory),
                title=self.headline,
                subtitle=f"{self.question}; {self.subtitle}",
                command_line=command_line,
                notes=[*self.notes, *self.facts],
            )


def compare(
    job: str | Path,
    drives: Names,
    *,
    op: SpareAreas = None,
    left_empty: SpareAreas = None,
    settings: Settings = None,
    until: Until = "steady",
    precision: float = PRECISION,
    precondition: Beginning = "fill",
    dwpd: float = 1.0,
    co2e_per_kwh: float | None = None,
    scale: Fraction | str | None = AUTO,
    seed: int = 1,
    timed: bool = True,
    workers: int | None = None,
    show_progress: ShowProgress = silent,
) -> Comparison:
    """Runs a workload on every drive with every spare area and every combination of settings, as `ssdlab compare`.

    `job` is a fio job file, a file-system script (NAME.files) or "sysbench fileio ... run". `op`, `left_empty` (shares
    of the drive that the host leaves empty) and `settings` can have one value or several. `until="steady"` repeats the
    last stage until SNIA's steady state is reached and WAF and rates are known within `precision`, a share; "job" runs
    the job once. `precondition`: "fill" writes the whole drive sequentially first, "none" starts with a fresh drive,
    "steady" in the steady state that a smaller drive reaches. `dwpd`: drive writes per day, for life in years;
    `co2e_per_kwh`: CO2e of a kWh in g, for what the energy of drives with [power] causes. `scale`
    ("1/64") makes drive and workload smaller; "auto" is as `--scale auto`, None is the whole drive. `timed=False`
    simulates without a clock, for write amplification only.
    `workers`: number of processes, by default as many as processors and memory allow.

    Options of the job file without effect on a simulated drive give a warning of the category `ssdlab.errors.Note`.
    Raises InputError for errors in arguments or files, before anything is run; RunFailed if a run failed. If a drive
    became read-only, its result has `failure` set.

        compared = ssdlab.compare("jobs/randwrite.fio", "generic-tlc-480", op=[0.07, 0.28], scale="1/64")
        compared.frame(), compared["28 %"].settled_waf
    """
    variants = Variants(drives, op, settings, scale, left_empty)
    running = Running(seed, timed, dwpd, workers, show_progress, co2e_per_kwh)
    return compared(job, variants, Stages(precondition, until, precision), running)


def compared(job: str | Path, variants: Variants, stages: Stages, running: Running) -> Comparison:
    """As `compare`, with the arguments in groups."""
    job_file = workloads.load(job)
    planned = variants.planned()
    check_energy(planned, running)
    if variants.is_scale_chosen:
        fitted = auto_scale.fitted(
            job_file,
            [variant.drive for variant in planned],
            until=stages.until,
            precondition=stages.precondition,
            timed=running.timed,
        )
        planned = [replace(variant, drive=drive) for variant, drive in zip(planned, fitted, strict=True)]
    with TemporaryDirectory(prefix="ssdlab-") as folder:
        specifications = [
            specify_beginning(
                job_file,
                variant.drive,
                stages.precondition,
                Path(folder),
                seed=running.seed,
                until=stages.until,
                precision=stages.precision,
                timed=running.timed,
            )
            for variant in planned
        ]
        notify(job_file.notes(timed=running.timed))
        results = run_all(
            [variant.label for variant in planned], specifications, running.workers, running.show_progress
        )
    title, start = workloads.title(job), stages.precondition
    return Comparison(
        title if len(planned) == 1 else f"{title}: {len(planned)} variants compared",
        _subtitle(variants, stages, running.seed, results),
        [
            Variant(variant, result, running.dwpd, running.co2e_per_kwh)
            for variant, result in zip(planned, results, strict=True)
        ],
        job_file.notes(timed=running.timed),
        [
            *drive_state.facts({each.label: result for each, result in zip(planned, results, strict=True)}, start),
            *left_empty_sentences([variant.drive for variant in planned]),
        ],
        start,
    )


def _subtitle(variants: Variants, stages: Stages, seed: int, results: Sequence[Result]) -> str:
    start = drive_state.beginning(results, stages.precondition)
    end = "until the steady state by SNIA's rule" if stages.until == "steady" else "until the end of the job"
    return f"{variants.stems}; {start}, {end}; seed {seed}"


def _bounds(name: str, estimate: Estimate | None, unit: float = 1) -> dict[str, float | None]:
    """A quantity with the ends of its interval, as columns."""
    ends = (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)
    names = (name, f"{name}_low", f"{name}_high")
    return {each: None if end is None else end / unit for each, end in zip(names, ends, strict=True)}


def _row(variant: Variant) -> dict[str, str | float | None]:
    result, speed = variant.result, variant.speed
    directions = {
        f"{name}_latency_us_{rank}": None if value is None else value / 1000
        for name in ("read", "write")
        for rank in ("mean", "p999")
        for value in [getattr(getattr(speed, name), f"latency_ns_{rank}") if speed else None]
    }
    ftl = result.specification.drive["ftl"]
    latency = merged([speed.read.latency, speed.write.latency]) if speed else None
    return {
        "variant": variant.label,
        "drive": str(result.specification.drive["name"]),
        "op": result.capacity.over_provisioning,
        "policy": str(ftl["victim"]["name"]),
        "placement": str(ftl["placement"]["name"]),
        "seed": result.specification.engine["seed"],
        **_bounds("waf", result.waf_estimate),
        **_bounds("iops", speed.estimate if speed else None),
        **{
            key: value
            for name, percent in _RANKS.items()
            for key, value in _bounds(name, latency.estimate(percent) if latency else None, _NS_PER_US).items()
        },
        "over_provisioning": result.capacity.over_provisioning,
        "effective_over_provisioning": result.capacity.effective_over_provisioning,
        "theory": variant.expectation.value,
        "mb_s": speed.mb_s if speed else None,
        **directions,
        "tbw_bytes": variant.tbw_bytes,
        "years": variant.years,
        "failure": result.failure,
    }
