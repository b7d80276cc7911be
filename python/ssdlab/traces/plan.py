"""Which replays a command asks for: volumes times the variants of drives, resolved and labelled; and notes on them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ssdlab.comparison.axes import Planned
from ssdlab.errors import InputError
from ssdlab.quantities import format_bytes, parse_bytes
from ssdlab.targets.simulated import Precondition
from ssdlab.traces.recording import Map, Recording
from ssdlab.traces.specification import DriveWrites, TraceSpecification, specify

RUNS_MAX = 100
"""Beyond this a report says nothing any more, and every run reads the whole trace."""


@dataclass(frozen=True)
class Choices:
    """What is the same for all replays of a command."""

    address_map: Map = "fold"
    seed: int = 1
    until_steady: bool = False
    precondition: Precondition = "fill"
    loop_until: DriveWrites | None = None


def volumes_of(recording: Recording, named: Sequence[str], *, each: bool) -> list[str | None]:
    """The volumes to replay, each on its own drive; None stands for the only one there is.

    Raises InputError when a name is unknown, or when there are several volumes and none is chosen.
    """
    volumes = recording.survey.volumes
    names = [recording.volume(name).name for name in named]
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise InputError(f"--volume {twice[0]} is said twice")
    if not names and not each:
        recording.single_volume()
    if len(volumes) == 1:
        return [None]
    return [*(names or [volume.name for volume in volumes])]


def replays(
    recording: Recording, volumes: Sequence[str | None], planned: Sequence[Planned], choices: Choices
) -> list[tuple[Planned, TraceSpecification]]:
    """Every volume on every variant, labelled by what differs. Raises InputError for what cannot be run."""
    count = len(volumes) * len(planned)
    if count > RUNS_MAX:
        raise InputError(
            f"{len(volumes):,} volumes on {len(planned):,} drives are {count:,} runs; allowed are {RUNS_MAX}: "
            "choose volumes with --volume"
        )
    found = []
    for volume in volumes:
        for variant in planned:
            specification = specify(
                recording,
                variant.drive,
                volume=volume,
                address_map=choices.address_map,
                seed=choices.seed,
                until_steady=choices.until_steady,
                precondition=choices.precondition,
                loop_until=choices.loop_until,
            )
            parts = [f"volume {volume}"] if len(volumes) > 1 else []
            parts += [variant.label] if len(planned) > 1 or not parts else []
            found.append((replace(variant, label=", ".join(parts)), specification))
    return found


def notes(
    recording: Recording, volumes: Sequence[str | None], planned: Sequence[Planned], choices: Choices
) -> list[str]:
    """What the reading left out, and where addresses are not the recording's own."""
    survey = recording.survey
    found = []
    if survey.skipped:
        found.append(f"{survey.skipped:,} malformed lines or records were skipped")
    if survey.untold:
        found.append(f"{survey.untold:,} requests that do not say whether they read or write were left out")
    wanted = [volume for volume in survey.volumes if None in volumes or volume.name in volumes]
    end_bytes = max(volume.end_bytes_max for volume in wanted)
    smaller = [variant.drive for variant in planned if variant.drive.capacity.user_bytes < end_bytes]
    if choices.address_map == "compact":
        found.append("addresses are packed in the order of first touch; a trim of what was never touched has no effect")
    elif smaller:
        sizes = dict.fromkeys(format_bytes(drive.capacity.user_bytes) for drive in smaller)
        found.append(
            f"the trace reaches to {format_bytes(end_bytes)}, past the end of a drive of {', '.join(sizes)}: its "
            "addresses are folded, taken modulo the size; --map compact packs them instead, --map strict refuses"
        )
    if any(variant.drive.scale != 1 for variant in planned):
        found.append("the drive is scaled, the trace is not")
    return found


def parse_amount(text: str) -> DriveWrites:
    """`2x` drive writes, or a size such as `100GB`. Raises InputError."""
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
        written_bytes = parse_bytes(text)
    except InputError as error:
        raise InputError(f"--loop-until: {error}; allowed: {allowed}") from None
    if not 0 < written_bytes < 2**63:
        raise InputError(f"--loop-until is {text!r}; allowed: {allowed}")
    return DriveWrites(None, written_bytes)
