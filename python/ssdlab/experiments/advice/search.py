"""Finds the smallest spare area that meets all limits: first by closed form, then by bisection with miniature runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from ssdlab.errors import InputError
from ssdlab.experiments.advice.limits import Limit
from ssdlab.experiments.advice.setting import OVER_PROVISIONING_MAX
from ssdlab.experiments.advice.trials import Trial, Trials, mean
from ssdlab.theory import endurance

CLOSE = 1.03
"""The ratio between a sufficient and an insufficient spare area at which the search ends: below the required 10 %."""

# A result that is verified is then moved along the curve; this ratio is sufficient for it.
_CLOSE_BEFORE_CHECKS = 1.08
_ROUNDS_MAX = 8
_SEEDS = (1, 2)
_COARSE_POINTS = 3
_COARSE_MOST = 0.4
# Lines between two runs of the picture must have errors below 15 %; the rest is for curves that are not powers.
_CHORD_ERROR_MAX = 0.1
_GAP_MAX = 2.5
"""The most that a spare area is of the one before it, if a straight line is drawn between them: over more, write
amplification is no power (7 to 48 %: 12 % off in the middle)."""
_REFINEMENTS_MAX = 3


@dataclass(frozen=True)
class Found:
    """The outcome of a search."""

    over_provisioning: float | None
    """The smallest that meets all limits; None if none up to `most` does."""
    own: float
    """The drive's own, which is the minimum."""
    binding: Limit | None
    """The limit that requires the most; None if the drive's own spare area meets all."""
    theory: float | None
    """The value by closed form before any run; None if none applies."""
    curve: Sequence[tuple[float, Sequence[Trial]]]
    """Every spare area tested at the miniature's scale, with its trials, ascending.

    Empty if no run is needed because a limit is not met even with a write amplification of 1.
    """
    most: float
    """The largest tested: where the data no longer fit, or `OVER_PROVISIONING_MAX`."""
    price_most: float | None
    """The largest spare area that the price allows; None without a limit on the price."""
    evidence: Sequence[Trial]
    """The runs at the recommended spare area, or at the largest tested one if none meets the limits."""
    checks: Sequence[Trial] = ()
    """Runs with other seeds, larger if possible, at the spare area that the curve recommends.

    Empty if the runs of the search were already of the whole drive.
    """
    second: Sequence[Trial] = ()
    """Runs at the same spare area as `evidence`, at another scale; empty for whole drives that have none."""
    as_sold: Sequence[Trial] = ()
    """The runs of the drive as sold that `evidence` is compared with: of the same scale, because tails depend on it."""

    def miniatures_at(self, share: float) -> Sequence[Trial]:
        """The trials of the curve at this spare area; empty if there are none."""
        return next((trials for at, trials in self.curve if at == share), ())

    def on_curve(self, figure: str, share: float) -> float | None:
        """The value of the curve at this spare area; None if the figure was not measured."""
        points = [(at, value) for at, trials in self.curve if (value := mean(trials, figure)) is not None]
        return interpolated(points, share) if points else None


def least(trials: Trials, scale: Fraction | None) -> Found:
    """Searches from both sides with runs at one scale. Raises InputError if the workload does not fit the drive."""
    own = trials.setting.at(None, None).capacity.over_provisioning
    wanted = [limit for limit in trials.limits if not limit.falls_with_spare_area]
    price_most = _price_most(trials, own)
    most = _most_that_holds_the_data(trials, own)
    beyond = next((limit for limit in wanted if _is_beyond_the_flash(trials, limit)), None)
    if beyond is not None:
        return Found(None, own, beyond, None, [], most, price_most, [])
    theory = _by_closed_form(trials, wanted, own, most)
    tried: dict[float, list[Trial]] = {}

    of_search = trials.seeds(*_SEEDS)

    def run(shares: Sequence[float], seeds: Sequence[int] = of_search[:1]) -> None:
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
            # The search uses one seed. The others confirm its result, unless larger runs will.
            is_checked = good is not None and scale is not None
            ends = [share for share in (own, bad, good) if share is not None]
            if is_checked or all(len(tried[share]) == len(_SEEDS) for share in ends):
                break
            run(ends, of_search)
            continue
        rounds += 1
        assert bad is not None
        if good is None:
            run([min(bad * factor, most) for factor in (1.6, 2.6)])
        else:
            # Where a figure jumps, such as at the capacity of a cache, interpolation between two points fails.
            run(_thirds(bad, good) if rounds % 2 == 0 else _between(tried, wanted, bad, good))
    binding = _binding(tried, wanted, good, own)
    curve = sorted(tried.items())
    evidence = tried[good] if good is not None else curve[-1][1]
    return Found(good, own, binding, theory, curve, most, price_most, evidence)


def rounded_out(trials: Trials, found: Found, scale: Fraction | None) -> Found:
    """Adds runs that the answer does not need but its picture does.

    They extend the curve, show the scatter of seeds, and refine the curve where a straight line would be wrong.
    """
    tried = {share: list(runs) for share, runs in found.curve}
    at = found.over_provisioning if found.over_provisioning is not None else found.most
    below = [share for share in tried if share < at]
    above = [share for share in tried if share >= at]
    beyond = [tidy(share, found.own) for share in _coarse_points(found.own, found.most) if share > max(tried)]
    ends = {found.own, *below[-1:], *above[:1]}
    seeds = trials.seeds(*_SEEDS)
    wanted = [*((share, seeds[0]) for share in beyond), *((share, seed) for share in sorted(ends) for seed in seeds)]
    _run_new(trials, scale, tried, wanted)
    for _ in range(_REFINEMENTS_MAX):
        between = _where_lines_mislead(trials.limits, tried)
        if not between:
            break
        _run_new(trials, scale, tried, [(tidy(share, found.own), seeds[0]) for share in between])
    return replace(found, curve=sorted(tried.items()))


def _where_lines_mislead(limits: Sequence[Limit], tried: dict[float, list[Trial]]) -> list[float]:
    """The middles between neighbouring spare areas where a figure bends too much for a straight line."""
    figures = [limit.figure for limit in limits if not limit.falls_with_spare_area]
    points = [(share, [mean(runs, figure) for figure in figures]) for share, runs in sorted(tried.items())]
    return [
        math.sqrt(left * right)
        for (left, at_left), (right, at_right) in pairwise(points)
        if right / left > _GAP_MAX
        or any(
            chord_error(left, right, low, high) > _CHORD_ERROR_MAX
            for low, high in zip(at_left, at_right, strict=True)
            if low and high
        )
    ]


def chord_error(left: float, right: float, at_left: float, at_right: float) -> float:
    """The relative error of a straight line between two points at their geometric middle, if the curve is a power.

    Write amplification is nearly a power of the spare area.
    """
    middle = interpolated([(left, at_left), (right, at_right)], math.sqrt(left * right))
    return abs(middle / math.sqrt(at_left * at_right) - 1)


def _run_new(
    trials: Trials, scale: Fraction | None, tried: dict[float, list[Trial]], wanted: Sequence[tuple[float, int]]
) -> None:
    """Adds the trials of the pairs (spare area, seed) that have not been run."""
    known = {(share, trial.seed) for share, runs in tried.items() for trial in runs}
    new = [pair for pair in dict.fromkeys(wanted) if pair not in known]
    for (share, _), trial in zip(new, trials.each(new, scale), strict=True):
        tried.setdefault(share, []).append(trial)


def _is_beyond_the_flash(trials: Trials, limit: Limit) -> bool:
    """Whether a life is too long even with a write amplification of 1, below which only drives go that reduce data."""
    daily_bytes, full = trials.demand.writes_bytes_per_day, trials.setting.at(None, None)
    if limit.figure != "years" or not daily_bytes or full.file.has_data_reduction:
        return False
    flash_bytes = full.capacity.physical_bytes
    years = endurance.lifetime_bytes(full.endurance_cycles, flash_bytes, 1) / daily_bytes / endurance.DAYS_PER_YEAR
    return not limit.holds(years)


def interpolated(points: Sequence[tuple[float, float]], at: float) -> float:
    """Linear interpolation; constant beyond the ends."""
    for (left, low), (right, high) in pairwise(points):
        if left <= at <= right:
            return low + (high - low) * (at - left) / (right - left)
    return points[0][1] if at < points[0][0] else points[-1][1]


def holds(trials: Sequence[Trial], limit: Limit) -> bool:
    """Whether every trial meets the limit and none failed. Not their mean: the user's drive is a single one."""
    values = [trial.figure(limit.figure) for trial in trials if trial.failure is None]
    return (
        bool(values)
        and len(values) == len(trials)
        and all(value is not None and limit.holds(value) for value in values)
    )


def tidy(share: float, own: float) -> float:
    """Rounds to three digits, so that a reader can repeat the run; never below the drive's own."""
    return own if share <= own else max(own, float(f"{share:.3g}"))


def _most_that_holds_the_data(trials: Trials, own: float) -> float:
    """The largest spare area with which the workload fits. Raises InputError if it does not fit the drive as sold."""
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
    """Points evenly spread over the allowed range, up to the largest that fits the data."""
    if most <= own:
        return []
    ends = math.log(max(own, 0.03) * 1.4), math.log(min(max(_COARSE_MOST, 2 * own), most))
    steps = range(_COARSE_POINTS)
    return [math.exp(ends[0] + (ends[1] - ends[0]) * step / (_COARSE_POINTS - 1)) for step in steps]


def _between(tried: dict[float, list[Trial]], wanted: Sequence[Limit], bad: float, good: float) -> list[float]:
    """Points around the interpolated crossing of the worst limit, by a straight line in logarithms."""
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
    """The limit that is missed by most at the largest insufficient spare area; None if none is missed."""
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
    """The spare area at which the price per usable GB reaches its limit; None without a limit.

    Raises InputError if the price of the drive is missing, or if the drive as sold already costs more.
    """
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
    """The spare area at which theory's write amplification meets the limits; None if no closed form applies."""
    bounds = [limit.bound for limit in wanted if limit.figure == "waf"]
    for limit in wanted:
        if limit.figure == "years" and trials.demand.writes_bytes_per_day:
            full = trials.setting.at(None, None)
            bytes_in_life = trials.demand.writes_bytes_per_day * endurance.DAYS_PER_YEAR * limit.bound
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
