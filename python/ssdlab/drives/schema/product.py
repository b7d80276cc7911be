"""The tables of a drive file that are for people and prices; the engine never sees them."""

from typing import Annotated

from pydantic import Field

from ssdlab.drives.schema.table import PositiveNumber, Table, Text, optional


class Identity(Table):
    """Which product it is, for a real one."""

    maker: Text | None = optional(None, "", "maker")
    model: Text | None = optional(None, "", "model")
    year: Annotated[int, Field(ge=1980, le=2100)] | None = optional(None, "", "year of its description")
    controller: Text | None = optional(None, "", "controller")
    interface: Text | None = optional(None, "", "host interface")


class Market(Table):
    """What the maker and the shop say about it. The price's date belongs into its source."""

    sold_bytes: Annotated[int, Field(ge=1)] | None = optional(None, "B", "capacity on the label")
    rated_tbw: PositiveNumber | None = optional(None, "TB", "rated endurance, 10^12 bytes of host writes")
    rated_dwpd: PositiveNumber | None = optional(None, "1/day", "rated drive writes per day")
    rated_years: PositiveNumber | None = optional(None, "years", "years that the rating is for")
    price_usd: PositiveNumber | None = optional(None, "USD", "price")
