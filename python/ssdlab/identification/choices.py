"""Determines policies and spare area by simulation: searches the model that reproduces the measured write
amplification.

All jobs that wrote to the drive run on each candidate, including timing, because buffers and pacing change the moment
when garbage collection begins. The spare area of a candidate is fitted to the mean write amplification, near the value
that erases told. The remaining differences in the steps, uniform and skewed, distinguish the policies. A program or
erase time that no experiment determined is fitted to the speed of the random writes with the nearest policies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, product
from math import exp, log, prod, sqrt
from statistics import pstdev
from typing import Any

from ssdlab.drives import resolve
from ssdlab.errors import InputError, RunFailed
from ssdlab.foreign import JsonObject
from ssdlab.identification.drive import model_of
from ssdlab.identification.evidence import Inferred, Outcome, Picture, Undetermined
from ssdlab.identification.identify import Found
from ssdlab.report.lines import Line, Marks
from ssdlab.targets import simulated
from ssdlab.workloads import jobs, specifying

NAME = "simulation"
_VICTIMS = ("greedy", "fifo", "cost-benefit", "d-choices")
_PLACEMENTS = ("host-gc-split", "single")
_FITTED = 2
"""The number of candidates with another placement than the first whose spare area is fitted."""
_DISTINCT = 1.3
"""The factor by which the error of the next best choice must exceed that of the best one before it is reported."""
_RANDOM, _CHANCE = ("d-choices",), 0.02
"""Victims drawn at random, and by how much the errors of their candidates differ by chance."""
_TOLD_ERROR_MAX = 0.15
_SPARE = (0.03, 0.6)
"""Bounds of the spare area, as a share of the capacity, if erases did not determine it."""
_SPARE_AROUND = (0.7, 1.4)
"""If they did, bounds as shares of their interval: how many erase units a drive keeps is not seen there."""
_TRIES = 6
"""The most simulations for one fitted value."""
_WAF_EXACT, _SPEED_EXACT = 0.002, 0.01
"""Relative differences of write amplification and speed at which a fit ends."""
_SPEED_SYSTEMATIC = 0.03
"""Relative systematic error of simulated speeds."""
_OTHER_TIME = 1.0
"""The relative uncertainty of a fitted time that another unknown time adds."""
_SPARE_SYSTEMATIC = 0.03
"""Relative systematic error of the spare area from model errors other than the policies."""
_SPARE_UNITS = 0.5
"""The same in erase units."""
_SPARE_PER_ERROR = 0.3
"""The same as a share of the error that remains."""
_TIMES = {"nand.program_us": (100.0, 6000.0, 0.1), "nand.erase_us": (500.0, 20_000.0, 0.3)}
"""Times that are fitted to the speed if no experiment determined them: bounds, and the least relative
uncertainty."""
_KEYS = ("ftl.victim", "ftl.placement")
_SPARE_KEY = "over_provisioning"
_PAGES_KEY = "nand.pages_per_block"
_SUSPECT_ERROR = 0.08
"""Above this error of the best candidate, an erase unit that single erases did not show is suspected."""
_SUSPECT_REGULAR_ERROR = 0.15
"""Above this one, even one that regular erases showed."""
_UNIT_FACTORS = (1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 2, 2.0, 3.0)
"""Erase units that are tried then, as multiples of the suspected one."""
_UNIT_BETTER = 2.0
"""The factor by which another erase unit must reduce the error: victims drawn at random fit some better by chance."""
_UNIT_AROUND = (0.75, 1.35)
"""The interval of an erase unit found by simulation."""
_LEVEL_SHARE = 0.2
"""The share of the error, besides its shape, that ranks candidates before their spare area is fitted."""


@dataclass(frozen=True)
class _Candidate:
    """A choice of policies with the spare area, the resulting write amplification and speed, and its error."""

    victim: str
    placement: str
    spare: float
    wafs: Sequence[float]
    bytes_per_second: Sequence[float]
    error: float
    shape_error: float
    """The part of the error that no other spare area removes: the deviations from their mean."""
    others: Mapping[str, Any]
    """Values of other keys of the drive file that were not inferred: fitted times, the kind of SLC cache."""

    @property
    def changes(self) -> JsonObject:
        return {"ftl.victim": self.victim, "ftl.placement": self.placement, _SPARE_KEY: self.spare, **self.others}


def choose(found: Found) -> Outcome:
    """Infers policies and spare area by simulation after the experiments, or gives the reasons why this is not
    possible."""
    outcome = Outcome()
    points = [(rate, waf) for _, rate, waf in found.facts.get("random-writes", {}).get("points", ()) if waf is not None]
    measured = [waf for _, waf in points]
    why_not = _why_not(found, measured)
    if why_not is not None:
        # Keys that an experiment could not determine have a reason already.
        said = found.inferred.keys() | {each.key for each in found.undetermined}
        missing = [each for each in (*_KEYS, _SPARE_KEY) if each not in said]
        outcome.undetermined += [Undetermined(key, why_not) for key in missing]
        return outcome
    bounds = _bounds(found)
    fitted, first = _searched(found, bounds, measured, {})
    regular = "first_tooth_bytes" in found.facts.get("overwrite", {})
    if fitted[0].error > (_SUSPECT_REGULAR_ERROR if regular else _SUSPECT_ERROR):
        pages = _other_pages(found, fitted, bounds, measured)
        if pages is not None:
            fitted, first = _searched(found, bounds, measured, {_PAGES_KEY: pages})
            _tell_unit(outcome, found, pages)
    best = fitted[0]
    _tell(outcome, "ftl.victim", best.victim, fitted, [each for each in fitted + first if each.victim != best.victim])
    different = [each for each in fitted + first if each.placement != best.placement]
    _tell(outcome, "ftl.placement", best.placement, fitted, different)
    _tell_spare(outcome, found, fitted)
    best = _timed(outcome, found, best, [rate for rate, _ in points], measured)
    outcome.pictures.append(_picture(measured, best))
    told = _SPARE_KEY in found.inferred or any(each.key == _SPARE_KEY for each in outcome.inferred)
    spare = {} if told else {_SPARE_KEY: best.spare}
    outcome.facts |= {
        "candidates": [vars(each) for each in fitted],
        "error": best.error,
        "nearest": {
            "ftl.victim": best.victim,
            "ftl.placement": best.placement,
            **{key: each for key, each in best.others.items() if key not in _TIMES},
            **spare,
        },
    }
    return outcome


def _searched(
    found: Found, bounds: tuple[float, float], measured: Sequence[float], fixed: Mapping[str, Any]
) -> tuple[list[_Candidate], list[_Candidate]]:
    """The candidates with a spare area of their own, the best first, and those with that of another placement."""
    kinds = _cache_kinds(found)
    # An SLC cache works with the first placement only.
    placements = _PLACEMENTS if kinds == [{}] else _PLACEMENTS[:1]
    known = found.inferred.get(_SPARE_KEY)
    spare = sqrt(bounds[0] * bounds[1]) if known is None else float(known.value)
    fitted = []
    # Each victim with a spare area of its own: with that of another one, even the right victim is far off.
    for kind, victim in product(kinds, _VICTIMS):
        candidate = _Candidate(victim, placements[0], spare, (), (), 0.0, 0.0, {**fixed, **kind})
        fitted.append(_fitted(found, candidate, bounds, measured))
    rest = [
        _simulated(found, replace(each, placement=placement), measured)
        for each, placement in product(fitted, placements[1:])
    ]
    rest.sort(key=lambda each: each.shape_error + _LEVEL_SHARE * each.error)
    fitted += [_fitted(found, each, bounds, measured) for each in rest[:_FITTED]]
    return sorted(fitted, key=lambda each: each.error), rest[_FITTED:]


def _cache_kinds(found: Found) -> list[JsonObject]:
    """What an SLC cache can consist of, which its size does not tell: erased blocks, or blocks of its own."""
    cache = found.inferred.get("slc_cache_bytes")
    keys = ("slc_cache.dynamic_bytes_max", "slc_cache.static_bytes")
    return [{}] if cache is None else [{key: cache.value} for key in keys]


def _other_pages(
    found: Found, fitted: Sequence[_Candidate], bounds: tuple[float, float], measured: Sequence[float]
) -> int | None:
    """The pages in a block with which the model repeats the measurement much better, or None.

    Delays that repeat irregularly can be taken for several erase units, or for a part of one.
    """
    best = fitted[0]
    # With a wrong erase unit the policies are wrong, too.
    second = next((each for each in fitted if each.victim != best.victim), best)
    usual = model_of(found.inferred, found.capacity_bytes, "candidate", best.changes).file.nand.pages_per_block
    tried = []
    for factor, victim in product(_UNIT_FACTORS, dict.fromkeys((best.victim, second.victim))):
        pages = max(3, round(usual * factor))
        changed = replace(best, victim=victim, wafs=(), others={**best.others, _PAGES_KEY: pages})
        tried.append(_fitted(found, changed, bounds, measured))
    nearest = min(tried, key=lambda each: each.error)
    return int(nearest.others[_PAGES_KEY]) if _UNIT_BETTER * nearest.error < best.error else None


def _tell_unit(outcome: Outcome, found: Found, pages: int) -> None:
    """Records the erase unit with which the simulation fits."""
    low, high = (pages * each for each in _UNIT_AROUND)
    outcome.inferred.append(Inferred(_PAGES_KEY, pages, round(low), round(high), NAME))
    parts = [found.inferred.get(key) for key in ("parallel_units", "nand.page_bytes", "nand.planes_per_die")]
    if all(each is not None for each in parts):
        stripe = prod(int(each.value) for each in parts if each is not None)
        ends = round(low * stripe), round(high * stripe)
        outcome.inferred.append(Inferred("erase_unit_bytes", pages * stripe, *ends, NAME))


def nearest(found: Found) -> JsonObject:
    """The policies and spare area that fit best, determined or not, for a drive file; empty if nothing was
    simulated."""
    return dict(found.facts.get(NAME, {}).get("nearest", {}))


def _why_not(found: Found, measured: Sequence[float]) -> str | None:
    if not measured:
        return "no write amplification under random writes was measured"
    if "parallel_units" not in found.inferred or "nand.page_bytes" not in found.inferred:
        return "dies and pages, on which write amplification depends, are not known"
    if max(measured) < 1.1:
        return "garbage collection cost too little for policies and spare area to show"
    return None


def _bounds(found: Found) -> tuple[float, float]:
    """Bounds of the spare area, as a share of the capacity."""
    spare = found.inferred.get(_SPARE_KEY)
    if spare is None:
        return _SPARE
    low, high = _SPARE_AROUND[0] * float(spare.low), _SPARE_AROUND[1] * float(spare.high)
    low = max(low, 0.01)
    return low, max(high, low * 1.01)


def _tell_spare(outcome: Outcome, found: Found, fitted: Sequence[_Candidate]) -> None:
    """Records the spare area of the best candidate. The interval covers all candidates of similar error."""
    best = fitted[0]
    if best.error > _TOLD_ERROR_MAX:
        if _SPARE_KEY not in found.inferred:
            reason = f"no spare area repeats the measured write amplification (nearest: {100 * best.error:.0f} % off)"
            outcome.undetermined.append(Undetermined(_SPARE_KEY, reason))
        return
    unit = found.inferred.get("erase_unit_bytes")
    # The spare area is a whole number of erase units, and so are blocks that always belong to an SLC cache.
    units = _SPARE_UNITS + (1 if "slc_cache.static_bytes" in best.others else 0)
    around = 0.0 if unit is None else units * float(unit.value) / found.capacity_bytes
    likely = [each.spare for each in fitted if each.error <= max(_DISTINCT * best.error, 0.02)]
    share = _SPARE_SYSTEMATIC + _SPARE_PER_ERROR * best.error
    low, high = min(likely) * (1 - share) - around, max(likely) * (1 + share) + around
    outcome.inferred.append(Inferred(_SPARE_KEY, round(best.spare, 5), round(max(low, 0.0), 5), round(high, 5), NAME))


def _timed(
    outcome: Outcome, found: Found, best: _Candidate, rates: Sequence[float], measured: Sequence[float]
) -> _Candidate:
    """The candidate with the first time that no experiment determined, fitted to the duration of the random writes."""
    missing = [each for each in _TIMES if each not in found.inferred]
    if not missing or best.error > _TOLD_ERROR_MAX:
        return best
    key = missing[0]
    low, high, share = _TIMES[key]
    tried: list[_Candidate] = []

    def excess(log_us: float) -> float:
        tried.append(_simulated(found, replace(best, others={**best.others, key: exp(log_us)}), measured))
        own = sum(1 / each for each in tried[-1].bytes_per_second)
        return log(own / sum(1 / each for each in rates))

    time_us = exp(_root(excess, log(low), log(high), log(sqrt(low * high)), 1.0, _SPEED_EXACT))
    # A time that stays unknown can be in it as well.
    half = share + _SPEED_SYSTEMATIC / max(_steepness(tried, key), 0.01) + (_OTHER_TIME if len(missing) > 1 else 0.0)
    outcome.inferred.append(
        Inferred(key, round(time_us, 1), round(time_us / (1 + half), 1), round(time_us * (1 + half), 1), NAME)
    )
    return min(tried, key=lambda each: abs(each.others[key] - time_us))


def _steepness(tried: Sequence[_Candidate], key: str) -> float:
    """By how much the duration grows with a time, both relative, over the two nearest of the tried values."""
    if len(tried) < 2:
        return 0.0
    (short, quick), (long, slow) = sorted(
        (log(each.others[key]), log(sum(1 / rate for rate in each.bytes_per_second))) for each in tried[-2:]
    )
    return max(0.0, (slow - quick) / (long - short)) if long > short else 0.0


def _root(excess: Callable[[float], float], low: float, high: float, start: float, slope: float, exact: float) -> float:
    """Where a monotonic function is about zero, or the closer bound. `slope` is its sign and rough steepness.

    A secant within a bracket: each value takes a simulation, and in logarithms the function is almost straight.
    """
    at = min(max(start, low), high)
    nearest, least = at, float("inf")
    before: tuple[float, float] | None = None
    for _ in range(_TRIES):
        value = excess(at)
        if abs(value) < least:
            nearest, least = at, abs(value)
        if least <= exact:
            break
        # The side of the root on which this value lies.
        if value * slope > 0:
            high = min(high, at)
        else:
            low = max(low, at)
        steepness = slope
        if before is not None and before[0] != at:
            measured = (value - before[1]) / (at - before[0])
            steepness = measured if measured * slope > 0.1 * slope * slope else slope
        before = at, value
        following = at - value / steepness
        if not low < following < high:
            following = (low + high) / 2 if abs(high - low) > 1e-4 else at
        if following == at:
            break
        at = following
    return nearest


def _tell(outcome: Outcome, key: str, word: str, fitted: Sequence[_Candidate], others: Sequence[_Candidate]) -> None:
    best = fitted[0]
    # Another spare area might remove the rest of the error of a candidate without a fitted one.
    second = min((each.error if each in fitted else each.shape_error for each in others), default=1.0)
    chance = _CHANCE if best.victim in _RANDOM else 0.0
    if best.error > _TOLD_ERROR_MAX or second < max(_DISTINCT * best.error, best.error + chance):
        outcome.undetermined.append(
            Undetermined(
                key, f"{word} comes nearest ({100 * best.error:.1f} % off), another within {100 * second:.1f} %"
            )
        )
        return
    outcome.inferred.append(Inferred(key, word, word, word, NAME))


def _fitted(found: Found, candidate: _Candidate, bounds: tuple[float, float], measured: Sequence[float]) -> _Candidate:
    """The candidate with the spare area that reproduces the mean of the measurement."""
    # A candidate that was simulated is the first value.
    tried = {log(candidate.spare): candidate} if candidate.wafs else {}

    def excess(log_spare: float) -> float:
        if log_spare not in tried:
            tried[log_spare] = _simulated(found, replace(candidate, spare=exp(log_spare)), measured)
        return log(sum(tried[log_spare].wafs) / sum(measured))

    low, high = map(log, bounds)
    # More spare area never increases write amplification.
    return tried[_root(excess, low, high, log(candidate.spare), -0.8, _WAF_EXACT)]


def _simulated(found: Found, candidate: _Candidate, measured: Sequence[float]) -> _Candidate:
    """The candidate with its write amplification, speed and error in the last jobs, the random writes; a write
    amplification of 1000 if the values form no valid drive."""
    count = len(measured)
    try:
        drive = resolve(model_of(found.inferred, found.capacity_bytes, "candidate", candidate.changes).file)
        text = "".join(each.jobs for each in found.written)
        specification = specifying.specify(jobs.parse(text, NAME), drive, series_points_max=2)
        last = simulated.run(specification).jobs[-count:]
        wafs = [each.waf or 1.0 for each in last]
        rates = [each.write.io_bytes / (each.seconds or 1.0) for each in last]
    except (InputError, RunFailed):
        wafs, rates = [1e3] * count, [1.0] * count
    # Compares cumulative sums since the start of the uniform and of the skewed writes: the moment when garbage
    # collection begins changes single steps, but not the total cost.
    halves = slice(0, count // 2), slice(count // 2, count)
    pairs = [pair for half in halves for pair in zip(accumulate(wafs[half]), accumulate(measured[half]), strict=True)]
    logs = [log(own / true) for own, true in pairs]
    error = sqrt(sum(each**2 for each in logs) / count)
    return replace(candidate, wafs=wafs, bytes_per_second=rates, error=error, shape_error=pstdev(logs))


def _picture(measured: Sequence[float], best: _Candidate) -> Picture:
    steps = range(1, len(measured) + 1)
    return Picture(
        "policies",
        f"{best.victim} with {best.placement} comes within {100 * best.error:.1f} % of the write amplification",
        "Write amplification in each step of random writes: measured, and simulated with the nearest policies.",
        "step",
        "WAF",
        [Line("measured", list(zip(steps, measured, strict=True)))],
        [Marks("simulated", list(zip(steps, best.wafs, strict=True)))],
    )
