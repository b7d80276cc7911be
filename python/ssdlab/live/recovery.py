"""What a drive does once its power is back, step by step: what it lost, its checkpoint, the pages that it scans.

A session has no contents: its drive forgets nothing; the steps say what that moment would have cost, and the run goes
on as it was, because no job file says a loss of power. A served drive really goes through it.
"""

from dataclasses import dataclass

from ssdlab.drives.schema import mean_us
from ssdlab.engine.plain import Nand
from ssdlab.live.messages import PowerLoss, PowerLossSteps, RecoveryStatus

_FREE, _OPEN, _RETIRED = 0, 1, 5


@dataclass(frozen=True)
class Recovery:
    """One loss of power, from when it is reported until the page has shown it."""

    number: int
    """Counts them, so that a page knows which it has shown."""
    is_real: bool
    """Whether the drive went through it."""
    goes_on: bool
    """Whether the run goes on afterwards."""
    drives: tuple[PowerLossSteps, ...]

    def plain(self) -> RecoveryStatus:
        """For the page."""
        return {"number": self.number, "is_real": self.is_real, "goes_on": self.goes_on, "drives": self.drives}


def power_loss_steps(loss: PowerLoss, states: bytes, ages: bytes, nand: Nand) -> PowerLossSteps:
    """The `PowerLoss` of `page/types.js`: the engine's figures, which part of the time goes into which step, and the
    erase units that are scanned in full.

    Those are the ones that were filled last, which their ages tell; of each other one page is read. `states` and `ages`
    are the drive's cells just before the power went.
    """
    dies = nand["channels"] * nand["dies_per_channel"]
    scan_ns = min(loss["duration_ns"], round(loss["scanned_pages"] * mean_us(nand["read_us"]) * 1000 / dies))
    written = [unit for unit, state in enumerate(states) if state not in (_FREE, _RETIRED)]
    written.sort(key=lambda unit: (states[unit] != _OPEN, ages[unit]))
    pages_per_erase_unit = max(1, _pages_per_erase_unit(nand, len(states)))
    # As the engine counts: all pages of these, one of each other.
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
    blocks = nand["channels"] * nand["dies_per_channel"] * nand["planes_per_die"] * nand["blocks_per_plane"]
    return blocks * nand["pages_per_block"] // erase_units
