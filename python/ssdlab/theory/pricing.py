"""`ssdlab.price`: the cost of a usable gigabyte and of a terabyte written, for drives, spare areas and prices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_share, left_empties_of, parse_bytes_with_unit, spare_areas_of
from ssdlab.presentation.report.shown import Shown, said
from ssdlab.simulator.drives import ResolvedDrive, load, resolve
from ssdlab.theory.closed_forms import greedy
from ssdlab.theory.price import DEFINITIONS, DEFINITIONS_OF_ENERGY, DEFINITIONS_OF_LIFE, Offer, Watts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from ssdlab.presentation.report.figure import Figure

    Names = str | Path | Sequence[str | Path]
    Shares = float | str | Sequence[float | str] | None


@dataclass(frozen=True, repr=False)
class Priced(Shown):
    """Drives, or spare areas of one, with their cost."""

    offers: Sequence[Offer]

    def __repr__(self) -> str:
        prices = [cost for each in self.offers if (cost := each.per_formatted_gib) is not None]
        found = f"{said(min(prices))} to {said(max(prices))} per usable GiB" if prices else "no price"
        return f"<Priced: {len(self.offers)} offers, {found}>"

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each offer.

        Columns: name, price, write_amplification, and those that `definitions` defines: sizes in GB (10^9 bytes) or GiB
        (2^30), TB (10^12), shares, years; costs in the currency of the price.
        """
        import polars as pl

        return pl.DataFrame([offer.to_dict() for offer in self.offers], infer_schema_length=None)

    @property
    def definitions(self) -> dict[str, str]:
        """The definition of each column, by name."""
        return DEFINITIONS | DEFINITIONS_OF_LIFE | DEFINITIONS_OF_ENERGY

    def figures(self) -> Sequence[Figure]:
        """No pictures."""
        return ()

    def to_dict(self) -> dict[str, object]:
        """The object that `ssdlab price --format json` prints."""
        return {"definitions": self.definitions, "rows": [offer.to_dict() for offer in self.offers]}


def price(
    drives: Names = (),
    *,
    op: Shares = None,
    left_empty: Shares = None,
    flash: int | str | None = None,
    user: int | str | None = None,
    price: float | None = None,
    cycles: int | None = None,
    waf: float | None = None,
    writes_per_day: int | str | None = None,
    co2e_per_kwh: float | None = None,
) -> Priced:
    """Computes the cost per gigabyte of flash, per usable gigabyte and per terabyte written, as `ssdlab price`.

    `drives` are names of the catalogue or drive files, with spare areas `op` or shares `left_empty` (0.07 or "7%").
    Instead of drives, `flash` is an amount of flash in bytes or as "128GiB", with `user`, the capacity for the host, or
    `op`. `price` is in any currency, by default that of the drive file; `cycles` are the P/E cycles of the flash. `waf`
    is the write amplification for life, by default that of uniform writes under greedy in closed form.
    `writes_per_day` ("500GB", or bytes) adds life in years and the cost per usable gigabyte and year. Drives whose file
    has [power] also have watts and kWh a year, and with `co2e_per_kwh`, in g, the CO2e of their operation in kg a year.

    Raises InputError, which names the argument, its value and what is allowed.

        ssdlab.price("generic-tlc-480", price=45, left_empty=["0%", "20%"]).frame()["per_formatted_gib"]
    """
    names = [str(drives)] if isinstance(drives, str) or not isinstance(drives, list | tuple) else [*map(str, drives)]
    for option, value in (
        ("--price", price),
        ("--cycles", cycles),
        ("--waf", waf),
        ("--co2e-per-kwh", co2e_per_kwh),
    ):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{option} is {value}; allowed: a number above 0")
    daily_bytes = _bytes("--writes-per-day", writes_per_day)
    if daily_bytes == 0:
        raise InputError("--writes-per-day is 0: the flash does not wear; allowed: above 0")
    if bool(names) == (flash is not None):
        raise InputError("give either --drive or --flash (with --user or --op)")
    if flash is not None and left_empty is not None:
        raise InputError("--left-empty is a share of a drive and requires --drive; --flash has --user")
    if user is not None and (flash is None or op is not None):
        raise InputError("--user requires --flash and excludes --op")
    if flash is not None and user is None and op is None:
        raise InputError("--flash needs --user, the capacity for the host, or --op")
    if flash is not None:
        offers = _of_flash(flash, user, op, price, cycles, waf)
    else:
        offers = _of_drives(names, op, left_empty, price, cycles, waf)
    offers = [replace(offer, written_bytes_per_day=daily_bytes, co2e_g_per_kwh=co2e_per_kwh) for offer in offers]
    if co2e_per_kwh is not None and all(offer.watts is None for offer in offers):
        whose = ", ".join(offer.name for offer in offers)
        raise InputError(f"--co2e-per-kwh requires a drive file with [power]; the energy of {whose} is unknown")
    return Priced(offers)


def _bytes(option: str, size: int | str | None) -> int | None:
    try:
        return parse_bytes_with_unit(size) if isinstance(size, str) else size
    except InputError as error:
        raise InputError(f"{option}: {error}") from None


def _of_flash(
    flash: int | str, user: int | str | None, op: Shares, price: float | None, cycles: int | None, waf: float | None
) -> list[Offer]:
    flash_bytes, user_bytes = _bytes("--flash", flash), _bytes("--user", user)
    assert flash_bytes is not None
    sizes = {str(flash): user_bytes} if user_bytes is not None else {}
    for share in spare_areas_of(op):
        sizes[f"{flash}, OP {format_share(share)}"] = int(flash_bytes / (1 + Fraction(str(share))))
    for name, size in sizes.items():
        if not 0 < size <= flash_bytes:
            raise InputError(
                f"{name}: {size} B for the host should be above 0 and at most the {flash_bytes} B of flash"
            )
    return [Offer(name, flash_bytes, size, size, price, cycles, waf) for name, size in sizes.items()]


def _of_drives(
    names: Sequence[str], op: Shares, left_empty: Shares, price: float | None, cycles: int | None, waf: float | None
) -> list[Offer]:
    areas: list[tuple[str, float | None, float | None]] = [
        (f"OP {format_share(share)}", share, None) for share in spare_areas_of(op)
    ]
    areas += [(f"{format_share(share)} left empty", None, share) for share in left_empties_of(left_empty)]
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
                    file.market.price_usd if price is None else price,
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
