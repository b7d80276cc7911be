"""The JSON messages of running drives and of the live protocol, whose types are also in `page/types.js`.

The messages of the native module (`Figures`, `Marks`, `EraseUnit`, `PowerLoss`) are documented in
`crates/engine/src/simulation/live/` and `crates/engine/src/ftl/picture.rs`.
"""

from typing import Literal, NotRequired, TypedDict

from ssdlab.simulator.engine import plain


class LatencySince(TypedDict):
    """The latencies of the requests that completed between two calls."""

    count: int
    mean_ns: float
    p50_ns: int
    p99_ns: int
    p999_ns: int


class FiguresSince(TypedDict):
    """The changes between two calls."""

    simulated_seconds: float | None
    requests: int
    ledger: plain.Ledger
    waf: float | None
    iops: float | None
    die_utilization: float | None
    read_latency: LatencySince | None
    """None if no reads completed, or without a clock."""
    write_latency: LatencySince | None


class Figures(TypedDict):
    """The state of a drive at a moment: `LiveDrive.figures` and `Device.figures` of the native module."""

    simulated_seconds: float | None
    requests: int
    ledger: plain.Ledger
    waf: float | None
    capacity: plain.Capacity
    free_erase_units: int
    erase_count: plain.Spread
    since: FiguresSince


class Marks(TypedDict):
    """The open erase units, and those cleaned and moved since the previous call, latest last."""

    open: list[tuple[int, str]]
    """Pairs: (erase unit, stream)."""
    emptying: list[int]
    victims: list[int]
    moves: list[tuple[int, int, int]]
    """Triples: (from, to, units)."""


class EraseUnit(TypedDict):
    """One erase unit. `units` has one character for each place: v live, s stale, . erased, p parity or a map page."""

    state: str
    stream: str | None
    erase_count: int
    valid: int
    units: str
    age: float | None
    temperature: float | None


class PowerLoss(TypedDict):
    """The cost of a power loss for a drive."""

    power_loss_protection: bool
    torn_units: int
    checkpoint_units: int
    scanned_pages: int
    duration_ns: int


class PowerLossSteps(PowerLoss):
    """The cost of a power loss, with the time of each step."""

    checkpoint_ns: int
    scan_ns: int
    scanned_in_full: list[int]
    """Erase units in ascending order."""


class RecoveryStatus(TypedDict):
    """A power loss that the page is showing."""

    number: int
    is_real: bool
    goes_on: bool
    drives: tuple[PowerLossSteps, ...]


class Expectation(TypedDict):
    """The position of theory's line."""

    value: float | None
    formula: str | None
    reason: str | None


class Choice(TypedDict):
    """A drive as the page specifies it."""

    name: str
    op: float | None
    victim: str | None
    placement: str | None


class Workload(TypedDict):
    """The controls of a workload; see `ssdlab.simulator.workloads.controls.Controls`."""

    kind: Literal["random", "sequential"]
    block_bytes: int
    read_percent: int
    skew: float
    trim_percent: int
    iodepth: int


class DriveStatus(TypedDict):
    """The status of a drive, without its figures."""

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
    """A moment named by the user, with its position on the axis of every drive."""

    name: str
    host_written_bytes: list[int]
    simulated_seconds: list[float | None]


class TourPlace(TypedDict):
    """The current position in a tour."""

    name: str
    step: int


class Status(TypedDict):
    """The status of the session, without the figures."""

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
    """The answer to a command of the page."""

    type: Literal["reply"]
    id: object
    """The id from the command."""
    ok: NotRequired[bool]
    value: NotRequired[object]
    message: NotRequired[str]
    """The reason for the refusal."""


class Rested(TypedDict):
    """Sent after the drives stood still because no page was open."""

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
    """The choices that the page offers."""

    drives: list[OfferedDrive]
    policies: dict[str, list[NamedSummary]]
    """Policies by the key of the drive file."""
    jobs: list[NamedSummary]


class SweepHello(TypedDict):
    """The first message to the page of a sweep."""

    type: Literal["hello"]
    version: str


class Hello(Catalogue):
    """The first message to the page of drives: all choices that it offers."""

    type: Literal["hello"]
    version: str
    columns: tuple[str, ...]
    parts: tuple[str, ...]
    views: tuple[str, ...]
    tours: list[TourShown]
    shared: bool
    """Whether the page can only look, because its session belongs to another."""


class Report(TypedDict):
    """A saved report: its folder, and the path of its page for the browser."""

    folder: str
    page: str


class SweepAxis(TypedDict):
    """The horizontal axis; `names` is None if its values are numbers."""

    name: str
    names: list[str] | None
    low: float
    high: float


class SweepLine(TypedDict):
    name: str
    points: list[list[float]]
    """(position on the axis, mean, minimum, maximum)"""


class SweepPanel(TypedDict):
    name: str
    lines: list[SweepLine]


class SweepFigure(TypedDict):
    """One picture of a sweep."""

    name: str
    title: str
    word: str
    """The format of its values: a function of `words.js`."""
    panels: list[SweepPanel]


class Sweep(TypedDict):
    """A sweep with the results stored so far."""

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
