"""`ssdlab price`: the cost of a usable gigabyte and of a terabyte written, for drives, spare areas and prices."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ssdlab.cli import options
from ssdlab.cli.console import Console
from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_share, parse_bytes, parse_spare_areas
from ssdlab.presentation.terminal import show
from ssdlab.simulator.drives import ResolvedDrive, load, resolve
from ssdlab.theory.closed_forms import greedy
from ssdlab.theory.price import DEFINITIONS, DEFINITIONS_OF_ENERGY, DEFINITIONS_OF_LIFE, Offer, Watts, rounded

_DEFINITIONS = DEFINITIONS | DEFINITIONS_OF_LIFE | DEFINITIONS_OF_ENERGY


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
    writes_per_day: Annotated[
        int | None,
        typer.Option(metavar="SIZE", help="Host writes per day, such as 500GB: for life in years, and cost per year."),
        options.DAILY,
    ] = None,
    co2e_per_kwh: Annotated[
        float | None, typer.Option(metavar="GRAMS", help="CO2e of a kWh, in g: for kg a year of drives with [power].")
    ] = None,
    output_format: options.TextOrJson = "text",
) -> None:
    """Compute the cost per gigabyte of flash, per usable gigabyte and per terabyte written; define each column.

    With --writes-per-day also the cost per usable gigabyte and year. For drives whose file has [power] also watts and
    kWh a year, and with --co2e-per-kwh the CO2e of their operation.
    """
    for option, value in (("--cycles", cycles), ("--waf", waf), ("--co2e-per-kwh", co2e_per_kwh)):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{option} is {value}; allowed: a number above 0")
    if writes_per_day == 0:
        raise InputError("--writes-per-day is 0: the flash does not wear; allowed: above 0")
    if bool(drive) == (flash is not None):
        raise InputError("give either --drive or --flash (with --user or --op)")
    if flash is not None and left_empty is not None:
        raise InputError("--left-empty is a share of a drive and requires --drive; --flash has --user")
    if user is not None and (flash is None or op is not None):
        raise InputError("--user requires --flash and excludes --op")
    if flash is not None and user is None and op is None:
        raise InputError("--flash needs --user, the capacity for the host, or --op")
    if flash is not None:
        offers = _of_flash(flash, user, op, usd, cycles, waf)
    else:
        offers = _of_drives(drive or [], op, left_empty, usd, cycles, waf)
    offers = [replace(offer, written_bytes_per_day=writes_per_day, co2e_g_per_kwh=co2e_per_kwh) for offer in offers]
    if co2e_per_kwh is not None and all(offer.watts is None for offer in offers):
        whose = ", ".join(offer.name for offer in offers)
        raise InputError(f"--co2e-per-kwh requires a drive file with [power]; the energy of {whose} is unknown")
    if output_format == "json":
        typer.echo(
            json.dumps(
                {"definitions": _DEFINITIONS, "rows": [offer.to_dict() for offer in offers]},
                indent=2,
            )
        )
    else:
        _print(offers)


def _of_flash(
    flash: str, user: str | None, op: str | None, usd: float | None, cycles: int | None, waf: float | None
) -> list[Offer]:
    flash_bytes = parse_bytes(flash)
    sizes = {flash: parse_bytes(user)} if user else {}
    for share in parse_spare_areas(op) if op else []:
        sizes[f"{flash}, OP {format_share(share)}"] = int(flash_bytes / (1 + Fraction(str(share))))
    for name, size in sizes.items():
        if not 0 < size <= flash_bytes:
            raise InputError(
                f"{name}: {size} B for the host should be above 0 and at most the {flash_bytes} B of flash"
            )
    return [Offer(name, flash_bytes, size, size, usd, cycles, waf) for name, size in sizes.items()]


def _of_drives(
    names: list[str], op: str | None, left_empty: str | None, usd: float | None, cycles: int | None, waf: float | None
) -> list[Offer]:
    areas: list[tuple[str, float | None, float | None]] = [
        (f"OP {format_share(share)}", share, None) for share in (parse_spare_areas(op) if op else ())
    ]
    areas += [(f"{format_share(share)} left empty", None, share) for share in options.left_empties(left_empty)]
    offers = []
    for name in names:
        file = load(name)
        for label, over_provisioning, empty in areas or [("", None, None)]:
            resolved = resolve(file, over_provisioning=over_provisioning, left_empty=empty)
            capacity = resolved.capacity
            offers.append(
                Offer(
                    f"{name}, {label}" if label else name,
                    capacity.flash_bytes,
                    capacity.user_bytes,
                    # With another OP the sold capacity is the capacity for the host.
                    capacity.user_bytes if label else capacity.sold_bytes,
                    file.market.price_usd if usd is None else usd,
                    file.nand.endurance_cycles if cycles is None else cycles,
                    waf if waf is not None else _uniform_waf(capacity.over_provisioning, capacity.units_per_erase_unit),
                    held_out_bytes=capacity.held_out_bytes,
                    watts=_watts(resolved),
                )
            )
    return offers


def _watts(drive: ResolvedDrive) -> Watts | None:
    """The drive's energies for each byte; None if its file does not give them. A block is erased once it is full."""
    power, nand = drive.power, drive.file.nand
    if power is None:
        return None
    return Watts(
        power["idle_watts"],
        power["transfer_nj_per_byte"] / 1e9,
        (power["program_uj"] + power["erase_uj"] / nand.pages_per_block) / nand.page_bytes / 1e6,
        power["read_uj"] / nand.page_bytes / 1e6,
    )


def _uniform_waf(over_provisioning: float, units_per_erase_unit: int) -> float | None:
    return greedy(over_provisioning, units_per_erase_unit) if over_provisioning > 0 else None


def _print(offers: list[Offer]) -> None:
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
    wafs = {offer.write_amplification for offer in offers if offer.write_amplification is not None}
    if wafs:
        shown = ", ".join(f"{waf:.3g}" for waf in sorted(wafs))
        console.print(f"life assumes a write amplification of {shown}; set another with --waf")
