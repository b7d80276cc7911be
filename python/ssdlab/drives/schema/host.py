"""The tables of a drive file that say what stands between the host and the flash."""

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator

from ssdlab.drives.schema.table import Count, CountOrNone, PositiveNumber, Table, optional


class WriteBuffer(Table):
    bytes: CountOrNone = optional(0, "B", "DRAM: a write that is in it is complete; 0: none")
    power_loss_protection: bool = optional(
        True, "", "whether it outlives a loss of power; else flushes and sync writes wait for flash"
    )


class Controller(Table):
    command_us: PositiveNumber = optional(
        5.0, "us", "to answer a command that touches no flash, or to take a write into the buffer"
    )
    commands_per_second_max: CountOrNone = optional(0, "1/s", "commands that it takes a second; 0: no limit")


class HostLink(Table):
    """What `interface` means in MB/s stands in `crates/engine/src/specification/host_link.rs`, with its sources."""

    interface: str = optional("none", "", "none, which takes no time; sata-3g, sata-6g; generation and lanes: pcie3x4")
    mb_s: Annotated[float, Field(ge=1, le=1e6)] | None = optional(
        None, "MB/s", "rate of data, instead of the interface's"
    )
    duplex: Literal["half", "full"] | None = optional(
        None, "", "whether both directions take turns, instead of the interface's; SATA's do"
    )

    @field_validator("interface")
    @classmethod
    def _known(cls, value: str) -> str:
        if not re.fullmatch(r"none|sata-[36]g|pcie[1-6]x(1|2|4|8|16)", value):
            raise ValueError("should be none, sata-3g, sata-6g, or a generation and lanes such as pcie3x4")
        return value

    command_us: Annotated[float, Field(ge=0, le=1e6)] = optional(
        0.0, "us", "what a command occupies the link for beside its data"
    )


class ReadAhead(Table):
    window_bytes: CountOrNone = optional(
        0, "B", "the most of a sequential stream in flight or in the read buffer; 0: reads go to flash at once"
    )
    segment_bytes: Count = optional(131072, "B", "what is translated and fetched of a sequential stream at a time")
