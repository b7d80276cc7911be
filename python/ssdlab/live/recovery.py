"""The steps of a drive's recovery after a power loss: lost data, checkpoint, scanned pages.

The drives of a session lose no data, because a job file cannot contain a power loss: the steps show what it would have
cost at that moment, and the run continues unchanged. A served drive really loses its power.
"""

from dataclasses import dataclass

import msgspec

from ssdlab.live.messages import PowerLoss, PowerLossSteps, RecoveryStatus
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.engine import plain
from ssdlab.simulator.engine.types import Nand

_FREE, _OPEN, _RETIRED = 0, 1, 5


@dataclass(frozen=True)
class Recovery:
    """One power loss, from its report until the page has shown it."""

    number: int
    """A counter, from which a page can tell which ones it has shown."""
    is_real: bool
    """Whether the drive really lost its power."""
    goes_on: bool
    """Whether the run continues afterwards."""
    drives: tuple[PowerLossSteps, ...]

    def plain(self) -> RecoveryStatus:
        """The status for the page."""
        return {"number": self.number, "is_real": self.is_real, "goes_on": self.goes_on, "drives": self.drives}


def power_loss_steps(loss: PowerLoss, states: bytes, ages: bytes, drive: plain.Drive) -> PowerLossSteps:
    """`PowerLoss` of `page/types.js`: the engine's figures, the time of each step, and the erase units scanned in full.

    Those are the most recently filled ones, by age; of each other one, one page is read. `states` and `ages` are the
    drive's cells just before the power loss.
    """
    nand = msgspec.convert(drive["nand"], Nand)
    dies = nand.channels * nand.dies_per_channel
    scan_ns = min(loss["duration_ns"], round(loss["scanned_pages"] * mean_us(nand.read_us) * 1000 / dies))
    written = [unit for unit, state in enumerate(states) if state not in (_FREE, _RETIRED)]
    written.sort(key=lambda unit: (states[unit] != _OPEN, ages[unit]))
    pages_per_erase_unit = max(1, _pages_per_erase_unit(nand, len(states)))
    # The inverse of the engine's count: all pages of these erase units, one page of each other.
    in_full = round((loss["scanned_pages"] - len(states)) / max(1, pages_per_erase_unit - 1))
    return {
        "power_loss_protection": loss["power_loss_protection"],
        "torn_units": loss["torn_units"],
        "checkpoint_units": loss["checkpoint_units"],
        "scanned_pages": loss["scanned_pages"],
        "duration_ns": loss["duration_ns"],
        "checkpoint_ns": loss["duration_ns"] - scan_ns,
        "scan_ns": scan_ns,
        "scanned_in_full": sorted(written[: max(0, in_full)]),
    }


def _pages_per_erase_unit(nand: Nand, erase_units: int) -> int:
    blocks = nand.channels * nand.dies_per_channel * nand.planes_per_die * nand.blocks_per_plane
    return blocks * nand.pages_per_block // erase_units
