"""`ssdlab price`: the cost of a usable gigabyte and of a terabyte written, for drives, spare areas and prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ssdlab.cli import options
from ssdlab.cli.console import Console
from ssdlab.cli.form import FormOrOutputFormat
from ssdlab.presentation.terminal import show
from ssdlab.theory import pricing
from ssdlab.theory.price import DEFINITIONS, DEFINITIONS_OF_ENERGY, DEFINITIONS_OF_LIFE, Offer, rounded

_DEFINITIONS = DEFINITIONS | DEFINITIONS_OF_LIFE | DEFINITIONS_OF_ENERGY

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Use:
    """How the drive is used, as options."""

    writes_per_day: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="Host writes per day, such as 500GB: for life in years, and cost per year."),
        options.DAILY,
    ] = None
    co2e_per_kwh: Annotated[
        float | None, typer.Option(metavar="GRAMS", help="CO2e of a kWh, in g: for kg a year of drives with [power].")
    ] = None


def price(
    drive: Annotated[
        list[str] | None, typer.Option("--drive", help="A drive of the catalogue or a drive file; may be repeated.")
    ] = None,
    op: Annotated[
        str | None, typer.Option("--op", help="Over-provisioning (T - U) / U; several with commas: 7%,28%.")
    ] = None,
    left_empty: options.LeftEmptyList = None,
    flash: Annotated[str | None, typer.Option(help="Instead of a drive: its flash, such as 128GiB.")] = None,
    user: Annotated[str | None, typer.Option(help="With --flash: the capacity for the host, such as 100GB.")] = None,
    usd: Annotated[
        float | None,
        typer.Option("--price", metavar="N", help="Price; default: that of the drive file."),
        options.PRICE,
    ] = None,
    cycles: Annotated[
        int | None, typer.Option(help="P/E cycles of the flash; default: those of the drive file.")
    ] = None,
    waf: Annotated[
        float | None, typer.Option(help="Write amplification for life; default: uniform writes, greedy, closed form.")
    ] = None,
    *,
    use: Use,
    form: FormOrOutputFormat,
) -> None:
    """Compute the cost per gigabyte of flash, per usable gigabyte and per terabyte written; define each column.

    With --writes-per-day also the cost per usable gigabyte and year. For drives whose file has [power] also watts and
    kWh a year, and with --co2e-per-kwh the CO2e of their operation.
    """
    found = pricing.price(
        drive or [],
        op=op,
        left_empty=left_empty,
        flash=flash,
        user=user,
        price=usd,
        cycles=cycles,
        waf=waf,
        writes_per_day=use.writes_per_day,
        co2e_per_kwh=use.co2e_per_kwh,
    )
    form.give(found, lambda: _print(found.offers))


def _print(offers: Sequence[Offer]) -> None:
    digits = {"over_provisioning": 1, "spare_factor": 1, "nominal_over_provisioning": 1, "lifetime_tb": 0}
    digits |= {
        "flash_gib": 0,
        "sold_gb": 0,
        "formatted_gib": 1,
        "per_tb_written": 3,
        "life_years": 1,
        "per_usable_gb_year": 4,
        "kwh_per_year": 1,
        "co2e_kg_per_year": 1,
    }
    headings = {
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
        "co2e_kg_per_year": "kg CO2e/year",
    }
    unknown = [] if any(offer.life_years is not None for offer in offers) else list(DEFINITIONS_OF_LIFE)
    unknown += [key for key in DEFINITIONS_OF_ENERGY if all(getattr(offer, key) is None for offer in offers)]
    headings = {key: heading for key, heading in headings.items() if key not in unknown}
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("drive", overflow="fold")
    for key in headings:
        table.add_column(headings[key], justify="right")
    for offer in offers:
        cells = []
        for key in headings:
            value = getattr(offer, key)
            is_share = key in ("over_provisioning", "spare_factor", "nominal_over_provisioning")
            number = None if value is None else rounded(value * 100 if is_share else value, digits.get(key, 3))
            cells.append("-" if number is None else f"{number} %" if is_share else f"{number}")
        table.add_row(offer.name, *cells)
    console = Console()
    show(table, console)
    for key, definition in _DEFINITIONS.items():
        if key in headings:
            console.print(f"{headings[key]}: {definition}")
    wafs = dict.fromkeys(offer.write_amplification for offer in offers if offer.write_amplification is not None)
    if wafs:
        shown = ", ".join(f"{waf:.3g}" for waf in wafs)
        console.print(f"life assumes a write amplification of {shown}; set another with --waf")
    powerless = [offer.name for offer in offers if offer.watts is None]
    if powerless and "watts_mean" in headings:
        console.print(f"W of {', '.join(powerless)} is unknown: the drive file has no [power]")
