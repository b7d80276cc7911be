"""`ssdlab lifetime`: estimates the life of a drive from a simulated workload or two SMART readings of a real drive."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from ssdlab.cli import options, workload_options
from ssdlab.cli.console import Console
from ssdlab.cli.form import FormOrTraces, Rows
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import described
from ssdlab.errors import InputError, notify
from ssdlab.experiments.advice import living
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.to_the_end import whole_life
from ssdlab.experiments.advice.workload import daily_writes, workload_of
from ssdlab.foundation.quantities import format_share, parse_terabytes, rounded
from ssdlab.presentation.terminal import show, wrapped
from ssdlab.simulator.drives import load
from ssdlab.theory import endurance
from ssdlab.theory.endurance import BYTES_PER_TB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ssdlab.experiments.advice.described import Described
    from ssdlab.experiments.advice.living import Bounds, Lifetime
    from ssdlab.experiments.advice.recorded import Trace

_LAST = (12, 6, 3, 2, 1)
"""Months before the end that --to-the-end shows."""


@dataclass(frozen=True)
class Readings(living.Readings):
    """Reports of a real drive, and its rating, as options."""

    before: Annotated[
        str | None, typer.Option(metavar="FILE", help="A real drive's first report, as for ssdlab health.")
    ] = None
    after: Annotated[str | None, typer.Option(metavar="FILE", help="The second, days later.")] = None
    ocp_before: Annotated[str | None, typer.Option(metavar="FILE", help="Its nvme ocp smart-add-log.")] = None
    ocp_after: Annotated[str | None, typer.Option(metavar="FILE", help="The same for the second report.")] = None
    smart: Annotated[
        Sequence[str], typer.Option(metavar="PLACE", help="Any number of reports of a drive instead. Repeatable.")
    ] = ()
    rated_tbw: Annotated[
        float | None,
        typer.Option("--rated-tbw", metavar="TB", help="The drive's rated TBW, such as 150TB."),
        Parsed(parse_terabytes),
    ] = None


@dataclass(frozen=True)
class Load:
    """What the host does in a day, and until when it is followed, as options."""

    writes_per_day: Annotated[str | None, typer.Option(metavar="SIZE", help="Host writes per day, such as 2TB.")] = None
    reads_per_day: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="For a drive that is only read: host reads per day, such as 20TB."),
        options.SIZE,
    ] = None
    read_size: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="With --reads-per-day: the size of a request.  [default: 128KiB]"),
        options.SIZE,
    ] = None
    to_the_end: Annotated[
        bool,
        typer.Option("--to-the-end", help="The life until the drive turns read-only, as its blocks fail one by one."),
    ] = False


def lifetime(
    files: workload_options.Files = (),
    *,
    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file.")
    ] = None,
    asked: Load,
    op: Annotated[
        str, typer.Option("--op", metavar="LIST", help="Spare areas in addition to the drive's own.")
    ] = living.OP,
    left_empty: options.LeftEmptyList = None,
    settings: options.Set = None,
    readings: Readings,
    reading: workload_options.Reading,
    workers: options.Workers = None,
    form: FormOrTraces,
) -> None:
    """Estimate how long a drive lasts, and the effect of more spare area.

    Give either a workload and a drive model (JOB.fio or a trace, --drive, and --writes-per-day, which a trace with
    timestamps does not need), or reports of a real drive (--smart; or --before and --after; in any form that ssdlab
    health reads; with --drive its flash and cycles are used too), or --writes-per-day and --rated-tbw alone. For a
    drive that is only read, such as a model server's, give --drive and --reads-per-day.
    """
    if asked.to_the_end:
        if not files or not drive or readings.given or asked.reads_per_day is not None:
            raise InputError("--to-the-end is a simulated life: it requires a workload, --drive and --writes-per-day")
        setting = Setting(load(drive), settings or {}, drive)
        with ExitStack() as stack:
            read = reading.with_format(form.trace_format)
            workload = workload_of(files, setting.user_bytes_least, read, stack)
            _to_the_end(workload, setting, asked.writes_per_day, workers, form)
        return
    with described() as tell:
        found = living.lifetime(
            files,
            drive,
            writes_per_day=asked.writes_per_day,
            reads_per_day=asked.reads_per_day,
            read_size=asked.read_size,
            op=op,
            left_empty=left_empty,
            settings=settings,
            workers=workers,
            on_progress=tell,
            **asdict(readings),
            **asdict(reading.with_format(form.trace_format)),
        )
    form.give(found, lambda: _print(found))


def _print(found: "Lifetime") -> None:
    simulated = [life for life in found.lives if life.over_provisioning is not None]
    if simulated:
        table = Table(box=box.SIMPLE_HEAD)
        for name in ("OP", "WAF", "years", "TBW"):
            table.add_column(name, justify="right")
        for life in simulated:
            assert life.over_provisioning is not None
            label = f" ({life.label})" if life.label else ""
            cells = [_spread(life.waf), _spread(life.years), f"{_spread(life.tbw_bytes, BYTES_PER_TB)} TB"]
            table.add_row(f"{format_share(life.over_provisioning)}{label}", *cells)
        show(table, Console())
    for sentence in found.sentences:
        typer.echo(wrapped(sentence))


def _to_the_end(
    workload: "Described | Trace", setting: Setting, writes_per_day: str | None, workers: int | None, form: FormOrTraces
) -> None:
    """The drive when new, in the middle of its life, and in its last year."""
    daily_bytes, assumed = daily_writes(writes_per_day, workload)
    assert daily_bytes is not None
    notify([*workload.notes(timed=True), *assumed])
    drive = setting.at(None, None)
    with described() as tell:
        life, scale = whole_life(workload, setting, workers, tell)
    end = float(life.host_bytes[-1])
    a_month = daily_bytes * endurance.DAYS_PER_YEAR / 12
    rows = [("new", 0.0), ("half of its life", end / 2)]
    rows += [
        (f"{months} months before" if months > 1 else "a month before", end - months * a_month) for months in _LAST
    ]
    rows.append(("the end", end))
    found = []
    for when, written in rows:
        if written < 0:
            continue
        step = life.at(written)
        found.append(
            {
                "when": when,
                "years": written / daily_bytes / endurance.DAYS_PER_YEAR,
                "written_tb": written / BYTES_PER_TB,
                "erase_units_lost": step,
                "erase_units": len(life.host_bytes),
                "over_provisioning": float(life.over_provisioning[step]),
                "waf": float(life.waf[step]),
                "iops": None if life.iops is None else float(life.iops[step]),
            }
        )
    assumptions = (
        f"{drive.endurance_cycles} cycles on average, of blocks that differ by "
        f"{format_share(drive.file.faults.endurance_spread)}, even wear; the drive turns read-only when it has no "
        "spare blocks left. WAF and speed of the steady state at five spare areas"
        + (f", from runs of {scale} of the drive" if scale else "")
    )
    form.give(Rows(found), lambda: _print_to_the_end(found, assumptions))


def _print_to_the_end(rows: "Sequence[Mapping[str, Any]]", assumptions: str) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("when", "years", "written", "erase units lost", "OP", "WAF", "writes/s"):
        table.add_column(name, justify="left" if name == "when" else "right")
    for row in rows:
        table.add_row(
            row["when"],
            rounded(row["years"]),
            f"{rounded(row['written_tb'], 4)} TB",
            f"{row['erase_units_lost']:,} of {row['erase_units']:,}",
            format_share(row["over_provisioning"]),
            rounded(row["waf"]),
            "-" if row["iops"] is None else f"{row['iops']:,.0f}",
        )
    show(table, Console())
    typer.echo(wrapped(assumptions))


def _spread(bounds: "Bounds | None", unit: float = 1) -> str:
    if bounds is None:
        return "-"
    low, high = (rounded(value / unit) for value in bounds[1:])
    return low if low == high else f"{low} to {high}"
