"""Parsers of fio values that have a syntax of their own: directions, lengths and their mixes.

Checked against the behaviour of fio 3.33 where its documentation says nothing: which entry gets the rest of the shares.
`distributions.py` parses `random_distribution`, `files.py` the options of files.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.directions import Direction
from ssdlab.simulator.workloads.jobs.values import (
    SECTOR_BYTES,
    PerDirection,
    Refused,
    block_bytes,
    byte_count,
    percentage,
    required,
)

ENTRIES_MAX = 256
# fio parses the number after `rw=randread:` as a C int.
RUN_IOS_MAX = 2**31 - 1


@dataclass(frozen=True)
class Pattern:
    """The value of `rw`. `direction` is a word of the engine's specification."""

    direction: plain.Direction
    sequential: bool
    ios_per_place: int = 1
    """For a random pattern: the number of requests at each random offset (`randread:8`)."""
    skip_bytes: int = 0
    """For a sequential pattern: the bytes skipped between requests, negative for backwards (`read:4k`)."""

    @property
    def transfers(self) -> tuple[Direction, ...]:
        """The kinds of transfer: read, write, trim."""
        match self.direction:
            case "read-write":
                return ("read", "write")
            case "trim-write":
                return ("trim", "write")
            case single:
                return (single,)


PATTERNS = {
    "read": Pattern("read", sequential=True),
    "write": Pattern("write", sequential=True),
    "trim": Pattern("trim", sequential=True),
    "randread": Pattern("read", sequential=False),
    "randwrite": Pattern("write", sequential=False),
    "randtrim": Pattern("trim", sequential=False),
    "rw": Pattern("read-write", sequential=True),
    "readwrite": Pattern("read-write", sequential=True),
    "randrw": Pattern("read-write", sequential=False),
    "trimwrite": Pattern("trim-write", sequential=True),
    "randtrimwrite": Pattern("trim-write", sequential=False),
}


@dataclass(frozen=True)
class SizeShare:
    """A length, and the percentage of the requests that have it."""

    size_bytes: int
    percent: float


@dataclass(frozen=True)
class LengthRange:
    """The range of the lengths of requests; both bounds are equal for a single length."""

    least_bytes: int
    most_bytes: int


def pattern(text: str | None, kilobyte: int) -> Pattern:
    """Parses the value of `rw`: a word, and after a colon the requests at each random offset, or the bytes to skip."""
    word, _, modifier = required(text).partition(":")
    found = PATTERNS.get(word)
    if found is None:
        raise Refused(f"one of {', '.join(PATTERNS)}")
    if not modifier:
        return found
    if not found.sequential:
        if not re.fullmatch(r"[0-9]{1,10}", modifier) or not 1 <= int(modifier) <= RUN_IOS_MAX:
            raise Refused(f"{word}:N for a new random place with every Nth request, N a whole number from 1")
        return replace(found, ios_per_place=int(modifier))
    sign = -1 if modifier.startswith("-") else 1
    try:
        skip_bytes = byte_count(modifier.removeprefix("-"), kilobyte)
    except Refused as refused:
        raise Refused(f"{word}:BYTES for holes between requests; BYTES is {refused}") from None
    if skip_bytes % SECTOR_BYTES or skip_bytes >= 1 << 62:
        raise Refused(f"{word}:BYTES for holes between requests; BYTES is a multiple of {SECTOR_BYTES}")
    return replace(found, skip_bytes=sign * skip_bytes)


def one_length(text: str | None, kilobyte: int) -> LengthRange:
    """Parses `bs`: one length."""
    length = block_bytes(text, kilobyte)
    return LengthRange(length, length)


def length_range(text: str | None, kilobyte: int) -> LengthRange:
    """Parses `bsrange`: `4k-64k` or `4k:64k`, in either order."""
    bounds = re.split(r"[-:]", required(text))
    if len(bounds) != 2:
        raise Refused("two lengths with a dash between, such as 4k-64k")
    least, most = sorted(block_bytes(bound.strip(), kilobyte) for bound in bounds)
    return LengthRange(least, most)


def size_mix(text: str | None, kilobyte: int) -> PerDirection[tuple[SizeShare, ...]]:
    """Parses `bssplit`: `4k/60:8k/40`, up to three of them separated by commas, for reads, writes and trims.

    An empty tuple means that `bs` defines the lengths of the direction.
    """
    parts = required(text).split(",")
    if len(parts) > 3:
        raise Refused("at most three mixes, for reads, writes and trims")
    mixes = [_one_size_mix(part.strip(), kilobyte) for part in parts]
    if not any(mixes):
        raise Refused("sizes with their percentages, such as 4k/60:8k/40")
    while len(mixes) < 3:
        mixes.append(mixes[-1])
    return PerDirection(*mixes)


def _one_size_mix(text: str, kilobyte: int) -> tuple[SizeShare, ...]:
    if not text:
        return ()
    entries = entries_of(text, "a size and its percentage, such as 4k/60")
    sizes = [block_bytes(size, kilobyte) for size, _ in entries]
    shares = with_shares_filled([share(percent) for _, percent in entries], "the requests")
    # fio sorts by share and gives the last, the most frequent, the rest of the percentages.
    most_frequent = max(range(len(shares)), key=lambda index: (shares[index], index))
    shares[most_frequent] += 100 - sum(shares)
    return tuple(SizeShare(size, percent) for size, percent in zip(sizes, shares, strict=True) if percent)


def entries_of(text: str, form: str) -> list[tuple[str, str]]:
    """Splits `a/b:c/d` into pairs; a missing second part is "". As in fio, a colon is allowed at the end."""
    entries = [entry.strip() for entry in text.split(":")]
    if not entries[-1]:
        entries.pop()
    if not entries or not all(entries):
        raise Refused(f"{form}, in every place between colons")
    if len(entries) > ENTRIES_MAX:
        raise Refused(f"at most {ENTRIES_MAX} entries")
    pairs = [entry.partition("/") for entry in entries]
    return [(first.strip(), second.strip()) for first, _, second in pairs]


def share(text: str) -> int | None:
    """Parses a percentage; None if it is missing or 0, which fio treats as missing."""
    return (percentage(text, 0) or None) if text else None


def with_shares_filled(shares: Sequence[int | None], of_what: str) -> list[int]:
    """Fills in the missing shares: they divide the rest of 100 evenly, in whole percent."""
    given = sum(share for share in shares if share is not None)
    if given > 100:
        raise Refused(f"percentages of {of_what} that add up to at most 100, not to {given}")
    missing = sum(share is None for share in shares)
    return [(100 - given) // missing if share is None else share for share in shares]
