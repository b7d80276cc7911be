"""The user's limits: lifetime, write amplification, rates, latencies, price. Each applies to one figure of a trial."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import parse_rate_with_unit, rounded
from ssdlab.presentation.report import wording
from ssdlab.theory.endurance import DAYS_PER_YEAR

_LIFE = re.compile(r"\s*([0-9.]+)\s*(y|years?|d|days?|months?)\s*")
_LATENCY = re.compile(r"\s*(read|write)\.(mean|p[0-9.]+)\s*=\s*([0-9.]+)\s*(ns|us|ms|s)\s*")
_PRICE = re.compile(r"\s*([0-9.]+)\s*([A-Za-z]{3}|\$|€)\s*/\s*GB\s*")
_NS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9}
_YEARS = {"y": 1.0, "d": 1 / DAYS_PER_YEAR, "m": 1 / 12}


class LimitJson(TypedDict):
    figure: str
    bound: float
    is_most: bool
    said: str


@dataclass(frozen=True)
class Limit:
    """A bound on one figure of a trial."""

    figure: str
    """`waf`, `years`, `write_mb_s`, `price_per_gb`, or a latency such as `write.p99`."""
    bound: float
    """In the unit of the figure: years, MB/s, ns, price per GB."""
    is_most: bool
    """Whether the bound is a maximum; otherwise it is a minimum."""
    said: str
    """The option, such as `--life 5y`, for error messages."""

    def to_dict(self) -> LimitJson:
        """The limit in the format of `result.json`."""
        return {"figure": self.figure, "bound": self.bound, "is_most": self.is_most, "said": self.said}

    @property
    def words(self) -> str:
        """The limit for pages and sentences, such as "a life of 5 years"."""
        match self.figure:
            case "years":
                return f"a life of {rounded(self.bound)} years"
            case "waf":
                return f"a write amplification of at most {self.bound:g}"
            case "write_mb_s":
                return f"a write rate of at least {rounded(self.bound, 4)} MB/s"
            case "price_per_gb":
                return f"a price of at most {self.bound:g} per usable GB"
            case latency:
                direction, statistic = latency.split(".", maxsplit=1)
                return f"a {direction} latency ({statistic}) of at most {wording.duration(self.bound)}"

    @property
    def needs_clock(self) -> bool:
        return self.figure == "write_mb_s" or "." in self.figure

    @property
    def falls_with_spare_area(self) -> bool:
        """Whether more spare area makes the figure worse: true for the price only."""
        return self.figure == "price_per_gb"

    def holds(self, value: float) -> bool:
        return value <= self.bound if self.is_most else value >= self.bound

    def ratio(self, value: float) -> float:
        """The ratio by which the value is inside the limit: 1 at the bound, more than 1 inside."""
        return self.bound / value if self.is_most else value / self.bound


def life_limit(text: str) -> Limit:
    """Parses `5y`, `18months` or `400d`. Raises InputError."""
    match = _LIFE.fullmatch(text)
    value = _number(match[1]) if match else None
    if not match or not value:
        raise InputError(f"--life is {text!r}; allowed: a time above 0, such as 5y, 18months or 400d")
    return Limit("years", value * _YEARS[match[2][0]], False, f"--life {text}")


def write_amplification(bound: float) -> Limit:
    if not (math.isfinite(bound) and bound >= 1):
        raise InputError(f"--waf is {bound:g}; allowed: 1 or more, because each written unit must be programmed")
    return Limit("waf", bound, True, f"--waf {bound:g}")


def write_rate_limit(text: str) -> Limit:
    """Parses `400MB/s`. Raises InputError."""
    try:
        bytes_a_second = parse_rate_with_unit(text)
    except InputError as error:
        raise InputError(f"--write-rate: {error}; such as 400MB/s") from None
    if not bytes_a_second:
        raise InputError(f"--write-rate is {text!r}; allowed: above 0, such as 400MB/s")
    return Limit("write_mb_s", bytes_a_second / 10**6, False, f"--write-rate {text}")


def latency(text: str) -> Limit:
    """Parses `write.p99=2ms` or `read.mean=120us`. Raises InputError."""
    match = _LATENCY.fullmatch(text)
    value = _number(match[3]) if match else None
    percent = _number(match[2][1:]) if match and match[2] != "mean" else 50.0
    if not match or not value or percent is None or not 0 < percent < 100:
        raise InputError(
            f"--latency is {text!r}; allowed: read or write, mean or a percentile, and a time, such as write.p99=2ms"
        )
    return Limit(f"{match[1]}.{match[2]}", value * _NS[match[4]], True, f"--latency {text}")


def price_limit(text: str) -> Limit:
    """Parses `0.08USD/GB`, the price per usable gigabyte. Raises InputError."""
    match = _PRICE.fullmatch(text)
    value = _number(match[1]) if match else None
    if not match or not value:
        raise InputError(f"--price is {text!r}; allowed: a price per usable gigabyte, such as 0.08USD/GB")
    return Limit("price_per_gb", value, True, f"--price {text}")


@dataclass(frozen=True)
class Wanted:
    """The limits, writes and price as the user wrote them."""

    life: str | None = None
    """The lifetime; it needs the host writes per day."""
    writes_per_day: str | None = None
    """None: those of the trace."""
    waf: float | None = None
    write_rate: str | None = None
    latency: Sequence[str] = ()
    price: str | None = None
    drive_price: float | None = None
    """None: that of the drive file."""

    def limits(self, daily_bytes: float | None) -> list[Limit]:
        """All given limits. Raises InputError for an invalid limit, and if there is none besides the price."""
        found = [life_limit(self.life)] if self.life else []
        if self.life and not daily_bytes:
            raise InputError("--life needs --writes-per-day, the host writes per day")
        found += [write_amplification(self.waf)] if self.waf is not None else []
        found += [write_rate_limit(self.write_rate)] if self.write_rate else []
        found += [latency(text) for text in self.latency]
        found += [price_limit(self.price)] if self.price else []
        refuse_twice(found)
        if not any(not limit.falls_with_spare_area for limit in found):
            raise InputError("no limit is given; use one or more of --life, --waf, --write-rate, --latency")
        return found


def refuse_twice(limits: Sequence[Limit]) -> None:
    """Raises InputError if two limits are for the same figure; it names both."""
    for index, limit in enumerate(limits):
        for other in limits[:index]:
            if other.figure == limit.figure:
                raise InputError(f"{other.said} and {limit.said} bound the same figure; give one of them")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
