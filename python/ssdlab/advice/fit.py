"""Least squares: parameters within bounds, so that a model repeats measured points; and what the points cannot tell.

The model is a function from parameter values to one figure a point: simulations (`ssdlab.advice.fit_drive`), closed
forms, anything. Deviations are taken as ratios, so that a point of 10 and one of 1000 count alike.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Model = Callable[[Sequence[float]], Sequence[float]]
"""Values of the parameters in, one figure a point out; all above 0."""

# A simulation changes in small jumps: what a parameter does is seen over a step that is larger than these.
_STEP = 0.05
# A change of one parameter by 1 % that others can hide to less than a hundredth of it is not determined by the points.
_CONDITION_MAX = 100.0
_PART_MIN = 0.3
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Parameter:
    """A free parameter: its name, bounds (above 0), and where the search begins."""

    name: str
    low: float
    high: float
    start: float | None = None

    @property
    def first(self) -> float:
        """Where the search begins: the geometric middle unless it was given, and a tenth inside the bounds.

        The steps of the search shrink with the distance to a bound: from a bound it would not get away.
        """
        start = math.sqrt(self.low * self.high) if self.start is None else self.start
        inside: float = (self.high / self.low) ** 0.1
        return min(max(start, self.low * inside), self.high / inside)


@dataclass(frozen=True)
class Fit:
    """What was found. `confounded` lists groups of parameters that the points cannot tell apart; empty: none."""

    values: tuple[float, ...]
    simulated: tuple[float, ...]
    deviations: tuple[float, ...]
    """Of each point: model / measured - 1."""
    intervals: tuple[tuple[float, float] | None, ...]
    """95 % confidence; None where points do not determine it: as many parameters as points, or confounded ones."""
    condition: float
    """Of the Jacobian in relative changes: how many times better the best determined change is than the worst."""
    confounded: tuple[tuple[str, ...], ...]
    at_bound: tuple[str, ...]
    """Parameters that ended at one of their bounds: the points pull further."""
    evaluations: int
    sensitivities: tuple[tuple[float, ...], ...]
    """A row a point, a column a parameter: the relative change of the figure over that of the parameter."""

    @property
    def deviation_max(self) -> float:
        """The largest deviation, without its sign."""
        return max(abs(deviation) for deviation in self.deviations)

    @property
    def residuals(self) -> tuple[float, ...]:
        """Of each point: log(model / measured), whose squares the fit makes small."""
        return tuple(math.log1p(deviation) for deviation in self.deviations)

    @property
    def rms(self) -> float:
        """The root of the mean squared residual, about a share."""
        return math.sqrt(sum(each * each for each in self.residuals) / len(self.residuals))

    def determined_by(self, index: int) -> tuple[float, ...]:
        """What each point contributes to parameter `index`: shares, whose sum is 1; all 0 where it moves no figure.

        Only what the other parameters cannot do as well counts: the part of the sensitivities that is at right angles
        to theirs, squared.
        """
        import numpy as np

        jacobian = np.asarray(self.sensitivities, dtype=np.float64)
        own, others = jacobian[:, index], np.delete(jacobian, index, axis=1)
        left = own - others @ np.linalg.pinv(others) @ own
        total = float(left @ left)
        if total <= 1e-12 * max(1.0, float(own @ own)):
            return (0.0,) * len(own)
        return tuple(float(each) for each in left * left / total)


def fit(model: Model, parameters: Sequence[Parameter], measured: Sequence[float]) -> Fit:
    """The parameters of least squared relative deviation. ValueError for nothing to fit, or bounds not above 0.

    With fewer points than parameters something is found all the same, and `confounded` says what it is worth. Without
    parameters the model is only compared with the points.
    """
    import numpy as np
    from scipy.optimize import least_squares

    _check(parameters, measured)
    if not parameters:
        figures = tuple(float(value) for value in model([]))
        off = tuple(figure / value - 1 for figure, value in zip(figures, measured, strict=True))
        return Fit((), figures, off, (), 1.0, (), (), 1, tuple(() for _ in figures))
    log_measured = np.log(np.asarray(measured, dtype=np.float64))
    seen: dict[tuple[float, ...], Floats] = {}

    def residuals(logs: "Floats") -> "Floats":
        key = tuple(float(value) for value in logs)
        if key not in seen:
            seen[key] = np.log(np.asarray(model([math.exp(value) for value in key]), dtype=np.float64)) - log_measured
        return seen[key]

    bounds = ([math.log(each.low) for each in parameters], [math.log(each.high) for each in parameters])
    first = np.clip([math.log(each.first) for each in parameters], *bounds)
    # In logarithms a step is a share of the parameter itself, whatever its size and unit.
    found = least_squares(
        residuals,
        first,
        bounds=bounds,
        jac=lambda logs: _jacobian(residuals, np.asarray(logs), bounds),
        xtol=1e-4,
        ftol=1e-6,
        max_nfev=40,
    )
    logs = np.asarray(found.x, dtype=np.float64)
    left = residuals(logs)
    jacobian = _jacobian(residuals, logs, bounds)
    condition, confounded = _confounded(jacobian, [each.name for each in parameters])
    hidden = {name for group in confounded for name in group}
    names = [each.name for each in parameters]
    spread = _half_widths(jacobian, left)
    intervals = [
        None if spread is None or name in hidden else (math.exp(at - half), math.exp(at + half))
        for name, at, half in zip(names, logs, spread if spread is not None else logs, strict=True)
    ]
    values = tuple(math.exp(value) for value in logs)
    edge = [
        each.name
        for each, value in zip(parameters, values, strict=True)
        if min(value / each.low, each.high / value) < 1.001
    ]
    return Fit(
        values=values,
        simulated=tuple(float(value) for value in np.exp(left + log_measured)),
        deviations=tuple(float(value) for value in np.expm1(left)),
        intervals=tuple(intervals),
        condition=condition,
        confounded=tuple(confounded),
        at_bound=tuple(edge),
        evaluations=len(seen),
        sensitivities=tuple(tuple(float(each) for each in row) for row in jacobian),
    )


def leave_one_out(model: Model, parameters: Sequence[Parameter], measured: Sequence[float]) -> list[float]:
    """For each point, what a fit to all the others says of it."""
    predicted = []
    for index in range(len(measured)):
        others = [each for each in range(len(measured)) if each != index]

        def without(values: Sequence[float], others: list[int] = others) -> list[float]:
            figures = model(values)
            return [figures[each] for each in others]

        found = fit(without, parameters, [measured[each] for each in others])
        predicted.append(float(model(list(found.values))[index]))
    return predicted


def left_out_to_first_order(
    residuals: Sequence[float], sensitivities: Sequence[Sequence[float]]
) -> tuple[float | None, ...]:
    """For each point, the deviation (a share) of what a fit to all the others predicts, without fitting again.

    `residuals` are logarithms (`Fit.residuals`), `sensitivities` as in `Fit`. The residual of a linear model at a point
    that is left out is r / (1 - h), h being the point's leverage (Allen, "The relationship between variable selection
    and data augmentation", Technometrics 16, 1974). None where a point alone determines a parameter.
    """
    import numpy as np

    jacobian = np.asarray(sensitivities, dtype=np.float64)
    leverages = np.diag(jacobian @ np.linalg.pinv(jacobian))
    return tuple(
        None if leverage > 1 - 1e-6 else math.expm1(residual / (1 - float(leverage)))
        for residual, leverage in zip(residuals, leverages, strict=True)
    )


def _jacobian(
    residuals: "Callable[[Floats], Floats]", logs: "Floats", bounds: tuple[list[float], list[float]]
) -> "Floats":
    """Relative change of each figure over relative change of each parameter, from steps inside the bounds."""
    import numpy as np

    here = residuals(logs)
    columns = []
    for index in range(len(logs)):
        step = _STEP if logs[index] + _STEP <= bounds[1][index] else -_STEP
        moved = logs.copy()
        moved[index] = max(logs[index] + step, bounds[0][index])
        width = moved[index] - logs[index]
        columns.append((residuals(moved) - here) / width if width else np.zeros_like(here))
    return np.stack(columns, axis=1)


def _confounded(jacobian: "Floats", names: Sequence[str]) -> tuple[float, list[tuple[str, ...]]]:
    """The condition, and the parameters in every direction in which the figures hardly change."""
    import numpy as np

    _, strengths, directions = np.linalg.svd(jacobian, full_matrices=True)
    whole = np.zeros(len(names))
    whole[: len(strengths)] = strengths
    if whole[0] == 0:
        return math.inf, [tuple(names)]
    groups = []
    for strength, direction in zip(whole, directions, strict=True):
        if strength * _CONDITION_MAX < whole[0]:
            groups.append(tuple(name for name, part in zip(names, direction, strict=True) if abs(part) >= _PART_MIN))
    return (math.inf if whole[-1] == 0 else float(whole[0] / whole[-1])), groups


def _half_widths(jacobian: "Floats", left: "Floats") -> "Floats | None":
    """Half the confidence interval of each parameter's logarithm; None without a degree of freedom."""
    import numpy as np
    from scipy import stats

    points, count = jacobian.shape
    if points <= count:
        return None
    variance = float(left @ left) / (points - count)
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * variance
    quantile = float(stats.t.ppf(0.5 + _CONFIDENCE / 2, points - count))
    widths: Floats = quantile * np.sqrt(np.diag(covariance))
    return widths


def _check(parameters: Sequence[Parameter], measured: Sequence[float]) -> None:
    if not measured:
        raise ValueError("a fit needs a point")
    for each in parameters:
        if not 0 < each.low < each.high < math.inf:
            raise ValueError(f"{each.name}: bounds {each.low} to {each.high} should be above 0 and ascending")
    if not all(0 < value < math.inf for value in measured):
        raise ValueError("measured values should be above 0")
