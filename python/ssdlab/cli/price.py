"""`ssdlab price`: what a usable gigabyte costs, and a terabyte written, for drives, spare areas and prices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options

if TYPE_CHECKING:
    from ssdlab.planning.price import Offer


def price(
    drive: Annotated[
        list[str] | None, typer.Option("--drive", help="A drive of the catalogue or a drive file; may be repeated.")
    ] = None,
    op: Annotated[
        str | None, typer.Option("--op", help="Over-provisioning (T - U) / U; several with commas: 7%,28%.")
    ] = None,
    flash: Annotated[str | None, typer.Option(help="Instead of a drive: all of its flash, such as 128GiB.")] = None,
    user: Annotated[str | None, typer.Option(help="With --flash: what the host may use, such as 100GB.")] = None,
    usd: Annotated[float | None, typer.Option("--price", help="The price, instead of the drive file's.")] = None,
    cycles: Annotated[int | None, typer.Option(help="P/E cycles of the flash, instead of the drive file's.")] = None,
    waf: Annotated[
        float | None, typer.Option(help="Write amplification for life; without: uniform writes, greedy, closed form.")
    ] = None,
    output_format: options.TextOrJson = "text",
) -> None:
    """Cost per gigabyte of flash, per usable gigabyte, per terabyte written; with the definition of each column."""
    from ssdlab.errors import InputError

    options.check_word("--output-format", output_format, options.TEXT_OR_JSON)
    for option, value in (("--price", usd), ("--cycles", cycles), ("--waf", waf)):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{option} is {value}; allowed: a number above 0")
    if bool(drive) == (flash is not None):
        raise InputError("give either --drive or --flash (with --user or --op)")
    if user is not None and (flash is None or op is not None):
        raise InputError("--user goes with --flash, and instead of --op")
    if flash is not None and user is None and op is None:
        raise InputError("--flash needs --user, what the host may use, or --op")
    if flash is not None:
        offers = _of_flash(flash, user, op, usd, cycles, waf)
    else:
        offers = _of_drives(drive or [], op, usd, cycles, waf)
    if output_format == "json":
        from ssdlab.planning.price import DEFINITIONS

        typer.echo(json.dumps({"definitions": DEFINITIONS, "rows": [offer.to_dict() for offer in offers]}, indent=2))
    else:
        _print(offers)


def _of_flash(
    flash: str, user: str | None, op: str | None, usd: float | None, cycles: int | None, waf: float | None
) -> list[Offer]:
    from fractions import Fraction

    from ssdlab.errors import InputError
    from ssdlab.planning.price import Offer
    from ssdlab.quantities import format_share, parse_bytes, parse_shares

    flash_bytes = parse_bytes(flash)
    sizes = {flash: parse_bytes(user)} if user else {}
    for share in parse_shares(op) if op else []:
        sizes[f"{flash}, OP {format_share(share)}"] = int(flash_bytes / (1 + Fraction(str(share))))
    for name, size in sizes.items():
        if not 0 < size <= flash_bytes:
            raise InputError(
                f"{name}: {size} B for the host should be above 0 and at most the {flash_bytes} B of flash"
            )
    return [Offer(name, flash_bytes, size, size, usd, cycles, waf) for name, size in sizes.items()]


def _of_drives(
    names: list[str], op: str | None, usd: float | None, cycles: int | None, waf: float | None
) -> list[Offer]:
    from ssdlab.drives import load, resolve
    from ssdlab.planning.price import Offer
    from ssdlab.quantities import format_share, parse_shares

    offers = []
    for name in names:
        file = load(name)
        for share in parse_shares(op) if op else [None]:
            capacity = resolve(file, over_provisioning=share).capacity
            offers.append(
                Offer(
                    name if share is None else f"{name}, OP {format_share(share)}",
                    capacity.flash_bytes,
                    capacity.user_bytes,
                    # At another OP the drive would be sold as what it lets the host use.
                    capacity.sold_bytes if share is None else capacity.user_bytes,
                    file.market.price_usd if usd is None else usd,
                    file.nand.endurance_cycles if cycles is None else cycles,
                    waf if waf is not None else _uniform_waf(capacity.over_provisioning, capacity.units_per_erase_unit),
                )
            )
    return offers


def _uniform_waf(over_provisioning: float, units_per_erase_unit: int) -> float | None:
    from ssdlab.planning.closed_forms import greedy

    return greedy(over_provisioning, units_per_erase_unit) if over_provisioning > 0 else None


def _print(offers: list[Offer]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from ssdlab.planning.price import DEFINITIONS, rounded

    digits = {"over_provisioning": 1, "spare_factor": 1, "nominal_over_provisioning": 1, "lifetime_tb": 0}
    digits |= {"flash_gib": 0, "sold_gb": 0, "formatted_gib": 1, "per_tb_written": 3}
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
    }
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
    console = Console(highlight=False, markup=False)
    console.print(table)
    for key, definition in DEFINITIONS.items():
        console.print(f"{headings[key]}: {definition}")
    wafs = {offer.write_amplification for offer in offers if offer.write_amplification is not None}
    if wafs:
        shown = ", ".join(f"{waf:.3g}" for waf in sorted(wafs))
        console.print(f"life is at a write amplification of {shown}; --waf gives another")
