"""The least spare area that holds all limits: first by closed form, then by miniature runs that close in on it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from ssdlab.advice.limits import Limit
from ssdlab.advice.setting import OVER_PROVISIONING_MAX
from ssdlab.advice.trials import Trial, Trials, mean
from ssdlab.errors import InputError
from ssdlab.theory import endurance

CLOSE = 1.03
"""Between what holds and what does not: less than the tenth of the spare area that must tell."""

# What is checked is moved along the curve, of which so much is enough.
_CLOSE_BEFORE_CHECKS = 1.08
_ROUNDS_MAX = 8
_SEEDS = (1, 2)
_COARSE_POINTS = 3
_COARSE_MOST = 0.4
# A line between two runs of the picture is to be wrong by less than 15 %; the rest is for what bends more than a power.
_CHORD_ERROR_MAX = 0.1
_REFINEMENTS_MAX = 3


@dataclass(frozen=True)
class Found:
    """The outcome of a search."""

    over_provisioning: float | None
    """The least that holds all limits; None where none up to `most` does."""
    own: float
    """The drive's own, below which nobody can go."""
    binding: Limit | None
    """The limit that asks for the most; None where the drive's own spare area holds all."""
    theory: float | None
    """What the closed form said before anything was run; None where none applies."""
    curve: Sequence[tuple[float, Sequence[Trial]]]
    """Every spare area that was tried at the miniature's scale, with its trials, rising; none where no run is needed: a
    limit is broken even at a write amplification of 1."""
    most: float
    """The most that was looked at: where the data no longer fits, or `OVER_PROVISIONING_MAX`."""
    price_most: float | None
    """The most spare area that the price allows; None without such a limit."""
    evidence: Sequence[Trial]
    """The runs at the recommended spare area; at the most that was looked at where none holds."""
    checks: Sequence[Trial] = ()
    """Runs with other seeds, larger where there is room, at the spare area that the curve recommends; none where its
    runs were whole."""

    def miniatures_at(self, share: float) -> Sequence[Trial]:
        """Those at a spare area of the curve; none elsewhere."""
        return next((trials for at, trials in self.curve if at == share), ())

    def on_curve(self, figure: str, share: float) -> float | None:
        """What the curve says there; None where it says nothing."""
        points = [(at, value) for at, trials in self.curve if (value := mean(trials, figure)) is not None]
        return interpolated(points, share) if points else None


def least(trials: Trials, scale: Fraction | None) -> Found:
    """Closes in from both sides with runs at one scale. Raises InputError where the workload does not fit the drive."""
    own = trials.setting.at(None, None).capacity.over_provisioning
    wanted = [limit for limit in trials.limits if not limit.falls_with_spare_area]
    price_most = _price_most(trials, own)
    most = _most_that_holds_the_data(trials, own)
    beyond = next((limit for limit in wanted if _is_beyond_the_flash(trials, limit)), None)
    if beyond is not None:
        return Found(None, own, beyond, None, [], most, price_most, [])
    theory = _by_closed_form(trials, wanted, own, most)
    tried: dict[float, list[Trial]] = {}

    def run(shares: Sequence[float], seeds: Sequence[int] = _SEEDS[:1]) -> None:
        _run_new(trials, scale, tried, [(tidy(share, own), seed) for share in shares for seed in seeds])

    def is_enough(share: float) -> bool:
        return all(holds(tried[share], limit) for limit in wanted)

    run([own, *_first_points(own, theory, most)])
    rounds = 0
    while True:
        good = min((share for share in tried if is_enough(share)), default=None)
        bad = max((share for share in tried if not is_enough(share) and (good is None or share < good)), default=None)
        close = CLOSE if scale is None else _CLOSE_BEFORE_CHECKS
        is_close = good is not None and (bad is None or good / bad <= close)
        if is_close or rounds == _ROUNDS_MAX or (bad is not None and bad >= most):
            # One seed leads there. All of them say whether it is so, where no larger run will.
            is_checked = good is not None and scale is not None
            ends = [share for share in (own, bad, good) if share is not None]
            if is_checked or all(len(tried[share]) == len(_SEEDS) for share in ends):
                break
            run(ends, _SEEDS)
            continue
        rounds += 1
        assert bad is not None
        if good is None:
            run([min(bad * factor, most) for factor in (1.6, 2.6)])
        else:
            # Where a figure jumps, as it does at the brim of a cache, a line between two points leads nowhere.
            run(_thirds(bad, good) if rounds % 2 == 0 else _between(tried, wanted, bad, good))
    binding = _binding(tried, wanted, good, own)
    curve = sorted(tried.items())
    evidence = tried[good] if good is not None else curve[-1][1]
    return Found(good, own, binding, theory, curve, most, price_most, evidence)


def rounded_out(trials: Trials, found: Found, scale: Fraction | None) -> Found:
    """With what the answer does not need and its picture shows: the curve further on, how far seeds lie apart, and runs
    between those where a straight line would mislead."""
    tried = {share: list(runs) for share, runs in found.curve}
    at = found.over_provisioning if found.over_provisioning is not None else found.most
    below = [share for share in tried if share < at]
    above = [share for share in tried if share >= at]
    beyond = [tidy(share, found.own) for share in _coarse_points(found.own, found.most) if share > max(tried)]
    ends = {found.own, *below[-1:], *above[:1]}
    wanted = [*((share, _SEEDS[0]) for share in beyond), *((share, seed) for share in sorted(ends) for seed in _SEEDS)]
    _run_new(trials, scale, tried, wanted)
    for _ in range(_REFINEMENTS_MAX):
        between = _where_lines_mislead(trials.limits, tried)
        if not between:
            break
        _run_new(trials, scale, tried, [(tidy(share, found.own), _SEEDS[0]) for share in between])
    return replace(found, curve=sorted(tried.items()))


def _where_lines_mislead(limits: Sequence[Limit], tried: dict[float, list[Trial]]) -> list[float]:
    """The middles of neighbouring spare areas between which a figure bends too much for a straight line."""
    figures = [limit.figure for limit in limits if not limit.falls_with_spare_area]
    points = [(share, [mean(runs, figure) for figure in figures]) for share, runs in sorted(tried.items())]
    return [
        math.sqrt(left * right)
        for (left, at_left), (right, at_right) in pairwise(points)
        if any(
            chord_error(left, right, low, high) > _CHORD_ERROR_MAX
            for low, high in zip(at_left, at_right, strict=True)
            if low and high
        )
    ]


def chord_error(left: float, right: float, at_left: float, at_right: float) -> float:
    """By which share the straight line between two points errs in their middle (geometric) if the curve is a power
    between them, as write amplification nearly is."""
    middle = interpolated([(left, at_left), (right, at_right)], math.sqrt(left * right))
    return abs(middle / math.sqrt(at_left * at_right) - 1)


def _run_new(
    trials: Trials, scale: Fraction | None, tried: dict[float, list[Trial]], wanted: Sequence[tuple[float, int]]
) -> None:
    """Adds the trials of those pairs of a spare area and a seed that were not tried yet."""
    known = {(share, trial.seed) for share, runs in tried.items() for trial in runs}
    new = [pair for pair in dict.fromkeys(wanted) if pair not in known]
    for (share, _), trial in zip(new, trials.each(new, scale), strict=True):
        tried.setdefault(share, []).append(trial)


def _is_beyond_the_flash(trials: Trials, limit: Limit) -> bool:
    daily_bytes = trials.demand.writes_bytes_per_day
    if limit.figure != "years" or not daily_bytes:
        return False
    full = trials.setting.at(None, None)
    flash_bytes = full.capacity.physical_bytes
    years = endurance.lifetime_bytes(full.endurance_cycles, flash_bytes, 1) / daily_bytes / endurance.DAYS_PER_YEAR
    return not limit.holds(years)


def interpolated(points: Sequence[tuple[float, float]], at: float) -> float:
    """Along straight lines; as at the ends beyond them."""
    for (left, low), (right, high) in pairwise(points):
        if left <= at <= right:
            return low + (high - low) * (at - left) / (right - left)
    return points[0][1] if at < points[0][0] else points[-1][1]


def holds(trials: Sequence[Trial], limit: Limit) -> bool:
    """On average, and none of them failed."""
    value = mean(trials, limit.figure)
    return value is not None and all(trial.failure is None for trial in trials) and limit.holds(value)


def tidy(share: float, own: float) -> float:
    """Three digits, so that a reader can repeat the run; never below the drive's own."""
    return own if share <= own else float(f"{share:.3g}")


def _most_that_holds_the_data(trials: Trials, own: float) -> float:
    """Beyond this the workload no longer fits the drive. Raises InputError where it does not fit as sold."""
    _theory_at(trials, own)
    low, high = own, OVER_PROVISIONING_MAX
    if _fits(trials, high):
        return high
    while high / low > 1.002:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _fits(trials, middle) else (low, middle)
    return float(f"{low * 0.9995:.3g}") if low > own else own


def _fits(trials: Trials, share: float) -> bool:
    try:
        _theory_at(trials, share)
    except InputError:
        return False
    return True


def _first_points(own: float, theory: float | None, most: float) -> list[float]:
    if theory is not None and theory > own:
        return [share for factor in (0.93, 1.0, 1.08) if (share := theory * factor) < most]
    return [] if theory is not None else _coarse_points(own, most)[:1]


def _coarse_points(own: float, most: float) -> list[float]:
    """All over what may be asked, as far as the data fits."""
    if most <= own:
        return []
    ends = math.log(max(own, 0.03) * 1.4), math.log(min(max(_COARSE_MOST, 2 * own), most))
    steps = range(_COARSE_POINTS)
    return [math.exp(ends[0] + (ends[1] - ends[0]) * step / (_COARSE_POINTS - 1)) for step in steps]


def _between(tried: dict[float, list[Trial]], wanted: Sequence[Limit], bad: float, good: float) -> list[float]:
    """Where the worst limit should be met, by a straight line in logarithms; and a little to both sides of it."""
    crossing = bad
    for limit in wanted:
        low, high = mean(tried[bad], limit.figure), mean(tried[good], limit.figure)
        if low is None or high is None or limit.holds(low):
            continue
        at_bad, at_good = math.log(limit.ratio(low)), math.log(limit.ratio(high))
        part = -at_bad / (at_good - at_bad) if at_good > at_bad else 0.5
        crossing = max(crossing, bad * (good / bad) ** min(max(part, 0.02), 0.98))
    step = CLOSE**0.45
    points = [share for share in (crossing / step, crossing * step) if bad < share < good]
    return points or [math.sqrt(bad * good)]


def _thirds(bad: float, good: float) -> list[float]:
    return [bad * (good / bad) ** part for part in (1 / 3, 2 / 3)]


def _binding(tried: dict[float, list[Trial]], wanted: Sequence[Limit], good: float | None, own: float) -> Limit | None:
    """The limit that is first broken with less spare area than what holds, or always."""
    if good == own:
        return None
    below = max((share for share in tried if good is None or share < good), default=None)
    if below is None:
        return None
    broken = [limit for limit in wanted if not holds(tried[below], limit)]

    def tightness(limit: Limit) -> float:
        value = mean(tried[below], limit.figure)
        return limit.ratio(value) if value else 0.0

    return min(broken, key=tightness, default=None)


def _price_most(trials: Trials, own: float) -> float | None:
    """U may not be less than price / (price a GB). Raises InputError where the drive as sold already costs more."""
    price = next((limit for limit in trials.limits if limit.falls_with_spare_area), None)
    if price is None:
        return None
    if trials.demand.drive_price is None:
        raise InputError(f"{price.said} needs the drive's price: --drive-price 45USD, or market.price_usd in its file")
    capacity = trials.setting.at(None, None).capacity
    user_bytes_least = trials.demand.drive_price / price.bound * 10**9
    most = capacity.physical_bytes / user_bytes_least - 1
    if most < own:
        raise InputError(
            f"{price.said} cannot be held: {trials.demand.drive_price:g} for {capacity.user_bytes / 1e9:.4g} GB is "
            f"{trials.demand.drive_price / capacity.user_bytes * 1e9:.3g} per GB with nothing left empty"
        )
    return most


def _by_closed_form(trials: Trials, wanted: Sequence[Limit], own: float, most: float) -> float | None:
    """The spare area at which theory's write amplification meets the limits on it; None where no form applies."""
    bounds = [limit.bound for limit in wanted if limit.figure == "waf"]
    for limit in wanted:
        if limit.figure == "years" and trials.demand.writes_bytes_per_day:
            full = trials.setting.at(None, None)
            bytes_in_life = trials.demand.writes_bytes_per_day * 365 * limit.bound
            bounds.append(full.endurance_cycles * full.capacity.physical_bytes / bytes_in_life)
    if not bounds:
        return None
    target = min(bounds)
    at_own, at_most = _theory_at(trials, own), _theory_at(trials, most)
    if at_own is None or at_most is None or at_most > target:
        return None
    if at_own <= target:
        return own
    low, high = own, most
    while high / max(low, 1e-9) > 1.005:
        middle = math.sqrt(max(low, 1e-6) * high)
        value = _theory_at(trials, middle)
        if value is None:
            return None
        low, high = (low, middle) if value <= target else (middle, high)
    return high


def _theory_at(trials: Trials, share: float) -> float | None:
    drive = trials.setting.at(share, None)
    capacity = drive.capacity
    held_back = capacity.reserve_erase_units + 0.5 * capacity.open_erase_units
    left = capacity.data_units - held_back * capacity.data_units_per_erase_unit
    return trials.workload.expected(drive, left / capacity.user_units - 1)
