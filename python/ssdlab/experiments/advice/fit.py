"""Least squares: finds parameters within bounds with which a model reproduces measured points, and what they determine.

The model is a function from parameter values to one figure for each point: simulations
(`ssdlab.experiments.advice.fit_drive`), closed forms, or others. Deviations are ratios, so that points of 10 and of
1000 have the same weight.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.evidence.estimate import Estimate, decimals
from ssdlab.foundation.quantities import format_share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Model = Callable[[Sequence[float]], Sequence[float]]
"""Takes the values of the parameters and returns one figure for each point; all are above 0."""

# The figures of a simulation change in small jumps; the steps for sensitivities must be larger than these.
_STEP = 0.05
# The points do not determine a parameter if the others can compensate a change of it by 1 % to less than a hundredth of
# that.
_CONDITION_MAX = 100.0
_PART_MIN = 0.3
_CONFIDENCE = 0.95
_STEPS_MAX = 40
RESOLVED = 0.005
"""Runs of the same drive with different seeds differ by this much, as a share: points that are nearer to the model by
chance are not known better."""
MISFIT_MAX = 0.1
"""The largest rms that scatter of measurements explains. It is chosen: points measured on real drives are mostly known
within a few percent. A model that is farther off lacks something, and its values stand in for that."""


@dataclass(frozen=True)
class Parameter:
    """A free parameter: its name, bounds (above 0), and the start of the search."""

    name: str
    low: float
    high: float
    start: float | None = None

    @property
    def first(self) -> float:
        """The start of the search: the given one or the geometric middle, at least a tenth inside the bounds.

        The steps of the search become smaller near a bound: it could not leave a start at a bound.
        """
        start = math.sqrt(self.low * self.high) if self.start is None else self.start
        inside: float = (self.high / self.low) ** 0.1
        return min(max(start, self.low * inside), self.high / inside)


@dataclass(frozen=True)
class Fit:
    """The result of a fit. `confounded` lists groups of parameters that the points cannot distinguish."""

    values: tuple[float, ...]
    simulated: tuple[float, ...]
    deviations: tuple[float, ...]
    """For each point: model / measured - 1."""
    intervals: tuple[tuple[float, float] | None, ...]
    """95 % confidence intervals; None if the points do not determine them: too few points, confounded parameters, a
    model that does not reproduce the points, or an interval that contains both bounds."""
    condition: float
    """The condition number of the Jacobian in relative changes: the best determined change relative to the worst."""
    confounded: tuple[tuple[str, ...], ...]
    at_bound: tuple[str, ...]
    """Parameters that ended at one of their bounds: the best value is probably outside."""
    evaluations: int
    sensitivities: tuple[tuple[float, ...], ...]
    """A row for each point, a column for each parameter: the figure's relative change divided by the parameter's."""

    @property
    def deviation_max(self) -> float:
        """The largest absolute deviation."""
        return max(abs(deviation) for deviation in self.deviations)

    @property
    def residuals(self) -> tuple[float, ...]:
        """For each point: log(model / measured). The fit minimises their squares."""
        return tuple(math.log1p(deviation) for deviation in self.deviations)

    @property
    def rms(self) -> float:
        """The root mean square of the residuals, which are logarithms: while it is small, approximately a share."""
        return math.sqrt(sum(each * each for each in self.residuals) / len(self.residuals))

    @property
    def off(self) -> str:
        """How far the fit is off, in words: a share while that is what the logarithm is, otherwise a factor."""
        return format_share(self.rms, 2) if self.rms <= MISFIT_MAX else f"a factor of {math.exp(self.rms):.2g}"

    @property
    def is_misfit(self) -> bool:
        """Whether the model does not reproduce the points: its values say nothing then."""
        return self.rms > MISFIT_MAX

    def cells(self, index: int) -> tuple[str, str]:
        """The value of parameter `index`, with the digits that its interval allows, and the interval, for a table."""
        value, interval = self.values[index], self.intervals[index]
        if interval is None:
            return f"{value:.3g}", "not determined"
        low, high = interval
        places = decimals(Estimate(value, low, high, len(self.deviations), "fit"), 9, digits_max=5)
        return f"{round(value, places):.{max(0, places)}f}", f"{low:.3g} to {high:.3g}"

    def determined_by(self, index: int) -> tuple[float, ...]:
        """The share of each point in determining parameter `index`. The sum is 1, or 0 if it changes no figure.

        It counts only effects that the other parameters do not have: the squares of the part of the sensitivities that
        is orthogonal to theirs.
        """
        import numpy as np

        jacobian = np.asarray(self.sensitivities, dtype=np.float64)
        own, others = jacobian[:, index], np.delete(jacobian, index, axis=1)
        left = own - others @ np.linalg.pinv(others) @ own
        total = float(left @ left)
        if total <= 1e-12 * max(1.0, float(own @ own)):
            return (0.0,) * len(own)
        return tuple(float(each) for each in left * left / total)


def fit(
    model: Model, parameters: Sequence[Parameter], measured: Sequence[float], *, steps_max: int = _STEPS_MAX
) -> Fit:
    """The parameters with the least squared relative deviation. Raises ValueError for no points or invalid bounds.

    With fewer points than parameters there is still a result; `confounded` shows how little it is determined. Without
    parameters, the model is only compared with the points.
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
    # In logarithms, a step is a share of the parameter, independent of its size and unit.
    found = least_squares(
        residuals,
        first,
        bounds=bounds,
        jac=lambda logs: _jacobian(residuals, np.asarray(logs), bounds),
        xtol=1e-4,
        ftol=1e-6,
        max_nfev=steps_max,
    )
    logs = np.asarray(found.x, dtype=np.float64)
    left = residuals(logs)
    jacobian = _jacobian(residuals, logs, bounds)
    condition, confounded = _confounded(jacobian, [each.name for each in parameters])
    hidden = {name for group in confounded for name in group}
    is_misfit = math.sqrt(float(left @ left) / len(left)) > MISFIT_MAX
    spread = None if is_misfit else _half_widths(jacobian, left)
    intervals = [
        None
        if spread is None or each.name in hidden or _is_wider(each, at, half)
        else (math.exp(at - half), math.exp(at + half))
        for each, at, half in zip(parameters, logs, spread if spread is not None else logs, strict=True)
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
    """The prediction for each point from a fit to all others."""
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
    """The deviation (a share) of the prediction for each point from a fit to all others, without fitting again.

    `residuals` are logarithms (`Fit.residuals`), `sensitivities` as in `Fit`. The residual of a linear model at a point
    that is left out is r / (1 - h), where h is the point's leverage (Allen, "The relationship between variable
    selection and data augmentation", Technometrics 16, 1974). None if a point alone determines a parameter.
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
    """The relative change of each figure per relative change of each parameter, from steps inside the bounds."""
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
    """The condition number, and the parameters in each direction in which the figures hardly change."""
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
    """Half the confidence interval of each parameter's logarithm; None without degrees of freedom."""
    import numpy as np
    from scipy.special import stdtrit

    points, count = jacobian.shape
    if points <= count:
        return None
    variance = max(float(left @ left) / (points - count), RESOLVED**2)
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * variance
    quantile = float(stdtrit(points - count, 0.5 + _CONFIDENCE / 2))
    widths: Floats = quantile * np.sqrt(np.diag(covariance))
    return widths


def _is_wider(parameter: Parameter, at: float, half: float) -> bool:
    """Whether the interval around `at`, a logarithm, contains both bounds, so that the points exclude none of them."""
    return at - half <= math.log(parameter.low) and at + half >= math.log(parameter.high)


def _check(parameters: Sequence[Parameter], measured: Sequence[float]) -> None:
    if not measured:
        raise ValueError("a fit needs a point")
    for each in parameters:
        if not 0 < each.low < each.high < math.inf:
            raise ValueError(f"{each.name}: bounds {each.low} to {each.high} should be above 0 and ascending")
    if not all(0 < value < math.inf for value in measured):
        raise ValueError("measured values should be above 0")
