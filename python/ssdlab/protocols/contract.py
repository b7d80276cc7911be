"""What a protocol is: plain values. How it is run on a simulated or a real drive is in other files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ssdlab.protocols.figures import Figures

End = Literal["job", "steady"]


@dataclass(frozen=True)
class Step:
    """One fio job, or one line of a file system's script; `idle_seconds` pass before it.

    With `end="steady"` it is repeated in rounds of the drive's size until its write amplification (its IOPS, where the
    drive does not tell that) is steady by SNIA's rule.
    """

    name: str
    text: str
    """Options of a fio job, a line each; or, in a script's point, the line."""
    end: End = "job"
    idle_seconds: float = 0.0
    shown: bool = True
    """Whether it is a result, and not only on the way to one."""


@dataclass(frozen=True)
class Point:
    """Steps on one drive, which is purged before the first: all of it trimmed."""

    label: str
    steps: Sequence[Step]
    is_script: bool = False
    """Whether the steps are lines of a script: files on ext4 rather than the bare drive."""


@dataclass(frozen=True)
class Setting:
    """What a protocol is laid out for."""

    size_bytes: int
    quick: bool = False


@dataclass(frozen=True)
class Protocol:
    """A standard experiment."""

    name: str
    title: str
    """What it asks, in a line."""
    source: str
    quick_gives_up: str
    """What `--quick` leaves out, in a sentence's part."""
    points: Callable[[Setting], Sequence[Point]]
    needs_device: bool = False
    """Whether a file in a folder is not enough: it trims, or leaves space of the drive unused."""
    columns: Sequence[str] = field(default=("waf", "write_iops", "write_mb_s"))
    """Which figures of a step its table shows; keys of `figures.COLUMNS`."""
    conclude: "Callable[[Sequence[Figures]], str | None]" = lambda figures: None
    """What came out, in a sentence without a full stop; None where the figures do not tell."""


def job(rw: str, bs: str, depth: int, *more: str) -> str:
    """The options of a fio job."""
    return "\n".join([f"rw={rw}", f"bs={bs}", f"iodepth={depth}", *more]) + "\n"


def fill(size: str = "100%", loops: int = 1) -> Step:
    """The drive, or a share of it, written in sequence in blocks of 128 KiB, as SNIA preconditions."""
    more = [f"size={size}"] + ([f"loops={loops}"] if loops > 1 else [])
    return Step(f"fill {loops} x" if loops > 1 else "fill", job("write", "128k", 32, *more), shown=False)


def random_writes(name: str = "random writes", size: str = "100%", *, quick: bool = False, depth: int = 32) -> Step:
    """4 KiB at random until steady; quick: two passes."""
    more = ["norandommap", f"size={size}"] + (["loops=2"] if quick else [])
    return Step(name, job("randwrite", "4k", depth, *more), "job" if quick else "steady")
