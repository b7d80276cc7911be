"""The seam: a drive as a black box, which takes fio jobs and tells how long each request took. Nothing else is known.

Whatever identifies a drive is given a `Box` and sees no drive file, specification or outcome of a simulation.
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
    """From the start of the job to its end."""
    end_s: "Floats"
    """When each request completed, since the start of the job."""
    latency_us: "Floats"
    size_bytes: "Ints"
    offset_bytes: "Ints"
    written_bytes: int
    flush_us: float | None = None
    """Mean latency of the flushes; None without any."""

    @property
    def bytes_per_second(self) -> float:
        return float(self.size_bytes.sum()) / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Counters:
    """What a drive says of itself through SMART, since it was made."""

    host_written_bytes: int
    nand_written_bytes: int


class Box(Protocol):
    """A drive from outside."""

    @property
    def capacity_bytes(self) -> int:
        """What the host may use."""
        ...

    @property
    def sector_bytes(self) -> int:
        """The smallest request."""
        ...

    def run(self, sections: Sequence[str]) -> list[Completed]:
        """Runs sections of a job file (`section`), in order. Raises RunFailed where the drive or fio fails."""
        ...

    def counters(self) -> Counters | None:
        """None where the drive does not tell."""
        ...


def section(name: str, rw: str, block_bytes: int, depth: int = 1, *options: str, concurrent: bool = False) -> str:
    """One job of a job file; with `concurrent` it runs at the same time as the one before."""
    lines = [f"[{name}]", *([] if concurrent else ["stonewall"]), f"rw={rw}", f"bs={block_bytes}", f"iodepth={depth}"]
    return "\n".join([*lines, *options]) + "\n"
