"""`ssdlab model`: write amplification in closed form for one or several spare areas, without a simulation."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ssdlab.cli import answer_page
from ssdlab.cli.console import Console
from ssdlab.cli.destination import destination
from ssdlab.cli.form import FormOrOutputFormat
from ssdlab.errors import InputError, check_word
from ssdlab.foundation.quantities import format_share
from ssdlab.presentation.report import drawing
from ssdlab.presentation.terminal import show
from ssdlab.simulator.results.files import staged
from ssdlab.theory import modelling
from ssdlab.theory.modelling import UNITS_PER_ERASE_UNIT, Victim

if TYPE_CHECKING:
    from ssdlab.theory.modelling import Modelled

_HEADS = ("OP", "spare factor", "alpha", "WAF")
_WORDS = (
    ("OP", "spare area: (flash - capacity for the host) / capacity for the host"),
    ("spare factor", "(flash - capacity for the host) / flash"),
    ("alpha", "flash for each byte of data that is live"),
    ("WAF", "write amplification: bytes written to the flash for each byte that the host writes"),
)
OUTPUT_SUFFIXES = (".png", ".svg", ".html")


@dataclass(frozen=True)
class Skew:
    """Hot and cold writes: a share of the writes goes to a share of the address space."""

    hot_writes: Annotated[str | None, typer.Option(metavar="SHARE", help="Share of writes to the hot part.")] = None
    hot_space: Annotated[str | None, typer.Option(metavar="SHARE", help="Share of the space of the hot part.")] = None
    separate: Annotated[bool, typer.Option("--separate", help="Separate spare areas for hot and cold data.")] = False
    hot_spare: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="With --separate: the hot part's share of the spare area (default: the optimum)."
        ),
    ] = None


def model(
    context: typer.Context,
    op: Annotated[
        str,
        typer.Option("--op", metavar="LIST", help="Over-provisioning (T - U) / U; several with commas: 7%,28%."),
    ],
    *,
    left_empty: Annotated[
        str | None,
        typer.Option(
            "--left-empty",
            metavar="LIST",
            help="Shares of the capacity that the host leaves empty, with commas: each OP then grows with them.",
        ),
    ] = None,
    victim: Annotated[
        Victim, typer.Option(metavar="NAME", help=f"Victim policy: {', '.join(get_args(Victim))}.")
    ] = "greedy",
    units_per_erase_unit: Annotated[
        int, typer.Option(metavar="N", help="Mapping units per erase unit; no effect for FIFO and random.")
    ] = UNITS_PER_ERASE_UNIT,
    d: Annotated[
        int | None, typer.Option("--d", metavar="N", help="Erase units that d-choices draws (default: 10).")
    ] = None,
    skew: Skew,
    trim: Annotated[str | None, typer.Option(metavar="SHARE", help="Share of requests that trim a live unit.")] = None,
    form: FormOrOutputFormat,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="FILE|DIR",
            help="A FILE (.png, .svg, .html) for a chart of WAF against OP; a DIR for report.html and result.json.  "
            "[default: print only]",
        ),
    ] = None,
) -> None:
    """Compute write amplification in closed form: steady state, random writes of one mapping unit, many erase units.

    OP is the effective over-provisioning: without reserve, parity, bad blocks and the unwritten part of open erase
    units.
    """
    file = None
    if output:
        to = destination(output, None, form, command="model")
        file = to.file
        if file is not None:
            check_word(f"the suffix of --output {output}", file.suffix.lower(), OUTPUT_SUFFIXES)
    found = modelling.model(
        op,
        left_empty=left_empty,
        victim=victim,
        units_per_erase_unit=units_per_erase_unit,
        d=d,
        trim=trim,
        **asdict(skew),
    )
    form.give(found, lambda: _print_table(found))
    if file is not None:
        _draw(found, file)
        typer.echo(f"wrote {output}", err=True)
    elif output:
        _write_page(found, output, form, context)


def _rows(found: "Modelled") -> list[list[str]]:
    return [
        [
            format_share(row.over_provisioning),
            format_share(row.spare_factor),
            f"{row.alpha:.4f}",
            f"{row.write_amplification:.3f}",
        ]
        for row in found.rows
    ]


def _live(found: "Modelled") -> list[str]:
    if found.live_share == 1:
        return []
    return [f"{format_share(found.live_share)} of the units are live; alpha refers to those"]


def _print_table(found: "Modelled") -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in _HEADS:
        table.add_column(column, justify="right", no_wrap=True)
    for row in _rows(found):
        table.add_row(*row)
    console = Console()
    console.print(f"Write amplification: {found.formula}")
    for sentence in _live(found):
        console.print(sentence)
    show(table, console)


def _write_page(found: "Modelled", output: str, form: FormOrOutputFormat, context: typer.Context) -> None:
    first, last = found.rows[0], found.rows[-1]
    ends = [f"{row.write_amplification:.2f} at {format_share(row.over_provisioning)}" for row in (first, last)]
    told = answer_page.Told(
        title=f"Write amplification {' and '.join(dict.fromkeys(ends))}",
        subtitle=f"Closed form: {found.formula}",
        summary="In the steady state of random writes of one mapping unit, on a drive of many erase units. Nothing was "
        "simulated or measured.",
        sentences=_live(found),
        tables=[answer_page.Table("By spare area", _HEADS, _rows(found))],
        words=_WORDS,
        figures=found.figures(),
    )
    answer_page.write(output, told, found, form, context)


def _draw(found: "Modelled", output: Path) -> None:
    """Draws the curve with the spare areas as points. Leaves no file if drawing fails. Raises InputError if the file
    cannot be written."""
    chart = found.plot()
    drawing.check()
    try:
        with staged(output.parent) as place:
            if output.suffix.lower() == ".html":
                chart.save(place / output.name, inline=True)
            else:
                chart.save(place / output.name, scale_factor=2)
    except OSError as error:
        raise InputError(f"--output {output}: {error.strerror or error}") from error
