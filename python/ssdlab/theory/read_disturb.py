"""What reading alone writes: a block is rewritten after a number of page reads, before they disturb its data.

For reads that are spread evenly over what is stored, or as evenly as wear levelling spreads the erases. Not for the
retries of reads that come before: `ssdlab.theory.read_retries`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.simulator.drives.schema import mean_us
from ssdlab.theory.endurance import DAYS_PER_YEAR, lifetime_bytes

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive

_US_PER_DAY = 86_400e6


@dataclass(frozen=True)
class ReadOnly:
    """A drive that is only read."""

    drive: "ResolvedDrive"
    read_bytes_per_day: float
    request_bytes: int
    after_reads: int | None = None
    """Page reads of a block after which it is rewritten, instead of the drive's own number."""

    def __post_init__(self) -> None:
        if not self.after_reads and not self.drive.file.background.read_disturb_reads:
            raise ValueError("the drive does not rewrite what is read often: background.read_disturb_reads is 0")

    @property
    def reads_max(self) -> int:
        """Page reads of a block after which it is rewritten."""
        return self.after_reads or self.drive.file.background.read_disturb_reads

    @property
    def programmed_per_read_byte(self) -> float:
        """Bytes programmed for each byte that the host reads. A request of less than a page reads a page."""
        nand = self.drive.file.nand
        return programmed_per_read_byte(nand.pages_per_block, nand.page_bytes, self.request_bytes, self.reads_max)

    @property
    def programmed_bytes_per_day(self) -> float:
        return self.read_bytes_per_day * self.programmed_per_read_byte

    @property
    def days_between_refreshes(self) -> float:
        """Days after which a block is rewritten, of a drive that is full."""
        return self.drive.capacity.user_bytes / self.programmed_bytes_per_day

    @property
    def years(self) -> float:
        """Years until all of the flash has its rated cycles."""
        life = lifetime_bytes(self.drive.endurance_cycles, self.drive.capacity.physical_bytes, 1.0)
        return life / self.programmed_bytes_per_day / DAYS_PER_YEAR

    @property
    def share_of_time(self) -> float:
        """The share of the dies' time that refresh takes, for reads and programs; erases are left out."""
        nand = self.drive.file.nand
        dies = self.drive.capacity.planes / nand.planes_per_die
        at_a_time = nand.planes_per_die * nand.page_bytes
        read = mean_us(nand.read_us) / at_a_time
        program = mean_us(nand.program_us) / (at_a_time * nand.pages_per_program)
        return self.programmed_bytes_per_day * (read + program) / dies / _US_PER_DAY


def programmed_per_read_byte(pages_per_block: int, page_bytes: int, request_bytes: int, reads_max: int) -> float:
    """Bytes programmed by refresh for each byte read: the pages of a block over the reads that it endures, for pages
    read whole."""
    return pages_per_block * page_bytes / (reads_max * min(request_bytes, page_bytes))


def reads_of(programmed_share: float, pages_per_block: int, page_bytes: int, request_bytes: int) -> int:
    """The inverse: the page reads of a block after which it is rewritten, from bytes programmed for each byte read."""
    return round(pages_per_block * page_bytes / (programmed_share * min(request_bytes, page_bytes)))
