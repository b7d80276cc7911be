"""A fast model of the life of drives with blocks of different endurance, from the first lost block to the last spare.

All erase units wear equally (perfect wear levelling), so only the number of erases per erase unit matters. Between the
losses of two erase units, write amplification and speed are constant and those of the remaining spare area, so the
model steps from loss to loss. Their values at a spare area come from runs of the engine (`Calibration`). A test
compares the model with full simulations.

Not for retention, read disturb or firmware faults: a drive ends here when it has no space left for its host's data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.simulator.drives import ResolvedDrive

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """Points of the steady state from the engine, by ascending (T - U) / U; speeds in requests per second."""

    over_provisioning: Sequence[float]
    waf: Sequence[float]
    iops: Sequence[float] | None = None
    host: float = 1.0
    """The part of the WAF that no spare area changes: the host's own bytes, below 1 where a drive reduces data."""

    def waf_at(self, over_provisioning: "Floats") -> "Floats":
        """The WAF, by linear interpolation and extrapolation of log(WAF - host) over log OP."""
        import numpy as np

        excess: Floats = np.maximum(np.asarray(self.waf, dtype=np.float64) - self.host, 1e-6)
        return self.host + _along(over_provisioning, self.over_provisioning, excess)

    def iops_at(self, over_provisioning: "Floats") -> "Floats":
        """The speed, by linear interpolation of logarithms. Raises ValueError if the calibration has no speeds."""
        import numpy as np

        if self.iops is None:
            raise ValueError("the calibration has no speeds")
        return _along(over_provisioning, self.over_provisioning, np.asarray(self.iops, dtype=np.float64))


@dataclass(frozen=True)
class Wear:
    """The variation of endurance, as shares of the rated cycles: of blocks within a drive, and of the drives' means."""

    block_spread: float
    drive_spread: float = 0.0


@dataclass(frozen=True)
class Lives:
    """Host bytes of each drive until it becomes read-only, and until it is slower than the minimum speed."""

    host_bytes: "Floats"
    fast_host_bytes: "Floats"
    lost_erase_units: int
    """The number of erase units that a drive can lose."""

    def share_reaching(self, host_bytes: float, *, fast: bool = False) -> float:
        """The share of drives, 0 to 1, that reach `host_bytes`; with `fast`, of those that are then still fast."""
        lives = self.fast_host_bytes if fast else self.host_bytes
        return float((lives >= host_bytes).mean())


@dataclass(frozen=True)
class Course:
    """The life of one drive in steps: from a lost erase unit to the next, everything is constant."""

    host_bytes: "Floats"
    """Host bytes written until the end of each step. The drive is read-only after the last."""
    over_provisioning: "Floats"
    """(T - U) / U in each step, T without the lost erase units."""
    waf: "Floats"
    iops: "Floats | None"
    """None if the calibration has no speeds."""

    def at(self, host_bytes: float) -> int:
        """The step in which so much is written, the last one from the end on; also the number of lost erase units."""
        return min(int((self.host_bytes <= host_bytes).sum()), len(self.host_bytes) - 1)


def course(drive: "ResolvedDrive", calibration: Calibration, wear: Wear, *, seed: int) -> Course:
    """Draws the life of one drive. Memory: 8 bytes per block. The devices of a stripe are taken to be alike."""
    import numpy as np

    capacity = drive.capacity
    devices, steps = capacity.devices, _spare_erase_units(drive) + 1
    over_provisioning, host_units_a_cycle = _steps(drive, calibration)
    planes = capacity.planes // devices if drive.file.ftl.erase_unit == "superblock" else 1
    generator = np.random.default_rng(seed)
    mean = drive.endurance_cycles * max(0.01, 1 + wear.drive_spread * generator.standard_normal())
    cycles = mean * (1 + wear.block_spread * generator.standard_normal((planes, capacity.blocks // devices // planes)))
    written = np.diff(_losses(np.maximum(cycles, 1.0), steps), prepend=0.0) * host_units_a_cycle
    return Course(
        devices * np.cumsum(written) * capacity.mapping_unit_bytes,
        over_provisioning,
        calibration.waf_at(over_provisioning),
        None if calibration.iops is None else calibration.iops_at(over_provisioning),
    )


def _steps(drive: "ResolvedDrive", calibration: Calibration) -> "tuple[Floats, Floats]":
    """(T - U) / U after each loss of an erase unit, and what the host writes while each block is erased once."""
    import numpy as np

    capacity = drive.capacity
    # Parity is a part of T, and of the programs that write amplification counts.
    units = capacity.units_per_erase_unit
    left = capacity.erase_units // capacity.devices - np.arange(_spare_erase_units(drive) + 1)
    over_provisioning = left * units * capacity.devices / capacity.user_units - 1
    return over_provisioning, left * units / calibration.waf_at(over_provisioning)


def lives(
    drive: "ResolvedDrive",
    calibration: Calibration,
    wear: Wear,
    *,
    drives: int,
    seed: int,
    iops_min: float | None = None,
) -> Lives:
    """Draws the lives of a number of drives of one model, each with its own blocks.

    `iops_min` requires a calibration with speeds. Memory: 8 bytes per block of one drive.
    """
    import numpy as np

    capacity = drive.capacity
    devices = capacity.devices
    planes = capacity.planes // devices if drive.file.ftl.erase_unit == "superblock" else 1
    spare = _spare_erase_units(drive)
    over_provisioning, host_units_a_cycle = _steps(drive, calibration)
    fast_steps = spare + 1
    if iops_min is not None:
        slow = np.flatnonzero(calibration.iops_at(over_provisioning) < iops_min)
        fast_steps = int(slow[0]) if slow.size else spare + 1
    generator = np.random.default_rng(seed)
    host_bytes, fast_host_bytes = np.empty(drives), np.empty(drives)
    for index in range(drives):
        mean = drive.endurance_cycles * max(0.01, 1 + wear.drive_spread * generator.standard_normal())
        blocks = planes, capacity.blocks // devices // planes
        of_devices = []
        for _ in range(devices):
            cycles = mean * (1 + wear.block_spread * generator.standard_normal(blocks))
            losses = _losses(np.maximum(cycles, 1.0), spare + 1)
            written = np.diff(losses, prepend=0.0) * host_units_a_cycle * capacity.mapping_unit_bytes
            of_devices.append((written.sum(), written[:fast_steps].sum()))
        # All devices of a stripe write equally much, so the first that ends or slows down limits the drive.
        host_bytes[index], fast_host_bytes[index] = devices * np.min(of_devices, axis=0)
    return Lives(host_bytes, fast_host_bytes, spare)


def _losses(cycles: "Floats", count: int) -> "Floats":
    """The numbers of erases at which the first, second, ... erase unit is lost. `cycles` has shape (planes, blocks).

    A superblock with a failed block gets a spare block of that plane, which is available after another plane has lost a
    block. So the k-th superblock is lost when the first plane has lost k blocks.
    """
    import numpy as np

    count = min(count, cycles.shape[1])
    weakest = np.sort(np.partition(cycles, count - 1, axis=1)[:, :count], axis=1)
    first: Floats = weakest.min(axis=0)
    return first


def _spare_erase_units(drive: "ResolvedDrive") -> int:
    """The number of erase units that a device can lose before the engine's drive becomes read-only."""
    capacity = drive.capacity
    devices = capacity.devices
    held_back = (capacity.reserve_erase_units + capacity.open_erase_units) // devices + 1
    needed = math.ceil(capacity.user_units / devices / capacity.data_units_per_erase_unit) + held_back
    return max(0, capacity.erase_units // devices - needed)


def _along(x: "Floats", known_x: Sequence[float], known_y: "Floats") -> "Floats":
    """Linear interpolation and extrapolation in log-log axes."""
    import numpy as np

    log_x, log_known, log_y = np.log(np.maximum(x, 1e-4)), np.log(np.asarray(known_x)), np.log(known_y)
    result: Floats = np.interp(log_x, log_known, log_y)
    if len(known_x) > 1:
        for inner, outer, beyond in ((1, 0, log_x < log_known[0]), (-2, -1, log_x > log_known[-1])):
            slope = (log_y[outer] - log_y[inner]) / (log_known[outer] - log_known[inner])
            result = np.where(beyond, log_y[outer] + slope * (log_x - log_known[outer]), result)
    return np.exp(result)
