"""The table of a drive file that makes several devices one drive. All other tables but [market] then describe one of
them, and `ftl.user_bytes` is what the host may use of all."""

from typing import Annotated

from pydantic import Field

from ssdlab.drives.schema.table import Table, optional


class Stripe(Table):
    devices: Annotated[int, Field(ge=1, le=1024)] = optional(
        1, "devices", "devices that the drive's bytes go round; each has flash, cleaning, buffer and link of its own"
    )
    chunk_bytes: Annotated[int, Field(ge=512, le=2**40)] = optional(
        65536, "B", "how many bytes in a row lie on one device before the next has its turn"
    )

    @property
    def is_on(self) -> bool:
        return self.devices > 1
