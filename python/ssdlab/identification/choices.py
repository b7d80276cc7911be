"""Determines policies and spare area by simulation: searches the model that reproduces the measured write
amplification.

All jobs that wrote to the drive run on each candidate, including timing, because buffers and pacing change the moment
when garbage collection begins. The spare area of a candidate is fitted to the mean write amplification, within the
interval that the experiments left open. The remaining differences in the steps, uniform and skewed, distinguish the
policies. Latencies are not fitted here: the experiments determine them more exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import exp, log, sqrt

from scipy.optimize import brentq

from ssdlab.drives import resolve
from ssdlab.errors import InputError, RunFailed
from ssdlab.identification.drive import model_of
from ssdlab.identification.evidence import Inferred, Outcome, Picture, Undetermined
from ssdlab.identification.identify import Found
from ssdlab.report.lines import Line, Marks
from ssdlab.targets import simulated
from ssdlab.workloads import jobs, specifying

NAME = "simulation"
_VICTIMS = ("greedy", "fifo", "cost-benefit", "d-choices")
_PLACEMENTS = ("host-gc-split", "single")
_FITTED = 4
"""The number of candidates whose spare area is fitted: the first one, and those that fit best with its spare area."""
_DISTINCT = 1.3
"""The factor by which the error of the next best choice must exceed that of the best one before it is reported."""
_TOLD_ERROR_MAX = 0.15
_SPARE = (0.03, 0.6)
"""Bounds of the spare area, as a share of the capacity, if erases did not determine it."""
_SPARE_EXACT = 0.01
"""Relative tolerance of the fitted spare area."""
_SPARE_SYSTEMATIC = 0.1
"""Relative systematic error of the spare area from model errors other than the policies (blind drives 101 to 140)."""
_KEYS = ("ftl.victim", "ftl.placement")
_SPARE_KEY = "over_provisioning"


@dataclass(frozen=True)
class _Candidate:
    """A choice of policies with the spare area, the resulting write amplification and its error."""

    victim: str
    placement: str
    spare: float
    wafs: Sequence[float]
    error: float


def choose(found: Found) -> Outcome:
    """Infers policies and spare area by simulation after the experiments, or gives the reasons why this is not
    possible."""
    outcome = Outcome()
    measured = [waf for _, _, waf in found.facts.get("random-writes", {}).get("points", ()) if waf is not None]
    why_not = _why_not(found, measured)
    if why_not is not None:
        # Keys that an experiment could not determine have a reason already.
        said = found.inferred.keys() | {each.key for each in found.undetermined}
        missing = [each for each in (*_KEYS, _SPARE_KEY) if each not in said]
        outcome.undetermined += [Undetermined(key, why_not) for key in missing]
        return outcome
    bounds = _bounds(found)
    usual = _fitted(found, _VICTIMS[0], _PLACEMENTS[0], bounds, measured)
    others = [each for each in product(_VICTIMS, _PLACEMENTS) if each != (usual.victim, usual.placement)]
    first = sorted((_tried(found, *each, usual.spare, measured) for each in others), key=lambda each: each.error)
    again = [_fitted(found, each.victim, each.placement, bounds, measured) for each in first[: _FITTED - 1]]
    fitted = sorted([usual, *again], key=lambda each: each.error)
    best = fitted[0]
    _tell(outcome, "ftl.victim", best.victim, best, [each for each in fitted + first if each.victim != best.victim])
    different = [each for each in fitted + first if each.placement != best.placement]
    _tell(outcome, "ftl.placement", best.placement, best, different)
    if _SPARE_KEY not in found.inferred:
        _tell_spare(outcome, fitted)
    outcome.pictures.append(_picture(measured, best))
    outcome.facts |= {
        "candidates": [vars(each) for each in fitted],
        "error": best.error,
        "nearest": {"ftl.victim": best.victim, "ftl.placement": best.placement},
    }
    return outcome


def nearest(found: Found) -> dict[str, str]:
    """The policies that fit best, determined or not, for a drive file; empty if nothing was simulated."""
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
    low, high = float(spare.low), float(spare.high)
    low = max(low, 0.01)
    return low, max(high, low * 1.01)


def _tell_spare(outcome: Outcome, fitted: Sequence[_Candidate]) -> None:
    """Records the spare area of the best candidate. The interval covers all candidates of similar error."""
    best = fitted[0]
    if best.error > _TOLD_ERROR_MAX:
        reason = f"no spare area repeats the measured write amplification (nearest: {100 * best.error:.0f} % off)"
        outcome.undetermined.append(Undetermined(_SPARE_KEY, reason))
        return
    likely = [each.spare for each in fitted if each.error <= max(_DISTINCT * best.error, 0.02)]
    low, high = min(likely) * (1 - _SPARE_SYSTEMATIC), max(likely) * (1 + _SPARE_SYSTEMATIC)
    outcome.inferred.append(Inferred(_SPARE_KEY, round(best.spare, 5), round(low, 5), round(high, 5), NAME))


def _tell(outcome: Outcome, key: str, word: str, best: _Candidate, others: Sequence[_Candidate]) -> None:
    second = min((each.error for each in others), default=1.0)
    if best.error > _TOLD_ERROR_MAX or second < _DISTINCT * best.error:
        outcome.undetermined.append(
            Undetermined(
                key, f"{word} comes nearest ({100 * best.error:.1f} % off), another within {100 * second:.1f} %"
            )
        )
        return
    outcome.inferred.append(Inferred(key, word, word, word, NAME))


def _tried(found: Found, victim: str, placement: str, spare: float, measured: Sequence[float]) -> _Candidate:
    wafs = _wafs(found, victim, placement, spare, len(measured))
    # Compares cumulative sums since the start of the random writes: the moment when garbage collection begins changes
    # single steps, but not the total cost.
    pairs = list(zip(accumulate(wafs), accumulate(measured), strict=True))
    error = sqrt(sum(log(own / true) ** 2 for own, true in pairs) / len(pairs))
    return _Candidate(victim, placement, spare, wafs, error)


def _fitted(
    found: Found, victim: str, placement: str, bounds: tuple[float, float], measured: Sequence[float]
) -> _Candidate:
    """The candidate of these policies whose spare area reproduces the mean of the measurement."""
    tried: dict[float, _Candidate] = {}

    def excess(log_spare: float) -> float:
        each = tried[log_spare] = _tried(found, victim, placement, exp(log_spare), measured)
        return log(sum(each.wafs) / sum(measured))

    low, high = map(log, bounds)
    # More spare area never increases write amplification: the result is a root within the bounds, or the closer bound.
    if excess(low) > 0 > excess(high):
        brentq(excess, low, high, xtol=_SPARE_EXACT)
    return min(tried.values(), key=lambda each: each.error)


def _wafs(found: Found, victim: str, placement: str, spare: float, count: int) -> list[float]:
    """Write amplification of the last `count` jobs, the random writes; 1000 for each if the values form no valid
    drive."""
    changes = {"ftl.victim": victim, "ftl.placement": placement, "over_provisioning": spare}
    try:
        drive = resolve(model_of(found.inferred, found.capacity_bytes, "candidate", changes).file)
        text = "".join(each.jobs for each in found.written)
        specification = specifying.specify(jobs.parse(text, NAME), drive, series_points_max=2)
        result = simulated.run(specification)
    except (InputError, RunFailed):
        return [1e3] * count
    return [each.waf or 1.0 for each in result.jobs[-count:]]


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
