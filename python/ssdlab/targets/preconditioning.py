"""A drive put into its steady state in seconds: what a smaller drive settles into, magnified.

The smaller drive has as many erase units, each so many times smaller, and the same spare area and policies; it runs the
same workload until its write amplification is steady by SNIA's rule, without a clock. Each of its addresses and places
then stands for so many neighbours of the large drive's. So the distribution of live units over erase units, their ages,
and where hot and cold data lie are those of the steady state, whatever the victim policy and the workload; which
neighbours lie together is all that is made up, and writing on mixes that. A test simulates on and finds no drift.
A drive with an SLC cache, a map cache or data reduction, and a stripe, runs the workload itself, in its own size.
"""

import hashlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.drives import resolve
from ssdlab.errors import InputError
from ssdlab.specification import InitialState, Specification
from ssdlab.targets import simulated
from ssdlab.workloads import specifying
from ssdlab.workloads.specifying import Beginning, Until

if TYPE_CHECKING:
    from ssdlab.drives import ResolvedDrive
    from ssdlab.workloads import Workload

# Smaller erase units vary more in their live units, which makes write amplification a little lower.
UNITS_PER_ERASE_UNIT_MIN = 128


def steady_state(workload: "Workload", drive: "ResolvedDrive", folder: Path, *, seed: int = 1) -> InitialState:
    """Runs the workload on a smaller drive until it is steady and leaves the state in a file in the folder.

    Raises InputError where the workload writes nothing, does not settle, or the drive has what a state cannot hold.
    """
    small, times = (drive, 1) if _keeps_more_than_a_map(drive) else _smaller(drive)
    specification = specifying.specify(workload, small, seed=seed, until="steady", precondition="fill", timed=False)
    path = folder / f"{specification.hash()[:16]}.state"
    result = simulated.run(specification, save_state=path)
    if result.steady_state is None or not result.steady_state.reached:
        raise InputError(f"--precondition steady: {drive.name} does not become steady under this workload; use fill")
    return saved_state(path, times)


def specify_beginning(
    workload: "Workload",
    drive: "ResolvedDrive",
    beginning: Beginning,
    folder: Path,
    *,
    seed: int,
    until: Until,
    timed: bool,
    interval_ns: int | None = None,
) -> Specification:
    """As `specifying.specify`, for any beginning; the state of "steady" is found first and kept in `folder`."""
    return specifying.specify(
        workload,
        drive,
        seed=seed,
        until=until,
        precondition="fill" if beginning == "fill" else "none",
        timed=timed,
        initial_state=steady_state(workload, drive, folder, seed=seed) if beginning == "steady" else None,
        interval_ns=interval_ns,
    )


def saved_state(path: str | Path, times: int = 1) -> InitialState:
    """A state in a file, by its content. Raises InputError when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"--from-state {path}: cannot be read: {error.strerror}") from None
    return InitialState(str(path), digest, times)


def _keeps_more_than_a_map(drive: "ResolvedDrive") -> bool:
    """What a cache or reduced data make of a drive does not grow with its erase units, nor do the chunks of a stripe:
    such a drive settles itself."""
    file = drive.file
    return file.has_slc_cache or file.map_cache.bytes > 0 or file.has_data_reduction or file.is_striped


def _smaller(drive: "ResolvedDrive") -> tuple["ResolvedDrive", int]:
    """The drive with erase units as many times smaller as there are enough units left; and how many times."""
    pages, units = drive.file.nand.pages_per_block, drive.capacity.units_per_erase_unit
    # A stripe of parity is as long on the smaller drive, and must not be cut short there.
    stripe = max(drive.file.parity.units_per_stripe, 1)
    for times in range(units // UNITS_PER_ERASE_UNIT_MIN, 1, -1):
        if pages % times or units // times % stripe:
            continue
        try:
            small = resolve(drive.file, scale=Fraction(1, times))
        except InputError:
            continue
        if small.capacity.erase_units != drive.capacity.erase_units:
            continue
        return replace(small, scale=drive.scale * small.scale), times
    return drive, 1
