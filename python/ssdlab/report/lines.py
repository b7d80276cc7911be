"""Points that a picture connects, or marks, under a name: plain values, to be drawn or kept on disk."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A curve, points (x, y) in ascending x; `spread` holds (x, least y, greatest y) over the seeds.

    `dotted`: the points are drawn too, where each is a run and the line between is not.
    """

    label: str
    points: Sequence[tuple[float, float]]
    spread: Sequence[tuple[float, float, float]] = ()
    dotted: bool = False


@dataclass(frozen=True)
class Marks:
    """Points (x, y) of their own, such as published ones. They take the colour of a line of the same label."""

    label: str
    points: Sequence[tuple[float, float]]
