"""`ssdlab model`: write amplification in closed form for one or several spare areas, without a simulation."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ssdlab.cli.console import Console
from ssdlab.cli.groups import Parsed
from ssdlab.errors import InputError, check_word
from ssdlab.foundation.quantities import format_share, parse_left_empties, parse_share, parse_spare_areas
from ssdlab.presentation.report import drawing
from ssdlab.presentation.terminal import show
from ssdlab.simulator.results.files import staged
from ssdlab.theory import closed_forms

Victim = Literal["fifo", "greedy", "d-choices", "random"]
OUTPUT_SUFFIXES = (".png", ".svg", ".html")


@dataclass(frozen=True)
class _Row:
    """One spare area with the formula's result. Shares are fractions."""

    over_provisioning: float
    spare_factor: float
    alpha: float
    """The alpha of the formula: 1 + OP, divided by the live share if units are trimmed."""
    write_amplification: float


def _inner_share(text: str) -> float:
    share = parse_share(text)
    if not 0 < share < 1:
        raise InputError(f"{text!r} is out of range; allowed: above 0% and below 100%")
    return share


INNER = Parsed(_inner_share)


@dataclass(frozen=True)
class Skew:
    """Hot and cold writes: a share of the writes goes to a share of the address space."""

    hot_writes: Annotated[float | None, INNER, typer.Option(help="Share of writes to the hot part.")] = None
    hot_space: Annotated[float | None, INNER, typer.Option(help="Share of the space of the hot part.")] = None
    separate: Annotated[bool, typer.Option("--separate", help="Separate spare areas for hot and cold data.")] = False
    hot_spare: Annotated[
        float | None,
        INNER,
        typer.Option(help="With --separate: the hot part's share of the spare area (default: the optimum)."),
    ] = None

    def __post_init__(self) -> None:
        if (self.hot_writes is None) != (self.hot_space is None):
            raise InputError("--hot-writes and --hot-space go together")
        if self.separate and self.hot_writes is None:
            raise InputError("--separate needs --hot-writes and --hot-space")
        if self.hot_spare is not None and not self.separate:
            raise InputError("--hot-spare needs --separate")


def model(
    op: Annotated[
        list[float],
        typer.Option("--op", metavar="<str>", help="Over-provisioning (T - U) / U; several with commas: 7%,28%."),
        Parsed(parse_spare_areas),
    ],
    *,
    left_empty: Annotated[
        list[float] | None,
        typer.Option(
            "--left-empty",
            metavar="<str>",
            help="Shares of the capacity that the host leaves empty, with commas: each OP then grows with them.",
        ),
        Parsed(parse_left_empties),
    ] = None,
    victim: Annotated[
        Victim, typer.Option(metavar="<str>", help=f"Victim policy: {', '.join(get_args(Victim))}.")
    ] = "greedy",
    units_per_erase_unit: Annotated[
        int, typer.Option(help="Mapping units per erase unit; no effect for FIFO and random.")
    ] = 256,
    d: Annotated[int | None, typer.Option("--d", help="Erase units that d-choices draws (default: 10).")] = None,
    skew: Skew,
    trim: Annotated[str | None, typer.Option(help="Share of requests that trim a live unit.")] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option(metavar="<str>", help="text or json.")] = "text",
    output: Annotated[
        Path | None, typer.Option(help="Write a chart of WAF against OP to a .png, .svg or .html file.")
    ] = None,
) -> None:
    """Compute write amplification in closed form: steady state, random writes of one mapping unit, many erase units.

    OP is the effective over-provisioning: without reserve, parity, bad blocks and the unwritten part of open erase
    units.
    """
    from ssdlab.theory.field_inference import more

    if output:
        check_word(f"the suffix of --output {output}", output.suffix.lower(), OUTPUT_SUFFIXES)
    if d is not None and victim != "d-choices":
        raise InputError(f"--d is {d}, but the victim policy is {victim!r}; it requires --victim d-choices")
    if trim is not None and skew.hot_writes is not None:
        raise InputError("--trim is for uniform writes; no closed form combines it with --hot-writes")
    if skew.hot_writes is not None and not skew.separate and victim != "fifo":
        raise InputError(
            f"no closed form for hot and cold writes to one open erase unit under {victim!r}; "
            "use --victim fifo, or --separate"
        )

    try:
        pool, formula = _pool(victim, units_per_erase_unit, d)
        live = closed_forms.live_share(parse_share(trim)) if trim is not None else 1.0
        whole = pool
        if skew.hot_writes is not None:
            whole, formula = _skewed(skew, pool, formula)
        rows = []
        for over_provisioning in [more(each, share) for share in left_empty or [0.0] for each in op]:
            effective = closed_forms.with_live_share(over_provisioning, live)
            factor = closed_forms.spare_factor(over_provisioning)
            rows.append(_Row(over_provisioning, factor, 1 + effective, whole(effective)))
    except ValueError as error:
        raise InputError(_in_options(str(error))) from error

    if output_format == "json":
        head = {"formula": formula, "units_per_erase_unit": units_per_erase_unit, "live_share": live}
        typer.echo(json.dumps(head | {"rows": [asdict(row) for row in rows]}, indent=2))
    else:
        _print_table(rows, formula, live)
    if output is not None:
        _draw(rows, formula, lambda op: whole(closed_forms.with_live_share(op, live)), output)
        typer.echo(f"wrote {output}", err=True)


def _in_options(message: str) -> str:
    """A formula's error message with the option's name instead of the argument's."""
    argument, _, rest = message.partition(" ")
    option = {"trim_share": "trim", "over_provisioning": "op"}.get(argument, argument.replace("_", "-"))
    return f"--{option} {rest}"


def _pool(victim: str, units_per_erase_unit: int, d: int | None) -> tuple[Callable[[float], float], str]:
    """Write amplification as a function of over-provisioning under uniform writes, and the name of the formula."""
    drawn = 10 if d is None else d
    return {
        "fifo": (closed_forms.fifo, "FIFO"),
        "random": (closed_forms.random_victim, "random victim"),
        "greedy": (
            lambda op: closed_forms.greedy(op, units_per_erase_unit),
            f"greedy, {units_per_erase_unit} units per erase unit",
        ),
        "d-choices": (
            lambda op: closed_forms.d_choices(op, units_per_erase_unit, drawn),
            f"d-choices, d = {drawn}, {units_per_erase_unit} units per erase unit",
        ),
    }[victim]


def _skewed(skew: Skew, pool: Callable[[float], float], pool_formula: str) -> tuple[Callable[[float], float], str]:
    """The same as `_pool` for hot and cold writes, through one open erase unit or separate ones."""
    r, f = skew.hot_writes, skew.hot_space
    assert r is not None and f is not None
    writes, space = (r, 1 - r), (f, 1 - f)
    words = f"{format_share(r)} of the writes on {format_share(f)} of the space"
    if not skew.separate:
        return lambda op: closed_forms.fifo_classes(op, writes, space), f"FIFO, one open erase unit, {words}"
    if skew.hot_spare is None:
        hot = closed_forms.square_root_split(writes, space)[0]
        split = f"{format_share(hot)} of the spare area (optimal split)"
    else:
        hot = skew.hot_spare
        split = f"{format_share(hot)} of the spare area"
    spare = (hot, 1 - hot)
    return (
        lambda op: closed_forms.separated_pools(op, writes, space, spare, pool),
        f"separated pools, {pool_formula}; hot: {words}, {split}",
    )


def _print_table(rows: list[_Row], formula: str, live: float) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("OP", "spare factor", "alpha", "WAF"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            format_share(row.over_provisioning),
            format_share(row.spare_factor),
            f"{row.alpha:.4f}",
            f"{row.write_amplification:.3f}",
        )
    console = Console()
    console.print(f"Write amplification: {formula}")
    if live < 1:
        console.print(f"{format_share(live)} of the units are live; alpha refers to those")
    show(table, console)


def _draw(rows: list[_Row], formula: str, curve: Callable[[float], float], output: Path) -> None:
    """Draws the curve around the given spare areas, with these as points. Leaves no file if drawing fails. Raises
    InputError if the file cannot be written."""
    import altair as alt
    import polars as pl

    asked = [row.over_provisioning for row in rows]
    low, high = max(0.5 * min(asked), 0.01 * max(asked)), max(1.5 * max(asked), 0.3)
    steps = 100
    line = [low * (high / low) ** (step / steps) for step in range(steps + 1)]
    axis_x = alt.X("over_provisioning:Q", title="over-provisioning", axis=alt.Axis(format="~%"))
    axis_y = alt.Y("waf:Q", title="write amplification (WAF)").scale(zero=False, domainMin=1)
    curve_points = pl.DataFrame({"over_provisioning": line, "waf": [curve(op) for op in line]})
    row_points = pl.DataFrame({"over_provisioning": asked, "waf": [row.write_amplification for row in rows]})
    tooltip = [alt.Tooltip("over_provisioning:Q", format=".2%", title="OP"), alt.Tooltip("waf:Q", format=".3f")]
    chart = alt.layer(
        alt.Chart(curve_points).mark_line().encode(axis_x, axis_y),
        alt.Chart(row_points).mark_point(filled=True, size=60).encode(axis_x, axis_y, tooltip=tooltip),
    ).properties(width=560, height=320, title=f"Closed form: {formula}")
    drawing.check()
    try:
        with staged(output.parent) as place:
            if output.suffix.lower() == ".html":
                chart.save(place / output.name, inline=True)
            else:
                chart.save(place / output.name, scale_factor=2)
    except OSError as error:
        raise InputError(f"--output {output}: {error.strerror or error}") from error
