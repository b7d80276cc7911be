"""The requests of the host and the work of the flash: the engine's counters, as bytes and as write amplification."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

from ssdlab.simulator.engine import plain

Part = Literal["host", "gc", "wear_leveling", "metadata", "parity", "padding", "slc_fold", "journal"]
ReadCause = Literal["host", "gc", "wear_leveling", "slc_fold", "read_modify_write", "metadata"]
PARTS: tuple[Part, ...] = get_args(Part)
"""The causes of programs of mapping units. Their sum is everything that was programmed."""
_READ_CAUSES: tuple[ReadCause, ...] = get_args(ReadCause)


class MapCacheJson(TypedDict):
    """Lookups of map pages."""

    lookups: int
    misses: int
    hit_ratio: float


class NandJson(TypedDict):
    """The key `nand` of a result and of its jobs."""

    programmed_bytes: dict[Part | Literal["total"], int]
    read_bytes: int
    read_modify_write_bytes: int
    erased_erase_units: int
    map_cache: MapCacheJson | None
    """None for a drive that has its whole map in memory."""


class HostJson(TypedDict):
    """The key `host` of a result and of its jobs."""

    written_bytes: int
    read_bytes: int
    trimmed_bytes: int
    deduplicated_bytes: int


@dataclass(frozen=True)
class Ledger:
    """Counters of one job, several jobs or a whole run."""

    # The unit in which programs and reads are counted: a mapping unit, or less on a drive that packs reduced data.
    counted_unit_bytes: int
    mapping_unit_bytes: int
    host_written_bytes: int
    host_read_bytes: int
    host_trimmed_bytes: int
    programmed_units: Mapping[Part, int]
    read_units: Mapping[ReadCause, int]
    read_modify_write_units: int
    erased_erase_units: int
    trimmed_units: int
    # Lookups of map pages by a drive that does not have its whole map in memory.
    map_page_lookups: int = 0
    # Units written by the host that the drive had already stored.
    deduplicated_units: int = 0

    @classmethod
    def from_outcome(cls, raw: plain.Ledger, capacity: plain.Capacity) -> "Ledger":
        """Reads a LEDGER object of the engine's outcome; `capacity` is that of the outcome."""
        programmed, read = raw["programmed_units"], raw["read_units"]
        return cls(
            counted_unit_bytes=capacity["counted_unit_bytes"],
            mapping_unit_bytes=capacity["mapping_unit_bytes"],
            host_written_bytes=raw["host_written_bytes"],
            host_read_bytes=raw["host_read_bytes"],
            host_trimmed_bytes=raw["host_trimmed_bytes"],
            # Causes that a run has not are left out.
            programmed_units={part: programmed.get(part, 0) for part in PARTS},
            read_units={cause: read[cause] for cause in _READ_CAUSES},
            read_modify_write_units=raw["read_modify_write_units"],
            erased_erase_units=raw["erased_erase_units"],
            trimmed_units=raw["trimmed_units"],
            map_page_lookups=raw["map_page_lookups"],
            deduplicated_units=raw["deduplicated_units"],
        )

    def __add__(self, other: "Ledger") -> "Ledger":
        return Ledger(
            self.counted_unit_bytes,
            self.mapping_unit_bytes,
            self.host_written_bytes + other.host_written_bytes,
            self.host_read_bytes + other.host_read_bytes,
            self.host_trimmed_bytes + other.host_trimmed_bytes,
            {part: count + other.programmed_units[part] for part, count in self.programmed_units.items()},
            {cause: count + other.read_units[cause] for cause, count in self.read_units.items()},
            self.read_modify_write_units + other.read_modify_write_units,
            self.erased_erase_units + other.erased_erase_units,
            self.trimmed_units + other.trimmed_units,
            self.map_page_lookups + other.map_page_lookups,
            self.deduplicated_units + other.deduplicated_units,
        )

    @property
    def programmed_bytes(self) -> int:
        """All bytes programmed into NAND."""
        return sum(self.programmed_units.values()) * self.counted_unit_bytes

    @property
    def waf(self) -> float | None:
        """Bytes programmed per byte written by the host; None if the host wrote nothing."""
        return self.programmed_bytes / self.host_written_bytes if self.host_written_bytes else None

    @property
    def waf_parts(self) -> dict[str, float] | None:
        """Write amplification by part; the parts add up to `waf`."""
        if not self.host_written_bytes:
            return None
        return {part: self.programmed_units[part] * self.counted_unit_bytes / self.host_written_bytes for part in PARTS}

    def host_json(self) -> HostJson:
        return {
            "written_bytes": self.host_written_bytes,
            "read_bytes": self.host_read_bytes,
            "trimmed_bytes": self.host_trimmed_bytes,
            "deduplicated_bytes": self.deduplicated_units * self.mapping_unit_bytes,
        }

    def nand_json(self) -> NandJson:
        programmed: dict[Part | Literal["total"], int] = {}
        for part in PARTS:
            programmed[part] = self.programmed_units[part] * self.counted_unit_bytes
        programmed["total"] = self.programmed_bytes
        return {
            "programmed_bytes": programmed,
            "read_bytes": sum(self.read_units.values()) * self.counted_unit_bytes,
            "read_modify_write_bytes": self.read_modify_write_units * self.mapping_unit_bytes,
            "erased_erase_units": self.erased_erase_units,
            "map_cache": {
                "lookups": self.map_page_lookups,
                "misses": self.read_units["metadata"],
                "hit_ratio": 1 - self.read_units["metadata"] / self.map_page_lookups,
            }
            if self.map_page_lookups
            else None,
        }
