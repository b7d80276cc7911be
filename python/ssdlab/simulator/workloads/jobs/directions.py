"""Values for each direction of requests, as the engine's job has them: one for reads, one for writes, one for trims."""

from collections.abc import Callable
from typing import Literal, TypeVar, get_args

from ssdlab.simulator.engine import plain

T = TypeVar("T")

Direction = Literal["read", "write", "trim"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


def each(value: Callable[[Direction], T]) -> plain.PerDirection[T]:
    """Calls `value` for each direction."""
    return {"read": value("read"), "write": value("write"), "trim": value("trim")}
