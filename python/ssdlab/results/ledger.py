"""What the host asked for and what the flash did for it: the engine's counters, as bytes and as write amplification."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PARTS = ("host", "gc", "wear_leveling", "metadata", "parity", "padding", "slc_fold")
"""Why a mapping unit was programmed. Their sum is all that was programmed."""


@dataclass(frozen=True)
class Ledger:
    """Counters of a job, of some jobs together or of a whole run."""

    mapping_unit_bytes: int
    host_written_bytes: int
    host_read_bytes: int
    host_trimmed_bytes: int
    programmed_units: Mapping[str, int]
    read_units: Mapping[str, int]
    read_modify_write_units: int
    erased_erase_units: int
    trimmed_units: int

    @classmethod
    def from_outcome(cls, raw: Mapping[str, Any], mapping_unit_bytes: int) -> "Ledger":
        """Reads a LEDGER object of the engine's outcome."""
        return cls(mapping_unit_bytes=mapping_unit_bytes, **raw)

    def __add__(self, other: "Ledger") -> "Ledger":
        return Ledger(
            self.mapping_unit_bytes,
            self.host_written_bytes + other.host_written_bytes,
            self.host_read_bytes + other.host_read_bytes,
            self.host_trimmed_bytes + other.host_trimmed_bytes,
            {part: count + other.programmed_units[part] for part, count in self.programmed_units.items()},
            {part: count + other.read_units[part] for part, count in self.read_units.items()},
            self.read_modify_write_units + other.read_modify_write_units,
            self.erased_erase_units + other.erased_erase_units,
            self.trimmed_units + other.trimmed_units,
        )

    @property
    def programmed_bytes(self) -> int:
        """All that was programmed into NAND."""
        return sum(self.programmed_units.values()) * self.mapping_unit_bytes

    @property
    def waf(self) -> float | None:
        """Bytes programmed a byte the host wrote; None when the host wrote nothing."""
        return self.programmed_bytes / self.host_written_bytes if self.host_written_bytes else None

    @property
    def waf_parts(self) -> dict[str, float] | None:
        """Write amplification by part; the parts add up to `waf`."""
        if not self.host_written_bytes:
            return None
        return {part: self.programmed_units[part] * self.mapping_unit_bytes / self.host_written_bytes for part in PARTS}

    def host_json(self) -> dict[str, int]:
        return {
            "written_bytes": self.host_written_bytes,
            "read_bytes": self.host_read_bytes,
            "trimmed_bytes": self.host_trimmed_bytes,
        }

    def nand_json(self) -> dict[str, Any]:
        programmed = {part: self.programmed_units[part] * self.mapping_unit_bytes for part in PARTS}
        return {
            "programmed_bytes": programmed | {"total": self.programmed_bytes},
            "read_bytes": sum(self.read_units.values()) * self.mapping_unit_bytes,
            "read_modify_write_bytes": self.read_modify_write_units * self.mapping_unit_bytes,
            "erased_erase_units": self.erased_erase_units,
        }
