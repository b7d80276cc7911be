"""Named lines and marks of a picture, as plain values that can be drawn or stored."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A curve: points (x, y), joined in their order; `spread` has (x, lowest y, highest y) over the seeds.

    `dotted` also draws the points, for lines that interpolate between runs.
    """

    label: str
    points: Sequence[tuple[float, float]]
    spread: Sequence[tuple[float, float, float]] = ()
    dotted: bool = False


@dataclass(frozen=True)
class Marks:
    """Separate points (x, y), such as published ones. They have the colour of a line of the same label."""

    label: str
    points: Sequence[tuple[float, float]]
