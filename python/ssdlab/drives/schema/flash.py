"""The tables of a drive file that say what the flash is."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from ssdlab.drives.schema.table import (
    Bytes,
    Count,
    CountOrNone,
    NumberOrZero,
    PositiveNumber,
    Table,
    optional,
    required,
)


class Nand(Table):
    cell: Literal["slc", "mlc", "tlc", "qlc"] = required("", "bits in a cell: 1, 2, 3 or 4")
    channels: Count = required("channels", "buses between controller and flash")
    dies_per_channel: Count = required("dies", "dies on a channel")
    planes_per_die: Count = required("planes", "planes in a die")
    blocks_per_plane: Count = required("blocks", "blocks in a plane")
    pages_per_block: Count = required("pages", "pages in a block")
    page_bytes: Count = required("B", "data in a page, without its spare bytes")
    read_us: PositiveNumber = required("us", "from cells to page register")
    program_us: PositiveNumber = required("us", "from page register to cells")
    erase_us: PositiveNumber = required("us", "to erase a block")
    channel_mb_s: PositiveNumber = required("MB/s", "transfer rate of a channel, 10^6 bytes a second")
    endurance_cycles: Count = required("P/E cycles", "programs and erases that a block is good for")
    pages_per_program: Count = optional(
        1,
        "pages",
        "pages that one program fills, all of them in program_us: 3 for TLC in one shot; in SLC mode always 1",
    )
    suspend: bool = optional(False, "", "whether a read of the host suspends a program or an erase that is under way")
    program_suspend_us: NumberOrZero = optional(0.0, "us", "from suspending a program until the die can read")
    erase_suspend_us: NumberOrZero = optional(0.0, "us", "from suspending an erase until the die can read")
    resume_us: NumberOrZero = optional(0.0, "us", "what a suspended operation takes more, each time it is resumed")
    suspends_per_operation_max: CountOrNone = optional(
        0, "suspends", "how often one operation may be suspended; 0: no limit"
    )
    cache_program: bool = optional(False, "", "whether the next page crosses the channel while one is programmed")
    cache_read: bool = optional(False, "", "whether the next page is read from the array while one crosses the channel")


class SlcCache(Table):
    """Flash written with one bit a cell: blocks of its own, or erased ones of T, or both."""

    static_bytes: Bytes = optional(0, "B", "what blocks outside T hold in SLC mode; 0: none")
    dynamic_bytes_max: Bytes = optional(0, "B", "the most that erased blocks of T may hold in SLC mode; 0: none")
    dynamic_free_share: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = optional(
        0.0, "share", "that as a share of the addresses that hold nothing, where it is less; 0: however full it is"
    )
    when_full: Literal["direct", "fold"] = optional(
        "direct", "", "whether writes go past a full cache, or wait until it is folded"
    )
    read_us: PositiveNumber = optional(25.0, "us", "from cells to page register in SLC mode")
    program_us: PositiveNumber = optional(200.0, "us", "from page register to cells in SLC mode")
    erase_us: PositiveNumber = optional(3000.0, "us", "to erase a block in SLC mode")

    @property
    def is_on(self) -> bool:
        return self.static_bytes > 0 or self.dynamic_bytes_max > 0


class Parity(Table):
    units_per_stripe: CountOrNone = optional(0, "mapping units", "one mapping unit in so many holds parity; 0: none")

    @field_validator("units_per_stripe")
    @classmethod
    def _not_one(cls, value: int) -> int:
        if value == 1:
            raise ValueError("should be 0 (none) or at least 2: with 1 every unit would hold parity")
        return value


class Faults(Table):
    factory_bad_blocks: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] = optional(
        0.0, "share", "share of blocks that are bad from the start"
    )
    wear_out: bool = optional(False, "", "whether a block past its endurance fails and is retired")
    endurance_spread: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = optional(
        0.0, "share", "standard deviation of endurance as a share of endurance_cycles"
    )
