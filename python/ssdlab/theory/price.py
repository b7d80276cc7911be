"""The cost of a drive per gigabyte of flash, per usable gigabyte, and per terabyte written over its life.

Sizes are in bytes, prices in any currency. Figures are rounded half up as decimal numbers, as in a printed table, and
only for printing, except for the size in `per_formatted_gib`.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from ssdlab.theory.endurance import BYTES_PER_GB, BYTES_PER_TB, DAYS_PER_YEAR, lifetime_bytes

BYTES_PER_GIB = 2**30
SECONDS_PER_DAY = 86_400
# Printed sizes have one decimal, and the price per usable gigabyte is computed from the printed size.
_SIZE_DIGITS = 1
SIZE_ROUNDED_MIN = 10
"""Smaller sizes, in GiB, GB or TB, are not rounded to decimals but printed with three digits."""

DEFINITIONS = {
    "flash_gib": "all of the flash, GiB (2^30 B); the industry calls them GB",
    "sold_gb": "capacity on the label, or for the host if another spare area was asked for, GB (10^9 B)",
    "formatted_gib": "the same in the GiB that an operating system shows as GB",
    "over_provisioning": "spare area: (flash not held out - capacity for the host) / capacity for the host, in bytes",
    "spare_factor": "the part that is spare of the flash not held out, in bytes",
    "nominal_over_provisioning": "(GiB of flash - sold GB) / sold GB, as if a GiB were a GB: what labels say",
    "per_flash_gib": "price / GiB of flash",
    "per_formatted_gib": "price / usable GiB, from 10 GiB on as they are printed with one decimal",
    "per_sold_gb": "price / sold GB",
    "lifetime_tb": "TB (10^12 B) that the host can write: erase cycles x flash not held out / write amplification",
    "per_tb_written": "price / TB written over life",
}
"""Definitions of the figures of an `Offer`."""
DEFINITIONS_OF_LIFE = {
    "life_years": "years until the life TB are written, at what the host writes a day",
    "per_usable_gb_year": "price / (GB (10^9 B) for the host x years)",
}
"""Definitions of the figures that need the host's writes per day."""
DEFINITIONS_OF_ENERGY = {
    "watts_mean": "mean power: idle, and at the writes per day the programs, reads and transfers that they cause",
    "kwh_per_year": "mean power over 365 days",
    "joules_host": "joules for each GiB (2^30 B) that the host writes: its transfer and its program",
    "joules_gc": "the same: the reads and programs of garbage collection, WAF - 1 for each; none below a WAF of 1",
    "joules_idle": "the same: the power without requests, shared by the writes per day",
    "co2e_kg_per_year": "kWh a year x CO2e of a kWh",
}
"""Definitions of the figures that need the drive file's `[power]`, and the last one the CO2e of a kWh."""


@dataclass(frozen=True)
class Watts:
    """Power without requests, and joules for each byte that the host writes, that is programmed, and that garbage
    collection reads."""

    idle_watts: float
    joules_per_host_byte: float
    joules_per_programmed_byte: float
    joules_per_moved_byte: float

    def host_joules_per_byte(self, write_amplification: float | None) -> float:
        """Of a byte that the host writes: its transfer and its program, of which a drive that reduces data, with a
        write amplification below 1, has less."""
        programs = 1.0 if write_amplification is None else min(1.0, write_amplification)
        return self.joules_per_host_byte + programs * self.joules_per_programmed_byte

    def gc_joules_per_byte(self, write_amplification: float) -> float:
        """Of a byte that the host writes: all programs beyond the host's are moves, which are read first."""
        return max(0.0, write_amplification - 1) * (self.joules_per_programmed_byte + self.joules_per_moved_byte)

    def mean(self, written_bytes_per_day: float, write_amplification: float) -> float:
        """Mean watts at these writes."""
        joules = self.host_joules_per_byte(write_amplification) + self.gc_joules_per_byte(write_amplification)
        return self.idle_watts + written_bytes_per_day * joules / SECONDS_PER_DAY


@dataclass(frozen=True)
class Offer:
    """A drive for sale. `user_bytes` is the capacity for the host (U), `flash_bytes` all of the flash."""

    name: str
    flash_bytes: int
    user_bytes: int
    sold_bytes: int
    price: float | None
    endurance_cycles: int | None = None
    write_amplification: float | None = None
    written_bytes_per_day: float | None = None
    held_out_bytes: int = 0
    """The flash excluded from T, as by `ftl.reserved_bytes`."""
    watts: Watts | None = None
    """None for a drive whose energies are unknown."""
    co2e_g_per_kwh: float | None = None

    @property
    def physical_bytes(self) -> int:
        """T: the flash that can hold data."""
        return self.flash_bytes - self.held_out_bytes

    @property
    def flash_gib(self) -> float:
        return self.flash_bytes / BYTES_PER_GIB

    @property
    def sold_gb(self) -> float:
        return self.sold_bytes / BYTES_PER_GB

    @property
    def formatted_gib(self) -> float:
        return self.sold_bytes / BYTES_PER_GIB

    @property
    def over_provisioning(self) -> float:
        return (self.physical_bytes - self.user_bytes) / self.user_bytes

    @property
    def spare_factor(self) -> float:
        return (self.physical_bytes - self.user_bytes) / self.physical_bytes

    @property
    def nominal_over_provisioning(self) -> float:
        return (self.flash_gib - self.sold_gb) / self.sold_gb

    @property
    def per_flash_gib(self) -> float | None:
        return None if self.price is None else self.price / self.flash_gib

    @property
    def per_formatted_gib(self) -> float | None:
        if self.price is None:
            return None
        size = Fraction(self.sold_bytes, BYTES_PER_GIB)
        return self.price / float(rounded(size, _SIZE_DIGITS) if size >= SIZE_ROUNDED_MIN else size)

    @property
    def per_sold_gb(self) -> float | None:
        return None if self.price is None else self.price / self.sold_gb

    @property
    def lifetime_tb(self) -> float | None:
        """Lifetime host writes in TB; None if cycles or write amplification are not known."""
        if self.endurance_cycles is None or self.write_amplification is None:
            return None
        return lifetime_bytes(self.endurance_cycles, self.physical_bytes, self.write_amplification) / BYTES_PER_TB

    @property
    def per_tb_written(self) -> float | None:
        life = self.lifetime_tb
        return None if self.price is None or life is None else self.price / life

    @property
    def life_years(self) -> float | None:
        """Life in years; None if lifetime writes or the writes per day are not known."""
        life = self.lifetime_tb
        if life is None or self.written_bytes_per_day is None:
            return None
        return life * BYTES_PER_TB / self.written_bytes_per_day / DAYS_PER_YEAR

    @property
    def per_usable_gb_year(self) -> float | None:
        years = self.life_years
        return None if self.price is None or not years else self.price / (self.user_bytes / BYTES_PER_GB) / years

    @property
    def watts_mean(self) -> float | None:
        """Mean power; without writes per day that of a drive at rest. None without `watts`, and for writes without a
        write amplification."""
        if self.watts is None:
            return None
        if not self.written_bytes_per_day:
            return self.watts.idle_watts
        if self.write_amplification is None:
            return None
        return self.watts.mean(self.written_bytes_per_day, self.write_amplification)

    @property
    def kwh_per_year(self) -> float | None:
        return None if self.watts_mean is None else self.watts_mean * 24 * DAYS_PER_YEAR / 1000

    @property
    def joules_host(self) -> float | None:
        """For each GiB that the host writes; None without `watts`."""
        if self.watts is None:
            return None
        return self.watts.host_joules_per_byte(self.write_amplification) * BYTES_PER_GIB

    @property
    def joules_gc(self) -> float | None:
        """The same; None without a write amplification, too."""
        if self.watts is None or self.write_amplification is None:
            return None
        return self.watts.gc_joules_per_byte(self.write_amplification) * BYTES_PER_GIB

    @property
    def joules_idle(self) -> float | None:
        """The same; None without writes per day, too."""
        if self.watts is None or not self.written_bytes_per_day:
            return None
        return self.watts.idle_watts * SECONDS_PER_DAY / self.written_bytes_per_day * BYTES_PER_GIB

    @property
    def co2e_kg_per_year(self) -> float | None:
        """None if the energy or the CO2e of a kWh is not known."""
        kwh = self.kwh_per_year
        return None if kwh is None or self.co2e_g_per_kwh is None else kwh * self.co2e_g_per_kwh / 1000

    def to_dict(self) -> dict[str, float | str | None]:
        """All defined figures, unrounded; None if not known."""
        keys = (*DEFINITIONS, *DEFINITIONS_OF_LIFE, *DEFINITIONS_OF_ENERGY)
        figures: dict[str, float | str | None] = {key: getattr(self, key) for key in keys}
        return {"name": self.name, "price": self.price, "write_amplification": self.write_amplification, **figures}


def rounded(value: float | Fraction, digits: int) -> Decimal:
    """The value rounded to `digits` decimals, halves away from zero, computed with the decimal text of a float."""
    exact = Fraction(str(value)) if isinstance(value, float) else value
    scaled = exact * 10**digits
    whole = Decimal(scaled.numerator) / Decimal(scaled.denominator)
    # Adding 0 turns a negative zero into 0.
    return whole.quantize(Decimal(1), rounding=ROUND_HALF_UP).scaleb(-digits) + 0
