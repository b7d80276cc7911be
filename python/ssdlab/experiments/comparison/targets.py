"""Compares one job file on several targets, simulated and real: the same figures for each job.

A figure that a target does not report is None. Speeds of a simulated drive are in simulated time, those of a real one
in wall-clock time.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.experiments.comparison.fio_report import bytes_per_second
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import measured
from ssdlab.presentation.report import wording
from ssdlab.presentation.report.chosen import write_figures
from ssdlab.simulator.results.files import staged
from ssdlab.simulator.results.job_result import DirectionResult
from ssdlab.simulator.results.latency import carries
from ssdlab.simulator.results.result import ResultJson

if TYPE_CHECKING:
    from ssdlab.hardware.device.measured import Measured
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result

WHOLE = Fraction(1)
KINDS = ("simulated", "device", "measured")


@dataclass(frozen=True)
class Target:
    """`simulated:NAME`, `device:PATH`, or `measured:FILE`, a result of fio of a run that is over."""

    kind: str
    name: str

    @property
    def label(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True)
class Row:
    """A figure of a job on every target, in the order of the targets."""

    job: str
    what: str
    unit: str
    values: Sequence[float | None]
    ratio: float | None
    """The last target's figure over the first one's; None for one target, two of one file system, a missing figure, or
    a first of 0."""

    @property
    def said(self) -> str:
        """The figure with its unit."""
        return f"{self.what}, {self.unit}" if self.unit else self.what


def target(text: str) -> Target:
    """The target that the text names. Raises InputError for another form."""
    kind, colon, name = text.partition(":")
    if kind not in KINDS or not colon or not name:
        raise InputError(f"--target {text}: allowed is simulated:NAME (or a .toml file), device:PATH or measured:FILE")
    return Target(kind, name)


def caution(targets: Sequence[Target]) -> str:
    """What the ratios do not say: nothing of other runs, and nothing of drives where folders share a file system."""
    said = "Each target ran once, so that how much another run would differ is not known."
    devices = [_device_number(each) for each in targets]
    shared = [each.label for each, device in zip(targets, devices, strict=True) if device and devices.count(device) > 1]
    if not shared:
        return said
    return f"{said} {wording.listed(shared)} lie on one file system: they are not two drives, and have no ratio."


def _device_number(of: Target) -> int | None:
    """The number of the file system of a folder or of a file that may not exist yet; None of anything else, or if it
    cannot be read."""
    if of.kind != "device":
        return None
    place = Path(of.name)
    try:
        return (place if place.exists() else place.parent).stat().st_dev if not place.is_block_device() else None
    except OSError:
        return None


RANKS = (50, 99, 99.9)
"""The percentiles of latency that are compared."""

Figures = dict[str, dict[tuple[str, str], float | None]]
"""Figures by job and by (what, unit)."""


def figures(result: "Result | Measured", *, skip: Sequence[str] = ()) -> Figures:
    """The figures of each job of a result of any target, except the jobs in `skip`."""
    found: Figures = {}
    for job in result.jobs:
        if job.name in skip:
            continue
        of_job: dict[tuple[str, str], float | None] = {("WAF", ""): job.waf}
        for name in ("read", "write"):
            direction: DirectionResult = getattr(job, name)
            if not direction.total_ios:
                continue
            latency = direction.latency
            of_job[f"{name} IOPS", "1/s"] = direction.iops
            of_job[f"{name} bandwidth", "MB/s"] = None if direction.bw_bytes is None else direction.bw_bytes / 1e6
            whole = direction.total_latency
            of_job[f"{name} latency, mean", "us"] = _us(whole.mean_ns) if whole else None
            for rank in RANKS:
                value = latency.percentile_ns(rank) if latency else None
                of_job[f"{name} latency, {rank:g} %", "us"] = _us(value)
        _add(found, job.name, of_job)
    return found


def figures_of_report(report: JsonObject, file: str) -> Figures:
    """The figures of each job in the JSON report of fio itself, of version 2 or 3. Raises InputError.

    fio reports percentiles of completion latencies, unless lat_percentiles is set, and of any number of requests: those
    with fewer than ten above them are left out, as everywhere. A mean is that of all latency.
    """
    found: Figures = {}
    try:
        for job in report["jobs"]:
            of_job: dict[tuple[str, str], float | None] = {}
            for name in ("read", "write"):
                direction = job[name]
                if not direction["total_ios"]:
                    continue
                of_job[f"{name} IOPS", "1/s"] = float(direction["iops"])
                of_job[f"{name} bandwidth", "MB/s"] = bytes_per_second(direction) / 1e6
                of_job |= _latencies(direction, name)
            _add(found, str(job["jobname"]), of_job)
    except (KeyError, TypeError, ValueError) as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else "values have another form"
        raise InputError(
            f"{file}: not a result of fio: {what} in its jobs; allowed is what fio --output-format=json writes"
        ) from None
    return found


def _latencies(direction: JsonObject, name: str) -> dict[tuple[str, str], float | None]:
    # fio 2 counts in microseconds and has no unit in the names.
    unit_us, suffix = (1e-3, "_ns") if "lat_ns" in direction else (1.0, "")
    mean = direction[f"lat{suffix}"]["mean"]
    ranks = direction[f"lat{suffix}"].get("percentile") or direction[f"clat{suffix}"].get("percentile") or {}
    requests = direction["total_ios"]
    by_rank = {
        float(rank): value for rank, value in ranks.items() if rank[:1].isdigit() and carries(requests, float(rank))
    }
    values = {f"{rank:g} %": by_rank.get(float(rank)) for rank in RANKS} | {"mean": mean}
    return {
        (f"{name} latency, {what}", "us"): None if value is None else value * unit_us
        for what in ("mean", *(f"{rank:g} %" for rank in RANKS))
        for value in [values[what]]
    }


def _add(found: Figures, name: str, of_job: dict[tuple[str, str], float | None]) -> None:
    """Adds the figures of a job. Clones have one name: their rates add up, and their latencies are not combined."""
    if name not in found:
        found[name] = of_job
        return
    for (what, unit), value in of_job.items():
        before = found[name].get((what, unit))
        is_rate = what.endswith(("IOPS", "bandwidth"))
        found[name][what, unit] = before + value if is_rate and before is not None and value is not None else None


def rows(targets: Sequence[Target], of_targets: Sequence[Figures]) -> list[Row]:
    """A row for every figure that any target has, in the order of jobs and figures."""
    first_device, last_device = _device_number(targets[0]), _device_number(targets[-1])
    are_two = len(targets) > 1 and (first_device is None or first_device != last_device)
    jobs = dict.fromkeys(job for each in of_targets for job in each)
    found = []
    for job in jobs:
        for what, unit in dict.fromkeys(key for each in of_targets for key in each.get(job, {})):
            values = [each.get(job, {}).get((what, unit)) for each in of_targets]
            first, last = values[0], values[-1]
            ratio = last / first if are_two and first and last is not None else None
            found.append(Row(job, what, unit, values, ratio))
    return found


def write(
    targets: Sequence[Target],
    compared: Sequence[Row],
    reasons: Mapping[str, str],
    directory: Path,
    *,
    title: str,
    command_line: str,
    results: Sequence[ResultJson | JsonObject],
    states: Mapping[str, str],
    notes: Sequence[str],
    scale: Fraction = WHOLE,
) -> list[str]:
    """Writes `comparison.json`, the result of each target, pictures and `report.html`, all or none.

    `states` says of simulated targets in which state the drive began and ended, `notes` what a simulated drive makes of
    the job otherwise than fio; `scale` is that of the simulated drives and their jobs. Returns the names, the page
    last.
    """
    names = ["comparison.json"]
    content = {
        "targets": [each.label for each in targets],
        "rows": [asdict(row) for row in compared],
        "not_measured": dict(reasons),
        "states": dict(states),
        "notes": list(notes),
    }
    with staged(directory) as place:
        (place / names[0]).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        for number, result in enumerate(results):
            names.append(f"result-{number}-{targets[number].kind}.json")
            (place / names[-1]).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        drawn = _pictures(targets, compared, scale)
        names.extend(write_figures(drawn, place))
        page = _page(targets, compared, drawn, reasons, states, notes, title, command_line)
        (place / "report.html").write_text(page, encoding="utf-8")
    return [*names, "report.html"]


def plain(targets: Sequence[Target], compared: Sequence[Row]) -> list[JsonObject]:
    """The rows as plain data, with a column for each target."""
    return [
        {
            "job": row.job,
            "figure": row.what,
            "unit": row.unit,
            **dict(zip([each.label for each in targets], row.values, strict=True)),
            "ratio": row.ratio,
        }
        for row in compared
    ]


def cells(row: Row) -> list[str]:
    """The figures of a row as texts, and the ratio of the last to the first."""
    ratio = "" if row.ratio is None else wording.rounded(row.ratio)
    return [*("-" if value is None else _number(value) for value in row.values), ratio]


def _pictures(targets: Sequence[Target], compared: Sequence[Row], scale: Fraction) -> "list[Figure]":
    """One picture per job, with a panel per figure and a bar per target, for figures of at least two targets."""
    from ssdlab.presentation.report.charts.published import Bar, published_bars

    scaled = "" if scale == WHOLE else f" (simulated on {scale} of the drive, with that share of its requests)"
    drawn = []
    for number, job in enumerate(dict.fromkeys(row.job for row in compared)):
        shown = [row for row in compared if row.job == job and sum(value is not None for value in row.values) > 1]
        bars = [
            Bar(row.said, each.label, value)
            for row in shown
            for each, value in zip(targets, row.values, strict=True)
            if value is not None
        ]
        if not bars:
            continue
        drawn.append(
            published_bars(
                name=f"job-{number + 1}",
                title=_figure_clause(job, targets, shown),
                caption=f"{job}: the same job on each target{scaled}, each run once; figures that at least two targets "
                "report.",
                bars=bars,
                x_title="",
                own_axes=True,
                said="figure",
            )
        )
    return drawn


def _figure_clause(job: str, targets: Sequence[Target], shown: Sequence[Row]) -> str:
    """The first latency of a job on each target, or its first figure."""
    row = next((row for row in shown if "latency" in row.what), shown[0])
    said = [
        f"{wording.duration(value * 1000) if row.unit == 'us' else _number(value)} on {each.label}"
        for each, value in zip(targets, row.values, strict=True)
        if value is not None
    ]
    return f"{job}: {row.what} {wording.listed(said)}"


def _page(
    targets: Sequence[Target],
    compared: Sequence[Row],
    drawn: "Sequence[Figure]",
    reasons: Mapping[str, str],
    states: Mapping[str, str],
    notes: Sequence[str],
    title: str,
    command_line: str,
) -> str:
    from ssdlab.presentation.report import page, parts

    body: list[list[str] | str] = []
    for job, rows in groupby(compared, key=lambda row: row.job):
        body += [job, *([row.said, *cells(row)] for row in rows)]
    heads = ["figure", *(target.label for target in targets), "last / first"]
    after = [page.Section("Comparison", parts.table("Comparison", heads, body, wraps=True))]
    if states:
        after.append(page.Section("State of the simulated drives", parts.definitions(list(states.items()))))
    if notes:
        after.append(page.Section("Notes", parts.bullets(notes)))
    if reasons:
        after.append(page.Section("Not measured", parts.definitions(sorted(reasons.items()))))
    after.append(page.Section("How to reproduce", parts.command(command_line)))
    return page.Page(
        title=headline(targets, compared) or title,
        subtitle=f"{title} on {', '.join(each.label for each in targets)}",
        summary="One job file on several targets. Speeds of simulated drives are in simulated time, those of real "
        f"drives in wall-clock time; the ratio is the last target to the first. {caution(targets)}",
        figures=drawn,
        after=after,
    ).html()


def headline(targets: Sequence[Target], compared: Sequence[Row]) -> str | None:
    """The rates of the first job with IOPS of at least two targets; None if there is none.

    No target is called faster: a real drive was measured once, and how far another run would be off is not known.
    """
    for row in compared:
        rates = [(each.label, rate) for each, rate in zip(targets, row.values, strict=True) if rate]
        if row.what.endswith(" IOPS") and len(rates) > 1:
            said = [f"{measured(rate)} on {label}" for label, rate in rates]
            return f"{row.job}: {row.what.removesuffix(' IOPS')}s per second {wording.listed(said)}"
    return None


def _us(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1000


def _number(value: float) -> str:
    return measured(value)
