"""The interface to a drive as a black box, which runs fio jobs and returns the latency of each request.

All code that identifies a drive works with a `Box`, never with a drive file, specification or simulation outcome.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Completed:
    """The requests of one job in the order of their completion."""

    name: str
    seconds: float
    """Seconds from the start of the job to its end."""
    end_s: "Floats"
    """The completion time of each request in seconds since the start of the job."""
    latency_us: "Floats"
    size_bytes: "Ints"
    offset_bytes: "Ints"
    written_bytes: int
    flush_us: float | None = None
    """Mean latency of the flushes, the least one if a busy host delays them, or None if there were none."""

    @property
    def bytes_per_second(self) -> float:
        return float(self.size_bytes.sum()) / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Counters:
    """Byte counters that a drive reports through SMART, counted since its manufacture or, if simulated, its
    creation."""

    host_written_bytes: int
    nand_written_bytes: int


_BUSY = 1.25
"""The ratio of the mean to the least latency of flushes above which a host is busy: each flush ends a program."""


def flush_us(mean_ns: float | None, min_ns: float | None) -> float | None:
    """`Completed.flush_us` from the mean and the least latency of the flushes."""
    if mean_ns is None or min_ns is None:
        return None
    return (min_ns if mean_ns > _BUSY * min_ns else mean_ns) / 1e3


class Box(Protocol):
    """A drive seen from the outside."""

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the host can use."""
        ...

    @property
    def sector_bytes(self) -> int:
        """Size of the smallest request."""
        ...

    @property
    def draws_as_simulated(self) -> bool:
        """Whether random requests are those that a simulation of the same job draws."""
        ...

    def run(self, sections: Sequence[str]) -> list[Completed]:
        """Runs sections of a job file (see `section`), in order. Raises RunFailed if the drive or fio fails."""
        ...

    def counters(self) -> Counters | None:
        """The counters, or None if the drive does not report them."""
        ...


def section(name: str, rw: str, block_bytes: int, depth: int = 1, *options: str, concurrent: bool = False) -> str:
    """One job of a job file. With `concurrent` it runs at the same time as the job before it."""
    lines = [f"[{name}]", *([] if concurrent else ["stonewall"]), f"rw={rw}", f"bs={block_bytes}", f"iodepth={depth}"]
    return "\n".join([*lines, *options]) + "\n"
