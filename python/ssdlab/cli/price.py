"""`ssdlab price`: the cost of a usable gigabyte and of a terabyte written, for drives, spare areas and prices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ssdlab.cli import answer_page, options
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import FormOrOutputFormat
from ssdlab.foundation.quantities import rounded as significant
from ssdlab.presentation.report import wording
from ssdlab.presentation.terminal import show
from ssdlab.theory import pricing
from ssdlab.theory.price import (
    DEFINITIONS,
    DEFINITIONS_OF_ENERGY,
    DEFINITIONS_OF_LIFE,
    SIZE_ROUNDED_MIN,
    Offer,
    rounded,
)

_DEFINITIONS = DEFINITIONS | DEFINITIONS_OF_LIFE | DEFINITIONS_OF_ENERGY

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Use:
    """How the drive is used, and how long its flash lasts, as options."""

    cycles: Annotated[
        int | None, typer.Option(metavar="N", help="P/E cycles of the flash; default: those of the drive file.")
    ] = None
    waf: Annotated[
        float | None,
        typer.Option(metavar="N", help="Write amplification for life; default: uniform writes, greedy, closed form."),
    ] = None
    writes_per_day: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="Host writes per day, such as 500GB: for life in years, and cost per year."),
        options.DAILY,
    ] = None
    co2e_per_kwh: options.Co2e = None


def price(
    context: typer.Context,
    drive: Annotated[
        list[str] | None,
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file. Repeatable."),
    ] = None,
    op: Annotated[
        str | None,
        typer.Option("--op", metavar="LIST", help="Over-provisioning (T - U) / U; several with commas: 7%,28%."),
    ] = None,
    left_empty: options.LeftEmptyList = None,
    flash: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Instead of a drive: its flash, such as 128GiB.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="SIZE", help="With --flash: the capacity for the host, such as 100GB.")
    ] = None,
    usd: Annotated[
        float | None,
        typer.Option("--price", metavar="N", help="Price; default: that of the drive file."),
        options.PRICE,
    ] = None,
    *,
    use: Use,
    form: FormOrOutputFormat,
    output: answer_page.Output = None,
) -> None:
    """Compute the cost per gigabyte of flash, per usable gigabyte and per terabyte written; define each column.

    With --writes-per-day also the cost per usable gigabyte and year. For drives whose file has [power] also watts and
    kWh a year, and with --co2e-per-kwh the CO2e of their operation.
    """
    if output:
        check_folder(Path(output), "price")
    found = pricing.price(
        drive or [],
        op=op,
        left_empty=left_empty,
        flash=flash,
        user=user,
        price=usd,
        cycles=use.cycles,
        waf=use.waf,
        writes_per_day=use.writes_per_day,
        co2e_per_kwh=use.co2e_per_kwh,
    )
    form.give(found, lambda: _print(found.offers))
    if output:
        offers = found.offers
        told = answer_page.Told(
            title=_title(offers),
            subtitle=", ".join(dict.fromkeys(offer.name for offer in offers)),
            summary="Computed from prices, capacities and rated erase cycles; nothing was simulated or measured.",
            sentences=_notes(offers),
            tables=[_table(offers)],
            words=_words(offers),
        )
        answer_page.write(output, told, found, form, context)


def _title(offers: Sequence[Offer]) -> str:
    known = [(offer.per_formatted_gib, offer.name) for offer in offers if offer.per_formatted_gib is not None]
    if not known:
        return "Spare area and life; no price is known"
    least, name = min(known)
    cost = f"{rounded(least, 3)} $ per usable GiB"
    return f"{name}: {cost}" if len(known) == 1 else f"{name} costs least of {len(known)}: {cost}"


def _table(offers: Sequence[Offer]) -> answer_page.Table:
    """A column for each offer if they are few, as there are many figures of each; else a row."""
    heads, rows = ["", *_shown(offers).values()], _rows(offers)
    if len(rows) > _COLUMNS_MAX:
        return answer_page.Table("Cost", ["drive", *heads[1:]], rows)
    names, *figures = zip(heads, *rows, strict=True)
    return answer_page.Table("Cost", names, figures)


_COLUMNS_MAX = 4
_DIGITS = {
    "over_provisioning": 1,
    "spare_factor": 1,
    "nominal_over_provisioning": 1,
    "lifetime_tb": 0,
    "flash_gib": 0,
    "sold_gb": 0,
    "formatted_gib": 1,
    "per_tb_written": 3,
    "life_years": 1,
    "per_usable_gb_year": 4,
    "kwh_per_year": 1,
    "co2e_kg_per_year": 1,
}
"""Digits behind the point, if not 3."""
_SIZES = ("flash_gib", "sold_gb", "formatted_gib", "lifetime_tb")
_HEADS = {
    "flash_gib": "flash GiB",
    "sold_gb": "sold GB",
    "formatted_gib": "usable GiB",
    "over_provisioning": "OP",
    "spare_factor": "spare factor",
    "nominal_over_provisioning": "nominal OP",
    "per_flash_gib": "$/flash GiB",
    "per_formatted_gib": "$/usable GiB",
    "per_sold_gb": "$/sold GB",
    "lifetime_tb": "life TB",
    "per_tb_written": "$/TB written",
    "life_years": "years",
    "per_usable_gb_year": "$/usable GB and year",
    "watts_mean": "W",
    "kwh_per_year": "kWh/year",
    "joules_host": "J/GiB host",
    "joules_gc": "J/GiB gc",
    "joules_idle": "J/GiB idle",
    "co2e_kg_per_year": "kg CO2e/year",
}


def _shown(offers: Sequence[Offer]) -> dict[str, str]:
    """The columns of which something is known, with their heads."""
    unknown = [] if any(offer.life_years is not None for offer in offers) else list(DEFINITIONS_OF_LIFE)
    unknown += [key for key in DEFINITIONS_OF_ENERGY if all(getattr(offer, key) is None for offer in offers)]
    return {key: head for key, head in _HEADS.items() if key not in unknown}


def _rows(offers: Sequence[Offer]) -> list[list[str]]:
    rows = []
    for offer in offers:
        cells = []
        for key in _shown(offers):
            value = getattr(offer, key)
            is_share = key in ("over_provisioning", "spare_factor", "nominal_over_provisioning")
            number = None if value is None else _number(key, value * 100 if is_share else value)
            cells.append("-" if number is None else f"{number} %" if is_share else f"{number}")
        rows.append([offer.name, *cells])
    return rows


def _number(key: str, value: float) -> str:
    if key in _SIZES and value < SIZE_ROUNDED_MIN:
        return significant(value)
    return str(rounded(value, _DIGITS.get(key, 3)))


def _words(offers: Sequence[Offer]) -> list[tuple[str, str]]:
    """The heads of the columns with their definitions."""
    heads = _shown(offers)
    return [(heads[key], definition) for key, definition in _DEFINITIONS.items() if key in heads]


def _notes(offers: Sequence[Offer]) -> list[str]:
    """What the figures rest on."""
    said = []
    wafs = dict.fromkeys(offer.write_amplification for offer in offers if offer.write_amplification is not None)
    if wafs:
        shown = wording.listed([f"{waf:.3g}" for waf in wafs])
        said.append(f"life assumes a write amplification of {shown}; set another with --waf")
    lifeless = [offer.name for offer in offers if offer.lifetime_tb is None]
    if lifeless:
        needed = "erase cycles (--cycles) and a write amplification (--waf)"
        said.append(f"life of {', '.join(lifeless)} is unknown without {needed}")
    powerless = [offer.name for offer in offers if offer.watts is None]
    if powerless and "watts_mean" in _shown(offers):
        said.append(f"W of {', '.join(powerless)} is unknown: the drive file has no [power]")
    return said


def _print(offers: Sequence[Offer]) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("drive", overflow="fold")
    for head in _shown(offers).values():
        table.add_column(head, justify="right")
    for row in _rows(offers):
        table.add_row(*row)
    console = Console()
    show(table, console)
    for head, definition in _words(offers):
        console.print(f"{head}: {definition}")
    for note in _notes(offers):
        console.print(note)
