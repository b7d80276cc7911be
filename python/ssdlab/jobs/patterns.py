"""Parsers of fio's values that are small languages of their own: directions, mixes of sizes, distributions.

Checked against fio 3.33's behaviour, where its documentation is silent: which entry takes what the shares leave over.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.jobs.values import PerDirection, Refused, block_bytes, percentage, required

ENTRIES_MAX = 256


@dataclass(frozen=True)
class Pattern:
    """What `rw` says. `direction` is a word of the engine's specification."""

    direction: str
    sequential: bool

    @property
    def transfers(self) -> tuple[str, ...]:
        """Which of read, write and trim take place."""
        return {"read-write": ("read", "write"), "trim-write": ("trim", "write")}.get(self.direction, (self.direction,))


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
    """So many percent of the requests are so long."""

    size_bytes: int
    percent: int


@dataclass(frozen=True)
class Zone:
    """So many percent of the accesses fall on so many percent of the range."""

    access_percent: int
    span_percent: int


@dataclass(frozen=True)
class Distribution:
    """Where random requests fall. `parameter` is theta, h or the deviation in percent; `zones` is for `zoned`."""

    name: str = "random"
    parameter: float = 0.0
    zones: tuple[Zone, ...] = ()


def pattern(text: str | None, _kilobyte: int) -> Pattern:
    """`rw`'s value. A part behind a colon makes fio stay or skip; only one that changes nothing is taken."""
    word, _, modifier = required(text).partition(":")
    found = PATTERNS.get(word)
    if found is None:
        raise Refused(f"one of {', '.join(PATTERNS)}")
    if modifier and modifier != ("0" if found.sequential else "1"):
        raise Refused(f"{word} without a part behind a colon; staying in place or skipping is not supported yet")
    return found


def size_mix(text: str | None, kilobyte: int) -> PerDirection[tuple[SizeShare, ...]]:
    """`bssplit`: `4k/60:8k/40`, up to three of them with commas between, for reads, writes and trims.

    An empty tuple leaves the direction to `bs`.
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
    entries = _entries(text, "a size and its percentage, such as 4k/60")
    sizes = [block_bytes(size, kilobyte) for size, _ in entries]
    shares = _with_shares_filled([_share(share) for _, share in entries], "the requests")
    # fio sorts by share and gives the last, the most frequent, whatever the percentages leave over.
    most_frequent = max(range(len(shares)), key=lambda index: (shares[index], index))
    shares[most_frequent] += 100 - sum(shares)
    return tuple(SizeShare(size, share) for size, share in zip(sizes, shares, strict=True) if share)


def distribution(text: str | None, kilobyte: int) -> Distribution:
    """`random_distribution`: `random`, `zipf:theta`, `pareto:h`, `normal:deviation`, `zoned:a/b:c/d`."""
    name, _, rest = required(text).partition(":")
    match name:
        case "random":
            return Distribution()
        case "zipf":
            # fio's own defaults and limits; a theta of 1 it cannot compute, and 0 is uniform.
            theta = _parameter(rest, "zipf", default=1.1)
            if theta < 0 or theta == 1:
                raise Refused("a theta of 0 or more, but not 1, such as zipf:1.2")
            return Distribution("zipf", theta) if theta else Distribution("uniform")
        case "pareto":
            h = _parameter(rest, "pareto", default=0.2)
            if not 0 < h < 1:
                raise Refused("an h between 0 and 1, such as pareto:0.2")
            return Distribution("pareto", h)
        case "normal":
            deviation = _parameter(rest, "normal", default=0.0)
            if not 0 < deviation < 100:
                raise Refused("a deviation in percent of the range, between 0 and 100, such as normal:10")
            return Distribution("normal", deviation)
        case "zoned":
            return Distribution("zoned", zones=_zones(rest, kilobyte))
        case "zoned_abs":
            raise Refused("zoned with percentages, such as zoned:90/10:10/90; zoned_abs is not supported yet")
        case _:
            raise Refused("one of random, zipf:theta, pareto:h, normal:deviation, zoned:access/span:access/span")


def _parameter(text: str, name: str, default: float) -> float:
    if not text:
        return default
    if ":" in text or "," in text:
        raise Refused(f"{name} with one number; a centre, or one for each direction, is not supported yet")
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{0,30})?|\.[0-9]{1,30}", text):
        raise Refused(f"{name} with a number, such as {name}:{default or 10}")
    value = float(text)
    if not math.isfinite(value):
        raise Refused(f"{name} with a finite number")
    return value


def _zones(text: str, kilobyte: int) -> tuple[Zone, ...]:
    if "," in text:
        raise Refused("one list of zones; one for each direction is not supported yet")
    if not text:
        raise Refused("zones, such as zoned:90/10:10/90")
    entries = _entries(text, "a percentage of the accesses and one of the range, such as 90/10")
    accesses = [percentage(access, kilobyte) for access, _ in entries]
    spans = _with_shares_filled([_share(span) for _, span in entries], "the range")
    for what, shares in (("accesses", accesses), ("range", spans)):
        if sum(shares) != 100:
            raise Refused(f"percentages of the {what} that add up to 100, not to {sum(shares)}")
    if any(access and not span for access, span in zip(accesses, spans, strict=True)):
        raise Refused("a share of the range for every zone that is accessed")
    return tuple(Zone(access, span) for access, span in zip(accesses, spans, strict=True) if span)


def _entries(text: str, form: str) -> list[tuple[str, str]]:
    """`a/b:c/d` as pairs; the second of a pair is empty where it is missing. A colon may end it, as in fio."""
    entries = [entry.strip() for entry in text.split(":")]
    if not entries[-1]:
        entries.pop()
    if not entries or not all(entries):
        raise Refused(f"{form}, in every place between colons")
    if len(entries) > ENTRIES_MAX:
        raise Refused(f"at most {ENTRIES_MAX} entries")
    pairs = [entry.partition("/") for entry in entries]
    return [(first.strip(), second.strip()) for first, _, second in pairs]


def _share(text: str) -> int | None:
    """A percentage, or None where it is missing or 0, which fio takes for missing."""
    return (percentage(text, 0) or None) if text else None


def _with_shares_filled(shares: Sequence[int | None], of_what: str) -> list[int]:
    """Shares with the missing ones filled: those divide what is left of 100 evenly, in whole percent."""
    given = sum(share for share in shares if share is not None)
    if given > 100:
        raise Refused(f"percentages of {of_what} that add up to at most 100, not to {given}")
    missing = sum(share is None for share in shares)
    return [(100 - given) // missing if share is None else share for share in shares]
