"""The times that stand between the readings of a log, in the forms that sysstat, `date` and psql print."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

_FORMATS = (
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%y %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %I:%M:%S %p %Y",
    "%a %d %b %Y %I:%M:%S %p",
    "%a %d %b %Y %H:%M:%S",
    "%I:%M:%S %p",
    "%H:%M:%S",
)
# A zone between the time and the year, as `date` prints it.
_ZONE = re.compile(r"(?<=\d:\d\d)( [AP]M)? (?:[A-Z]{3,5}|[+-]\d{2,4})(?= \d{4}$|$)")
_AROUND = re.compile(r"^Time:\s*|^[=#*-]+\s*|\s*[=#*-]+$|\s*\(every .*\)$")
_SECONDS = re.compile(r"\d{9,10}(?:\.\d+)?|\d{13}|\d{19}")
DAY_S = 86_400.0
# More digits are milliseconds, microseconds or nanoseconds.
_DIGITS_OF_SECONDS = 10


def time_of(text: str) -> float | None:
    """The time in seconds that a line consists of; None for any other line. Times of the day count from midnight."""
    line = " ".join(_AROUND.sub("", _AROUND.sub("", text.strip())).split())
    if _SECONDS.fullmatch(line):
        whole, dot, _ = line.partition(".")
        return float(line) if dot else int(line) / 10 ** max(0, len(whole) - _DIGITS_OF_SECONDS)
    if not line[:1].isalnum() or ":" not in line:
        return None
    if "T" in line[:11] and line[:4].isdigit():
        try:
            moment = datetime.fromisoformat(line)
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    plain = _ZONE.sub(r"\1", line)
    for form in _FORMATS:
        try:
            moment = datetime.strptime(plain, form)
        except ValueError:
            continue
        since = datetime(1900, 1, 1) if moment.year == 1900 else datetime(1970, 1, 1)
        return (moment - since).total_seconds()
    return None


def lengths(times: Sequence[float | None]) -> tuple[list[float], bool]:
    """The seconds of the interval before each reading, and whether any is known. An unknown one is as long as the
    median of the others, or 1 s."""
    found = _seconds_between(times)
    known = sorted(gap for gap in found if gap is not None)
    usual = known[len(known) // 2] if known else 1.0
    return [usual if gap is None else gap for gap in found], bool(known)


def _seconds_between(times: Sequence[float | None]) -> list[float | None]:
    """The seconds before each reading: None for the first one, and where times are missing or do not increase. Times of
    the day can pass midnight."""
    found: list[float | None] = [None]
    for before, after in pairwise(times):
        gap = None if before is None or after is None else after - before
        if gap is not None and gap < 0 and max(before or 0, after or 0) <= DAY_S:
            gap += DAY_S
        found.append(gap if gap and gap > 0 else None)
    return found
