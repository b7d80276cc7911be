"""Brings a drive into its steady state in seconds, by magnifying the steady state of a smaller drive.

The smaller drive has the same number of erase units, each smaller by a factor, and the same spare area and policies. It
runs the same workload without a clock until its write amplification is steady by SNIA's rule. Each of its addresses and
slots then stands for that number of adjacent ones of the large drive. The distribution of live units over erase units,
their ages, and the places of hot and cold data are those of the steady state, for any victim policy and workload. Only
the grouping of adjacent addresses is artificial. A state is a map: buffer and queues are empty, open erase units are
closed, and no clock has spread the data over the dies. The jobs therefore write the drive once more before anything is
counted (`specifying.WARM_UP_DRIVE_WRITES`). A test continues the simulation and finds no drift.

A drive with an SLC cache, a map cache, data reduction or striping runs the workload at full size instead.
"""

import hashlib
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, Note
from ssdlab.simulator.drives import resolve
from ssdlab.simulator.specification import InitialState, Specification
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.specifying import Beginning, Until

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.workloads import Workload

# In smaller erase units the number of live units varies more, which lowers write amplification slightly.
UNITS_PER_ERASE_UNIT_MIN = 128


def steady_state(workload: "Workload", drive: "ResolvedDrive", folder: Path, *, seed: int = 1) -> InitialState:
    """Runs the workload on a smaller drive until it is steady and writes the state to a file in the folder.

    Raises InputError if the workload writes nothing, does not become steady, or the drive has no saveable state.
    """
    small, times = (drive, 1) if keeps_more_than_a_map(drive) else _smaller(drive)
    with warnings.catch_warnings():
        # Notes on what ends this run, which is not the one that was asked for.
        warnings.simplefilter("ignore", Note)
        specification = specifying.specify(workload, small, seed=seed, until="steady", precondition="fill", timed=False)
    for job in specification.engine["jobs"]:
        # Without a clock rates have no effect, so that workloads at several rates share a state.
        job.pop("rate_iops", None)
    path = folder / f"{hashlib.sha256(specification.engine_json().encode()).hexdigest()[:16]}.state"
    if not path.exists():
        result = simulated.run(specification, save_state=path)
        if result.steady_state is None or not result.steady_state.reached:
            path.unlink(missing_ok=True)
            raise InputError(
                f"--precondition steady: {drive.name} does not become steady under this workload; use fill"
            )
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
    precision: float = specifying.PRECISION,
    interval_ns: int | None = None,
    lays_out: bool = False,
) -> Specification:
    """As `specifying.specify`, for any beginning. For "steady", the state is simulated first and stored in `folder`,
    and the drive is warmed up before anything is counted."""
    return specifying.specify(
        workload,
        drive,
        seed=seed,
        until=until,
        precision=precision,
        precondition="fill" if beginning == "fill" else "none",
        timed=timed,
        initial_state=steady_state(workload, drive, folder, seed=seed) if beginning == "steady" else None,
        interval_ns=interval_ns,
        lays_out=lays_out and beginning == "none",
        warms_up=timed and beginning == "steady",
    )


def saved_state(path: str | Path, times: int = 1) -> InitialState:
    """The state in a file, identified by the hash of its content. Raises InputError if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"--from-state {path}: cannot be read: {error.strerror}") from None
    return InitialState(str(path), digest, times)


def keeps_more_than_a_map(drive: "ResolvedDrive") -> bool:
    """Whether the state has parts that do not scale with the size of erase units: an SLC cache, a map cache, reduced
    data or a stripe."""
    file = drive.file
    return file.has_slc_cache or file.map_cache.bytes > 0 or file.has_data_reduction or file.is_striped


def _smaller(drive: "ResolvedDrive") -> tuple["ResolvedDrive", int]:
    """The drive with erase units as small as UNITS_PER_ERASE_UNIT_MIN allows, and the factor; 1 if none fits."""
    pages, units = drive.file.nand.pages_per_block, drive.capacity.units_per_erase_unit
    # Parity stripes have the same length on the smaller drive and must fit its erase units.
    stripe = max(drive.file.parity.units_per_stripe, 1)
    for times in range(units // UNITS_PER_ERASE_UNIT_MIN, 1, -1):
        if pages % times or units // times % stripe:
            continue
        try:
            with warnings.catch_warnings():
                # Notes on sizes that are only tried.
                warnings.simplefilter("ignore", Note)
                small = resolve(drive.file, scale=Fraction(1, times))
        except InputError:
            continue
        # A block keeps the pages of one program at least, so that a scale can leave it larger than asked.
        if small.capacity.units_per_erase_unit * times != units:
            continue
        if small.capacity.erase_units != drive.capacity.erase_units:
            continue
        return replace(small, scale=drive.scale * small.scale), times
    return drive, 1
