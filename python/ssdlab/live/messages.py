"""What drives at work tell, and what the page is told: the JSON of the live protocol, as `page/types.js` has it.

What the native module gives (`Figures`, `Marks`, `EraseUnit`, `PowerLoss`) is described by
`crates/engine/src/simulation/live/` and `crates/engine/src/ftl/picture.rs`.
"""

from typing import Literal, NotRequired, TypedDict

from ssdlab.engine import plain
from ssdlab.results.ledger import Part


class LatencySince(TypedDict):
    """Of the requests that became complete between two looks."""

    count: int
    mean_ns: float
    p50_ns: int
    p99_ns: int
    p999_ns: int


class FiguresSince(TypedDict):
    """Between two looks."""

    simulated_seconds: float | None
    requests: int
    ledger: plain.Ledger
    waf: float | None
    iops: float | None
    die_utilization: float | None
    read_latency: LatencySince | None
    """None where nothing was read, or without a clock."""
    write_latency: LatencySince | None


class Figures(TypedDict):
    """How a drive is at a moment: `LiveDrive.figures` and `Device.figures` of the native module."""

    simulated_seconds: float | None
    requests: int
    ledger: plain.Ledger
    waf: float | None
    capacity: plain.Capacity
    free_erase_units: int
    erase_count: plain.Spread
    since: FiguresSince


class Marks(TypedDict):
    """What is open, and what was cleaned and moved since the previous look, the latest last."""

    open: list[tuple[int, str]]
    """Erase unit and stream."""
    emptying: list[int]
    victims: list[int]
    moves: list[tuple[int, int, int]]
    """From, to, units."""


class EraseUnit(TypedDict):
    """One erase unit. A character of `units` a place: v live, s stale, . erased, p parity or a map page."""

    state: str
    stream: str | None
    erase_count: int
    valid: int
    units: str
    age: float | None
    temperature: float | None


class PowerLoss(TypedDict):
    """What a loss of power costs a drive."""

    power_loss_protection: bool
    torn_units: int
    checkpoint_units: int
    scanned_pages: int
    duration_ns: int


class PowerLossSteps(PowerLoss):
    """Which part of the time goes into which step."""

    checkpoint_ns: int
    scan_ns: int
    scanned_in_full: list[int]
    """Erase units, in their order."""


class RecoveryStatus(TypedDict):
    """A loss of power that is being shown."""

    number: int
    is_real: bool
    goes_on: bool
    drives: tuple[PowerLossSteps, ...]


Rank = Literal["p50", "p99", "p999"]


class SinceShown(TypedDict):
    """What a drive did since the previous figures."""

    seconds: float | None
    requests: int
    iops: float | None
    reads: int | None
    """Those that became complete; None without a clock."""
    writes: int | None
    read_bytes: int
    written_bytes: int
    programmed_bytes: dict[Part, int]
    waf: float | None
    die_utilization: float | None
    read_latency_ns: dict[Rank, int] | None
    write_latency_ns: dict[Rank, int] | None


class FiguresShown(TypedDict):
    """The figures of a drive as the page has them."""

    simulated_seconds: float | None
    requests: int
    host_written_bytes: int
    host_read_bytes: int
    host_trimmed_bytes: int
    nand_programmed_bytes: int
    waf: float | None
    waf_parts: dict[str, float] | None
    drive_writes: float
    free_erase_units: int
    effective_over_provisioning: float | None
    erase_count: plain.Spread
    since: SinceShown


class Expectation(TypedDict):
    """Where theory's line is."""

    value: float | None
    formula: str | None
    reason: str | None


class Choice(TypedDict):
    """A drive as the page names it."""

    name: str
    op: float | None
    victim: str | None
    placement: str | None


class Workload(TypedDict):
    """The controls of a workload, as `ssdlab.workloads.controls.Controls`."""

    kind: Literal["random", "sequential"]
    block_bytes: int
    read_percent: int
    skew: float
    trim_percent: int
    iodepth: int


class DriveStatus(TypedDict):
    """What the page shows of a drive apart from its figures."""

    label: str
    choice: Choice
    name: str
    description: str
    scale: str
    victim: str
    placement: str
    erase_units: int
    units_per_erase_unit: int
    mapping_unit_bytes: int
    physical_bytes: int
    user_bytes: int
    over_provisioning: float
    used_over_provisioning: float
    endurance_cycles: int


class MomentStatus(TypedDict):
    """A moment that the user named, on the axis of every drive."""

    name: str
    host_written_bytes: list[int]
    simulated_seconds: list[float | None]


class TourPlace(TypedDict):
    """Where in a tour the page stands."""

    name: str
    step: int


class Status(TypedDict):
    """What the page shows in addition to the figures."""

    watched: str | None
    generation: int
    running: bool
    finished: bool
    failure: str | None
    requests_per_second: float | None
    workload: Workload | None
    job: str | None
    partition_percent: int
    timed: bool
    seed: int
    drives: list[DriveStatus]
    moments: list[MomentStatus]
    tour: TourPlace | None
    recovery: RecoveryStatus | None


class Reply(TypedDict):
    """What came of a command of the page."""

    type: Literal["reply"]
    id: object
    """As the page said it."""
    ok: NotRequired[bool]
    value: NotRequired[object]
    message: NotRequired[str]
    """Why it was refused."""


class Rested(TypedDict):
    """The drives stood still while no page was open."""

    type: Literal["rested"]
    seconds: float


class TourStep(TypedDict):
    title: str
    text: str
    look: str
    view: str


class TourShown(TypedDict):
    """A tour."""

    name: str
    title: str
    source: str
    steps: list[TourStep]


class NamedSummary(TypedDict):
    name: str
    summary: str


class OfferedDrive(TypedDict):
    name: str
    description: str
    cell: str


class Catalogue(TypedDict):
    """What the page can offer."""

    drives: list[OfferedDrive]
    policies: dict[str, list[NamedSummary]]
    """By the key of the drive file."""
    jobs: list[NamedSummary]


class SweepHello(TypedDict):
    """What the page of a sweep receives first."""

    type: Literal["hello"]
    version: str


class Hello(Catalogue):
    """What the page of drives receives first: all that it can offer."""

    type: Literal["hello"]
    version: str
    columns: tuple[str, ...]
    parts: tuple[str, ...]
    views: tuple[str, ...]
    tours: list[TourShown]


class Report(TypedDict):
    """A report that was saved: its folder, and its page as the browser finds it."""

    folder: str
    page: str


class SweepAxis(TypedDict):
    """The horizontal axis; `names` where its values are none of numbers."""

    name: str
    names: list[str] | None
    low: float
    high: float


class SweepLine(TypedDict):
    name: str
    points: list[list[float]]
    """Place along the axis, mean, least, most."""


class SweepPanel(TypedDict):
    name: str
    lines: list[SweepLine]


class SweepFigure(TypedDict):
    """One picture of a sweep."""

    name: str
    title: str
    word: str
    """How its values are said; a function of `words.js`."""
    panels: list[SweepPanel]


class Sweep(TypedDict):
    """A sweep as far as it is kept."""

    name: str
    description: str
    place: str
    axes: list[str]
    total: int
    kept: int
    read: int
    failed: int
    damaged: list[str]
    unreachable: NotRequired[str | None]
    runs_per_second: float | None
    seconds_left: float | None
    x: SweepAxis | None
    figures: list[SweepFigure]
