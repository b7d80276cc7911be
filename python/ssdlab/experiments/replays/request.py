"""The arguments of a replay: volumes, repetition, initial state, arrival of requests. Fast to import."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from ssdlab.errors import InputError, check_word
from ssdlab.foundation.quantities import parse_bytes_with_unit, parse_share
from ssdlab.simulator.workloads.specifying import Beginning
from ssdlab.simulator.workloads.traces.recording import Arrival, Map

Until = Literal["trace", "steady"]


@dataclass(frozen=True)
class Reading:
    """The volumes of the traces to replay, and how the files are read."""

    format_name: str | None = None
    skip_bad: int = 0
    """The number of malformed lines that can be skipped."""
    volumes: Sequence[str] = ()
    each_volume: bool = False
    merge_volumes: bool = False
    columns: str | None = None
    """The names of the columns of a text that is in no known format, such as `time,op,sector,sectors`."""
    device: str | None = None
    """The device of a log of rates that has several."""

    def __post_init__(self) -> None:
        if sum((bool(self.volumes), self.each_volume, self.merge_volumes)) > 1:
            raise InputError("--volume, --each-volume and --merge-volumes exclude each other")


@dataclass(frozen=True)
class Repeating:
    """How often a trace is replayed."""

    until: Until = "trace"
    loop_until: str | None = None
    round_share: float | str | None = None
    shuffle: bool = False

    def __post_init__(self) -> None:
        check_word("--until", self.until, get_args(Until))
        if self.loop_until and self.until == "steady":
            raise InputError("--loop-until and --until steady exclude each other: each sets the end of the repetition")
        if self.shuffle and not self.loop_until and self.until != "steady":
            raise InputError("--shuffle requires --loop-until or --until steady")
        if self.round_share is not None and self.until != "steady":
            raise InputError("--round requires --until steady")

    @property
    def share_of_round(self) -> float | None:
        """The share of the drive that a round of the steady state writes; None: all of it. Raises InputError."""
        given = self.round_share
        if given is None:
            return None
        try:
            share = parse_share(given) if isinstance(given, str) else given
        except InputError as error:
            raise InputError(f"--round: {error}") from None
        if not 0 < share <= 1:
            raise InputError(f"--round is {given!r}; allowed: above 0%, at most 100%")
        return share


@dataclass(frozen=True)
class Start:
    """The state of the drive before the trace."""

    precondition: Beginning = "fill"
    from_state: str | Path | None = None

    def __post_init__(self) -> None:
        check_word("--precondition", self.precondition, get_args(Beginning))
        if self.from_state is not None and self.precondition != "fill":
            raise InputError("--from-state and --precondition both set the initial state; give one of them")


@dataclass(frozen=True)
class Requests:
    """Where and when the requests of the trace arrive."""

    address_map: Map = "fold"
    arrival: Arrival = "trace"
    time_scale: float = 1.0
    iodepth: int | None = None
    sample: str | None = None

    def __post_init__(self) -> None:
        check_word("--map", self.address_map, get_args(Map))
        check_word("--arrival", self.arrival, get_args(Arrival))
        if not 0 < self.time_scale <= 1e6:
            raise InputError(f"--time-scale is {self.time_scale:g}; allowed: a number above 0, at most 10^6")
        if self.arrival == "closed" and self.time_scale != 1:
            raise InputError("--time-scale changes the recorded times, which --arrival closed does not use")

    def region_bytes(self, *, is_scaled: bool) -> int | None:
        """The region size of the sample; None: the whole trace is replayed. Raises InputError."""
        if self.sample is None:
            return None
        if not is_scaled:
            raise InputError("--sample requires --scale, such as 1/96: drive and sample have the same scale")
        try:
            region_bytes = parse_bytes_with_unit(self.sample)
        except InputError as error:
            raise InputError(f"--sample: {error}") from None
        if region_bytes % 4096 or not 0 < region_bytes < 2**32:
            raise InputError(f"--sample is {self.sample!r}; allowed: a multiple of 4KiB, below 4 GiB")
        return region_bytes
