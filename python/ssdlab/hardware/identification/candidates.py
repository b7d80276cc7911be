"""Models of the drive that are simulated and compared with the measured write amplification and speed.

All jobs that wrote to the drive run on a candidate, with timing, because buffers and the pace of garbage collection
change the moment when it begins. With the right values the write amplification of each step comes out within a per
cent, since random writes are the same ones. Victims drawn at random make every run different: such a candidate runs
several times, and the differences between its runs say how far the measurement may be off by chance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from math import exp, expm1, log, prod, sqrt
from statistics import pstdev
from typing import Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.identification.boxes.simulated import LOG, completed
from ssdlab.hardware.identification.drive import model_of
from ssdlab.hardware.identification.experiments import overwrite
from ssdlab.hardware.identification.identify import Found
from ssdlab.simulator.drives import resolve
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results import Result
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.targets.side_by_side import workers_for
from ssdlab.simulator.workloads import jobs, specifying
from ssdlab.simulator.workloads.jobs.seeds import clone_seed
from ssdlab.simulator.workloads.jobs.table import RANDSEED

SPARE_KEY = "over_provisioning"
RANDOM = ("d-choices",)
"""Victims drawn at random."""
_SEEDS = 3
"""Runs of a candidate whose victims are drawn at random."""
TRIES = 6
"""The most simulations for one fitted value."""
_WAF_EXACT, _SPEED_EXACT = 0.002, 0.002
"""Relative differences of write amplification and speed at which a fit ends."""
_CHANCE_MIN, _CHANCE_CACHE = 0.002, 0.01
"""The error of a right model by small errors of times and buffers, and that of one with an SLC cache (blind drives 301
to 350)."""
_CHANCE_REQUESTS = 0.015, 0.01
"""The errors of the steps and of their totals by other random requests (blind drives 701 to 717)."""
_CHANCE_MAX = 0.15
_LEVEL_CHANCE_RANDOM = 0.02
"""The least error of the total write amplification of a right model whose victims are drawn at random: few runs do not
tell less (blind drive 711: 0.025 from 16 runs)."""
_WAF_EXACT_RANDOM = 0.01
"""The difference of the write amplification at which a fit ends if victims are drawn at random."""
_TOLD_ERROR_MAX = 0.15
"""The error above which a candidate does not repeat the measurement."""
_PACE_CHANCE, _PACE_LOG_MAX = 0.08, 1.4
"""The deviation of the durations of a right model, and the largest one of a single part."""
_BEGIN_NEAR = 0.01
"""The difference of the places where garbage collection begins above which a search failed, relative to the
capacity."""
_POLISHED = 4
_AT_ONCE_MAX = 16
"""More simulations at a time are never to be made."""
_TIME_SHARE = 0.2
"""The share of a duration that the longest possible time has at least, roughly: the first steepness of a search."""
_IMPOSSIBLE = 1e3
"""The write amplification of values that form no valid drive."""


@dataclass(frozen=True)
class Overwrite:
    """The job that overwrote the full drive in sequence, before the random writes."""

    seconds: float
    windows_s: Sequence[float]
    """The durations of equal parts."""
    row_bytes: int
    """The resolution of `begun_bytes`."""
    begun_bytes: float | None
    """Bytes overwritten when garbage collection began; the better part of the spare area."""


@dataclass(frozen=True)
class Measured:
    """The random writes of the drive, step by step, and the sequential writes before them."""

    wafs: Sequence[float]
    bytes_per_second: Sequence[float]
    overwrite: Overwrite | None
    as_simulated: bool = True
    """Whether a simulation writes the same random requests."""

    @property
    def seconds_per_programmed(self) -> float:
        """See `Candidate`."""
        return _seconds_per_programmed(self.wafs, self.bytes_per_second)


def _seconds_per_programmed(wafs: Sequence[float], bytes_per_second: Sequence[float]) -> float:
    """Of steps that write equally much."""
    return sum(1 / each for each in bytes_per_second) / sum(wafs)


@dataclass(frozen=True)
class Candidate:
    """Policies, a spare area and values of other keys; once simulated, also the outcome and its error."""

    victim: str
    placement: str
    spare: float
    others: Mapping[str, Any]
    """Values of other keys of the drive file that were not inferred: fitted times, the kind of SLC cache."""
    wafs: Sequence[float] = ()
    bytes_per_second: Sequence[float] = ()
    overwrite: Overwrite | None = None
    error: float = 0.0
    """Of the cumulative write amplification, relative, root mean square."""
    shape_error: float = 0.0
    """The part of the error that no other spare area removes: the deviations from their mean."""
    chance: float = _CHANCE_MIN
    """The error that a right model has."""
    level_error: float = 0.0
    """Of the totals of the uniform and of the skewed writes. Where victims are drawn at random single steps differ by
    tens of per cent from run to run, but totals hardly."""
    level_chance: float = _CHANCE_MIN
    pace_error: float = 0.0
    """Of the durations of the parts of the sequential writes, a mean; 0 if it says nothing."""
    pace_chance: float = 1.0

    @property
    def score(self) -> float:
        """The inverse of the likelihood, up to a factor; the least is best.

        The errors are taken to have a Cauchy distribution of the width of `chance`: its tails allow for what no
        candidate has right, and the larger the chance, the less a small error says.
        """
        errors = (self.error, self.chance), (self.level_error, self.level_chance), (self.pace_error, self.pace_chance)
        return prod(chance + error**2 / chance for error, chance in errors)

    @property
    def misfit(self) -> float:
        """The error that tells whether it repeats the measurement: single steps do not where victims are drawn at
        random."""
        return self.level_error if self.victim in RANDOM else self.error

    @property
    def is_unlikely(self) -> bool:
        """Whether it does not repeat the measurement, so that nothing follows from it."""
        chance = self.level_chance if self.victim in RANDOM else self.chance
        return self.misfit > max(_TOLD_ERROR_MAX, 2 * chance)

    @property
    def seconds_per_programmed(self) -> float:
        """Seconds for a byte of all steps, relative to the flash programmed: copies take time, too, and their number
        differs from run to run if victims are drawn at random."""
        return _seconds_per_programmed(self.wafs, self.bytes_per_second)

    @property
    def changes(self) -> JsonObject:
        return {"ftl.victim": self.victim, "ftl.placement": self.placement, SPARE_KEY: self.spare, **self.others}

    def but(self, **changes: Any) -> "Candidate":
        """Another candidate, not simulated yet."""
        return replace(self, wafs=(), bytes_per_second=(), **changes)


def run(found: Found, candidate: Candidate, measured: Measured) -> Candidate:
    """The candidate with its write amplification, speed and error in the random writes, the last jobs."""
    runs = range(1, _SEEDS + 1) if candidate.victim in RANDOM else (1,)
    outcomes = [_run(found, candidate, len(measured.wafs), seed) for seed in runs]
    wafs = [sum(each) / len(outcomes) for each in zip(*(own.wafs for own in outcomes), strict=True)]
    by_step = zip(*(own.bytes_per_second for own in outcomes), strict=True)
    rates = [len(outcomes) / sum(1 / rate for rate in each) for each in by_step]
    logs = _deviations(wafs, measured.wafs)
    cached = _has_cache(candidate)
    chance = level_chance = _CHANCE_CACHE if cached else _CHANCE_MIN
    if not measured.as_simulated:
        chance, level_chance = max(chance, _CHANCE_REQUESTS[0]), max(level_chance, _CHANCE_REQUESTS[1])
    if len(outcomes) > 1 and max(wafs) < _IMPOSSIBLE:
        chance = min(max(chance, _between(outcomes, wafs, _deviations)), _CHANCE_MAX)
        level_chance = min(max(_LEVEL_CHANCE_RANDOM, _between(outcomes, wafs, _levels)), _CHANCE_MAX)
    timed = replace(candidate, wafs=wafs, bytes_per_second=rates, overwrite=outcomes[0].overwrite)
    timed = _with_pace(timed, outcomes, measured, in_order=cached)
    level = _size(_levels(wafs, measured.wafs))
    return replace(
        timed, error=_size(logs), shape_error=pstdev(logs), chance=chance, level_error=level, level_chance=level_chance
    )


def _between(
    outcomes: Sequence[Measured],
    wafs: Sequence[float],
    deviations: Callable[[Sequence[float], Sequence[float]], Sequence[float]],
) -> float:
    """How far a measurement deviates by chance from `wafs`, the mean of these runs: by more than each of them does."""
    spread = sum(_size(deviations(own.wafs, wafs)) ** 2 for own in outcomes) / (len(outcomes) - 1)
    return sqrt(spread * (1 + 1 / len(outcomes)))


def sequential(found: Found, candidate: Candidate, measured: Measured, seeds: int = _SEEDS) -> Candidate:
    """The candidate with the outcome of the sequential writes alone, which takes much less time. `seeds` is the number
    of runs if victims are drawn at random."""
    runs = range(1, 1 + (seeds if candidate.victim in RANDOM else 1))
    outcomes = [_run(found, candidate, 0, seed, steps=len(measured.wafs)) for seed in runs]
    timed = replace(candidate, overwrite=outcomes[0].overwrite)
    return _with_pace(timed, outcomes, measured, in_order=False)


def _with_pace(candidate: Candidate, outcomes: Sequence[Measured], measured: Measured, *, in_order: bool) -> Candidate:
    """The candidate with the error of the pace of its sequential writes: it shows how an SLC cache is emptied, and how
    much flash is left beside it, and otherwise, by the distribution of durations, how much is erased and copied at
    once."""
    paces = [own.overwrite.windows_s for own in outcomes if own.overwrite is not None]
    if measured.overwrite is None or len(paces) < len(outcomes):
        return candidate
    ordered = list if in_order else sorted
    own_paces, true = [ordered(each) for each in paces], ordered(measured.overwrite.windows_s)
    errors = [_pace_distance(own, true) for own in own_paces]
    between = [_pace_distance(own, other) for own, other in combinations(own_paces, 2)] or [0.0]
    chance = max(_PACE_CHANCE, sum(between) / len(between))
    return replace(candidate, pace_error=sum(errors) / len(errors), pace_chance=chance)


def _pace_distance(own: Sequence[float], true: Sequence[float]) -> float:
    """The mean deviation of durations, as logarithms, of which each is limited: a delay that comes a little later
    deviates twice."""
    logs = [abs(log(max(one, 1e-9) / max(other, 1e-9))) for one, other in zip(own, true, strict=True)]
    return sum(min(each, _PACE_LOG_MAX) for each in logs) / len(logs)


def _run(found: Found, candidate: Candidate, count: int, seed: int, *, steps: int = 0) -> Measured:
    """A simulation of everything that was written, of which the last `count` jobs are the random writes; with `count`
    0 of everything before the last `steps` jobs."""
    try:
        texts = [each.jobs for each in found.written][: None if count else -steps]
        result = simulated.run(_specification(found, candidate, texts, seed))
        found.count_simulation()
    except (InputError, RunFailed):
        return Measured([_IMPOSSIBLE] * count, [1.0] * count, None)
    last = result.jobs[-count:] if count else []
    rates = [each.write.io_bytes / (each.seconds or 1.0) for each in last]
    return Measured([each.waf or 1.0 for each in last], rates, _overwrite(found, result))


def at_once(found: Found, candidate: Candidate) -> int:
    """How many simulations of such candidates are made beside each other."""
    try:
        one = _specification(found, candidate, [each.jobs for each in found.written], 1)
        return workers_for([one] * _AT_ONCE_MAX, found.workers)
    except InputError:
        return 1


def _specification(found: Found, candidate: Candidate, texts: Sequence[str], seed: int) -> Specification:
    """What was written, on a drive like the candidate. Raises InputError if that is no drive."""
    drive = resolve(model_of(found.inferred, found.capacity_bytes, "candidate", candidate.changes).file)
    text = "".join(f"{each}{LOG}" if each.startswith(_OVERWRITE) else each for each in texts)
    specification = specifying.specify(jobs.parse(text, "simulation"), drive, seed=seed, series_points_max=2)
    return _with_requests_of(specification, texts)


_OVERWRITE = f"[{overwrite.NAME}]"


def _has_cache(candidate: Candidate) -> bool:
    return any(key.startswith("slc_cache.") for key in candidate.others)


def _with_requests_of(specification: Specification, texts: Sequence[str]) -> Specification:
    """The specification of all texts in one run, with the requests that each draws as a job file of its own: the
    random numbers of a job depend on its position in the file."""
    # The seed of the run counts only for jobs without a randseed, whose requests are not compared.
    seeds = [
        clone_seed(1, section.get(RANDSEED), index, 0)
        for text in texts
        for index, section in enumerate(jobs.parse(text, "written").sections)
    ]
    own: list[plain.Job] = [
        {**job, "seed": seed} for job, seed in zip(specification.engine["jobs"], seeds, strict=True)
    ]
    return replace(specification, engine={**specification.engine, "jobs": own})


def _overwrite(found: Found, result: Result) -> Overwrite | None:
    facts = found.facts.get(overwrite.NAME, {})
    job = next((each for each in result.jobs if each.name == overwrite.NAME), None)
    log_of_job = next((each for _, each in result.job_logs), None)
    if job is None or log_of_job is None or "row_bytes" not in facts:
        return None
    done = completed(job, log_of_job)
    sums, row = done.size_bytes.cumsum().astype(float), int(facts["row_bytes"])
    return Overwrite(
        done.seconds, overwrite.windows_s(sums, done.end_s), row, overwrite.begun_bytes(sums, done.end_s, row)
    )


def _deviations(own: Sequence[float], true: Sequence[float]) -> list[float]:
    """Logarithms of the ratios of cumulative sums since the start of the uniform and of the skewed writes: the moment
    when garbage collection begins changes single steps, but not the total cost."""
    count = len(true)
    halves = slice(0, count // 2), slice(count // 2, count)
    pairs = [pair for half in halves for pair in zip(accumulate(own[half]), accumulate(true[half]), strict=True)]
    return [log(one / other) for one, other in pairs]


def _levels(own: Sequence[float], true: Sequence[float]) -> list[float]:
    """The same for the totals of both halves alone."""
    half = len(true) // 2
    return [log(sum(own[part]) / sum(true[part])) for part in (slice(0, half), slice(half, None)) if true[part]]


def _size(deviations: Sequence[float]) -> float:
    return sqrt(sum(each**2 for each in deviations) / len(deviations))


def with_spare(
    found: Found, candidate: Candidate, bounds: tuple[float, float], measured: Measured, tries: int = TRIES
) -> Candidate:
    """The candidate with the spare area that reproduces the mean of the measured write amplification."""
    # A candidate that was simulated is the first value.
    tried = {log(candidate.spare): candidate} if candidate.wafs else {}

    def excess(log_spare: float) -> float:
        if log_spare not in tried:
            tried[log_spare] = run(found, candidate.but(spare=exp(log_spare)), measured)
        return log(sum(tried[log_spare].wafs) / sum(measured.wafs))

    low, high = map(log, bounds)
    # More spare area never increases write amplification.
    is_random = candidate.victim in RANDOM
    at = root(excess, low, high, log(candidate.spare), -0.8, _WAF_EXACT_RANDOM if is_random else _WAF_EXACT, tries)
    # Single steps say little where every run differs.
    return tried[at] if is_random else min(tried.values(), key=lambda each: each.error)


def with_begin(
    found: Found, candidate: Candidate, bounds: tuple[float, float], step: float, measured: Measured
) -> tuple[Candidate, bool]:
    """The candidate with the spare area with which garbage collection begins at the measured time, and whether one
    was found.

    Until then the drive fills its spare area with whatever was written, and no victim was chosen: it does not depend
    on victims. `step` is an erase unit, as a share of the capacity.
    """
    target = None if measured.overwrite is None else measured.overwrite.begun_bytes
    spare, best, least, tried = candidate.spare, candidate, float("inf"), set[float]()
    for _ in range(TRIES):
        own = sequential(found, candidate.but(spare=spare), measured, seeds=1)
        begun = None if own.overwrite is None else own.overwrite.begun_bytes
        if target is None or (begun is None and spare in tried):
            break
        # A drive with so much spare area that it collects no garbage begins after all writes.
        missing = (target - (begun if begun is not None else 1.2 * target)) / found.capacity_bytes
        if begun is not None and abs(missing) < least:
            best, least = own, abs(missing)
        tried.add(spare)
        spare = min(max(spare + missing, bounds[0]), bounds[1])
        if spare in tried or abs(missing) <= step / 2:
            break
    return best, least <= max(_BEGIN_NEAR, step)


def polished(found: Found, candidate: Candidate, step: float, measured: Measured) -> Candidate:
    """The candidate with the best spare area near its own, in steps of an erase unit. The right one repeats the single
    steps as well as their mean."""
    if candidate.victim in RANDOM:
        return candidate
    best = candidate
    for sign in (1, -1):
        for _ in range(_POLISHED):
            next_best = run(found, best.but(spare=max(best.spare + sign * step, step)), measured)
            if next_best.error >= best.error:
                break
            best = next_best
    return best


def duration_excess(candidate: Candidate, measured: Measured) -> float:
    """The logarithm of the ratio of the simulated and the measured duration of the random writes."""
    return log(candidate.seconds_per_programmed / measured.seconds_per_programmed)


def overwrite_excess(candidate: Candidate, measured: Measured) -> float:
    """The same of the sequential writes before them, which erase but copy hardly anything; 0 if not measured."""
    own, true = candidate.overwrite, measured.overwrite
    return 0.0 if own is None or true is None else log(own.seconds / true.seconds)


def mean_excess(candidate: Candidate, measured: Measured) -> float:
    """The mean of both."""
    return (duration_excess(candidate, measured) + overwrite_excess(candidate, measured)) / 2


def with_time(
    found: Found,
    candidate: Candidate,
    key: str,
    bounds: tuple[float, float],
    measured: Measured,
    excess_of: Callable[[Candidate, Measured], float] = duration_excess,
) -> tuple[Candidate, float]:
    """The candidate with the time in microseconds that reproduces a duration, and by how much that duration grows with
    it, both relative."""
    tried: list[tuple[float, float, Candidate]] = []

    # The duration is almost linear in the time, and its part that does not depend on it is often the larger one.
    def excess(time_us: float) -> float:
        changed = run(found, candidate.but(others={**candidate.others, key: time_us}), measured)
        tried.append((time_us, expm1(excess_of(changed, measured)), changed))
        return tried[-1][1]

    low, high = bounds
    best = root(excess, low, high, sqrt(low * high), _TIME_SHARE / high, _SPEED_EXACT, TRIES)
    steepness = 0.0
    if len(tried) > 1:
        (short, quick, _), (long, slow, _) = sorted(tried[-2:], key=lambda each: each[0])
        steepness = best * max(0.0, (slow - quick) / (long - short)) if long > short else 0.0
    return next(each for at, _, each in tried if at == best), steepness


def root(
    excess: Callable[[float], float], low: float, high: float, start: float, slope: float, exact: float, tries: int
) -> float:
    """Where a monotonic function is about zero, or the closer bound. `slope` is its sign and rough steepness.

    A secant within a bracket: each value takes a simulation, and in logarithms the function is almost straight.
    """
    at = min(max(start, low), high)
    nearest, least = at, float("inf")
    before: tuple[float, float] | None = None
    for _ in range(tries):
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
