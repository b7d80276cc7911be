"""The replays of a command: volumes times variants of drives, resolved and labelled; and notes on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.experiments.comparison.axes import Planned
from ssdlab.foundation.quantities import format_bytes, parse_bytes_with_unit
from ssdlab.simulator.specification import InitialState
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.targets.preconditioning import saved_state
from ssdlab.simulator.workloads.specifying import Precondition
from ssdlab.simulator.workloads.traces.miniature import sample_of, shuffle_of
from ssdlab.simulator.workloads.traces.profile import Profile, profile_of
from ssdlab.simulator.workloads.traces.recording import Arrival, Map, Recording, Sample, earlier_said
from ssdlab.simulator.workloads.traces.specification import CLOSED_DEPTH, DriveWrites, TraceSpecification, specify

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive

RUNS_MAX = 100
"""More runs would make a report unreadable, and every run reads the whole trace."""


@dataclass(frozen=True)
class Choices:
    """The options that all replays of a command share."""

    address_map: Map = "fold"
    seed: int = 1
    until_steady: bool = False
    round_share: float | None = None
    """The share of the drive that a round of the steady state writes; None: all of it."""
    precondition: Precondition = "fill"
    loop_until: DriveWrites | None = None
    timed: bool = True
    arrival: Arrival = "trace"
    time_scale: float = 1.0
    iodepth: int | None = None
    initial_state: InitialState | None = None
    """The saved state that each drive starts in; nothing is written before the trace."""
    steady_in: Path | None = None
    """Each drive starts in the steady state of the trace, which is stored in this folder."""
    sample_region_bytes: int | None = None
    """The region size of the sample of addresses for scaled drives; None: the whole trace is replayed."""
    shuffled: bool = False
    """Whether passes after the first replay the pieces of the trace in a random order."""


def volumes_of(recording: Recording, named: Sequence[str], *, each: bool) -> list[str | None]:
    """The volumes to replay, each on its own drive; None stands for the only volume.

    Raises InputError if a name is unknown or given twice, or if there are several volumes and none is chosen.
    """
    volumes = recording.survey.volumes
    names = [recording.volume(name).name for name in named]
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise InputError(f"--volume {twice[0]} is given twice")
    if not names and not each:
        recording.single_volume()
    if len(volumes) == 1:
        return [None]
    return [*(names or [volume.name for volume in volumes])]


def replays(
    recording: Recording, volumes: Sequence[str | None], planned: Sequence[Planned], choices: Choices
) -> list[tuple[Planned, TraceSpecification]]:
    """Every volume on every variant, labelled by the differences. Raises InputError if one cannot be run."""
    count = len(volumes) * len(planned)
    if count > RUNS_MAX:
        raise InputError(
            f"{len(volumes):,} volumes on {len(planned):,} drives are {count:,} runs; allowed: up to {RUNS_MAX}; "
            "select volumes with --volume"
        )
    found = []
    for volume in volumes:
        region_bytes = choices.sample_region_bytes
        profile = profile_of(recording, volume, region_bytes=region_bytes) if region_bytes else None
        for variant in planned:
            sample, scaled = _sample(profile, variant, choices), choices.time_scale
            state = choices.initial_state
            if choices.steady_in is not None:
                state = steady_state(recording, volume, variant.drive, choices, choices.steady_in, sample)
            capacity = variant.drive.capacity
            erase_unit_bytes = capacity.units_per_erase_unit * capacity.mapping_unit_bytes
            specification = specify(
                recording,
                variant.drive,
                volume=volume,
                address_map=choices.address_map,
                seed=choices.seed,
                until_steady=choices.until_steady,
                round_share=choices.round_share,
                precondition=choices.precondition,
                loop_until=choices.loop_until,
                timed=choices.timed,
                arrival=choices.arrival,
                time_scale=scaled / sample.one_in if sample else scaled,
                iodepth=choices.iodepth,
                initial_state=state,
                sample=sample,
                shuffle=shuffle_of(erase_unit_bytes, choices.seed) if choices.shuffled else None,
            )
            parts = [f"volume {volume}"] if len(volumes) > 1 else []
            parts += [variant.label] if len(planned) > 1 or not parts else []
            found.append((replace(variant, label=", ".join(parts)), specification))
    return found


def steady_state(
    recording: Recording,
    volume: str | None,
    drive: "ResolvedDrive",
    choices: Choices,
    folder: Path,
    sample: Sample | None = None,
) -> InitialState:
    """The steady state, by SNIA's rule, of the trace repeated without a clock on the filled drive.

    Raises InputError if the trace writes nothing or does not become steady.
    """
    settling = specify(
        recording,
        drive,
        volume=volume,
        address_map=choices.address_map,
        seed=choices.seed,
        until_steady=True,
        timed=False,
        sample=sample,
    )
    path = folder / f"{settling.hash()[:16]}.state"
    result = simulated.run(settling, save_state=path)
    if result.steady_state is None or not result.steady_state.reached:
        raise InputError(f"--precondition steady: {drive.name} does not become steady under this trace; use fill")
    return saved_state(path)


def _sample(profile: Profile | None, variant: Planned, choices: Choices) -> Sample | None:
    """A sample in the ratio of the drive's scale; None without sampling. Raises InputError if the scale is not 1/n."""
    scale = variant.drive.scale
    if profile is None or choices.sample_region_bytes is None:
        return None
    if scale.numerator != 1:
        pages = variant.drive.file.nand.pages_per_block / scale
        raise InputError(
            f"--sample requires a scale of 1/n, and {variant.drive.name} is scaled to {scale}; use a --scale of "
            f"1/n whose n divides its {pages:g} pages of a block"
        )
    return sample_of(profile, scale.denominator, region_bytes=choices.sample_region_bytes, seed=choices.seed)


def notes(
    recording: Recording, volumes: Sequence[str | None], planned: Sequence[Planned], choices: Choices
) -> list[str]:
    """Notes on omitted records, changed addresses and scaling."""
    survey = recording.survey
    found = list(recording.drawn_from)
    if survey.skipped:
        found.append(f"{survey.skipped:,} malformed lines or records were skipped")
    if survey.without_direction:
        found.append(f"{survey.without_direction:,} requests without a direction were omitted")
    if choices.timed and choices.arrival == "trace":
        found += earlier_said(survey.earlier, survey.earlier_ns_max)
    found += [f"{name} {note}" for name, note in zip(recording.names, survey.notes, strict=True) if note is not None]
    if survey.through:
        found.append(
            f"{survey.through:,} writes complete when their data is on the medium (FUA), and are replayed so"
            f"{'' if choices.timed else '; without a clock that has no effect'}"
        )
    if choices.timed and not survey.has_times:
        depth = choices.iodepth or CLOSED_DEPTH
        why = (
            "the first request of the trace has the latest time, so that its times do not say when the others arrive"
            if survey.earlier
            else "the trace has no times"
        )
        found.append(
            f"{why}: each request follows the completion of another, with {depth} outstanding "
            "(--iodepth), and the drive's own speed decides the result"
        )
    wanted = [volume for volume in survey.volumes if None in volumes or volume.name in volumes]
    end_bytes = max(volume.end_bytes_max for volume in wanted)
    sampled_by = {
        variant.label: round(1 / variant.drive.scale) if choices.sample_region_bytes else 1 for variant in planned
    }
    smaller = [
        variant.drive
        for variant in planned
        if variant.drive.capacity.user_bytes * sampled_by[variant.label] < end_bytes
    ]
    if choices.address_map == "compact":
        found.append(
            "addresses are compacted in the order of first access; a trim of unaccessed addresses has no effect"
        )
    elif smaller:
        sizes = dict.fromkeys(format_bytes(drive.capacity.user_bytes) for drive in smaller)
        found.append(
            f"the trace reaches to {format_bytes(end_bytes)}, past the end of a drive of {', '.join(sizes)}: its "
            "addresses are taken modulo the size; --map compact compacts them instead, --map strict refuses them"
        )
    if any(variant.drive.scale != 1 for variant in planned):
        found.append(
            "the scaled drive replays a sample of the trace's addresses"
            if choices.sample_region_bytes
            else "the drive is scaled, the trace is not; --sample reduces its addresses by the same factor"
        )
    return found


def parse_amount(text: str) -> DriveWrites:
    """Parses `2x` drive writes, or a size such as `100GB`. Raises InputError."""
    allowed = "drive writes such as 2x or 0.5x, or a size such as 100GB, above 0"
    if text.strip().endswith("x"):
        try:
            drive_writes = Fraction(text.strip().removesuffix("x"))
        except (ValueError, ZeroDivisionError):
            raise InputError(f"--loop-until is {text!r}; allowed: {allowed}") from None
        if not 0 < drive_writes <= 10**9:
            raise InputError(f"--loop-until is {text!r}; allowed: {allowed}")
        return DriveWrites(drive_writes)
    try:
        written_bytes = parse_bytes_with_unit(text)
    except InputError as error:
        raise InputError(f"--loop-until: {error}; allowed: {allowed}") from None
    if not 0 < written_bytes < 2**63:
        raise InputError(f"--loop-until is {text!r}; allowed: {allowed}")
    return DriveWrites(None, written_bytes)
