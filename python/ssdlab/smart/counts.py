"""A counter's value, and what one step of it stands for."""

from dataclasses import dataclass

# NVM Express base specification, SMART / Health Information log: a data unit is 1000 units of 512 bytes.
NVME_DATA_UNIT_BYTES = 512_000


@dataclass(frozen=True)
class Count:
    """A counter's value, and what one step of it stands for."""

    ticks: int
    unit_bytes: int
    attribute: str
    """What it was read from, for a reader to check."""
    assumed: str | None = None

    @property
    def bytes(self) -> int:
        return self.ticks * self.unit_bytes
