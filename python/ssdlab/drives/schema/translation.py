"""The tables of a drive file that say how the translation layer works."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ssdlab.drives.schema.table import Bytes, Count, CountOrNone, NumberOrZero, Table, Text, optional, required

PolicyKind = Literal["victim", "placement", "wear_leveling", "pacing", "die_choice"]
POLICY_KINDS: tuple[PolicyKind, ...] = get_args(PolicyKind)


class PolicyChoice(BaseModel):
    """A policy's name and its own parameters: `"greedy"` or `{ name = "d-choices", d = 10 }`."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    name: Text

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.model_extra or {})


class Ftl(Table):
    user_bytes: Annotated[int, Field(ge=1, le=2**63 - 1)] = required("B", "what the host may use")
    mapping_unit_bytes: Count = required("B", "what the map maps")
    erase_unit: Literal["block", "superblock"] = required("", "what cleaning empties and erases at once")
    victim: PolicyChoice = required("", "which erase unit is cleaned next")
    placement: PolicyChoice = required("", "which open erase unit a write goes to")
    reserve_erase_units: Count = required("erase units", "kept free: cleaning runs before there are fewer")
    wear_leveling: PolicyChoice = required("", "how erases are spread")
    spare_area: Literal["dynamic", "static"] = required("", "whether free and trimmed space helps cleaning")
    reserved_bytes: Bytes = optional(
        0, "B", "flash held out of T for tables and firmware, in whole erase units, rounded up"
    )
    pacing: PolicyChoice = optional(
        PolicyChoice(name="proportional"), "", "how fast a victim is emptied while the host goes on writing"
    )
    die_choice: PolicyChoice = optional(
        PolicyChoice(name="round-robin"), "", "which die a program group goes to, where erase units are single blocks"
    )

    @field_validator(*POLICY_KINDS, mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value


class Housekeeping(Table):
    """What the drive does in idle time; all of it is off unless said."""

    idle_after_ms: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] = optional(
        0.0, "ms", "how long nothing must have been asked of the drive before it begins"
    )
    erased_pool_bytes: Bytes = optional(0, "B", "idle cleaning keeps so much erased for the host; 0: no cleaning ahead")
    defragment: bool = optional(False, "", "whether idle time rewrites in the order of addresses what lies otherwise")
    wear_leveling: bool = optional(False, "", "whether static wear levelling waits for idle time")
    read_disturb_reads: CountOrNone = optional(
        0, "reads", "page reads of a block after which its data is moved; 0: never"
    )
    retention_days: Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)] = optional(
        0.0, "days", "age at which data is moved; 0: never"
    )


class MapCache(Table):
    bytes: Bytes = optional(
        0, "B", "memory for a part of the map, the rest of which lies in flash; 0: the whole map is in memory"
    )
    entries_per_map_page: Count = optional(
        1024, "entries", "map entries fetched and written back together, as one mapping unit of flash"
    )
    entry_bytes: Count = optional(4, "B", "what one entry takes")
    eviction: Literal["lru", "clock"] = optional("lru", "", "which cached map page makes room")
    form: Literal["page", "extent"] = optional(
        "page", "", "an entry for each unit, or one in memory for each segment written in order"
    )
    miss_us: NumberOrZero = optional(
        0.0, "us", "the firmware's own time for a map page that is not in memory, beside the flash read"
    )


class DataReduction(Table):
    """What the drive does not write although the host does; off unless said."""

    compression: bool = optional(False, "", "whether data is compressed before it is programmed")
    deduplication: bool = optional(False, "", "whether what is stored already is stored again only by name")
    packing_bytes: Count = optional(512, "B", "reduced data takes a whole number of these; a power of two")
    index_bytes_per_unit: CountOrNone = optional(
        0, "B", "the index's entry for each stored unit, programmed as metadata"
    )

    @property
    def is_on(self) -> bool:
        return self.compression or self.deduplication
