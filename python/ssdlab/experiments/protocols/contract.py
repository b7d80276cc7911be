"""Data classes for a protocol. Running it on a simulated or a real drive is in other files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ssdlab.experiments.protocols.figures import Figures
    from ssdlab.presentation.report.figure import Figure

End = Literal["job", "steady"]


@dataclass(frozen=True)
class Step:
    """One fio job, or one line of a file-system script, after `idle_seconds` of idle time.

    With `end="steady"` it is repeated in rounds of the drive's size until its write amplification (or its IOPS, if the
    drive does not report that) is steady by SNIA's rule.
    """

    name: str
    text: str
    """Options of a fio job, one per line, and sections of others that run beside it; or the line of the script."""
    end: End = "job"
    idle_seconds: float = 0.0
    shown: bool = True
    """Whether the step is shown as a result; False for preparation."""
    over_time: bool = False
    """Whether rates over the time of the step are kept, beside its means."""


@dataclass(frozen=True)
class Point:
    """Steps on one drive, which is purged (trimmed as a whole) before the first."""

    label: str
    steps: Sequence[Step]
    is_script: bool = False
    """Whether the steps are lines of a script, on files of ext4 instead of the bare drive."""


@dataclass(frozen=True)
class Setting:
    """The drive size and the form for which a protocol makes its points."""

    size_bytes: int
    quick: bool = False
    scale: Fraction = Fraction(1)
    """Of a simulated drive, whose size is scaled."""


@dataclass(frozen=True)
class DriveTests:
    """The tests of a drive: a protocol was carried out on it once or several times."""

    label: str
    runs: "Sequence[Sequence[Figures]]"
    """The steps of each time."""


@dataclass(frozen=True)
class Matrix:
    """Figures of steps as a table of two dimensions, as report formats have them."""

    title: str
    corner: str
    """What the rows are."""
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float | None]]]


@dataclass(frozen=True)
class Protocol:
    """A standard experiment."""

    name: str
    title: str
    """The question of the experiment, in one line."""
    source: str
    quick_gives_up: str
    """What `--quick` omits, as part of a sentence."""
    points: Callable[[Setting], Sequence[Point]]
    needs_device: bool = False
    """Whether the protocol needs a device instead of a file, because it trims or leaves space of the drive unused."""
    columns: Sequence[str] = field(default=("waf", "write_iops", "write_mb_s"))
    """The figures of a step in the table; keys of `figures.COLUMNS`."""
    conclude: "Callable[[Sequence[Figures]], str | None]" = lambda figures: None
    """Returns the result as a sentence without a full stop, or None if the figures do not allow one."""
    draw: "Callable[[Sequence[DriveTests]], Sequence[Figure]] | None" = None
    """Returns the pictures as the field draws this experiment. Without it, or if it returns none, there are bars of
    each column."""
    tabulate: "Callable[[Sequence[Figures]], Sequence[Matrix]]" = lambda figures: ()
    """Returns the figures as tables that its report format has, besides the table of all steps."""


def job(rw: str, bs: str, depth: int, *more: str) -> str:
    """The options of a fio job."""
    return "\n".join([f"rw={rw}", f"bs={bs}", f"iodepth={depth}", *more]) + "\n"


def fill(size: str = "100%", loops: int = 1) -> Step:
    """A step that writes the drive, or a share of it, sequentially in blocks of 128 KiB, as SNIA's precondition."""
    more = [f"size={size}"] + ([f"loops={loops}"] if loops > 1 else [])
    return Step(f"fill {loops} x" if loops > 1 else "fill", job("write", "128k", 32, *more), shown=False)


def random_writes(name: str = "random writes", size: str = "100%", *, quick: bool = False, depth: int = 32) -> Step:
    """A step of random 4 KiB writes until steady, or two passes if `quick`."""
    more = ["norandommap", f"size={size}"] + (["loops=2"] if quick else [])
    return Step(name, job("randwrite", "4k", depth, *more), "job" if quick else "steady")
