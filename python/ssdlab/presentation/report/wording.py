"""Numbers in titles, tables and captions: few digits, always a unit, with a no-break space before it."""

import math
import re

from ssdlab.evidence import Estimate, estimate
from ssdlab.foundation.quantities import NO_BREAK_SPACE as NO_BREAK_SPACE
from ssdlab.foundation.quantities import format_deviation, format_effective, format_share
from ssdlab.foundation.quantities import rounded as rounded
from ssdlab.foundation.quantities import significant as significant
from ssdlab.foundation.quantities import unbroken as unbroken

EM_DASH = "\u2014"
# A ratio that is known better than this is said without its interval.
_PRECISE_WITHIN = 0.05


def share(fraction: float, digits: int = 3) -> str:
    """0.07 -> "7 %", 0.127 -> "12.7 %"."""
    return unbroken(format_share(fraction, digits))


def effective(fraction: float) -> str:
    """An effective over-provisioning: 0.07 -> "7 %", 1952255.0 -> "above 10 times"."""
    return unbroken(format_effective(fraction, 3))


def deviation(fraction: float) -> str:
    """0.0231 -> "+2.3 %"."""
    return unbroken(format_deviation(fraction))


def size(count_bytes: float) -> str:
    """The size in decimal units, which drives are sold in: 480103981056 -> "480 GB"."""
    for exponent, unit in ((15, "PB"), (12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        # A value that would round up to 1,000 of a unit is given in the next one.
        if abs(count_bytes) >= 0.9995 * 10**exponent:
            return f"{significant(count_bytes / 10**exponent)}{NO_BREAK_SPACE}{unit}"
    return f"{count_bytes:.0f}{NO_BREAK_SPACE}B"


def duration(nanoseconds: float) -> str:
    """5_020_000 -> "5.02 ms"."""
    unit, ns = _unit_of_time(nanoseconds)
    return f"{significant(nanoseconds / ns) if ns > 1 else f'{nanoseconds:.0f}'}{NO_BREAK_SPACE}{unit}"


def estimated(found: Estimate) -> str:
    """With at most three digits, fewer if its interval allows no more, and the interval where it is wide."""
    return estimate.text(found, digits_max=3)


def estimated_duration(nanoseconds: Estimate) -> str:
    """As `estimated`, in the unit of `duration`."""
    unit, ns = _unit_of_time(nanoseconds.value)
    return f"{estimated(nanoseconds.times(1 / ns))}{NO_BREAK_SPACE}{unit}"


def _unit_of_time(nanoseconds: float) -> tuple[str, int]:
    """The unit that gives one to three digits before the point, and its length."""
    units = (("s", 10**9), ("ms", 10**6), ("\N{MICRO SIGN}s", 1000))
    return next(((unit, ns) for unit, ns in units if nanoseconds >= 0.9995 * ns), ("ns", 1))


def estimated_waf(found: Estimate) -> str:
    """With at most two decimals, fewer if its interval allows no more, and the interval where it is wide."""
    return estimate.text(found, decimals_max=2)


def waf(value: float) -> str:
    return f"{value:.2f}" if value < 100 else significant(value)


def times(ratio: float) -> str:
    """A ratio in a sentence: 2.31 -> "2.3 times"; small ratios have more digits: 1.04 -> "1.04", 1.004 -> "1.004"."""
    if ratio < 1.5:
        decimals = max(2, -math.floor(math.log10(ratio - 1))) if ratio > 1 else 2
        return f"{ratio:.{decimals}f} times"
    return f"{ratio:.1f} times" if ratio < 20 else f"{ratio:,.0f} times"


def times_between(ratio: Estimate) -> str:
    """A ratio in a sentence, with its interval where that is wide: "2.3 times", "1.6 to 2.9 times"."""
    if ratio.share <= _PRECISE_WITHIN:
        return times(ratio.value)
    return f"{significant(ratio.low, 2)} to {significant(ratio.high, 2)} times"


def figure(value: float | None) -> str:
    """A figure in a table; a dash if it is not known."""
    return "-" if value is None else significant(value)


def capitalized(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]


def listed(words: list[str]) -> str:
    """["a", "b", "c"] -> "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def spoken(label: str) -> str:
    """A variant's label in a sentence; a bare percentage is a share of spare area: "7 %" -> "7 % spare area"."""
    return f"{label} spare area" if re.fullmatch(r"\d+(\.\d+)?\s*%", label.strip()) else label
