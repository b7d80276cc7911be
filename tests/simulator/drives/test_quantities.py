"""Quantities are parsed exactly, printed readably, and refused with a reason."""

import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import (
    format_bytes,
    format_bytes_binary,
    format_count,
    format_deviation,
    format_scale,
    format_share,
    option_share,
    parse_bytes,
    parse_bytes_per_day,
    parse_dwpd,
    parse_price,
    parse_scale,
    parse_share,
    parse_spare_areas,
    parse_terabytes,
    rounded,
)


@pytest.mark.parametrize(
    ("text", "share"), [("7%", 0.07), ("0.07", 0.07), (" 12.7 % ", 0.127), ("0%", 0.0), ("150%", 1.5), ("1", 1.0)]
)
def test_shares(text: str, share: float) -> None:
    assert parse_share(text) == share


def test_lists_of_shares() -> None:
    assert parse_spare_areas("0%,7%,28%") == [0.0, 0.07, 0.28]


@pytest.mark.parametrize("text", ["", "x", "7", "-1%", "nan", "inf", "7%%", "1e999999999", "0%,", "7 percent"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"share|negative|ambiguous|large"):
        parse_spare_areas(text)


def test_a_bare_number_above_one_is_not_guessed() -> None:
    with pytest.raises(InputError, match=r"write 7% or, as a plain number, 0\.07"):
        parse_share("7")


@given(st.integers(min_value=0, max_value=10**6))
def test_shares_are_exact_to_a_hundredth_of_a_percent(hundredths: int) -> None:
    text = f"{hundredths // 100}.{hundredths % 100:02}%"
    assert parse_share(text) == hundredths / 10_000
    assert parse_share(option_share(parse_share(text))) == parse_share(text)


@pytest.mark.parametrize("text", ["1/16", "0.0625", "6.25%", " 2 / 32 "])
def test_scales(text: str) -> None:
    assert parse_scale(text) == Fraction(1, 16)


@pytest.mark.parametrize("text", ["0", "1/0", "2", "3/2", "-1/2", "x", "", "101%", "1e-99999999", "nan"])
def test_what_is_no_scale_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="1/16"):
        parse_scale(text)


@given(st.integers(min_value=1, max_value=10**6), st.integers(min_value=0, max_value=10**6))
def test_scales_come_back_as_they_were_printed(numerator: int, more: int) -> None:
    scale = Fraction(numerator, numerator + more)
    assert parse_scale(format_scale(scale)) == scale


@pytest.mark.parametrize(
    ("text", "size"), [("4096", 4096), ("480GB", 480 * 10**9), ("128 GiB", 2**37), ("1.5kib", 1536), ("1_000", 1000)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "4k", "4G", "-1", "1.5", "0.3B", "4 Gibibytes", "GB", "1e9"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"size|unit|whole number"):
        parse_bytes(text)


@given(st.integers(min_value=0, max_value=2**63))
def test_printed_sizes_are_within_their_last_digit_and_below_the_next_unit(size: int) -> None:
    for text, step in ((format_bytes(size), 1000), (format_bytes_binary(size), 1024)):
        number, unit = text.split()
        assert float(number) < step or unit in ("PB", "PiB")
        factor = parse_bytes(f"1{unit}")
        assert abs(float(number) * factor - size) <= 0.051 * factor


def test_printing() -> None:
    assert format_bytes(480103981056) == "480.1 GB"
    assert format_bytes(999_960) == "1 MB"
    assert format_bytes(960197124096) == "960.2 GB"
    assert format_bytes_binary(512 * 2**30) == "512 GiB"
    assert format_count(117212886) == "117,212,886"
    assert format_scale(Fraction(1)) == "1"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.07374, "7.37 %"),
        (0.1, "10 %"),
        (0.0, "0 %"),
        (2e-7, "below 0.01 %"),
        (-2e-7, "above -0.01 %"),
        (8.2985, "830 %"),
        (10.0, "1,000 %"),
        (47.48, "47.5 times"),
        (1e6, "1,000,000 times"),
    ],
)
def test_shares_are_for_people(share: float, text: str) -> None:
    """A regression: pages had "2e-05 %", "829.85 %" and "4,748 %"."""
    assert format_share(share) == text


def test_deviations_are_for_people() -> None:
    assert [format_deviation(share) for share in (0.0231, -0.4, -1e-9, 2.278, 46.48)] == [
        "+2.3 %",
        "-40.0 %",
        "+0.0 %",
        "+228 %",
        "47.5 times",
    ]


def test_figures_have_no_exponents() -> None:
    assert [rounded(value) for value in (7.0, 4.6012, 123456.0, 0.00012345)] == ["7", "4.6", "123,456", "0.000123"]


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (parse_terabytes, "150TBW", 150.0),
        (parse_terabytes, "2.4 PBW", 2400.0),
        (parse_terabytes, "150", 150.0),
        (parse_bytes_per_day, "300G", 300 * 10**9),
        (parse_bytes_per_day, "1.2 t", 1200 * 10**9),
        (parse_bytes_per_day, "40GiB/day", 40 << 30),
        (parse_bytes_per_day, "325GB a day", 325 * 10**9),
        (parse_dwpd, "0.3dwpd", 0.3),
        (parse_dwpd, "1 DWPD", 1.0),
        (parse_dwpd, "3", 3.0),
        (parse_price, "$45", 45.0),
        (parse_price, "45.50 EUR", 45.5),
        (parse_price, "45USD", 45.0),
        (parse_price, "45", 45.0),
    ],
)
def test_quantities_as_boxes_and_shops_print_them(parse: Callable[[str], float], text: str, value: float) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (parse_terabytes, "0TBW", "allowed is a number of TB above 0"),
        (parse_terabytes, "TBW", "is not a size"),
        (parse_bytes_per_day, "300", "has no unit; write 300GB"),
        (parse_bytes_per_day, "a day", "is not a size"),
        (parse_bytes, "300G", "unit of '300G' is ambiguous; write 300GB (powers of 1000) or 300GiB (powers of 1024)"),
        (parse_bytes, "4k", "write 4kB (powers of 1000) or 4KiB (powers of 1024)"),
        (parse_dwpd, "0", "drive writes per day above 0"),
        (parse_dwpd, "often", "is not a number of drive writes per day"),
        (parse_price, "-1", "allowed is a price above 0"),
        (parse_price, "45 apples", "is not a price above 0, such as 45 or 45USD"),
    ],
)
def test_other_quantities_are_refused(parse: Callable[[str], float], text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        parse(text)
