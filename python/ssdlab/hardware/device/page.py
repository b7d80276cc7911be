"""The page of a measurement: the result of each job, and the rates over time."""

from collections.abc import Sequence
from pathlib import Path

from ssdlab.evidence import Estimate
from ssdlab.evidence.estimate import of_one_run
from ssdlab.hardware.device.measured import Measured, MeasuredJob
from ssdlab.hardware.device.run import LAYOUT
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report.charts.published import Line, published_lines
from ssdlab.presentation.report.chosen import write_page
from ssdlab.presentation.report.figure import Figure

# A screen does not resolve more points than this.
_POINTS_MAX = 500
_JOBS_IN_TITLE = 3
_SECONDS_MIN = 5
"""In less, a drive shows its caches."""


def write(measured: Measured, directory: Path, command_line: str) -> list[str]:
    """Writes `report.html` and the chosen files of its pictures. Returns their names, the page last."""
    name = str(measured.target.get("path") or measured.target.get("name") or "the target")
    jobs = [(job.name, _rate(job)) for job in measured.jobs]
    entries = [(job.name, _rates(job, rate)) for job, (_, rate) in zip(measured.jobs, jobs, strict=True)]
    short = [job.name for job in measured.jobs if _is_short(job)]
    told = [(job, rate) for job, rate in jobs if rate and not lays_out(job) and job not in short]
    whole = page.Page(
        title=headline(measured.source, told, are_short=bool(short)),
        subtitle=f"{measured.source} on {name}, by fio, each job once",
        summary=f"{_waf(measured)}.",
        notices=[*([measured.failure] if measured.failure else []), *measured.notes, *_short(short)],
        before=[page.Section("Jobs", parts.definitions(entries))] if entries else [],
        figures=[*measured.figures(), *over_time(measured)],
        after=[page.Section("How to reproduce", parts.command(command_line))],
    )
    return write_page(whole, directory)


def lays_out(job: str) -> bool:
    """Whether it is the job that writes the files before the first job of the user's file."""
    return job.startswith(LAYOUT) and not job.removeprefix(LAYOUT).strip("0123456789")


def headline(source: str, rates: Sequence[tuple[str, Estimate]], *, are_short: bool = False) -> str:
    """The rates of the first jobs that were measured for long enough; `are_short` says that others were not. They are
    not compared: jobs differ in depth and size, and each ran once."""
    if not rates:
        why = f"each job took less than {_SECONDS_MIN} s" if are_short else "nothing was measured"
        return f"{Path(source).name}: {why}"
    said = [f"{wording.estimated(rate)} with {job}" for job, rate in rates[:_JOBS_IN_TITLE]]
    more = len(rates) - len(said)
    return f"Requests per second: {wording.listed([*said, *([f'{more} more jobs below'] if more else [])])}"


def over_time(measured: Measured) -> list[Figure]:
    """A figure of MB/s in each second; empty if fio logged less than two seconds."""
    frame = measured.timing_series
    if frame is None or frame.height < 2:
        return []
    frame = frame.gather_every(-(-frame.height // _POINTS_MAX))
    lines = [
        Line(name, points)
        for name in ("read", "write")
        if len(points := [(x, y) for x, y in frame.select("seconds", f"{name}_mb_s").iter_rows() if y]) > 1
    ]
    if not lines:
        return []
    ranges = [f"{line.label}s at {_range([y for _, y in line.points])} MB/s" for line in lines]
    return [
        published_lines(
            name="bandwidth-over-time",
            title=wording.capitalized(wording.listed(ranges)),
            caption="Bandwidth in each second of the measurement, as fio logged it.",
            lines=lines,
            x_title="seconds",
            y_title="MB/s",
        )
    ]


def _is_short(job: MeasuredJob) -> bool:
    return job.seconds is not None and job.seconds < _SECONDS_MIN


def _short(names: list[str]) -> list[str]:
    """What is to be thought of jobs that took less than a moment."""
    if not names:
        return []
    return [
        f"{wording.capitalized(wording.listed(names))} took less than {_SECONDS_MIN} s: that is the speed of caches "
        "and of a moment, and the same job can be twice as fast or slow the next time. Give the jobs more to do with "
        "--size or runtime."
    ]


def _range(values: Sequence[float]) -> str:
    """The least and the most of the readings: one alone says nothing of the drive."""
    least, most = (wording.significant(each) for each in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def _rate(job: MeasuredJob) -> Estimate | None:
    """Reads and writes a second; what so many requests would spread if they were independent."""
    iops = (job.read.iops or 0) + (job.write.iops or 0)
    return of_one_run(iops, job.read.total_ios + job.write.total_ios) if iops else None


def _rates(job: MeasuredJob, rate: Estimate | None) -> str:
    if rate is None:
        return "no requests"
    mean_ns = job.latency.mean_estimate
    if _is_short(job):
        # What the requests spread is no interval of another try.
        said = f"about {wording.significant(float(f'{rate.value:.1e}'))} requests per second"
        return f"{said}, {wording.duration(mean_ns.value)} on average" if mean_ns else said
    said = f"{wording.estimated(rate)} requests per second"
    return f"{said}, {wording.estimated_duration(mean_ns)} on average" if mean_ns else said


def _waf(measured: Measured) -> str:
    if measured.waf is not None:
        return f"Write amplification, by SMART: {wording.waf(measured.waf)}"
    return f"Write amplification is not measured: {measured.whole.reason or 'the drive does not report it'}"
