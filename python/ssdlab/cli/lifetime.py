"""`ssdlab lifetime`: estimates the life of a drive from a simulated workload or two SMART readings of a real drive."""

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from ssdlab.cli import answer_page, options, workload_options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import FormOrTraces, Rows
from ssdlab.cli.groups import Parsed
from ssdlab.cli.progress import described
from ssdlab.errors import InputError, notify
from ssdlab.experiments.advice import living
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.to_the_end import HEADS, assumptions, whole_life
from ssdlab.experiments.advice.workload import daily_writes, workload_of
from ssdlab.foundation.quantities import format_share, parse_terabytes, rounded
from ssdlab.presentation.report import wording
from ssdlab.presentation.terminal import show, wrapped
from ssdlab.simulator.drives import load
from ssdlab.theory.endurance import BYTES_PER_TB

if TYPE_CHECKING:
    from ssdlab.experiments.advice.described import Described
    from ssdlab.experiments.advice.living import Bounds, Lifetime
    from ssdlab.experiments.advice.recorded import Trace
    from ssdlab.experiments.advice.to_the_end import Life


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
    output: answer_page.Output = None


@dataclass(frozen=True)
class SpareAreas:
    """The spare areas to estimate, as options."""

    op: Annotated[str, typer.Option("--op", metavar="LIST", help="Spare areas in addition to the drive's own.")] = (
        living.OP
    )
    left_empty: options.LeftEmptyList = None


def lifetime(
    context: typer.Context,
    files: workload_options.Files = (),
    *,
    drive: Annotated[
        str | None, typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file.")
    ] = None,
    asked: Load,
    spare: SpareAreas,
    settings: options.Set = None,
    readings: Readings,
    reading: workload_options.Reading,
    simulations: options.Simulations,
    form: FormOrTraces,
) -> None:
    """Estimate how long a drive lasts, and the effect of more spare area.

    Give either a workload and a drive model (JOB.fio or a trace, --drive, and --writes-per-day, which a trace with
    timestamps does not need), or reports of a real drive (--smart; or --before and --after; in any form that ssdlab
    health reads; with --drive its flash and cycles are used too), or --writes-per-day and --rated-tbw alone. For a
    drive that is only read, such as a model server's, give --drive and --reads-per-day.
    """
    directory = Path(asked.output) if asked.output else None
    if directory is not None:
        check_folder(directory, "lifetime")
    if asked.to_the_end:
        if not files or not drive or readings.given or asked.reads_per_day is not None:
            raise InputError("--to-the-end is a simulated life: it requires a workload, --drive and --writes-per-day")
        if spare.op != living.OP or spare.left_empty:
            raise InputError(
                "--to-the-end begins with the drive's own spare area; for another, give a file of your own"
            )
        setting = Setting(load(drive), settings or {}, drive)
        with ExitStack() as stack:
            read = reading.with_format(form.trace_format)
            workload = workload_of(files, setting.user_bytes_least, read, stack)
            life, daily_bytes = _to_the_end(workload, setting, asked.writes_per_day, simulations)
        form.give(Rows(life.moments(daily_bytes)), lambda: _print_to_the_end(life, daily_bytes))
        if directory is not None:
            from ssdlab.experiments.advice import last_year_page

            names = last_year_page.write(life, daily_bytes, setting.standing, directory, command_line(context))
            form.say_files(directory, names)
        return
    with described() as tell:
        found = living.lifetime(
            files,
            drive,
            writes_per_day=asked.writes_per_day,
            reads_per_day=asked.reads_per_day,
            read_size=asked.read_size,
            op=spare.op,
            left_empty=spare.left_empty,
            settings=settings,
            scale=simulations.scale,
            seed=simulations.seed,
            workers=simulations.workers,
            on_progress=tell,
            **asdict(readings),
            **asdict(reading.with_format(form.trace_format)),
        )
    form.give(found, lambda: _print(found))
    if asked.output:
        answer_page.write(asked.output, _told(found), found, form, context)


_HEADS = ("OP", "WAF", "years", "TBW")
_WORDS = (
    ("OP", "spare area: (flash - capacity for the host) / capacity for the host"),
    ("WAF", "write amplification: bytes written to the flash for each byte that the host writes"),
    ("TBW", "what the host can write in all"),
)


def _told(found: "Lifetime") -> answer_page.Told:
    # Reports can say too little for any estimate.
    first, last = (found.lives[0], found.lives[-1]) if found.lives else (None, None)
    rows = _rows(found)
    title = f"Life of {found.drive}: not known"
    if first and first.years:
        title = f"{found.drive} lasts {_spread(first.years)} years"
        if last and last is not first and last.years and last.over_provisioning is not None:
            title += f" as sold, {_spread(last.years)} with {format_share(last.over_provisioning)} of spare area"
    return answer_page.Told(
        title=title,
        subtitle=f"By {first.by}" if first else "From its SMART reports",
        summary=wording.capitalized(found.sentences[0]),
        sentences=found.sentences[1:],
        tables=[answer_page.Table("Life by spare area", _HEADS, rows)] if rows else [],
        words=_WORDS if rows else [],
    )


def _rows(found: "Lifetime") -> list[list[str]]:
    """The lives that were simulated, as cells under `_HEADS`."""
    rows = []
    for life in found.lives:
        if life.over_provisioning is not None:
            label = f" ({life.label})" if life.label else ""
            cells = [_spread(life.waf), _spread(life.years), f"{_spread(life.tbw_bytes, BYTES_PER_TB)} TB"]
            rows.append([f"{format_share(life.over_provisioning)}{label}", *cells])
    return rows


def _print(found: "Lifetime") -> None:
    if rows := _rows(found):
        table = Table(box=box.SIMPLE_HEAD)
        for name in _HEADS:
            table.add_column(name, justify="right")
        for row in rows:
            table.add_row(*row)
        show(table, Console())
    for sentence in found.sentences:
        typer.echo(wrapped(sentence))


def _to_the_end(
    workload: "Described | Trace",
    setting: Setting,
    writes_per_day: str | None,
    simulations: options.Simulations,
) -> "tuple[Life, float]":
    """The life, and what the host writes a day."""
    daily_bytes, assumed = daily_writes(writes_per_day, workload)
    assert daily_bytes is not None
    notify([*workload.notes(timed=True), *assumed])
    with described() as tell:
        chosen = simulations
        life = whole_life(workload, setting, chosen.workers, tell, scale=chosen.scale, seed=chosen.seed)
        return life, daily_bytes


def _print_to_the_end(life: "Life", daily_bytes: float) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for name in HEADS:
        table.add_column(name, justify="left" if name == "when" else "right")
    for row in life.rows(daily_bytes):
        table.add_row(*row)
    show(table, Console())
    typer.echo(wrapped(assumptions(life, daily_bytes)))


def _spread(bounds: "Bounds | None", unit: float = 1) -> str:
    if bounds is None:
        return "-"
    low, high = (rounded(value / unit) for value in bounds[1:])
    if math.isinf(bounds[2]) and not math.isinf(bounds[1]):
        return f"more than {low}"
    return low if low == high else f"{low} to {high}"
