"""Headlines of pages: one sentence with the result, from plain figures.

The question is in the subtitle of the page. `findings` has the sentences of the pictures.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from ssdlab.evidence.comparing import differ, ratio, visible_share
from ssdlab.evidence.estimate import SEEDS_DIFFER, Estimate, of_groups
from ssdlab.presentation.report import wording

# Two figures are only called equal if a difference of this share would have been seen.
_TELLING_WITHIN = 0.2
# A smaller share is "below 0.01 %", which no "within" can stand before.
_SHARE_SAID_MIN = 1e-4
# A difference that changes by less than this factor between two conditions is not an interaction.
_INTERACTION_MIN = 1.1
_NEARLY_EQUAL_WITHIN = 0.05
# A numeric setting, with its axis before it or a percent sign after it.
_NUMBER = re.compile(r"(^|\s)[\d.,]+(\s%)?$")

# The axis of a sweep that is used only as a condition for comparing the others.
_WORKLOAD = "workload"


@dataclass(frozen=True)
class Outcome:
    """The result of one variant, with intervals. None means not measured."""

    label: str
    waf: Estimate | None
    iops: Estimate | None = None
    """Requests per second."""
    failed: str | None = None
    """What happened to it before the end, such as "became read-only"; None if it is complete."""


@dataclass(frozen=True)
class Cell:
    """The figure of one run of a sweep, and its settings: the displayed value by axis."""

    settings: Mapping[str, str]
    value: float
    within: float = SEEDS_DIFFER
    """Half the width of the value's interval, as a share of it."""


def of_variants(outcomes: Sequence[Outcome]) -> str:
    """The savings of the best variant over the worst; failed variants are named first and not compared."""
    failed = [each for each in outcomes if each.failed]
    whole = [each for each in outcomes if not each.failed]
    clauses = [_failures(failed, len(outcomes))] if failed else []
    if whole:
        clauses.append(_single(whole[0]) if len(whole) == 1 else _compared(whole))
    return wording.unbroken("; ".join(clauses))


def least_and_most(best: str, least: Estimate, worst: str, most: Estimate) -> str:
    """Compares two amounts written to flash: "28 % spare area writes 3.4 times less to flash than 7 %"."""
    if not differ(least, most):
        return f"{wording.spoken(best)} and {worst} {_alike('write the same amount to flash', least, most)}"
    return f"{wording.spoken(best)} writes {wording.times_between(ratio(most, least))} less to flash than {worst}"


def faster_and_slower(fastest: str, high: Estimate, slowest: str, low: Estimate, in_state: str = "") -> str:
    """Compares two rates: "b is 3.0 times as fast as a". `in_state` is such as " in the steady state"."""
    if not differ(high, low):
        return f"{wording.spoken(fastest)} and {slowest} {_alike(f'are equally fast{in_state}', high, low)}"
    return f"{wording.spoken(fastest)} is {wording.times_between(ratio(high, low))} as fast{in_state} as {slowest}"


def _alike(what: str, one: Estimate, other: Estimate) -> str:
    """That no difference was seen, and how small a difference would have been seen."""
    visible = visible_share(one, other)
    if visible > _TELLING_WITHIN:
        return f"cannot be told apart: a difference below {wording.share(visible, 2)} would not show"
    return f"{what} within {wording.share(visible, 2)}" if visible >= _SHARE_SAID_MIN else what


def of_advice(over_provisioning: float | None, as_sold: float, limits: Sequence[str]) -> str:
    """The spare area that meets the limits, each given as text such as "WAF at most 3"; None: no amount does."""
    met = "every limit" if len(limits) > 2 else wording.listed(list(limits))
    if over_provisioning is None:
        return f"No amount of spare area meets {met}"
    if over_provisioning == as_sold:
        return f"The drive as sold, with {wording.share(as_sold)} spare area, meets {met}"
    return f"{wording.share(over_provisioning)} spare area meets {met}; the drive as sold has {wording.share(as_sold)}"


def of_sweep(cells: Sequence[Cell], said: str) -> str:
    """The strongest interaction of two axes in the figure named `said`, or the strongest single axis.

    "WAF 20.1 with fifo against 5.02 with greedy under zipf, alike under randwrite".

    Axes of words are preferred to axes of numbers, whose effect is a curve, which the pictures show.
    """
    if not cells:
        return f"No {said} was measured"
    axes = [name for name in cells[0].settings if len({cell.settings[name] for cell in cells}) > 1]
    if not axes:
        return f"{said} {_figure(_mean(cells).value)}"
    words = [name for name in axes if not all(_NUMBER.search(cell.settings[name]) for cell in cells)]
    for candidates in (words, axes):
        pairs = [pair for pair in permutations(candidates, 2) if pair[0] != _WORKLOAD]
        found = [(*each, pair) for pair in pairs if (each := _interaction(cells, *pair, said))]
        if found:
            # Among equal strengths, the pair whose other difference is smallest.
            _, _, sentence, pair = max(found, key=lambda each: (round(each[0], 6), -round(each[1], 6)))
            others = [name for name in axes if name not in pair]
            return f"{sentence}, averaged over all values of {wording.listed(others)}" if others else sentence
    return _single_axis(cells, axes, said)


def _failures(failed: Sequence[Outcome], count: int) -> str:
    kinds = list(dict.fromkeys(str(each.failed) for each in failed))
    what = kinds[0] if len(kinds) == 1 else "failed"
    if len(failed) == 1:
        return f"{wording.spoken(failed[0].label)} {what}"
    return f"All {count} {what}" if len(failed) == count else f"{len(failed)} of {count} {what}"


def _single(outcome: Outcome) -> str:
    name = wording.spoken(outcome.label)
    said = []
    if outcome.waf is not None:
        said.append(f"writes {wording.estimated_waf(outcome.waf)} bytes to flash per host byte")
    if outcome.iops:
        said.append(f"serves {wording.estimated(outcome.iops)} requests per second")
    return f"{name} {' and '.join(said)}" if said else f"{name}: nothing was written"


def _compared(outcomes: Sequence[Outcome]) -> str:
    wafs = sorted(((each.label, each.waf) for each in outcomes if each.waf is not None), key=lambda pair: pair[1].value)
    speed = _by_speed(outcomes)
    if not wafs:
        return speed or "The variants wrote nothing to compare"
    if len(wafs) == 1:
        only = f"Only {wafs[0][0]} wrote, {wording.estimated_waf(wafs[0][1])} bytes to flash per host byte"
        return f"{only}; {speed}" if speed else only
    (best, least), (worst, most) = wafs[0], wafs[-1]
    if differ(least, most):
        return least_and_most(best, least, worst, most)
    alike = (
        least_and_most(best, least, worst, most)
        if len(wafs) == 2
        else f"All {len(wafs)} {_alike('write the same amount to flash', least, most)}"
    )
    return f"{alike}; {speed}" if speed else alike


def _by_speed(outcomes: Sequence[Outcome]) -> str | None:
    """Compares the speeds; None if fewer than two variants have one."""
    known = sorted(
        ((each.label, each.iops) for each in outcomes if each.iops and each.iops.value),
        key=lambda pair: -pair[1].value,
    )
    if len(known) < 2:
        return None
    (fastest, high), (slowest, low) = known[0], known[-1]
    return faster_and_slower(fastest, high, slowest, low)


def _interaction(cells: Sequence[Cell], axis: str, condition: str, said: str) -> tuple[float, float, str] | None:
    """The dependence of the difference along `axis` on `condition`: (strength, remaining difference, sentence).

    None if the runs do not cover all combinations of the two axes, or the difference is similar everywhere.
    """
    values = list(dict.fromkeys(cell.settings[axis] for cell in cells))
    conditions = list(dict.fromkeys(cell.settings[condition] for cell in cells))
    means = {
        (value, where): _mean(group)
        for value in values
        for where in conditions
        if (group := [c for c in cells if c.settings[axis] == value and c.settings[condition] == where])
    }
    if len(means) < len(values) * len(conditions):
        return None
    plain = {key: mean.value for key, mean in means.items()}
    spread = {w: max(plain[v, w] for v in values) / min(plain[v, w] for v in values) for w in conditions}
    strong = max(conditions, key=lambda where: spread[where])
    ranked = sorted(values, key=lambda value: plain[value, strong])
    low, high = ranked[0], ranked[-1]
    ratios = {where: ratio(means[high, where], means[low, where]) for where in conditions}
    weak = min(conditions, key=lambda where: ratios[where].value)
    strength = ratios[strong].value / ratios[weak].value
    if strength < _INTERACTION_MIN or not differ(ratios[strong], ratios[weak]):
        return None
    left = abs(math.log(ratios[weak].value))
    first = f"{said} {_figure(plain[high, strong])} with {_named(high)} against {_figure(plain[low, strong])}"
    if left < _NEARLY_EQUAL_WITHIN:
        other = "nearly alike" if differ(means[high, weak], means[low, weak]) else "alike"
    else:
        other = f"{_figure(plain[high, weak])} against {_figure(plain[low, weak])}"
    return strength, left, f"{first} with {_named(low)} under {_named(strong)}, {other} under {_named(weak)}"


def _single_axis(cells: Sequence[Cell], axes: Sequence[str], said: str) -> str:
    """The ends of the axis along which the mean differs most."""
    found = []
    for axis in axes:
        values = dict.fromkeys(cell.settings[axis] for cell in cells)
        means = sorted(
            ((_mean([cell for cell in cells if cell.settings[axis] == value]), value) for value in values),
            key=lambda each: each[0].value,
        )
        found.append((means[-1][0].value / means[0][0].value, means, axis))
    _, means, along = max(found, key=lambda each: each[0])
    (least, low), (most, high) = means[0], means[-1]
    if not differ(least, most):
        return f"{said} is {_figure(_mean(cells).value)} in all runs{_seen(least, most)}"
    sentence = f"{said} {_figure(most.value)} with {_named(high)}, {_figure(least.value)} with {_named(low)}"
    # A sample of points does not have all values of the others at each of this one.
    others = [name for name in axes if name != along]
    return f"{sentence}, averaged over {wording.listed(others)}" if others else sentence


def _seen(one: Estimate, other: Estimate) -> str:
    """How small a difference would have been seen, if the runs are too uncertain to call the figures equal."""
    visible = visible_share(one, other)
    return (
        f" as far as they show: a difference below {wording.share(visible, 2)} would not"
        if visible > _TELLING_WITHIN
        else ""
    )


def _mean(cells: Sequence[Cell]) -> Estimate:
    """The geometric mean, because differences are expressed as ratios."""
    return of_groups([cell.value for cell in cells], [cell.within for cell in cells])


def _named(value: str) -> str:
    return wording.spoken(value)


def _figure(value: float) -> str:
    return wording.significant(value)
