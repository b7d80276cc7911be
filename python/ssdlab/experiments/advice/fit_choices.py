"""Free choices in addition to free numbers: the numbers are fitted for every combination of the choices.

A choice is a policy, a mode or a size with only a few possible values (`ftl.victim=greedy,fifo`). The evidence for the
best combination is how much larger the deviations of the others are.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ssdlab.errors import InputError
from ssdlab.experiments.advice.fit import MISFIT_MAX, RESOLVED, Fit, Model, Parameter, fit

COMBINATIONS_MAX = 64
_CONFIDENCE = 0.95

Chosen = Mapping[str, str]
"""The value of each choice, by its name."""


@dataclass(frozen=True)
class Choice:
    """A key with its possible values, as texts of the drive file."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Combination:
    """One value for each choice, and the numbers fitted with them."""

    chosen: Chosen
    fit: Fit | None
    """None if the drive is not possible."""
    refused: str = ""
    """The reason why it is not possible."""
    is_excluded: bool = False
    """Whether the points exclude it: its deviation exceeds the best one by more than scatter explains."""


def combinations(choices: Sequence[Choice]) -> list[dict[str, str]]:
    """All combinations; a single empty one without choices. Raises InputError for more than COMBINATIONS_MAX."""
    count = math.prod(len(each.values) for each in choices)
    if count > COMBINATIONS_MAX:
        names = ", ".join(f"{each.name} with {len(each.values)} values" for each in choices)
        raise InputError(f"--free: {count} combinations of choices ({names}); allowed are {COMBINATIONS_MAX}")
    values = itertools.product(*(each.values for each in choices))
    return [dict(zip((each.name for each in choices), chosen, strict=True)) for chosen in values]


def fit_choices(
    model_of: Callable[[Chosen], Model],
    choices: Sequence[Choice],
    parameters: Sequence[Parameter],
    measured: Sequence[float],
) -> list[Combination]:
    """Fits every combination; returns the best first, and those that no drive can have last.

    `model_of` returns the model of a combination, which raises InputError if the drive is not possible. That error is
    raised if it occurs for all combinations.

    A combination is excluded if the ratio of its squared deviations to those of the best exceeds the 95 % quantile of
    the F distribution, with the remaining degrees of freedom (points less numbers less choices) on both sides, and its
    rms exceeds 0.5 %, which another seed could also cause. Without degrees of freedom none is excluded.
    """
    found: list[tuple[Chosen, Fit]] = []
    refused: list[tuple[Chosen, InputError]] = []
    for chosen in combinations(choices):
        try:
            found.append((chosen, fit(model_of(chosen), parameters, measured)))
        except InputError as error:
            refused.append((chosen, error))
    if not found:
        raise refused[0][1]
    found.sort(key=lambda each: each[1].rms)
    limit = rms_max(found[0][1].rms, len(measured) - len(parameters) - len(choices))
    ranked = [Combination(chosen, fitted, is_excluded=fitted.rms > limit) for chosen, fitted in found]
    return ranked + [Combination(chosen, None, str(error), is_excluded=True) for chosen, error in refused]


def leave_one_out(
    model_of: Callable[[Chosen], Model],
    choices: Sequence[Choice],
    parameters: Sequence[Parameter],
    measured: Sequence[float],
) -> list[float]:
    """The prediction for each point from a fit to all others, which also make the choices."""
    predicted = []
    for index in range(len(measured)):
        others = [each for each in range(len(measured)) if each != index]

        def without(chosen: Chosen, others: list[int] = others) -> Model:
            model = model_of(chosen)

            def figures(values: Sequence[float]) -> list[float]:
                all_figures = model(values)
                return [all_figures[each] for each in others]

            return figures

        best = fit_choices(without, choices, parameters, [measured[each] for each in others])[0]
        assert best.fit is not None, "the best combination is one that there is"
        predicted.append(float(model_of(best.chosen)(best.fit.values)[index]))
    return predicted


def rms_max(best: float, freedom: int) -> float:
    """The largest rms that scatter explains, with these degrees of freedom; see `fit_choices`. If the best drive does
    not reproduce the points, they exclude nothing."""
    from scipy.special import fdtri

    if freedom <= 0 or best > MISFIT_MAX:
        return math.inf
    return max(RESOLVED, best * math.sqrt(float(fdtri(freedom, freedom, _CONFIDENCE))))
