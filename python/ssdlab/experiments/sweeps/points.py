"""The points of a sweep: every combination of its axes, or a random or Latin-hypercube sample."""

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.experiments.sweeps.file import Axis, Range, Scalar, SweepFile
from ssdlab.foundation.quantities import parse_spare_area

Point = dict[str, Scalar]
"""Maps axis names to values. `op` is a share; values of a range have the type of its ends."""

# Returns the value of an axis at a position from 0 to 1.
_ValueAt = Callable[[float], Scalar]


def points(sweep: SweepFile, path: Path) -> list[Point]:
    """The points in a fixed order: in a grid, the last axis varies fastest. Raises InputError for an invalid range."""
    axes = {name: _read(name, axis, path) for name, axis in sweep.axes.items()}
    if sweep.sample.method == "grid":
        listed = [axis if isinstance(axis, list) else _spaced(axis, f"{path}: axes.{n}") for n, axis in axes.items()]
        return [dict(zip(axes, values, strict=True)) for values in itertools.product(*listed)]
    count, seed = sweep.sample.count, sweep.sample.seed
    assert count is not None
    places = _places(sweep.sample.method, len(axes), count, seed)
    value_at = [_value_at(axis, f"{path}: axes.{name}") for name, axis in axes.items()]
    sampled = [{name: value(place) for name, value, place in zip(axes, value_at, row, strict=True)} for row in places]
    # Lists have few values, so a sample can contain a point twice, which would be the same run.
    return list({tuple(point.items()): point for point in sampled}.values())


def _read(name: str, axis: Axis, path: Path) -> Axis:
    """Converts the texts of `op` to shares, as on the command line."""
    if name != "op":
        return axis
    where = f"{path}: axes.op"
    if isinstance(axis, Range):
        return axis.model_copy(update={"start": _share(axis.start, where), "end": _share(axis.end, where)})
    return [_share(value, where) for value in axis]


def _share(value: Scalar, where: str) -> float:
    try:
        return parse_spare_area(str(value))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _spaced(axis: Range, where: str) -> list[Scalar]:
    assert axis.count is not None
    between = _between(axis, where)
    return list(dict.fromkeys(between(step / (axis.count - 1)) for step in range(axis.count)))


def _value_at(axis: Axis, where: str) -> _ValueAt:
    if isinstance(axis, Range):
        return _between(axis, where)
    values: Sequence[Scalar] = axis
    return lambda place: values[min(int(place * len(values)), len(values) - 1)]


def _between(axis: Range, where: str) -> _ValueAt:
    start, end = axis.start, axis.end
    if isinstance(start, str) or isinstance(end, str):
        raise InputError(f"{where}: from = {start!r}, to = {end!r}: both must be numbers")
    if not (math.isfinite(start) and math.isfinite(end)) or start >= end:
        raise InputError(f"{where}: from = {start:g}, to = {end:g}: `from` must be below `to`")
    if axis.spacing == "log" and start <= 0:
        raise InputError(f"{where}: from = {start:g}: logarithmic spacing needs a number above 0")
    whole = isinstance(start, int) and isinstance(end, int)

    def value(place: float) -> Scalar:
        exact = start * (end / start) ** place if axis.spacing == "log" else start + (end - start) * place
        # Twelve digits give the same text, and so the same hash, regardless of rounding in the last bit.
        return round(exact) if whole else float(f"{exact:.12g}")

    return value


def _places(method: str, dimensions: int, count: int, seed: int) -> list[list[float]]:
    from numpy.random import default_rng
    from scipy.stats import qmc

    generator = default_rng(seed)
    if method == "random":
        return [[float(place) for place in row] for row in generator.random((count, dimensions))]
    sampler = qmc.LatinHypercube(d=dimensions, rng=generator)
    return [[float(place) for place in row] for row in sampler.random(count)]
