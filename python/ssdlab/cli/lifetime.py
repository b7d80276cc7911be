"""`ssdlab lifetime`: estimates the life of a drive from a simulated workload or two SMART readings of a real drive."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from ssdlab.advice.setting import Setting, scale_of
from ssdlab.advice.trials import Demand, Trials
from ssdlab.advice.workload import daily_writes, workload_of
from ssdlab.cli import options, workload_options
from ssdlab.cli.progress import described
from ssdlab.drives import load, resolve
from ssdlab.errors import InputError
from ssdlab.quantities import format_bytes, format_share, parse_spare_areas
from ssdlab.smart import reading as smart_reading
from ssdlab.smart.change import change
from ssdlab.terminal import show

if TYPE_CHECKING:
    from ssdlab.advice.described import Described
    from ssdlab.advice.recorded import Trace
    from ssdlab.smart.change import Interval

_UNITS = 1_000_000
_SEEDS = (1, 2, 3)
_OP = "7%,14%,28%"


@dataclass(frozen=True)
class Readings:
    """Two readings of a real drive's counters."""

    before: Annotated[
        str | None, typer.Option(metavar="FILE", help="A real drive's first reading: the output of smartctl -j -x.")
    ] = None
    after: Annotated[str | None, typer.Option(metavar="FILE", help="The second, days later.")] = None
    ocp_before: Annotated[str | None, typer.Option(metavar="FILE", help="Its nvme ocp smart-add-log -o json.")] = None
    ocp_after: Annotated[str | None, typer.Option(metavar="FILE", help="The same for the second reading.")] = None

    def __post_init__(self) -> None:
        if (self.before is None) != (self.after is None):
            raise InputError("--before and --after go together: two readings of one drive")
        if self.before and (self.ocp_before is None) != (self.ocp_after is None):
            raise InputError("--ocp-before and --ocp-after go together")


def lifetime(
    files: workload_options.Files = (),
    *,
    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file.")
    ] = None,
    writes_per_day: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Host writes per day, such as 2TB.")
    ] = None,
    op: Annotated[str, typer.Option("--op", metavar="LIST", help="Spare areas in addition to the drive's own.")] = _OP,
    settings: options.Set = None,
    readings: Readings,
    rated_tbw: Annotated[float | None, typer.Option(metavar="TB", help="The drive's rated TBW.")] = None,
    reading: workload_options.Reading,
    workers: options.Workers = None,
) -> None:
    """Estimate how long a drive lasts, and the effect of more spare area.

    Give either a workload and a drive model (JOB.fio or a trace, --drive, and --writes-per-day, which a trace with
    timestamps does not need), or two readings of a real drive (--before, --after; with --drive its flash and cycles
    are used too).
    """
    if readings.before and readings.after:
        if files:
            raise InputError(f"{files[0]}: a workload excludes --before and --after")
        _from_readings(readings, readings.before, readings.after, drive, rated_tbw)
        return
    if not files or not drive:
        raise InputError("give JOB.fio, --drive and --writes-per-day; or --before and --after, two readings of a drive")

    setting = Setting(load(drive), settings or {}, drive)
    with ExitStack() as stack:
        workload = workload_of(files, setting.user_bytes_least, reading, stack)
        _from_workload(workload, setting, writes_per_day, op, workers)


def _from_workload(
    workload: "Described | Trace", setting: Setting, writes_per_day: str | None, op: str, workers: int | None
) -> None:
    daily_bytes, assumed = daily_writes(writes_per_day, workload)
    assert daily_bytes is not None
    options.print_notes([*workload.notes(timed=False), *assumed])
    own = setting.at(None, None).capacity.over_provisioning
    shares = sorted({own, *(share for share in parse_spare_areas(op) if share > own)})
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
        table.add_row(f"{format_share(share)}{' (as sold)' if share == own else ''}", *cells, f"{tbw} TB")
    show(table, Console())
    cycles = setting.at(None, None).endurance_cycles
    typer.echo(
        f"{cycles} cycles of all flash at {format_bytes(round(daily_bytes))} per day, even wear; minimum and maximum "
        f"over {len(_SEEDS)} seeds" + (f"; runs of {scale} of the drive" if scale else "")
    )
    for sentence in workload.said(setting.at(None, None).capacity.user_bytes):
        typer.echo(sentence)


def _from_readings(readings: Readings, before: str, after: str, drive: str | None, rated_tbw: float | None) -> None:
    from ssdlab.theory.wear_rate import more_spare_area, outlooks

    first, second = (
        smart_reading.load(Path(path), Path(log) if log else None)
        for path, log in ((before, readings.ocp_before), (after, readings.ocp_after))
    )
    seen = change(first, second)
    typer.echo(
        f"{second.model} {second.serial}, {f'{seen.days:.1f} days' if seen.days is not None else 'time unknown'}"
    )
    for name, value in (("host", seen.host_bytes), ("NAND", seen.nand_bytes)):
        typer.echo(f"  {name + ' writes':12} {'not available' if value is None else format_bytes(value)}")
    waf = f"{_interval(seen.waf)} (counter steps: {seen.resolution})" if seen.waf else f"not known: {seen.reason}"
    typer.echo(f"  {'WAF':12} {waf}")
    for assumption in seen.assumed:
        typer.echo(f"  assumed      {assumption}")
    endurance_bytes = None
    if drive:
        resolved = resolve(load(drive), over_provisioning=None, settings={}, scale=None)
        endurance_bytes = resolved.endurance_cycles * resolved.capacity.physical_bytes
    found = outlooks(second, seen, endurance_bytes=endurance_bytes, rated_tbw_bytes=rated_tbw and rated_tbw * 1e12)
    for outlook in found:
        years = f"{_interval(outlook.years)} years left" if outlook.years else f"not known: {outlook.reason}"
        typer.echo(f"  by {outlook.by}: {years}")
    if not found:
        typer.echo("  years left: give --rated-tbw, or --drive for its flash and cycles")
    if second.spare_percent is not None:
        typer.echo(f"  spare blocks left: {second.spare_percent} %")
    if second.critical_warning:
        typer.echo("  SMART reports a critical warning; copy the data to another drive")
    for more in more_spare_area(seen.waf.value) if seen.waf else ():
        typer.echo(
            f"  with {format_share(more.over_provisioning_added)} more over-provisioning, kept trimmed: WAF about "
            f"{more.waf:.2f}, life multiplied by {more.life_factor:.2f} (closed form, as if writes were uniform)"
        )


def _spread(values: list[float | None] | list[float]) -> str:
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return "-"
    low, high = f"{min(known):.3g}", f"{max(known):.3g}"
    return low if low == high else f"{low} to {high}"


def _interval(interval: "Interval") -> str:
    low, high = f"{interval.low:.3g}", f"{interval.high:.3g}"
    return f"{interval.value:.3g}" if low == high else f"{interval.value:.3g} ({low} to {high})"
