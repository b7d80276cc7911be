"""Requests to a drive, simulated: how many bytes of flash they cost.

Either once, on a new drive, as `ssdlab mount` would count them; or repeated until write amplification is steady, on a
drive that is full of other data. The drive is smaller in most cases (`scale_for`): its dies, pages and buffer are those
of the full one, so that what a flush pads is the same; its erase units are smaller. Each request follows the completion
of the one before, so that nothing is simulated of what a drive does when it is idle.
"""

import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ssdlab.errors import InputError, Note, naming
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.blame.file_system import Request
from ssdlab.simulator.drives import ResolvedDrive
from ssdlab.simulator.results import Result
from ssdlab.simulator.targets.side_by_side import all_side_by_side
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.rates.drawing import COLUMNS
from ssdlab.simulator.workloads.traces.miniature import shuffle_of
from ssdlab.simulator.workloads.traces.profile import profile_and_hold
from ssdlab.simulator.workloads.traces.recording import Map, Recording, opened
from ssdlab.simulator.workloads.traces.specification import specify

SEEDS = (1, 2, 3)
_RATIOS = [Fraction(1, 1 << power) for power in range(12, 0, -1)]
_UNITS_MIN = 250_000
# The recorded files are a larger share of a smaller drive; above this share a larger one is taken.
_SHARE_MAX = 0.1
# The fill is in requests of this size: what does not divide the drive would be filled in mapping units, and then takes
# as long as all rounds.
_FILL_BLOCK_BYTES = specifying.PRECONDITION_BLOCK_BYTES
_SHUFFLED_MAX = 2_000_000
_NS = 1_000_000_000


@dataclass(frozen=True)
class Flash:
    """What requests cost in flash, by cause."""

    host_bytes: int
    """The bytes of the requests."""
    waf: float
    parts: Mapping[str, float]
    """The parts of `waf`, which add up to it: host, gc, padding and others."""
    steady: bool

    @property
    def programmed_bytes(self) -> float:
        return self.waf * self.host_bytes


def scale_for(setting: Setting, footprint_bytes: int) -> Fraction | None:
    """The scale of the drive for requests to this much of it; None for full size."""
    for ratio in _RATIOS:
        with warnings.catch_warnings():
            # A note says what is different in a drive of this scale.
            warnings.simplefilter("error", Note)
            try:
                capacity = setting.at(None, ratio).capacity
            except (InputError, Note):
                continue
        if capacity.user_units >= _UNITS_MIN and footprint_bytes <= _SHARE_MAX * capacity.user_bytes:
            return ratio
    return None


@contextmanager
def as_trace(requests: Iterable[Request], name: str) -> Iterator[Recording]:
    """The requests as a trace in a temporary file; `name` names it in errors."""
    with ExitStack() as stack:
        aside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ssdlab-"))) / "requests"
        with naming(aside), aside.open("w", encoding="utf-8") as file:
            for each in requests:
                at = f"{round(each.seconds * _NS)},{each.operation}"
                file.write(f"{at},{each.offset_bytes},{each.length_bytes}\n")
        recording = stack.enter_context(opened([str(aside)], None, 0, COLUMNS))
        yield Recording((name,), recording.paths, None, 0, columns=COLUMNS)


def once(recording: Recording, drive: ResolvedDrive, *, seed: int = 1) -> Flash:
    """The requests once, on a new drive."""
    specification = specify(
        recording,
        drive,
        volume=None,
        address_map="strict",
        seed=seed,
        precondition="none",
        arrival="closed",
        iodepth=1,
    )
    [result] = all_side_by_side([specification], 1)
    return _of(result, recording)


def until_steady(
    recording: Recording,
    drive: ResolvedDrive,
    footprint_bytes: int,
    *,
    address_map: Map = "strict",
    seeds: Sequence[int] = SEEDS,
    workers: int | None = None,
    tell: Callable[[float], None] | None = None,
) -> list[Flash]:
    """The requests again and again on a full drive, in pieces in changing order, until write amplification is steady;
    for each seed."""
    capacity = drive.capacity
    # A round writes as much as the requests can change: the places that they write, and the spare area.
    changed = footprint_bytes + capacity.physical_bytes - capacity.user_bytes
    share = min(1.0, changed / capacity.user_bytes)
    _, held = profile_and_hold(recording, None)
    repeats_in_pieces = sum(volume.requests for volume in recording.survey.volumes) <= _SHUFFLED_MAX
    erase_unit_bytes = capacity.units_per_erase_unit * capacity.mapping_unit_bytes
    specifications = [
        specify(
            recording,
            drive,
            volume=None,
            address_map=address_map,
            seed=seed,
            until_steady=True,
            round_share=share,
            # Only a drive with a clock has a write buffer, which a flush empties.
            arrival="closed",
            iodepth=1,
            shuffle=shuffle_of(erase_unit_bytes, seed) if repeats_in_pieces else None,
            fill_bytes=capacity.user_bytes // _FILL_BLOCK_BYTES * _FILL_BLOCK_BYTES or None,
            held=held,
        )
        for seed in seeds
    ]
    shares = dict.fromkeys(range(len(seeds)), 0.0)

    def on_progress(index: int, share: float, _host_bytes: int) -> None:
        shares[index] = share
        if tell:
            tell(sum(shares.values()) / len(shares))

    return [_of(each, recording) for each in all_side_by_side(specifications, workers, on_progress)]


def _of(result: Result, recording: Recording) -> Flash:
    written = sum(volume.written_bytes for volume in recording.survey.volumes)
    waf, parts = result.settled_waf, result.settled_waf_parts
    assert waf is not None and parts is not None, "the requests write"
    is_steady = result.steady_state is not None and result.steady_state.reached
    return Flash(written, waf, dict(parts), is_steady)
