"""`ssdlab lifetime`: estimates the life of a drive from a simulated workload or two SMART readings of a real drive."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from ssdlab.cli import options, workload_options
from ssdlab.cli.console import Console
from ssdlab.cli.groups import Parsed
from ssdlab.cli.lifetime_readings import Readings, from_readings
from ssdlab.cli.progress import described
from ssdlab.errors import InputError
from ssdlab.experiments.advice.setting import Setting, scale_of
from ssdlab.experiments.advice.trials import Demand, Trials
from ssdlab.experiments.advice.workload import asked_writes, daily_writes, workload_of
from ssdlab.foundation.quantities import (
    format_bytes,
    format_bytes_binary,
    format_share,
    parse_spare_areas,
    parse_terabytes,
)
from ssdlab.presentation.terminal import show
from ssdlab.simulator.drives import load
from ssdlab.theory import endurance, endurance_class
from ssdlab.theory.field_inference import more
from ssdlab.theory.price import SECONDS_PER_DAY
from ssdlab.theory.read_disturb import ReadOnly

if TYPE_CHECKING:
    from ssdlab.experiments.advice.described import Described
    from ssdlab.experiments.advice.recorded import Trace
    from ssdlab.simulator.drives import ResolvedDrive

_UNITS = 1_000_000
_SEEDS = (1, 2, 3)
_OP = "7%,14%,28%"
_READ_BYTES = 128 * 1024


def lifetime(
    files: workload_options.Files = (),
    *,
    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file.")
    ] = None,
    writes_per_day: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Host writes per day, such as 2TB.")
    ] = None,
    reads_per_day: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="For a drive that is only read: host reads per day, such as 20TB."),
        options.SIZE,
    ] = None,
    read_size: Annotated[
        int, typer.Option(metavar="SIZE", help="With --reads-per-day: the size of a request."), options.SIZE
    ] = _READ_BYTES,
    op: Annotated[str, typer.Option("--op", metavar="LIST", help="Spare areas in addition to the drive's own.")] = _OP,
    left_empty: options.LeftEmptyList = None,
    settings: options.Set = None,
    readings: Readings,
    rated_tbw: Annotated[
        float | None,
        typer.Option("--rated-tbw", metavar="TB", help="The drive's rated TBW, such as 150TB."),
        Parsed(parse_terabytes),
    ] = None,
    reading: workload_options.Reading,
    workers: options.Workers = None,
) -> None:
    """Estimate how long a drive lasts, and the effect of more spare area.

    Give either a workload and a drive model (JOB.fio or a trace, --drive, and --writes-per-day, which a trace with
    timestamps does not need), or reports of a real drive (--smart; or --before and --after; in any form that ssdlab
    health reads; with --drive its flash and cycles are used too), or --writes-per-day and --rated-tbw alone. For a
    drive that is only read, such as a model server's, give --drive and --reads-per-day.
    """
    if reads_per_day is not None:
        if files or readings.given or writes_per_day or rated_tbw or not drive:
            raise InputError(
                "--reads-per-day is for a drive that is only read: it requires --drive, and excludes a workload, "
                "--writes-per-day, --rated-tbw and reports"
            )
        _from_reads(reads_per_day, read_size, Setting(load(drive), settings or {}, drive).at(None, None))
        return
    if readings.given:
        if files:
            raise InputError(f"{files[0]}: a workload excludes --smart, --before and --after")
        from_readings(readings, drive, rated_tbw)
        return
    if writes_per_day and rated_tbw and not files:
        _from_rating(writes_per_day, rated_tbw, drive)
        return
    if not files or not drive:
        raise InputError(
            "give JOB.fio, --drive and --writes-per-day; or --smart, or --before and --after: reports of a drive; or "
            "--writes-per-day and --rated-tbw"
        )

    setting = Setting(load(drive), settings or {}, drive)
    with ExitStack() as stack:
        workload = workload_of(files, setting.user_bytes_least, reading, stack)
        _from_workload(workload, setting, writes_per_day, _shares(setting, op, left_empty), workers)


def _from_workload(
    workload: "Described | Trace",
    setting: Setting,
    writes_per_day: str | None,
    labels: dict[float, str],
    workers: int | None,
) -> None:
    daily_bytes, assumed = daily_writes(writes_per_day, workload)
    assert daily_bytes is not None
    options.print_notes([*workload.notes(timed=False), *assumed])
    shares = sorted(labels)
    with described() as tell:
        trials = Trials(workload, setting, Demand(daily_bytes, None), [], workers, tell)
        scale = scale_of(workload, setting, _UNITS)
        done = trials.at(shares, scale, _SEEDS, "runs")
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("OP", "WAF", "years", "TBW"):
        table.add_column(name, justify="right")
    for index, share in enumerate(shares):
        runs = done[index * len(_SEEDS) : (index + 1) * len(_SEEDS)]
        cells = [_spread([run.figure(name) for run in runs]) for name in ("waf", "years")]
        tbw = _spread([value / 1e12 for run in runs if (value := run.figure("tbw_bytes"))])
        table.add_row(f"{format_share(share)}{labels[share]}", *cells, f"{tbw} TB")
    show(table, Console())
    cycles = setting.at(None, None).endurance_cycles
    typer.echo(
        f"{cycles} cycles of all flash at {format_bytes(round(daily_bytes))} per day, even wear; minimum and maximum "
        f"over {len(_SEEDS)} seeds" + (f"; runs of {scale} of the drive" if scale else "")
    )
    typer.echo(endurance_class.sentence(daily_bytes / setting.at(None, None).capacity.user_bytes))
    for sentence in workload.said(setting.at(None, None).capacity.user_bytes):
        typer.echo(sentence)


def _shares(setting: Setting, op: str, left_empty: str | None) -> dict[float, str]:
    """The spare areas, each with what the table adds to it: the drive's own, those of `--op` above it, and those of
    `--left-empty`."""
    own = setting.at(None, None).capacity.over_provisioning
    labels = {share: "" for share in parse_spare_areas(op) if share > own}
    labels |= {more(own, share): f" ({format_share(share)} left empty)" for share in options.left_empties(left_empty)}
    return labels | {own: " (as sold)"}


def _from_rating(writes_per_day: str, rated_tbw: float, drive: str | None) -> None:
    """The life by the rating alone, and the class of endurance if the capacity is known."""
    daily_bytes = asked_writes(writes_per_day)
    years = rated_tbw * endurance.BYTES_PER_TB / daily_bytes / endurance.DAYS_PER_YEAR
    typer.echo(f"{rated_tbw:g} TB rated at {format_bytes(daily_bytes)} a day: {years:.3g} years")
    if drive:
        user_bytes = Setting(load(drive), {}, drive).at(None, None).capacity.user_bytes
        typer.echo(endurance_class.sentence(daily_bytes / user_bytes))


def _from_reads(reads_per_day: int, read_bytes: int, drive: "ResolvedDrive") -> None:
    """What refresh of data that is read often does to the drive, and costs."""
    for option, value in (("--reads-per-day", reads_per_day), ("--read-size", read_bytes)):
        if value <= 0:
            raise InputError(f"{option} is {value}; allowed: above 0")
    if not drive.file.background.read_disturb_reads:
        raise InputError(
            f"{drive.name}: background.read_disturb_reads is 0, so that nothing says after how many page reads a block "
            "is rewritten; give it with --set background.read_disturb_reads=N"
        )
    found = ReadOnly(drive, reads_per_day, read_bytes)
    rewrites = found.programmed_bytes_per_day
    typer.echo(
        f"{format_bytes(reads_per_day)} read a day in requests of {format_bytes_binary(read_bytes)}, evenly over a "
        f"full drive: {format_bytes(round(rewrites))} a day are rewritten, "
        f"{format_share(found.programmed_per_read_byte)} of what is read, each block after {found.reads_max:,} page "
        f"reads, every {found.days_between_refreshes:.3g} days"
    )
    typer.echo(f"{drive.endurance_cycles} cycles of all flash, even wear: {found.years:.3g} years")
    said = f"refresh takes {format_share(found.share_of_time)} of the time of the dies"
    if (power := drive.power) is not None:
        nand = drive.file.nand
        page_uj = power["read_uj"] + power["program_uj"] + power["erase_uj"] / nand.pages_per_block
        said += f" and {rewrites / nand.page_bytes * page_uj / 1e6 / SECONDS_PER_DAY:.3g} W on average"
    typer.echo(f"{said}; without writes garbage collection adds nothing")


def _spread(values: list[float | None] | list[float]) -> str:
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return "-"
    low, high = f"{min(known):.3g}", f"{max(known):.3g}"
    return low if low == high else f"{low} to {high}"
