"""`ssdlab.lifetime`: the life of a drive, from a simulated workload, reports of a real drive, or its rating."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, notify
from ssdlab.experiments.advice import only_read
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.trials import Demand, Progress, Trials
from ssdlab.experiments.advice.workload import Reading, asked_writes, daily_writes, workload_of
from ssdlab.foundation.quantities import (
    format_bytes,
    format_share,
    left_empties_of,
    parse_bytes,
    parse_terabytes,
    rounded,
    spare_areas_of,
)
from ssdlab.presentation.report.shown import Shown, said
from ssdlab.simulator.drives import load
from ssdlab.theory import endurance, endurance_class
from ssdlab.theory.field_inference import more

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction
    from pathlib import Path

    import polars as pl

    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.drives import ResolvedDrive

OP = "7%,14%,28%"
_UNITS = 1_000_000
_SEEDS = (1, 2, 3)

Bounds = tuple[float, float, float]
"""A figure with its lower and upper bound."""


@dataclass(frozen=True)
class Life:
    """One estimate of a life."""

    by: str
    """What it is derived from, such as "simulation" or "the rated TBW"."""
    over_provisioning: float | None = None
    label: str = ""
    """What the spare area is, such as "as sold"."""
    waf: Bounds | None = None
    years: Bounds | None = None
    """None if it is not known, for a `reason`; infinite if nothing wears."""
    tbw_bytes: Bounds | None = None
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class Lifetime(Shown):
    """Estimates of the life of a drive, and sentences about them."""

    drive: str
    lives: Sequence[Life]
    sentences: Sequence[str]
    """What is assumed, and what the estimates rest on; of reports the whole finding, line by line."""

    def __repr__(self) -> str:
        known = [life.years for life in self.lives if life.years]
        years = [value for value, _, _ in known]
        found = f"{said(min(years))} to {said(max(years))} years" if years else "years not known"
        if math.inf in years and (least := min(low for _, low, _ in known)) < math.inf:
            found = f"more than {said(least)} years"
        return f"<Lifetime: {self.drive}, {found}>"

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each estimate.

        Columns: by (what it is derived from), over_provisioning (share), label; waf, years and tbw_bytes (host bytes
        over the life), each with _low and _high: the range over the seeds of a simulation, or of what the counters of
        reports allow; reason, why the years are not known.
        """
        import polars as pl

        rows = [
            {
                "by": life.by,
                "over_provisioning": life.over_provisioning,
                "label": life.label,
                **_columns("waf", life.waf),
                **_columns("years", life.years),
                **_columns("tbw_bytes", life.tbw_bytes),
                "reason": life.reason,
            }
            for life in self.lives
        ]
        return pl.DataFrame(rows, schema=_SCHEMA)

    def figures(self) -> Sequence[Figure]:
        """No pictures."""
        return ()

    def to_dict(self) -> dict[str, object]:
        """The object that `ssdlab lifetime --format json` prints."""
        return {"drive": self.drive, "lives": self.frame().to_dicts(), "sentences": [*self.sentences]}


@dataclass(frozen=True)
class Readings:
    """Reports of a real drive, in any form that `ssdlab health` reads: two, or any number."""

    before: str | None = None
    after: str | None = None
    ocp_before: str | None = None
    ocp_after: str | None = None
    """The nvme ocp smart-add-log that belongs to the report."""
    smart: Sequence[str] = ()

    def __post_init__(self) -> None:
        if (self.before is None) != (self.after is None):
            raise InputError("--before and --after go together: two readings of one drive")
        if self.before and (self.ocp_before is None) != (self.ocp_after is None):
            raise InputError("--ocp-before and --ocp-after go together")
        if self.smart and self.before:
            raise InputError("--smart takes all reports of a drive: leave out --before and --after")

    @property
    def given(self) -> bool:
        return bool(self.before or self.smart)


def lifetime(
    workload: str | Path | Sequence[str | Path] = (),
    drive: str | Path | None = None,
    *,
    writes_per_day: str | None = None,
    reads_per_day: int | str | None = None,
    read_size: int | str | None = None,
    op: float | str | Sequence[float | str] = OP,
    left_empty: float | str | Sequence[float | str] | None = None,
    settings: Mapping[str, str] | None = None,
    before: str | Path | None = None,
    after: str | Path | None = None,
    ocp_before: str | Path | None = None,
    ocp_after: str | Path | None = None,
    smart: str | Path | Sequence[str | Path] = (),
    rated_tbw: float | str | None = None,
    format_name: str | None = None,
    volume: str | None = None,
    merge_volumes: bool = False,
    skip_bad: int = 0,
    columns: str | None = None,
    device: str | None = None,
    scale: Fraction | None = None,
    seed: int = 1,
    workers: int | None = None,
    on_progress: Progress | None = None,
) -> Lifetime:
    """Estimates how long a drive lasts, and the effect of more spare area, as `ssdlab lifetime`.

    Give a `workload` (a fio job file, or the files of a trace, read as in `ssdlab.advise`) with a `drive` and
    `writes_per_day` ("2TB", by default those of a trace with timestamps): three seeds of a simulation, from `seed` on,
    for the drive's own spare area, those of `op` above it, and those of `left_empty`. Or reports of a real drive:
    `smart`, or `before` and `after`, each with the ocp log that belongs to it; with `drive` its flash and cycles are
    used too. Or `writes_per_day` and `rated_tbw` (in TB, or "2.4PB") alone. Or, for a drive that is only read, `drive`
    and `reads_per_day` ("20TB", or bytes) in requests of `read_size` (128 KiB): what refreshing the data that is read
    often programs.

    Raises InputError, which names the argument, its value and what is allowed; RunFailed if a run fails.

        ssdlab.lifetime("jobs/randwrite.fio", "generic-tlc-480", writes_per_day="500GB").frame()
        ssdlab.lifetime(writes_per_day="325GB", rated_tbw=150).frame()["years"]
    """
    files = _texts(workload)
    named = None if drive is None else str(drive)
    readings = Readings(_text(before), _text(after), _text(ocp_before), _text(ocp_after), _texts(smart))
    rated = parse_terabytes(str(rated_tbw)) if rated_tbw is not None else None
    if reads_per_day is not None:
        if files or readings.given or writes_per_day or rated or not named:
            raise InputError(
                "--reads-per-day is for a drive that is only read: it requires --drive, and excludes a workload, "
                "--writes-per-day, --rated-tbw and reports"
            )
        setting = Setting(load(named), dict(settings or {}), named)
        return _of_reads(
            _bytes(reads_per_day),
            _bytes(only_read.READ_BYTES if read_size is None else read_size),
            setting.at(None, None),
        )
    if readings.given:
        from ssdlab.experiments.advice.life_of_reports import of_reports

        if files:
            raise InputError(f"{files[0]}: a workload excludes --smart, --before and --after")
        return of_reports(readings, named, rated)
    if writes_per_day and rated and not files:
        return _of_rating(writes_per_day, rated, named)
    if not files or not named:
        raise InputError(
            "give JOB.fio, --drive and --writes-per-day; or --smart, or --before and --after: reports of a drive; or "
            "--writes-per-day and --rated-tbw"
        )
    setting = Setting(load(named), dict(settings or {}), named)
    reading = Reading(format_name, volume, merge_volumes, skip_bad, columns, device)
    with ExitStack() as stack:
        read = workload_of(files, setting.user_bytes_least, reading, stack)
        trials = Trials(read, setting, Demand(None, None), [], workers, on_progress, seed, scale)
        return _of_workload(trials, writes_per_day, _shares(setting, op, left_empty))


def _bytes(size: int | str) -> int:
    return parse_bytes(size) if isinstance(size, str) else size


def _text(given: str | Path | None) -> str | None:
    return None if given is None else str(given)


def _texts(given: str | Path | Sequence[str | Path]) -> list[str]:
    return [*map(str, given)] if isinstance(given, list | tuple) else [str(given)]


def _of_workload(trials: Trials, writes_per_day: str | None, labels: dict[float, str]) -> Lifetime:
    workload, setting = trials.workload, trials.setting
    daily_bytes, assumed = daily_writes(writes_per_day, workload)
    assert daily_bytes is not None
    notify([*workload.notes(timed=False), *assumed])
    shares = sorted(labels)
    trials.demand = Demand(daily_bytes, None)
    scale = trials.scale_for(_UNITS)
    done = trials.at(shares, scale, trials.seeds(*_SEEDS), "runs")
    lives = []
    for index, share in enumerate(shares):
        runs = done[index * len(_SEEDS) : (index + 1) * len(_SEEDS)]
        spread = {name: _spread([run.figure(name) for run in runs]) for name in ("waf", "years", "tbw_bytes")}
        reason = next((run.failure for run in runs if run.failure), None)
        lives.append(Life("simulation", share, labels[share], **spread, reason=reason))
    drive = setting.at(None, None)
    sentences = [
        f"{drive.endurance_cycles} cycles of all flash at {format_bytes(round(daily_bytes))} per day, even wear; "
        f"minimum and maximum over {len(_SEEDS)} seeds" + (f"; runs of {scale} of the drive" if scale else ""),
        endurance_class.sentence(daily_bytes / drive.capacity.user_bytes, lives[0].waf[0] if lives[0].waf else None),
        *workload.remarks(drive.capacity.user_bytes),
    ]
    return Lifetime(setting.file.name, lives, sentences)


def _shares(
    setting: Setting, op: float | str | Sequence[float | str], left_empty: float | str | Sequence[float | str] | None
) -> dict[float, str]:
    """The spare areas, each with its label: the drive's own, those of `op` above it, and those of `left_empty`."""
    own = setting.at(None, None).capacity.over_provisioning
    labels = {share: "" for share in spare_areas_of(op) if share > own}
    labels |= {more(own, share): f"{format_share(share)} left empty" for share in left_empties_of(left_empty)}
    return labels | {own: "as sold"}


def _of_rating(writes_per_day: str, rated_tbw: float, drive: str | None) -> Lifetime:
    """The life by the rating alone, and the class of endurance if the capacity is known."""
    daily_bytes = asked_writes(writes_per_day)
    years = rated_tbw * endurance.BYTES_PER_TB / daily_bytes / endurance.DAYS_PER_YEAR
    tbw_bytes = rated_tbw * endurance.BYTES_PER_TB
    sentences = [f"{rated_tbw:g} TB rated at {format_bytes(daily_bytes)} a day: {rounded(years)} years"]
    if drive:
        user_bytes = Setting(load(drive), {}, drive).at(None, None).capacity.user_bytes
        sentences.append(endurance_class.sentence(daily_bytes / user_bytes))
    life = Life("the rated TBW", years=(years, years, years), tbw_bytes=(tbw_bytes, tbw_bytes, tbw_bytes))
    return Lifetime(drive or "a drive with this rating", [life], sentences)


def _of_reads(reads_per_day: int, read_bytes: int, drive: ResolvedDrive) -> Lifetime:
    """What refresh of data that is read often does to the drive, and costs."""
    found = only_read.read_only(reads_per_day, read_bytes, drive)
    return Lifetime(
        drive.name, [Life("reads alone", years=(found.years, found.years, found.years))], only_read.sentences(found)
    )


def _spread(values: Sequence[float | None]) -> Bounds | None:
    """The mean, the least and the most; None unless all are known."""
    known = [value for value in values if value is not None]
    return (sum(known) / len(known), min(known), max(known)) if known and len(known) == len(values) else None


def _columns(name: str, bounds: Bounds | None) -> dict[str, float | None]:
    value, low, high = bounds or (None, None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


_SCHEMA = {
    "by": str,
    "over_provisioning": float,
    "label": str,
    **{f"{name}{end}": float for name in ("waf", "years", "tbw_bytes") for end in ("", "_low", "_high")},
    "reason": str,
}
