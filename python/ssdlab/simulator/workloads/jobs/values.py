"""Parsers of single values of fio's job language: sizes, counts, flags, times, words.

A parser takes the text after `=` (None if there is none) and the current kilobyte, and returns a value or raises
`Refused` with what is allowed. Values that fio misreads without a message (`1.5k` as 1 byte, `4kx` as 4 KiB) are
refused here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ssdlab.simulator.workloads.jobs import expressions

T = TypeVar("T")
Parser = Callable[[str | None, int], T]

LARGEST = (1 << 64) - 1
BLOCK_BYTES_MAX = (1 << 32) - 1
SECTOR_BYTES = 512


class Refused(Exception):
    """The option does not accept the value; the message says what is allowed."""


@dataclass(frozen=True)
class Amount:
    """A size in bytes, in percent of something that depends on the drive, or in zones. Exactly one of them is given."""

    size_bytes: int | None = None
    percent: int | None = None
    zones: int | None = None


@dataclass(frozen=True)
class PerDirection(Generic[T]):
    """A value for each direction of transfer, in fio's order."""

    read: T
    write: T
    trim: T


_NUMBER = re.compile(r"\+?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})([a-zA-Z]*)")
_POWERS = {"": 0, "b": 0} | {
    unit: power for power, letter in enumerate("kmgtp", start=1) for unit in (letter, f"{letter}b", f"{letter}i")
}
_SIZE_FORM = "a whole number of bytes with k, m, g, t, p or nothing behind it, such as 4k"
_EXPRESSION = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
_TIME = re.compile(r"([0-9]{1,18})\s*(us|usec|ms|msec|s|sec|m|h|d)?", re.IGNORECASE)
_SECOND_NS = 10**9
_DAY_NS = 86_400 * _SECOND_NS
# The engine counts nanoseconds in 64 bits; this limit stays far below the maximum.
_DAYS_MAX = 10_950
_UNITS_NS = {
    **dict.fromkeys(("us", "usec"), 1000),
    **dict.fromkeys(("ms", "msec"), 10**6),
    **dict.fromkeys(("s", "sec"), _SECOND_NS),
    **{"m": 60 * _SECOND_NS, "h": 3600 * _SECOND_NS, "d": _DAY_NS},
}


def byte_count(text: str | None, kilobyte: int) -> int:
    """Parses a number of bytes: `4k`, `0x1000`, `1g`.

    `k` and `kb` are the current kilobyte, 1024 unless `kb_base=1000`. `kib` is the other one, so 1000 by default: that
    is how fio 3.33 reads it (HOWTO, `kb_base`: "Inputs invert IEC and SI prefixes").
    """
    given = required(text)
    if given[0] == "(" and given[-1] == ")":
        return _computed(given, kilobyte)
    match = _NUMBER.fullmatch(given)
    if not match:
        raise Refused(f"{_SIZE_FORM}{_hint(given, kilobyte)}")
    unit = match[2].lower()
    base = kilobyte
    if len(unit) == 3 and unit.endswith("ib"):
        base = 1024 if kilobyte == 1000 else 1000
        unit = unit[0]
    if unit not in _POWERS:
        raise Refused(_SIZE_FORM)
    number = int(match[1], 16 if match[1][:2] in ("0x", "0X") else 10)
    value: int = number * base ** _POWERS[unit]
    if value > LARGEST:
        raise Refused(f"at most {LARGEST:,}")
    return value


def _computed(text: str, kilobyte: int) -> int:
    """The value of an expression in parentheses (fio's HOWTO, "Parameter types"; Debian's fio is built without)."""
    try:
        return expressions.value_of(text, kilobyte)
    except ValueError:
        raise Refused(f"{_SIZE_FORM}, or an expression such as (4*1024), of {expressions.ALLOWED}") from None


def _hint(text: str, kilobyte: int) -> str:
    """For an expression without parentheses, of which fio reads the first number only."""
    try:
        value = expressions.value_of(text, kilobyte)
    except ValueError:
        return ""
    return f"; write ({text}) or {value}: without parentheses fio reads only the first number"


def amount(text: str | None, kilobyte: int) -> Amount:
    """Parses a size, a share such as `50%` (whole percentages up to 100, as in fio), or a number of zones: `2z`."""
    stripped = required(text)
    if re.fullmatch(r"[0-9]{1,9}z", stripped):
        return Amount(zones=int(stripped[:-1]))
    if not stripped.endswith("%"):
        try:
            return Amount(size_bytes=byte_count(stripped, kilobyte))
        except Refused as refused:
            raise Refused(f"{refused}, a whole percentage, such as 50%, or zones, such as 2z") from None
    return Amount(percent=percentage(stripped[:-1].rstrip(), kilobyte))


def percentage(text: str | None, _kilobyte: int) -> int:
    """Parses a whole number from 0 to 100."""
    stripped = required(text)
    if not re.fullmatch(r"[0-9]{1,3}", stripped) or int(stripped) > 100:
        raise Refused("a whole percentage from 0 to 100")
    return int(stripped)


def percentage_or_sign(text: str | None, kilobyte: int) -> int:
    """Parses a percentage with or without `%`. fio 3.33 also accepts the sign, but then reads a share of 0."""
    return percentage(required(text).removesuffix("%").rstrip(), kilobyte)


def whole_number(low: int, high: int) -> Parser[int]:
    """The parser of a count from `low` to `high`, inclusive. As in fio, a count can have a unit (`iodepth=1k`)."""

    def parse(text: str | None, kilobyte: int) -> int:
        allowed = f"a whole number from {low:,} to {high:,}"
        try:
            value = byte_count(text, kilobyte)
        except Refused:
            raise Refused(allowed) from None
        if not low <= value <= high:
            raise Refused(allowed)
        return value

    return parse


def block_bytes(text: str | None, kilobyte: int) -> int:
    """Parses the size of a request or its alignment. `odd_lengths.py` checks that it is whole sectors."""
    value = byte_count(text, kilobyte)
    if value == 0 or value > BLOCK_BYTES_MAX:
        raise Refused(f"a multiple of {SECTOR_BYTES} bytes, below 4 GiB")
    return value


def per_direction(parse: Parser[T], separators: str = ",:-") -> Parser[PerDirection[T | None]]:
    """The parser of `4k`, `4k,8k` or `4k,8k,16k`: for reads, writes and trims. An empty part is None: unchanged.

    Without commas, the value applies to all; with one comma, trims use the value of writes (fio's HOWTO, `blocksize`).
    Without commas, colons separate the values, and without colons dashes: fio 3.33 reads `4k-8k` as `4k,8k`, except in
    ranges, whose values contain these signs themselves (`separators`).
    """

    def separator(text: str) -> str:
        return next((sign for sign in separators if sign in text.lstrip("-")), ",")

    def parse_all(text: str | None, kilobyte: int) -> PerDirection[T | None]:
        # Signs within an expression in parentheses separate nothing.
        if text and "(" in text:
            text = _EXPRESSION.sub(lambda match: str(_computed(match[0], kilobyte)), text)
        # `4k,` leaves writes and trims unchanged, so the empty part behind the comma counts as a part.
        parts = [part.strip() for part in required(text).split(separator(required(text)))]
        if len(parts) > 3:
            raise Refused("at most three values, for reads, writes and trims")
        if not any(parts):
            raise Refused("one to three values, for reads, writes and trims")
        values = [parse(part, kilobyte) if part else None for part in parts]
        while len(values) < 3:
            values.append(values[-1])
        return PerDirection(*values)

    return parse_all


def truth(text: str | None, _kilobyte: int) -> bool:
    """Parses `0` or `1`."""
    if text not in ("0", "1"):
        raise Refused("0 or 1")
    return text == "1"


def flag(text: str | None, _kilobyte: int) -> bool:
    """Parses a flag: True without a value, otherwise a whole number, where 0 is False."""
    if text is None:
        return True
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise Refused("no value, 0 or 1")
    return int(text) != 0


def words(*allowed: str) -> Parser[str]:
    """The parser of one of these words. Text after a colon is kept and not checked."""

    def parse(text: str | None, _kilobyte: int) -> str:
        if required(text).split(":")[0].strip() not in allowed:
            raise Refused(f"one of {', '.join(allowed)}")
        return required(text)

    return parse


def any_text(text: str | None, _kilobyte: int) -> str:
    """Parses any text that is not empty."""
    return required(text)


def anything(text: str | None, _kilobyte: int) -> str:
    """Parses any text, or none: for options that are refused or ignored with any value."""
    return text or ""


def duration_ns(text: str | None, _kilobyte: int) -> int:
    """Parses a time such as `60`, `60s`, `5m` into nanoseconds; the default unit is seconds."""
    return _nanoseconds(text, "s", "60, 60s, 500ms or 5m")


def microseconds_ns(text: str | None, _kilobyte: int) -> int:
    """Parses a time such as `100`, `100us`, `5ms` into nanoseconds; the default unit is microseconds."""
    return _nanoseconds(text, "us", "100, 100us, 5ms or 1s")


def _nanoseconds(text: str | None, unit: str, examples: str) -> int:
    given = required(text)
    if given[0] == "(" and given[-1] == ")":
        given = str(_computed(given, 1024))
    match = _TIME.fullmatch(given)
    nanoseconds = int(match[1]) * _UNITS_NS[(match[2] or unit).lower()] if match else None
    if nanoseconds is None or nanoseconds > _DAYS_MAX * _DAY_NS:
        raise Refused(f"a time, such as {examples}, at most {_DAYS_MAX}d")
    return nanoseconds


def required(text: str | None) -> str:
    """The text of an option that requires a value. Raises Refused if it is missing or empty."""
    if not text:
        raise Refused("a value after '='")
    return text
