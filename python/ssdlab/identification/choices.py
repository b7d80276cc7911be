"""Policies and spare area, told by simulation: which model repeats the write amplification that was measured.

All jobs that wrote to the drive run on each candidate, with the clock: buffers and pacing shift when cleaning begins.
The spare area is fitted with `ssdlab.advice.fit`, within what the experiments left open. Not for times, which the
experiments tell more exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import log, sqrt

from ssdlab.advice.fit import Parameter, fit
from ssdlab.drives import resolve
from ssdlab.errors import InputError, RunFailed
from ssdlab.identification.drive import model_of
from ssdlab.identification.evidence import Curve, Inferred, Outcome, Picture, Untold
from ssdlab.identification.identify import Found
from ssdlab.targets import simulated
from ssdlab.workloads import jobs, specifying

NAME = "simulation"
_VICTIMS = ("greedy", "fifo", "cost-benefit", "d-choices")
_PLACEMENTS = ("host-gc-split", "single")
_FITTED = 3
"""Candidates whose spare area is fitted: those that come nearest with the one that was told."""
_DISTINCT = 1.3
"""How many times further off another choice must be for the best one to be told."""
_KEYS = ("ftl.victim", "ftl.placement")


@dataclass(frozen=True)
class _Candidate:
    """A choice of policies, with the write amplification that it gives."""

    victim: str
    placement: str
    spare: float
    wafs: Sequence[float]
    error: float


def choose(found: Found) -> Outcome:
    """What a simulation tells of a drive after its experiments; reasons, where it cannot."""
    outcome = Outcome()
    measured = [waf for _, _, waf in found.facts.get("random-writes", {}).get("points", ()) if waf is not None]
    why_not = _why_not(found, measured)
    if why_not is not None:
        outcome.untold += [Untold(key, why_not) for key in _KEYS]
        return outcome
    spare = found.inferred["over_provisioning"]
    assert isinstance(spare.value, float) and isinstance(spare.low, float) and isinstance(spare.high, float)
    bounds = Parameter("over_provisioning", max(spare.low, 0.01), max(spare.high, spare.low + 0.01), spare.value)
    first = sorted(
        (
            _tried(found, victim, placement, spare.value, measured)
            for victim, placement in product(_VICTIMS, _PLACEMENTS)
        ),
        key=lambda each: each.error,
    )
    fitted = sorted((_fitted(found, each, bounds, measured) for each in first[:_FITTED]), key=lambda each: each.error)
    best = fitted[0]
    _tell(outcome, "ftl.victim", best.victim, best, [each for each in fitted + first if each.victim != best.victim])
    others = [each for each in fitted + first if each.placement != best.placement]
    _tell(outcome, "ftl.placement", best.placement, best, others)
    outcome.pictures.append(_picture(measured, best))
    outcome.facts |= {"candidates": [vars(each) for each in fitted], "error": best.error}
    return outcome


def _why_not(found: Found, measured: Sequence[float]) -> str | None:
    if not measured:
        return "no write amplification under random writes was measured"
    if "over_provisioning" not in found.inferred or "erase_unit_bytes" not in found.inferred:
        return "spare area and erase units, on which write amplification depends, are not known"
    if max(measured) < 1.3:
        return "cleaning cost too little for policies to show"
    return None


def _tell(outcome: Outcome, key: str, word: str, best: _Candidate, others: Sequence[_Candidate]) -> None:
    second = min((each.error for each in others), default=1.0)
    if best.error > 0.15 or second < _DISTINCT * best.error:
        outcome.untold.append(
            Untold(key, f"{word} comes nearest ({100 * best.error:.1f} % off), another within {100 * second:.1f} %")
        )
        return
    outcome.inferred.append(Inferred(key, word, word, word, NAME))


def _tried(found: Found, victim: str, placement: str, spare: float, measured: Sequence[float]) -> _Candidate:
    wafs = _wafs(found, victim, placement, spare, len(measured))
    # From the start of the random writes on: when cleaning begins shifts single steps, and not what it costs.
    pairs = list(zip(accumulate(wafs), accumulate(measured), strict=True))
    error = sqrt(sum(log(own / true) ** 2 for own, true in pairs) / len(pairs))
    return _Candidate(victim, placement, spare, wafs, error)


def _fitted(found: Found, candidate: _Candidate, bounds: Parameter, measured: Sequence[float]) -> _Candidate:
    """The candidate with the spare area that repeats the measurement best."""

    def model(values: Sequence[float]) -> list[float]:
        return _wafs(found, candidate.victim, candidate.placement, values[0], len(measured))

    values = fit(model, [bounds], measured).values
    return min(
        candidate,
        _tried(found, candidate.victim, candidate.placement, values[0], measured),
        key=lambda each: each.error,
    )


def _wafs(found: Found, victim: str, placement: str, spare: float, count: int) -> list[float]:
    """Write amplification of the last jobs, those of the random writes; far off where no drive comes of it."""
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
        [Curve("measured", list(zip(steps, measured, strict=True)))],
        [Curve("simulated", list(zip(steps, best.wafs, strict=True)))],
    )
