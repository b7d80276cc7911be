"""Parser of `random_distribution`: the distribution of random requests.

It accepts what fio 3.33 accepts, and zones by direction: fio's manual describes them, but fio 3.33 refuses them.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ssdlab.simulator.workloads.jobs.patterns import entries_of, share, with_shares_filled
from ssdlab.simulator.workloads.jobs.values import PerDirection, Refused, byte_count, percentage, required

T = TypeVar("T")


@dataclass(frozen=True)
class Zone:
    """A zone: the percentage of the accesses, and the percentage of the range on which they fall."""

    access_percent: int
    span_percent: int


@dataclass(frozen=True)
class AbsoluteZone:
    """A zone: the percentage of the accesses, and the number of bytes, behind the previous zone, on which they fall."""

    access_percent: int
    span_bytes: int


@dataclass(frozen=True)
class Distribution:
    """The distribution of random requests.

    `parameter` is theta, h or the deviation in percent. `center` is the position of the most frequent block, as a share
    of the range. The zones are those of `zoned` and `zoned_abs`.
    """

    name: str = "random"
    parameter: float = 0.0
    center: float | None = None
    zones: PerDirection[tuple[Zone, ...]] | None = None
    absolute_zones: PerDirection[tuple[AbsoluteZone, ...]] | None = None


def distribution(text: str | None, kilobyte: int) -> Distribution:
    """Parses a distribution, such as `zipf:theta:center`, `zoned:a/b:c/d` or `zoned_abs:a/b`; see Distribution.

    Raises Refused, which says what is allowed.
    """
    name, _, rest = required(text).partition(":")
    match name:
        case "random" if not rest:
            return Distribution()
        case "zipf" | "pareto" | "normal":
            parameter, center = law(name, rest)
            # A theta of 0 means uniform.
            return Distribution(name if parameter or name != "zipf" else "uniform", parameter, center)
        case "zoned":
            return Distribution(name, zones=_by_direction(rest, "zoned:90/10:10/90", _zones, kilobyte))
        case "zoned_abs":
            example = "zoned_abs:60/20g:40/100g"
            return Distribution(name, absolute_zones=_by_direction(rest, example, _absolute_zones, kilobyte))
        case _:
            raise Refused(
                "one of random, zipf:theta, pareto:h, normal:deviation, zoned:access/span:access/span, "
                "zoned_abs:access/size:access/size"
            )


def law(name: str, text: str) -> tuple[float, float | None]:
    """Parses the parameter and center of `zipf`, `pareto` or `normal`, with fio's defaults and limits."""
    first, _, second = text.partition(":")
    parameter = _number(first, name) if first else {"zipf": 1.1, "pareto": 0.2, "normal": 0.0}[name]
    center = _number(second, name) if second else None
    if name == "zipf" and parameter == 1:
        raise Refused("a theta of 0 or more, but not 1, such as zipf:1.2")
    if name == "pareto" and not 0 < parameter < 1:
        raise Refused("an h between 0 and 1, such as pareto:0.2")
    if name == "normal" and not 0 <= parameter < 100:
        raise Refused("a deviation in percent of the range, from 0 to below 100, such as normal:10")
    if center is not None and center > 1:
        raise Refused(f"a centre from 0 to 1 behind the second colon, such as {name}:{first}:0.25")
    return parameter, center


def _number(text: str, name: str) -> float:
    hint = f"{name} with a number, and perhaps a centre behind another colon, such as {name}:0.9:0.25"
    # fio parses the longest valid prefix of a number and ignores the rest: it would ignore the center of zipf:1.2/0.25.
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{0,30})?|\.[0-9]{1,30}", text):
        raise Refused(hint)
    value = float(text)
    if not math.isfinite(value):
        raise Refused(hint)
    return value


def _by_direction(
    text: str, example: str, parse: Callable[[str, int], tuple[T, ...]], kilobyte: int
) -> PerDirection[tuple[T, ...]]:
    """Parses up to three lists separated by commas, for reads, writes and trims; missing ones repeat the last."""
    parts = [part.strip() for part in text.split(",")]
    if not text or not all(parts):
        raise Refused(f"zones, such as {example}; with commas between them for reads, writes and trims")
    if len(parts) > 3:
        raise Refused("at most three lists of zones, for reads, writes and trims")
    lists = [parse(part, kilobyte) for part in parts]
    while len(lists) < 3:
        lists.append(lists[-1])
    return PerDirection(*lists)


def _zones(text: str, kilobyte: int) -> tuple[Zone, ...]:
    entries = entries_of(text, "a percentage of the accesses and one of the range, such as 90/10")
    accesses = [percentage(access, kilobyte) for access, _ in entries]
    spans = with_shares_filled([share(span) for _, span in entries], "the range")
    for what, shares in (("accesses", accesses), ("range", spans)):
        if sum(shares) != 100:
            raise Refused(f"percentages of the {what} that add up to 100, not to {sum(shares)}")
    if any(access and not span for access, span in zip(accesses, spans, strict=True)):
        raise Refused("a share of the range for every zone that is accessed")
    return tuple(Zone(access, span) for access, span in zip(accesses, spans, strict=True) if span)


def _absolute_zones(text: str, kilobyte: int) -> tuple[AbsoluteZone, ...]:
    entries = entries_of(text, "a percentage of the accesses and a size, such as 60/20g")
    zones = tuple(AbsoluteZone(percentage(access, kilobyte), byte_count(span, kilobyte)) for access, span in entries)
    total = sum(zone.access_percent for zone in zones)
    if total != 100:
        raise Refused(f"percentages of the accesses that add up to 100, not to {total}")
    if any(zone.access_percent and not zone.span_bytes for zone in zones):
        raise Refused("a size for every zone that is accessed")
    return zones
