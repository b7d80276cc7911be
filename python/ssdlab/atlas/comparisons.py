"""What the atlas is held against: pairs of products with more and less spare area, and the makers' ratings."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ssdlab.atlas.distributions import Atlas, Distribution
from ssdlab.foreign import JsonObject
from ssdlab.theory import field_inference

_DRIVES_MIN = 10
_GB = 10**9
SPARE_OF_MORE = 0.28
"""Over-provisioning taken for products for mixed use; what a model has no maker says."""


@dataclass(frozen=True)
class Pair:
    """Two products of one size; `simulated` is what the simulation says of the second by the median of the first."""

    name: str
    less: Distribution
    more: Distribution
    over_provisioning: float
    """Taken for the first: the next power of two GiB of flash."""
    simulated: tuple[float, float] | None


@dataclass(frozen=True)
class Rated:
    """A model's rated writes in TB, and those that use all of its life by the wear that drives report."""

    name: str
    rated_tb: float
    consumed_tb: float
    consumed_tb_low: float
    consumed_tb_high: float
    """At 10 and 90 % of the drives."""
    n: int


def pairs(atlas: Atlas) -> Iterator[Pair]:
    """Those of which there are drives enough."""
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
    """Ratings next to the writes at 100 % of wear, for models with enough drives."""
    for rating in _table("ratings.toml")["rating"]:
        found = atlas.of_model("used_percent_per_tb", rating["model"], rating["capacity_gb"] * _GB)
        if found and found.n >= _DRIVES_MIN:
            # Little wear a TB is a long life, so that the ends change places.
            low, middle, high = (100 / found.at(share) for share in (0.9, 0.5, 0.1))
            yield Rated(rating["name"], rating["rated_tb"], middle, low, high, found.n)


def _simulated(waf: float, over_provisioning: float) -> tuple[float, float] | None:
    """At the spare area taken for the second product, by all that may explain the first one's figure."""
    found = field_inference.at(waf, over_provisioning, SPARE_OF_MORE)
    return (found.waf_low, found.waf_high) if found else None


def _next_power_of_two(capacity_gb: int) -> float:
    """Of GiB, in GB."""
    gib = 1
    while gib * 2**30 < capacity_gb * _GB:
        gib *= 2
    return gib * 2**30 / _GB


@cache
def _table(name: str) -> JsonObject:
    return tomllib.loads(files("ssdlab.atlas").joinpath(name).read_text(encoding="utf-8"))
