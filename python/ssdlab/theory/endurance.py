"""Life and price from write amplification: TBW, years, drive writes per day, cost per usable gigabyte.

Pure arithmetic, in bytes and days. It assumes perfect wear levelling: all blocks reach their rated cycles at the same
time.
"""

import math

DAYS_PER_YEAR = 365
"""A year in every figure of a life, as in JEDEC's relation of TBW and DWPD."""
HOURS_PER_YEAR = 24 * DAYS_PER_YEAR
BYTES_PER_GB = 10**9
BYTES_PER_TB = 10**12


def measured_write_amplification(nand_written_bytes: float, host_written_bytes: float) -> float:
    """WAF from a drive's own counters: bytes programmed into NAND over bytes written by the host, any unit for both."""
    _check_at_least_zero("nand_written_bytes", nand_written_bytes)
    _check_positive("host_written_bytes", host_written_bytes)
    return nand_written_bytes / host_written_bytes


def lifetime_bytes(endurance_cycles: float, physical_bytes: float, write_amplification: float) -> float:
    """Bytes that the host can write until all of the flash has its rated cycles: cycles x physical bytes / WAF.

    Divided by 10^12 this is TBW in the sense of JEDEC JESD218, if the flash's cycles are the limit.
    """
    _check_positive("endurance_cycles", endurance_cycles)
    _check_positive("physical_bytes", physical_bytes)
    _check_positive("write_amplification", write_amplification)
    return endurance_cycles * physical_bytes / write_amplification


def years(tbw_bytes: float, dwpd: float, user_bytes: float) -> float:
    """Years until `tbw_bytes` are written at `dwpd` drive writes (of `user_bytes`) per day; infinity for `dwpd` 0."""
    _check_positive("tbw_bytes", tbw_bytes)
    _check_at_least_zero("dwpd", dwpd)
    _check_positive("user_bytes", user_bytes)
    if dwpd == 0:
        return math.inf
    return tbw_bytes / (dwpd * user_bytes * DAYS_PER_YEAR)


def rated_dwpd(tbw_bytes: float, user_bytes: float, warranty_years: float) -> float:
    """DWPD from a rated TBW: TBW / (capacity x 365 x years of warranty), the relation used with JEDEC JESD218."""
    _check_at_least_zero("tbw_bytes", tbw_bytes)
    _check_positive("user_bytes", user_bytes)
    _check_positive("warranty_years", warranty_years)
    return tbw_bytes / (user_bytes * DAYS_PER_YEAR * warranty_years)


def rated_tbw_bytes(dwpd: float, user_bytes: float, warranty_years: float) -> float:
    """The inverse of `rated_dwpd`: rated bytes of host writes over the warranty, from a rating in DWPD."""
    _check_at_least_zero("dwpd", dwpd)
    _check_positive("user_bytes", user_bytes)
    _check_positive("warranty_years", warranty_years)
    return dwpd * user_bytes * DAYS_PER_YEAR * warranty_years


def nand_bytes_above(host_written_bytes: float, write_amplification: float, lower_write_amplification: float) -> float:
    """NAND writes that a lower WAF saves for the same host writes: host bytes x (WAF - lower WAF)."""
    _check_at_least_zero("host_written_bytes", host_written_bytes)
    _check_positive("lower_write_amplification", lower_write_amplification)
    return host_written_bytes * (write_amplification - lower_write_amplification)


def price_per_gb(price: float, usable_bytes: float, bytes_per_gb: int = BYTES_PER_GB) -> float:
    """Price of one usable gigabyte, in the price's currency. A GB is 10^9 bytes; `bytes_per_gb=2**30` for a GiB."""
    _check_at_least_zero("price", price)
    _check_positive("usable_bytes", usable_bytes)
    return price / (usable_bytes / bytes_per_gb)


def _check_positive(name: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name} is {value}; allowed: a finite number above 0")


def _check_at_least_zero(name: str, value: float) -> None:
    if not (value >= 0 and math.isfinite(value)):
        raise ValueError(f"{name} is {value}; allowed: a finite number of 0 or more")
