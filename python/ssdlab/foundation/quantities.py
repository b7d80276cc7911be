"""Shares, scales and sizes as text. Parsing is exact (decimal); formatting rounds for readers.

Not for the sizes of fio job files, where `k` means 1024: those follow fio's rules, in
`ssdlab.simulator.workloads.jobs`.
"""

import math
import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from ssdlab.errors import InputError

OVER_PROVISIONING_MAX = 10
"""The largest spare area allowed, as a share. With ten times the user capacity, write amplification is 1 anyway."""

AUTO = "auto"
"""The scale that is chosen by the work of a run (`ssdlab.simulator.targets.auto_scale`)."""

_DECIMAL_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_BINARY_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_UNIT_BYTES = _DECIMAL_UNITS | _BINARY_UNITS
_UNITS_BY_FOLDED_NAME = {name.casefold(): factor for name, factor in _UNIT_BYTES.items()}
_UNIT_NS = {"ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_DURATION_NS_MAX = 10_000 * _UNIT_NS["h"]
_SIZE = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_PER_DAY = re.compile(r"\s*(?:/\s*(?:d|day)|per day|a day)$", re.IGNORECASE)
_LETTER_ALONE = re.compile(r"[0-9][0-9_.]*\s*[kMGTP]", re.IGNORECASE)
_DWPD = re.compile(r"\s*DWPD$", re.IGNORECASE)
_CURRENCY = re.compile(r"^(?:[$€£]|USD|EUR|GBP)\s*|\s*(?:[$€£]|USD|EUR|GBP)$", re.IGNORECASE)
_PERCENT_MIN = 0.01
"""A share that is smaller is only said to be below this."""
_PERCENT_MAX = 1000
"""A share that is larger is said as a factor."""
_RATIO = re.compile(r"\s*([0-9]+)\s*/\s*([0-9]+)\s*")


def parse_share(text: str) -> float:
    """A share such as `7%` or `0.07`, as a number (0.07). It can exceed 100 %, but cannot be negative.

    A number above 1 without a percent sign is refused, because `7` is probably a mistake for `7%`.
    """
    stripped = text.strip()
    is_percent = stripped.endswith("%")
    value = _decimal(stripped.removesuffix("%"), text, "a share, such as 7% or 0.07")
    if value < 0:
        raise InputError(f"{text!r} is negative; a share is 0% or more")
    if value > 1 and not is_percent:
        raise InputError(f"{text!r} is ambiguous; write {stripped}% or, as a plain number, {float(value / 100):.6g}")
    share = float(value / 100 if is_percent else value)
    if share == float("inf"):
        raise InputError(f"{text!r} is too large for a share")
    return share


def parse_spare_area(text: str) -> float:
    """Over-provisioning, (T - U) / U, as a share: 0 % to 1000 %."""
    share = parse_share(text)
    if share > OVER_PROVISIONING_MAX:
        raise InputError(
            f"{text!r} is out of range; allowed is a spare area of 0% to {OVER_PROVISIONING_MAX * 100}% of what the "
            "host may use"
        )
    return share


def spare_area_of(op: float | str) -> float:
    """The spare area given to a Python function: a text as on the command line, or a number that is a share (0.07).

    A number above 1 is refused, as its text would be: 7 is not 7 %.
    """
    try:
        return parse_spare_area(op if isinstance(op, str) else repr(float(op)).removesuffix(".0"))
    except InputError as error:
        raise InputError(f"--op: {error}") from None


def parse_spare_areas(text: str) -> list[float]:
    """A list of spare areas separated by commas, such as `0%,7%,28%`."""
    return [parse_spare_area(part) for part in text.split(",")]


def spare_areas_of(op: float | str | Sequence[float | str] | None) -> list[float]:
    """The spare areas given to a Python function: one or several, each as in `spare_area_of`; texts with commas are
    several. Empty for None."""
    return [spare_area_of(each) for each in _several(op)]


def left_empties_of(left_empty: float | str | Sequence[float | str] | None) -> list[float]:
    """The same for shares left empty, each as in `left_empty_of`."""
    return [left_empty_of(each) for each in _several(left_empty)]


def _several(given: float | str | Sequence[float | str] | None) -> list[float | str]:
    if given is None:
        return []
    if isinstance(given, str):
        return [*given.split(",")]
    return [part for each in given for part in _several(each)] if isinstance(given, Sequence) else [given]


def parse_left_empty(text: str) -> float:
    """The share of a drive that the host leaves empty, such as `20%`: 0 % or more and below 100 %."""
    share = parse_share(text)
    if share >= 1:
        raise InputError(f"{text!r} is out of range; allowed is 0% or more and below 100% of the drive")
    return share


def parse_left_empties(text: str) -> list[float]:
    """A list of shares left empty, separated by commas, such as `0%,20%`."""
    return [parse_left_empty(part) for part in text.split(",")]


def left_empty_of(share: float | str) -> float:
    """The share left empty given to a Python function: a text as on the command line, or a number (0.2)."""
    try:
        return parse_left_empty(share if isinstance(share, str) else repr(float(share)).removesuffix(".0"))
    except InputError as error:
        raise InputError(f"--left-empty: {error}") from None


def parse_scale(text: str) -> Fraction:
    """A scale such as `1/16`, `0.0625` or `6.25%`: above 0 and at most 1, exactly."""
    allowed = "a scale above 0 and at most 1, such as 1/16"
    ratio = _RATIO.fullmatch(text)
    if ratio:
        if int(ratio[2]) == 0:
            raise InputError(f"{text!r} divides by zero; write {allowed}")
        scale = Fraction(int(ratio[1]), int(ratio[2]))
    else:
        stripped = text.strip()
        value = Fraction(_decimal(stripped.removesuffix("%"), text, allowed))
        scale = value / 100 if stripped.endswith("%") else value
    if not 0 < scale <= 1:
        raise InputError(f"{text!r} is out of range; write {allowed}")
    return scale


def parse_scale_or_auto(text: str) -> Fraction | str:
    """A scale, or the word "auto"."""
    if text.strip() == AUTO:
        return AUTO
    try:
        return parse_scale(text)
    except InputError as error:
        raise InputError(f"{error}, or {AUTO}") from None


def parse_bytes(text: str) -> int:
    """A size such as `480GB` (10^9), `128GiB` (2^30) or `4096`, in bytes.

    `G` or `k` alone is refused, because it means 10^9 to some and 2^30 to others.
    """
    allowed = f"a number of bytes with one of {', '.join(_UNIT_BYTES)} or nothing behind it"
    match = _SIZE.fullmatch(text)
    if not match:
        raise InputError(f"{text!r} is not a size; write {allowed}")
    factor = _UNITS_BY_FOLDED_NAME.get(match[2].casefold()) if match[2] else 1
    if factor is None and f"{match[2]}B".casefold() in _UNITS_BY_FOLDED_NAME:
        number, letter = match[1], match[2].upper()
        powers = f"{number}{'k' if letter == 'K' else letter}B (powers of 1000) or {number}{letter}iB (powers of 1024)"
        raise InputError(f"the unit of {text!r} is ambiguous; write {powers}")
    if factor is None:
        raise InputError(f"unit {match[2]!r} in {text!r} is unknown; write {allowed}")
    size = Fraction(Decimal(match[1].replace("_", ""))) * factor
    if size.denominator != 1:
        raise InputError(f"{text!r} is not a whole number of bytes")
    return int(size)


def parse_bytes_with_unit(text: str) -> int:
    """A size with a required unit: where hundreds of gigabytes are usual, a bare `500` is probably a mistake."""
    size = parse_bytes(text)
    if text.strip()[-1].isdigit() and size:
        raise InputError(
            f"{text!r} has no unit; write {text.strip()}GB, or {text.strip()}B if bytes are meant; allowed: "
            f"{', '.join(_UNIT_BYTES)}"
        )
    return size


def parse_bytes_per_day(text: str) -> int:
    """Host writes of a day: a size with its unit, such as `300GB`, also `300GB/day`.

    A letter alone is decimal, `300G`: the 7 % between both meanings are less than days differ, and the answer repeats
    the size in GB.
    """
    size = _PER_DAY.sub("", text.strip())
    return parse_bytes_with_unit(f"{size}B" if _LETTER_ALONE.fullmatch(size) else size)


def parse_dwpd(text: str) -> float:
    """Drive writes per day, above 0: `0.3`, also `0.3DWPD`."""
    allowed = "a number of drive writes per day above 0, such as 0.3"
    value = float(_decimal(_DWPD.sub("", text.strip()), text, allowed))
    if not 0 < value < float("inf"):
        raise InputError(f"{text!r}: allowed is {allowed}")
    return value


def parse_price(text: str) -> float:
    """A price above 0 in the user's currency: `45`, also `$45`, `45USD` or `45 EUR`. The currency is not kept."""
    allowed = "a price above 0, such as 45 or 45USD"
    value = float(_decimal(_CURRENCY.sub("", text.strip()), text, allowed))
    if not 0 < value < float("inf"):
        raise InputError(f"{text!r}: allowed is {allowed}")
    return value


def parse_rate_with_unit(text: str) -> int:
    """A rate in bytes per second with a required unit, such as `50MB` or `50MB/s`; 0 needs none."""
    rate = parse_bytes(text.strip().removesuffix("/s"))
    if text.strip()[-1].isdigit() and rate:
        raise InputError(
            f"{text!r} has no unit; write {text.strip()}MB/s, or another of {', '.join(_UNIT_BYTES)} a second"
        )
    return rate


def parse_terabytes(text: str) -> float:
    """A rating in 10^12 bytes, above 0: `150`, as on the box, or with a unit, `150TB`, `150TBW`, `2.4PB`."""
    allowed = "a number of TB above 0, such as 150, or with a unit, such as 150TBW or 2.4PB"
    stripped = text.strip()
    if stripped[-1:].isalpha():
        is_written = stripped[-2:].casefold() == "bw"
        terabytes = parse_bytes(stripped[:-1] if is_written else stripped) / 1e12
    else:
        terabytes = float(_decimal(text.strip(), text, allowed))
    if not 0 < terabytes < float("inf"):
        raise InputError(f"{text!r}: allowed is {allowed}")
    return terabytes


def parse_duration_ns(text: str) -> int:
    """A time such as `10min`, `600s`, `1h` or `500ms`, in nanoseconds: above 0. The unit is required."""
    allowed = f"a time above 0 with one of {', '.join(_UNIT_NS)} behind it, such as 10min"
    match = _SIZE.fullmatch(text)
    factor = _UNIT_NS.get(match[2]) if match else None
    if match is None or factor is None:
        raise InputError(f"{text!r} is not a time; write {allowed}")
    duration_ns = round(Fraction(Decimal(match[1].replace("_", ""))) * factor)
    if not 0 < duration_ns <= _DURATION_NS_MAX:
        raise InputError(f"{text!r} is out of range; write {allowed}, at most 10000h")
    return duration_ns


NO_BREAK_SPACE = "\u00a0"
_WITHIN_FIGURES = re.compile(r"(?<=\d) (?=(?:%|\N{PLUS-MINUS SIGN}\d|[kKMGTP]?i?B\b|[num\N{MICRO SIGN}]?s\b|W\b|J\b))")


def unbroken(text: str, joint: str = NO_BREAK_SPACE) -> str:
    """The text with a no-break space, or `joint`, between each figure and its unit, and before its uncertainty."""
    return _WITHIN_FIGURES.sub(joint, text)


def significant(value: float, digits: int = 3) -> str:
    """About `digits` significant digits, never in scientific notation: 12345 -> "12,345", 4.6012 -> "4.60"."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    # The magnitude after rounding: 0.9999 with three digits is 1.00.
    magnitude = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    decimals = max(0, digits - 1 - magnitude)
    return f"{value:,.{decimals}f}"


def measured(value: float) -> str:
    """A measured figure, which is not known better than to three digits: 346_934 -> "347,000", 1.912 -> "1.91"."""
    return significant(float(f"{value:.2e}"))


def rounded(value: float, digits: int = 3) -> str:
    """As `significant`, without zeros at the end of decimals: 7.0 -> "7", 4.6012 -> "4.6"."""
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_share(share: float, digits: int | None = None) -> str:
    """A share for people: `7 %`, `7.37 %`, at most two decimals and no trailing zeros; `digits` are significant ones.

    All shares are printed by this: `below 0.01 %` rather than 0.00002 %, `830 %` rather than 829.85 %, and above
    1,000 % `47.5 times`.
    """
    percent = abs(share) * 100
    if percent == 0:
        return "0 %"
    if percent < _PERCENT_MIN / 2:
        return f"below {_PERCENT_MIN} %" if share > 0 else f"above -{_PERCENT_MIN} %"
    if percent > _PERCENT_MAX:
        return f"{rounded(share)} times"
    if digits is not None:
        return f"{rounded(share * 100, digits)} %"
    text = f"{share * 100:.2f}".rstrip("0").rstrip(".") if percent < 99.995 else f"{share * 100:,.0f}"
    return f"{text} %"


def is_nearly_empty(effective: float) -> bool:
    """Whether an effective over-provisioning is that of a drive that holds nearly nothing."""
    return effective * 100 > _PERCENT_MAX


def format_effective(effective: float, digits: int | None = None) -> str:
    """An effective over-provisioning as a share; without its value where the drive holds nearly nothing: `above
    10 times`."""
    return f"above {_PERCENT_MAX // 100} times" if is_nearly_empty(effective) else format_share(effective, digits)


def format_deviation(share: float, decimals: int = 1) -> str:
    """How far a figure is from another, as a share of that: `+2.3 %`, `-14.2 %`, `+228 %`; above 1,000 % `48 times`.

    Without decimals from 100 % on, and without the sign of a figure that rounds to 0.
    """
    if share * 100 > _PERCENT_MAX:
        return f"{rounded(1 + share)} times"
    return f"{share * 100:+z,.{decimals if abs(share) < 1 else 0}f} %"


def option_share(share: float) -> str:
    """The share as `parse_share` reads it back, for command lines: `7%`, `12.75%`."""
    return f"{share * 100:.10g}%"


def format_scale(scale: Fraction) -> str:
    """`1/16`; `1` for the full size."""
    return str(scale)


def format_bytes(size: int) -> str:
    """The size in decimal units, which drives are sold in: `480.1 GB`."""
    return _format_in(size, _DECIMAL_UNITS)


def format_bytes_binary(size: int) -> str:
    """The size in binary units, which flash memory is made in: `512 GiB`."""
    return _format_in(size, {"B": 1} | _BINARY_UNITS)


def format_count(count: int) -> str:
    """The count with thousands separators: `117,212,886`."""
    return f"{count:,}"


def _format_in(size: int, units: dict[str, int]) -> str:
    name, factor = "B", 1
    for candidate, candidate_factor in units.items():
        # 999.96 kB would be printed as 1000 kB, so it is shown as 1 MB.
        if round(size / factor, 1) >= candidate_factor / factor:
            name, factor = candidate, candidate_factor
    number = f"{size / factor:.1f}".removesuffix(".0")
    return f"{number} {name}"


def _decimal(digits: str, text: str, allowed: str) -> Decimal:
    try:
        value = Decimal(digits.strip())
    except InvalidOperation:
        raise InputError(f"{text!r} is not {allowed}") from None
    if not value.is_finite():
        raise InputError(f"{text!r} is not {allowed}")
    # An exponent in the thousands would make an exact fraction with thousands of digits.
    if value != 0 and abs(value.adjusted()) > 300:
        raise InputError(f"{text!r} is too large or too small for {allowed}")
    return value
