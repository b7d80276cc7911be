"""One drive of a session: its specification, its jobs, and its status for the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_share
from ssdlab.live import choices
from ssdlab.live.journal import Journal
from ssdlab.live.messages import DriveStatus
from ssdlab.live.theory import Theory
from ssdlab.simulator.drives import ResolvedDrive, load, resolve, standing
from ssdlab.simulator.specification import Specification

# A drive with this number of units fills within seconds.
_UNITS_TO_WATCH_MAX = 4_000_000
_SCALES = (1, 4, 16, 64, 256)


@dataclass
class Bench:
    """One drive of the session, with its jobs so far."""

    choice: choices.DriveChoice
    drive: ResolvedDrive
    theory: Theory
    journal: Journal = field(default_factory=Journal)
    specification: Specification | None = None


def resolve_to_watch(choice: choices.DriveChoice, settings: Mapping[str, str], scale: Fraction | None) -> ResolvedDrive:
    """The drive at the given scale, or else at the largest scale that is quick to watch. Raises InputError."""
    file = load(choice.name)
    if scale is not None:
        return resolve(file, over_provisioning=choice.op, settings=settings, scale=scale)
    drive = resolve(file, over_provisioning=choice.op, settings=settings)
    for divisor in _SCALES[1:]:
        if drive.capacity.physical_units <= _UNITS_TO_WATCH_MAX:
            break
        try:
            drive = resolve(file, over_provisioning=choice.op, settings=settings, scale=Fraction(1, divisor))
        except InputError:
            # At this scale its erase units would be too small.
            break
    return drive


def labels(benches: Sequence[Bench]) -> list[str]:
    """Short labels that distinguish the drives."""
    names = [bench.drive.name for bench in benches]
    if len(set(names)) == len(names):
        return names
    spare = [format_share(bench.drive.capacity.over_provisioning) for bench in benches]
    victims = [bench.drive.file.ftl.victim.name for bench in benches]
    placements = [bench.drive.file.ftl.placement.name for bench in benches]
    for words in (spare, victims, placements):
        if len(set(words)) == len(words):
            return words
    return [f"{name} {number}" for number, name in enumerate(names, start=1)]


def _standing(bench: Bench) -> str:
    return standing.behind(bench.drive.specification(), bench.drive.scale)


def drive_status(bench: Bench, label: str, partition_percent: int) -> DriveStatus:
    """The drive's status for the page, without its figures; the host uses the first `partition_percent` of it."""
    capacity = bench.drive.capacity
    partition_bytes = capacity.user_bytes * partition_percent // 100
    return {
        "label": label,
        "choice": {
            "name": bench.choice.name,
            "op": bench.choice.op,
            "victim": bench.choice.victim,
            "placement": bench.choice.placement,
        },
        "name": bench.drive.name,
        "description": f"{bench.drive.file.description}; {_standing(bench)}",
        "scale": str(bench.drive.scale),
        "victim": bench.drive.file.ftl.victim.name,
        "placement": bench.drive.file.ftl.placement.name,
        "erase_units": capacity.erase_units,
        "units_per_erase_unit": capacity.units_per_erase_unit,
        "mapping_unit_bytes": capacity.mapping_unit_bytes,
        "physical_bytes": capacity.physical_bytes,
        "user_bytes": capacity.user_bytes,
        "over_provisioning": capacity.over_provisioning,
        # The over-provisioning for a host that does not use the rest of the drive.
        "used_over_provisioning": capacity.physical_bytes / partition_bytes - 1,
        "endurance_cycles": bench.drive.endurance_cycles,
    }
