"""Verifies a recommendation with runs of other seeds, on larger drives if possible, and adjusts it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from ssdlab.errors import InputError
from ssdlab.experiments.advice.limits import Limit
from ssdlab.experiments.advice.search import CLOSE, Found, holds, interpolated, tidy
from ssdlab.experiments.advice.setting import smaller_of
from ssdlab.experiments.advice.trials import Trial, Trials, mean
from ssdlab.foundation.quantities import format_share

_CHECKS_MAX = 6
_SEEDS_OF_CHECKS = (3, 4)
# The limit can be met this far below the recommended spare area; adjusted values exceed it by the margin.
_CLOSE_ENOUGH = 0.98
_MARGIN = 1.012
# Another seed can be worse than the seeds of the checks by this share.
_SEED_SHARE = 0.002


def confirmed(trials: Trials, found: Found, scale: Fraction | None) -> Found:
    """Verifies the recommendation by runs at a scale (None: whole), and moves it by the error of the miniatures.

    Raises InputError if the recommendation costs more than the price allows.
    """
    if found.over_provisioning is None or found.evidence[0].scale is None:
        _refuse_price(trials, found, found.over_provisioning)
        return found
    wanted = [limit for limit in trials.limits if not limit.falls_with_spare_area]
    error = trials.workload.miniature_error if scale else _no_error
    checks: dict[float, list[Trial]] = {}
    share, best = _needed(found, wanted, found.evidence, found.over_provisioning, error), None
    share = tidy(min(max(share, found.over_provisioning), found.most), found.own)
    while share not in checks and len(checks) < _CHECKS_MAX:
        checks[share] = trials.at([share], scale, trials.seeds(*_SEEDS_OF_CHECKS), "verification runs")
        # In each of the runs, not only on average, because the user's run is a single one.
        enough = [at for at, runs in checks.items() if all(_holds_surely(runs, limit, error) for limit in wanted)]
        too_little = max((at for at in checks if at not in enough), default=None)
        best = min(enough, default=None)
        needed = _needed(found, wanted, checks[share], share, error) * _MARGIN
        if best is None:
            # At least one step further, even if the curve of the miniatures is flat there.
            share = tidy(min(max(needed, share * CLOSE), found.most), found.own)
        elif best == found.own or (too_little and best / too_little <= CLOSE) or needed / best > _CLOSE_ENOUGH:
            break
        else:
            share = tidy(max(needed, (too_little or found.own) * CLOSE**0.5), found.own)
    _refuse_price(trials, found, best)
    first = next(iter(checks.values()))
    broken = (limit for limit in wanted if not holds(first, limit))
    evidence = checks[best] if best is not None else checks[max(checks)]
    return replace(
        found, over_provisioning=best, evidence=evidence, checks=first, binding=found.binding or next(broken, None)
    )


def at_second_scale(trials: Trials, found: Found, scale: Fraction | None) -> Found:
    """The answer with runs of its spare area at the scale of the miniatures or, if these are its evidence, at a quarter
    of that, as far as erase units stay large enough. None: nothing was scaled."""
    if scale is None or not found.curve:
        return found
    own = found.evidence[0].scale
    other = smaller_of(trials.workload, trials.setting, scale) if own == scale else scale
    if other is None:
        return found
    share = found.evidence[0].over_provisioning if found.over_provisioning is None else found.over_provisioning
    known = [trial for trial in found.miniatures_at(share) if trial.scale == other]
    return replace(
        found, second=known or trials.at([share], other, trials.seeds(_SEEDS_OF_CHECKS[0]), "at another scale")
    )


def disagreeing(found: Found, limits: Sequence[Limit]) -> list[Limit]:
    """The limits that one scale meets and the other does not, at the same spare area."""
    if not found.second:
        return []
    wanted = [limit for limit in limits if not limit.falls_with_spare_area]
    return [limit for limit in wanted if holds(found.evidence, limit) != holds(found.second, limit)]


def with_drive_as_sold(trials: Trials, found: Found) -> Found:
    """The answer with runs of the drive as sold at the scale and with the seeds of its evidence."""
    if found.over_provisioning in (None, found.own):
        return replace(found, as_sold=found.evidence if found.over_provisioning == found.own else ())
    scale, seeds = found.evidence[0].scale, [trial.seed for trial in found.evidence]
    if own := [trial for trial in found.miniatures_at(found.own) if trial.scale == scale and trial.seed in seeds]:
        return replace(found, as_sold=own)
    return replace(found, as_sold=trials.at([found.own], scale, seeds, "as sold"))


def _no_error(waf: float) -> float:
    """The error of runs of the whole drive."""
    del waf
    return 0.0


def _needed(
    found: Found, wanted: Sequence[Limit], checks: Sequence[Trial], share: float, error: Callable[[float], float]
) -> float:
    """The spare area at which the curve, shifted through the checks at `share`, certainly meets all limits."""
    return max(_needed_for(found, limit, checks, share, error) for limit in wanted)


def _needed_for(
    found: Found, limit: Limit, checks: Sequence[Trial], share: float, error: Callable[[float], float]
) -> float:
    worst = min((inside for trial in checks if (inside := _inside([trial], limit, error))), default=None)
    points = [(math.log(at), math.log(inside)) for at, runs in found.curve if (inside := _inside(runs, limit, error))]
    if not points or worst is None:
        return share
    offset = math.log(worst) - interpolated(points, math.log(share))
    moved = [(at, each + offset) for at, each in points]
    if moved[0][1] >= 0:
        return math.exp(points[0][0])
    for (left, below), (right, above) in pairwise(moved):
        if above >= 0:
            return math.exp(left + (right - left) * -below / (above - below))
    # Slightly beyond the last point, the curve is extrapolated.
    (left, below), (right, above) = moved[-2:] if len(moved) > 1 else (moved[0], moved[0])
    return math.exp(right + (right - left) * -above / (above - below)) if above > below else math.inf


def _inside(trials: Sequence[Trial], limit: Limit, error: Callable[[float], float]) -> float | None:
    """The mean ratio inside the limit with all errors to the worse side: 1 at the bound; None if not measured."""
    value, waf = mean(trials, limit.figure), mean(trials, "waf")
    return limit.ratio(value) / (1 + _SEED_SHARE + (error(waf) if waf else 0)) if value else None


def _refuse_price(trials: Trials, found: Found, share: float | None) -> None:
    if share is not None and found.price_most is not None and share > found.price_most:
        price = next(limit for limit in trials.limits if limit.falls_with_spare_area)
        raise InputError(
            f"{found.binding.said if found.binding else 'the limits'} and {price.said} contradict each other: the "
            f"first needs {format_share(share)} over-provisioning, the second allows {format_share(found.price_most)}"
        )


def _holds_surely(trials: Sequence[Trial], limit: Limit, error: Callable[[float], float]) -> bool:
    """Whether each run meets the limit with all errors to the worse side. Runs that agree exactly have no scatter."""
    each_inside = all((_inside([trial], limit, error) or 0) >= 1 for trial in trials)
    agree = len({trial.figure(limit.figure) for trial in trials}) == 1
    return all(holds([trial], limit) for trial in trials) and (each_inside or agree)
