"""`ssdlab lifetime`: estimates the life of a drive from a simulated workload or two SMART readings of a real drive."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from ssdlab.cli import options, workload_options
from ssdlab.cli.console import Console
from ssdlab.cli.form import FormOrTraces
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import described
from ssdlab.experiments.advice import living
from ssdlab.foundation.quantities import format_share, parse_terabytes
from ssdlab.presentation.terminal import show
from ssdlab.theory.endurance import BYTES_PER_TB

if TYPE_CHECKING:
    from ssdlab.experiments.advice.living import Bounds, Lifetime


@dataclass(frozen=True)
class Readings(living.Readings):
    """Reports of a real drive, as options."""

    before: Annotated[
        str | None, typer.Option(metavar="FILE", help="A real drive's first report, as for ssdlab health.")
    ] = None
    after: Annotated[str | None, typer.Option(metavar="FILE", help="The second, days later.")] = None
    ocp_before: Annotated[str | None, typer.Option(metavar="FILE", help="Its nvme ocp smart-add-log.")] = None
    ocp_after: Annotated[str | None, typer.Option(metavar="FILE", help="The same for the second report.")] = None
    smart: Annotated[
        Sequence[str], typer.Option(metavar="PLACE", help="Any number of reports of a drive instead. Repeatable.")
    ] = ()


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
    ] = living.READ_BYTES,
    op: Annotated[
        str, typer.Option("--op", metavar="LIST", help="Spare areas in addition to the drive's own.")
    ] = living.OP,
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
    form: FormOrTraces,
) -> None:
    """Estimate how long a drive lasts, and the effect of more spare area.

    Give either a workload and a drive model (JOB.fio or a trace, --drive, and --writes-per-day, which a trace with
    timestamps does not need), or reports of a real drive (--smart; or --before and --after; in any form that ssdlab
    health reads; with --drive its flash and cycles are used too), or --writes-per-day and --rated-tbw alone. For a
    drive that is only read, such as a model server's, give --drive and --reads-per-day.
    """
    with described() as tell:
        found = living.lifetime(
            files,
            drive,
            writes_per_day=writes_per_day,
            reads_per_day=reads_per_day,
            read_size=read_size,
            op=op,
            left_empty=left_empty,
            settings=settings,
            rated_tbw=rated_tbw,
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
        typer.echo(sentence)


def _spread(bounds: "Bounds | None", unit: float = 1) -> str:
    if bounds is None:
        return "-"
    low, high = (f"{value / unit:.3g}" for value in bounds[1:])
    return low if low == high else f"{low} to {high}"
