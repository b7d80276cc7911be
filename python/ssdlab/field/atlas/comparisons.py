"""Comparisons with the atlas: pairs of products with more and less spare area, and the makers' endurance ratings."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ssdlab.field.atlas.distributions import Atlas, Distribution
from ssdlab.foundation.foreign import JsonObject
from ssdlab.theory import field_inference

_DRIVES_MIN = 10
_GB = 10**9
SPARE_OF_MORE = 0.28
"""Over-provisioning assumed for products for mixed use; makers do not publish the value of a model."""


@dataclass(frozen=True)
class Pair:
    """Two products of one size. `simulated` is the simulated range for the second, from the median of the first."""

    name: str
    less: Distribution
    more: Distribution
    over_provisioning: float
    """Assumed for the first: flash of the next power of two in GiB."""
    simulated: tuple[float, float] | None


@dataclass(frozen=True)
class Rated:
    """A model's rated writes in TB, and the writes that use its whole life according to reported wear."""

    name: str
    rated_tb: float
    consumed_tb: float
    consumed_tb_low: float
    consumed_tb_high: float
    """At 10 and 90 % of the drives."""
    n: int


def pairs(atlas: Atlas) -> Iterator[Pair]:
    """The pairs with enough drives."""
    for pair in _table("pairs.toml")["pair"]:
        for part, capacity_gb in pair["sizes"].items():
            less, more = (
                atlas.of_model("waf", pair[which].format(part), capacity_gb * _GB) for which in ("less", "more")
            )
            if less and more and min(less.n, more.n) >= _DRIVES_MIN:
                over_provisioning = _next_power_of_two(capacity_gb) / capacity_gb - 1
                size = f"{capacity_gb} GB" if capacity_gb < 1000 else f"{capacity_gb / 1000:.3g} TB"
                name = f"{pair['name']}, {size}"
                yield Pair(name, less, more, over_provisioning, _simulated(less.at(0.5), over_provisioning))


def rated(atlas: Atlas) -> Iterator[Rated]:
    """Ratings and the writes at 100 % wear, for models with enough drives."""
    for rating in _table("ratings.toml")["rating"]:
        found = atlas.of_model("used_percent_per_tb", rating["model"], rating["capacity_gb"] * _GB)
        if found and found.n >= _DRIVES_MIN:
            # Little wear per TB means a long life, so the order of the quantiles is reversed.
            low, middle, high = (100 / found.at(share) for share in (0.9, 0.5, 0.1))
            yield Rated(rating["name"], rating["rated_tb"], middle, low, high, found.n)


def _simulated(waf: float, over_provisioning: float) -> tuple[float, float] | None:
    """The range of write amplification at the spare area assumed for the second product, over all workloads that
    explain the first one's figure; None if none does."""
    found = field_inference.at(waf, over_provisioning, SPARE_OF_MORE)
    return (found.waf_low, found.waf_high) if found else None


def _next_power_of_two(capacity_gb: int) -> float:
    """The next power of two in GiB, converted to GB."""
    gib = 1
    while gib * 2**30 < capacity_gb * _GB:
        gib *= 2
    return gib * 2**30 / _GB


@cache
def _table(name: str) -> JsonObject:
    return tomllib.loads(files("ssdlab.field.atlas").joinpath(name).read_text(encoding="utf-8"))
