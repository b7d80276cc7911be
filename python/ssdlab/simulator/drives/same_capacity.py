"""The same drive with another spare area by more or less flash, so that the host has the same addresses."""

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.drives.resolve import ResolvedDrive
from ssdlab.simulator.drives.schema import DriveFile, Source, changed, drive_of


def with_spare_area(drive: ResolvedDrive, over_provisioning: float, option: str) -> DriveFile:
    """The drive with another number of blocks, the same capacity and the same dies: what it takes in parallel and its
    times are unchanged. Its spare area is the nearest to `over_provisioning` that whole blocks give.

    `option` is the option that asks for it. Raises InputError if such a drive is not possible.
    """
    asked = f"drive {drive.name!r}: {option} {format_share(over_provisioning)}"
    capacity, blocks = drive.capacity, drive.file.nand.blocks_per_plane
    wanted = round(blocks * capacity.user_units * (1 + over_provisioning) / capacity.physical_units)
    if wanted < 1:
        raise InputError(f"{asked} leaves no block")
    source = Source(kind="assumed", source=f"{blocks} blocks, changed on the command line: {option}")
    key = "nand.blocks_per_plane"
    return drive_of(changed(drive.file.content, {key: wanted}, {key: source}), asked)
