"""One drive of a session: what it is, its commands, and what the page says of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ssdlab.drives import ResolvedDrive, load, resolve
from ssdlab.errors import InputError
from ssdlab.live import choices
from ssdlab.live.journal import Journal
from ssdlab.live.messages import DriveStatus
from ssdlab.live.theory import Theory
from ssdlab.quantities import format_share
from ssdlab.specification import Specification

# A drive of so many units fills within seconds.
_UNITS_TO_WATCH_MAX = 4_000_000
_SCALES = (1, 4, 16, 64, 256)


@dataclass
class Bench:
    """One drive of the session: what it is, and its commands."""

    choice: choices.DriveChoice
    drive: ResolvedDrive
    theory: Theory
    journal: Journal = field(default_factory=Journal)
    specification: Specification | None = None


def resolve_to_watch(choice: choices.DriveChoice, settings: Mapping[str, str], scale: Fraction | None) -> ResolvedDrive:
    """The drive at the scale, or without one at the largest that is quick to watch. Raises InputError."""
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
            # Its erase units would become too small.
            break
    return drive


def labels(benches: Sequence[Bench]) -> list[str]:
    """What distinguishes drives, in few words."""
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


def drive_status(bench: Bench, label: str, partition_percent: int) -> DriveStatus:
    """What the page shows of a drive apart from its figures; the host uses the first `partition_percent` of it."""
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
        "description": bench.drive.file.description,
        "scale": str(bench.drive.scale),
        "victim": bench.drive.file.ftl.victim.name,
        "placement": bench.drive.file.ftl.placement.name,
        "erase_units": capacity.erase_units,
        "units_per_erase_unit": capacity.units_per_erase_unit,
        "mapping_unit_bytes": capacity.mapping_unit_bytes,
        "physical_bytes": capacity.physical_bytes,
        "user_bytes": capacity.user_bytes,
        "over_provisioning": capacity.over_provisioning,
        # As the host sees it that leaves the rest of the drive alone.
        "used_over_provisioning": capacity.physical_bytes / partition_bytes - 1,
        "endurance_cycles": bench.drive.endurance_cycles,
    }
