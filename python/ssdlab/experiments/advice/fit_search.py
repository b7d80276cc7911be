"""Searches all of what is free, and collects the drives that the points do not distinguish from the best one.

Least squares finds the minimum next to its start, and its confidence intervals hold where figures change smoothly.
Latencies change abruptly where a buffer fills or a choice decides, so here the whole range is sampled first:

1. drives drawn over all bounds and choices (a scrambled Sobol sequence);
2. least squares from the best of them, also with each choice of the result changed by itself;
3. drives drawn around the result: within the bounds where the points determine nothing, close to it where they do.

All drives simulated on the way whose deviation is within the tolerance (`fit_choices.rms_max`) are kept. A prediction
is the value of the best drive; its interval is the range of the values of the others.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.advice.fit import Fit, Model, Parameter, fit
from ssdlab.experiments.advice.fit_choices import Choice, Chosen, Combination, rms_max

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STARTS = 2
"""The number of drawn drives from which least squares starts, each with other choices."""
_STEPS_MAX = 6
# The share of the drives that is drawn around the result.
_AROUND = 0.5
ALIKE_MAX = 16
"""The maximum number of drives within the tolerance that make predictions; they are as different as possible."""


@dataclass(frozen=True)
class Alike:
    """A drive that repeats the points about as well as the best one."""

    chosen: Chosen
    values: tuple[float, ...]
    rms: float


@dataclass(frozen=True)
class Searched:
    """The fits that least squares reached, the best first, and the drives within the tolerance, the best first."""

    combinations: Sequence[Combination]
    alike: Sequence[Alike]
    evaluations: int


def search(
    model_of: Callable[[Chosen], Model],
    choices: Sequence[Choice],
    parameters: Sequence[Parameter],
    measured: Sequence[float],
    *,
    samples: int,
    seed: int = 1,
) -> Searched:
    """Searches with this number of drawn drives. Parameters start anywhere within their bounds.

    Raises InputError or RunFailed if no drawn drive can be simulated.
    """
    from scipy.stats import qmc

    space = _Space(model_of, choices, parameters, measured)
    around = round(samples * _AROUND) if parameters else 0
    # Powers of two of a Sobol sequence cover the range evenly; the rest are the beginning of the next power.
    sobol = qmc.Sobol(len(parameters) + len(choices), seed=seed).random_base2(max(1, samples - 1).bit_length())
    for place in sobol[: max(1, samples - around)]:
        space.simulate(*space.at(place))
    if not space.seen:
        assert space.refusal is not None
        raise space.refusal
    fits: list[tuple[Chosen, Fit]] = []
    for start in space.starts():
        space.refine(start, fits)
    best = min(fits, key=lambda each: each[1].rms)
    for chosen in space.neighbours(best[0]):
        near = space.simulate(chosen, best[1].values)
        if near and near.rms < best[1].rms:
            space.refine(near, fits)
    best = min(fits, key=lambda each: each[1].rms)
    for values in space.around(best[1], around, seed):
        space.simulate(best[0], values)
    drawn = space.best()
    if drawn.rms < best[1].rms:
        space.refine(drawn, fits)
    return space.searched(fits)


@dataclass
class _Space:
    """What is free, and every drive simulated so far."""

    model_of: Callable[[Chosen], Model]
    choices: Sequence[Choice]
    parameters: Sequence[Parameter]
    measured: Sequence[float]
    seen: dict[tuple[tuple[str, ...], tuple[float, ...]], Alike] = field(default_factory=dict)
    refusal: InputError | RunFailed | None = None

    def at(self, place: Sequence[float]) -> tuple[Chosen, tuple[float, ...]]:
        """The choices and values of a point of the unit cube; numbers are even in their logarithms."""
        count = len(self.parameters)
        values = [
            each.low * (each.high / each.low) ** float(at) for each, at in zip(self.parameters, place, strict=False)
        ]
        chosen = {
            each.name: each.values[min(int(at * len(each.values)), len(each.values) - 1)]
            for each, at in zip(self.choices, place[count:], strict=True)
        }
        return chosen, tuple(values)

    def simulate(self, chosen: Chosen, values: Sequence[float]) -> Alike | None:
        """Simulates a drive; None if there is no such drive, or its run fails."""
        try:
            self._model(chosen)(values)
        except (InputError, RunFailed) as error:
            self.refusal = self.refusal or error
            return None
        return self.seen[self._key(chosen, values)]

    def starts(self) -> list[Alike]:
        """The best drives so far, each with other choices."""
        found: dict[tuple[str, ...], Alike] = {}
        for each in self._ranked():
            found.setdefault(tuple(each.chosen.values()), each)
        return list(found.values())[:STARTS]

    def refine(self, start: Alike, fits: list[tuple[Chosen, Fit]]) -> None:
        """Adds the fit by least squares that starts at this drive; if its steps meet no drive, the start itself."""
        begun = [replace(each, start=value) for each, value in zip(self.parameters, start.values, strict=True)]
        model = self._model(start.chosen)
        try:
            fits.append((start.chosen, fit(model, begun, self.measured, steps_max=_STEPS_MAX)))
        except (InputError, RunFailed):
            fixed = fit(lambda _: model(start.values), [], self.measured)
            count = len(self.parameters)
            none = tuple((0.0,) * count for _ in self.measured)
            fits.append(
                (start.chosen, replace(fixed, values=start.values, intervals=(None,) * count, sensitivities=none))
            )

    def neighbours(self, chosen: Chosen) -> list[dict[str, str]]:
        """The choices with one of them changed."""
        return [
            dict(chosen) | {each.name: value}
            for each in self.choices
            for value in each.values
            if value != chosen[each.name]
        ]

    def around(self, found: Fit, count: int, seed: int) -> list[tuple[float, ...]]:
        """Values drawn from the distribution that the linearised points leave, with the bounds as what was known."""
        import numpy as np

        if not count:
            return []
        jacobian = np.asarray(found.sensitivities, dtype=np.float64)
        freedom = max(1, len(self.measured) - len(self.parameters))
        variance = max(found.rms, 1e-3) ** 2 * len(self.measured) / freedom
        lows = np.log([each.low for each in self.parameters])
        highs = np.log([each.high for each in self.parameters])
        known = np.diag(12 / (highs - lows) ** 2)
        covariance = np.linalg.inv(jacobian.T @ jacobian / variance + known)
        random = np.random.default_rng(seed)
        drawn = random.multivariate_normal(np.log(found.values), covariance, size=count, method="eigh")
        return [tuple(float(value) for value in np.exp(each)) for each in np.clip(drawn, lows, highs)]

    def best(self) -> Alike:
        """The best drive so far."""
        return self._ranked()[0]

    def searched(self, fits: Sequence[tuple[Chosen, Fit]]) -> Searched:
        """The result: the best fit of each combination, and the drives within the tolerance."""
        by_choices: dict[tuple[str, ...], tuple[Chosen, Fit]] = {}
        for chosen, found in sorted(fits, key=lambda each: each[1].rms):
            by_choices.setdefault(tuple(chosen.values()), (chosen, found))
        ranked = list(by_choices.values())
        limit = rms_max(ranked[0][1].rms, len(self.measured) - len(self.parameters) - len(self.choices))
        combinations = [Combination(chosen, found, is_excluded=found.rms > limit) for chosen, found in ranked]
        alike = [each for each in self._ranked() if each.rms <= limit]
        best = Alike(ranked[0][0], ranked[0][1].values, ranked[0][1].rms)
        return Searched(combinations, _different(best, alike, self.parameters), len(self.seen))

    def _ranked(self) -> list[Alike]:
        return sorted(self.seen.values(), key=lambda each: each.rms)

    def _model(self, chosen: Chosen) -> Model:
        """The model of these choices, which notes what it is asked for."""
        model = self.model_of(chosen)

        def noted(values: Sequence[float]) -> Sequence[float]:
            figures = model(values)
            squares = [math.log(figure / value) ** 2 for figure, value in zip(figures, self.measured, strict=True)]
            rms = math.sqrt(sum(squares) / len(squares))
            self.seen[self._key(chosen, values)] = Alike(chosen, tuple(values), rms)
            return figures

        return noted

    def _key(self, chosen: Mapping[str, str], values: Sequence[float]) -> tuple[tuple[str, ...], tuple[float, ...]]:
        return tuple(chosen[each.name] for each in self.choices), tuple(values)


def _different(best: Alike, alike: Sequence[Alike], parameters: Sequence[Parameter]) -> list[Alike]:
    """The best, then repeatedly the drive that differs most from those taken, up to ALIKE_MAX."""
    taken, left = [best], list(alike)
    while left and len(taken) < ALIKE_MAX:
        farthest = max(left, key=lambda each: min(_distance(each, other, parameters) for other in taken))
        if _distance(farthest, best, parameters) == 0:
            break
        taken.append(farthest)
        left.remove(farthest)
    return taken


def _distance(one: Alike, other: Alike, parameters: Sequence[Parameter]) -> float:
    """The distance in the unit cube; each different choice counts as 1."""
    choices = sum(value != other.chosen[name] for name, value in one.chosen.items())
    numbers = sum(
        (math.log(a / b) / math.log(each.high / each.low)) ** 2
        for a, b, each in zip(one.values, other.values, parameters, strict=True)
    )
    return math.sqrt(choices + numbers)
