"""How long drives last whose blocks differ: a fast model of wear-out, from the first lost block to the last spare one.

Every erase unit wears alike (which wear levelling is for), so that only the number of erases an erase unit has seen
matters. Between the loss of one erase unit and of the next nothing changes: write amplification and speed are those of
the spare area that is left, so the model steps from loss to loss. What they are at a spare area comes from runs of the
engine (`Calibration`); how well the whole agrees with a full simulation is tested.

Not for retention, read disturb or firmware faults: a drive dies here when it has no room left for its host's data.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.drives import ResolvedDrive

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """Points of the steady state over (T - U) / U, ascending, from the engine; speeds in requests a second."""

    over_provisioning: Sequence[float]
    waf: Sequence[float]
    iops: Sequence[float] | None = None

    def waf_at(self, over_provisioning: "Floats") -> "Floats":
        """WAF between the points, along straight lines of log(WAF - 1) over log OP; along the last one beyond them."""
        import numpy as np

        excess: Floats = np.maximum(np.asarray(self.waf, dtype=np.float64) - 1, 1e-6)
        return 1 + _along(over_provisioning, self.over_provisioning, excess)

    def iops_at(self, over_provisioning: "Floats") -> "Floats":
        """Speed in the same way; ValueError without speeds."""
        import numpy as np

        if self.iops is None:
            raise ValueError("the calibration has no speeds")
        return _along(over_provisioning, self.over_provisioning, np.asarray(self.iops, dtype=np.float64))


@dataclass(frozen=True)
class Wear:
    """How blocks differ, as shares of the rated cycles: within a drive, and the means of drives among each other."""

    block_spread: float
    drive_spread: float = 0.0


@dataclass(frozen=True)
class Lives:
    """Of each drive: bytes from the host until it turns read-only, and until it is slower than was asked."""

    host_bytes: "Floats"
    fast_host_bytes: "Floats"
    lost_erase_units: int
    """How many erase units a drive may lose."""

    def share_reaching(self, host_bytes: float, *, fast: bool = False) -> float:
        """The share of drives, 0 to 1, that take so much; with `fast` and are still fast then."""
        lives = self.fast_host_bytes if fast else self.host_bytes
        return float((lives >= host_bytes).mean())


def lives(
    drive: "ResolvedDrive",
    calibration: Calibration,
    wear: Wear,
    *,
    drives: int,
    seed: int,
    iops_min: float | None = None,
) -> Lives:
    """The lives of so many drives of a kind, each with blocks of its own.

    `iops_min` needs a calibration with speeds. Memory: 8 bytes a block of one drive.
    """
    import numpy as np

    capacity = drive.capacity
    devices = capacity.devices
    planes = capacity.planes // devices if drive.file.ftl.erase_unit == "superblock" else 1
    units = capacity.data_units_per_erase_unit
    spare = _spare_erase_units(drive)
    left = capacity.erase_units // devices - np.arange(spare + 1)
    over_provisioning = left * units * devices / capacity.user_units - 1
    host_units_a_cycle = left * units / calibration.waf_at(over_provisioning)
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
        # Each device of a stripe writes as much as the others, so that the first to end or to slow down does for all.
        host_bytes[index], fast_host_bytes[index] = devices * np.min(of_devices, axis=0)
    return Lives(host_bytes, fast_host_bytes, spare)


def _losses(cycles: "Floats", count: int) -> "Floats":
    """At how many erases an erase unit is lost for the first, second, ... time; `cycles` is (planes, blocks).

    A superblock whose block fails takes a spare block of that plane, which there is as soon as another plane has lost
    one before. So the k-th is lost when the first plane has lost k blocks.
    """
    import numpy as np

    count = min(count, cycles.shape[1])
    weakest = np.sort(np.partition(cycles, count - 1, axis=1)[:, :count], axis=1)
    first: Floats = weakest.min(axis=0)
    return first


def _spare_erase_units(drive: "ResolvedDrive") -> int:
    """How many erase units a device may lose before the engine's drive turns read-only."""
    capacity = drive.capacity
    devices = capacity.devices
    held_back = (capacity.reserve_erase_units + capacity.open_erase_units) // devices + 1
    needed = math.ceil(capacity.user_units / devices / capacity.data_units_per_erase_unit) + held_back
    return max(0, capacity.erase_units // devices - needed)


def _along(x: "Floats", known_x: Sequence[float], known_y: "Floats") -> "Floats":
    """Interpolated and extrapolated along straight lines in double logarithmic axes."""
    import numpy as np

    log_x, log_known, log_y = np.log(np.maximum(x, 1e-4)), np.log(np.asarray(known_x)), np.log(known_y)
    result: Floats = np.interp(log_x, log_known, log_y)
    if len(known_x) > 1:
        for inner, outer, beyond in ((1, 0, log_x < log_known[0]), (-2, -1, log_x > log_known[-1])):
            slope = (log_y[outer] - log_y[inner]) / (log_known[outer] - log_known[inner])
            result = np.where(beyond, log_y[outer] + slope * (log_x - log_known[outer]), result)
    return np.exp(result)
