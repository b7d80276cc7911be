"""The value of a counter and the bytes per step."""

from dataclasses import dataclass

# NVM Express base specification, SMART / Health Information log: a data unit is 1000 units of 512 bytes.
NVME_DATA_UNIT_BYTES = 512_000


@dataclass(frozen=True)
class Count:
    """The value of a counter and the bytes per step."""

    ticks: int
    unit_bytes: int
    attribute: str
    """The attribute or log entry it was read from, so that a reader can check it."""
    assumed: str | None = None

    @property
    def bytes(self) -> int:
        return self.ticks * self.unit_bytes
