"""Life and price compared with manual calculations and published figures (studies 2 and 5)."""

import math
from collections.abc import Callable

import pytest

from ssdlab.theory import endurance


@pytest.mark.parametrize(("nand_gb", "host_gb", "waf"), [(42112, 22558, 1.87), (14976, 5257, 2.85)])
def test_waf_of_the_pny_paper(nand_gb: float, host_gb: float, waf: float) -> None:
    assert endurance.measured_write_amplification(nand_gb, host_gb) == pytest.approx(waf, abs=0.005)


def test_pny_needless_writes() -> None:
    # 22,558 GB of host writes at 2.85 instead of 1.87: 0.98 x 22,558 GB.
    assert endurance.nand_bytes_above(22558e9, 2.85, 1.87) == pytest.approx(22106.84e9)


def test_life_by_hand() -> None:
    # 512 GB of flash x 3000 cycles = 1536 TB of NAND writes; at WAF 4 that is 384 TB from the host.
    tbw = endurance.lifetime_bytes(3000, 512e9, 4.0)
    assert tbw == pytest.approx(384 * endurance.BYTES_PER_TB)
    # 480 GB once a day: 800 days.
    assert endurance.years(tbw, 1.0, 480e9) == pytest.approx(800 / 365)
    assert endurance.years(tbw, 0.5, 480e9) == pytest.approx(1600 / 365)
    assert endurance.years(tbw, 0, 480e9) == math.inf


def test_dwpd_and_tbw_are_each_others_inverse() -> None:
    # 1 DWPD on 480 GB over five years: 480 GB x 1825 days = 876 TB.
    assert endurance.rated_tbw_bytes(1, 480e9, 5) == pytest.approx(876e12)
    assert endurance.rated_dwpd(876e12, 480e9, 5) == pytest.approx(1)
    assert endurance.years(endurance.rated_tbw_bytes(0.3, 480e9, 3), 0.3, 480e9) == pytest.approx(3)


@pytest.mark.parametrize(
    ("price", "gb", "per_gb"), [(399, 128, 3.117), (399, 93.1, 4.286), (399, 111.8, 3.569), (450, 149.0, 3.020)]
)
def test_published_prices_per_gigabyte(price: float, gb: float, per_gb: float) -> None:
    assert endurance.price_per_gb(price, gb * 1e9) == pytest.approx(per_gb, abs=0.0006)
    assert endurance.price_per_gb(price, gb * 2**30, bytes_per_gb=2**30) == pytest.approx(per_gb, abs=0.0006)


def test_values_out_of_range_are_refused() -> None:
    calls: tuple[Callable[[], float], ...] = (
        lambda: endurance.measured_write_amplification(1, 0),
        lambda: endurance.lifetime_bytes(3000, 512e9, 0),
        lambda: endurance.lifetime_bytes(-1, 512e9, 2),
        lambda: endurance.years(384e12, -1, 480e9),
        lambda: endurance.rated_dwpd(384e12, 480e9, 0),
        lambda: endurance.price_per_gb(math.nan, 1),
    )
    for call in calls:
        with pytest.raises(ValueError, match="allowed"):
            call()
