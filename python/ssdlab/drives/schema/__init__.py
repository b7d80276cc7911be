"""What a drive file may say: its tables, keys, types, units and bounds, a module for each part of a drive. Not what the
values mean together (`consistency.py`), nor how a file is found and read (`loader.py`).

All keys but those of [identity] and [market] are those of the engine's specification.
"""

from pydantic import Field

from ssdlab.drives.schema.flash import Faults, Nand, Parity, SlcCache
from ssdlab.drives.schema.host import Controller, HostLink, ReadAhead, WriteBuffer
from ssdlab.drives.schema.product import Identity, Market
from ssdlab.drives.schema.stripe import Stripe
from ssdlab.drives.schema.table import KINDS, Kind, Source, Table, Text
from ssdlab.drives.schema.translation import (
    POLICY_KINDS,
    DataReduction,
    Ftl,
    Housekeeping,
    MapCache,
    PolicyChoice,
    PolicyKind,
)

__all__ = [
    "KINDS",
    "POLICY_KINDS",
    "TABLES",
    "DriveFile",
    "Kind",
    "PolicyChoice",
    "PolicyKind",
    "Source",
    "Table",
    "keys",
]


class DriveFile(Table):
    """A drive as its file describes it, with the source of every value that the file says."""

    name: Text
    description: Text
    identity: Identity = Identity()
    nand: Nand
    ftl: Ftl
    write_buffer: WriteBuffer = WriteBuffer()
    controller: Controller = Controller()
    host_link: HostLink = HostLink()
    housekeeping: Housekeeping = Housekeeping()
    slc_cache: SlcCache = SlcCache()
    map_cache: MapCache = MapCache()
    read_ahead: ReadAhead = ReadAhead()
    data_reduction: DataReduction = DataReduction()
    parity: Parity = Parity()
    faults: Faults = Faults()
    stripe: Stripe = Stripe()
    market: Market = Market()
    sources: dict[str, Source] = Field(default_factory=dict)

    def tables(self) -> dict[str, Table]:
        """The tables that hold values, in the order of listings."""
        return {name: getattr(self, name) for name in TABLES}

    def source_of(self, key: str) -> Source:
        """The source of `table.key`: its own entry, its table's `table.*`, or that of a default."""
        table, _, _ = key.partition(".")
        found = self.sources.get(key) or self.sources.get(f"{table}.*")
        return found if found is not None and self.says(key) else DEFAULT_SOURCE

    def says(self, key: str) -> bool:
        """Whether the file itself gives `table.key`, rather than leaving it to its default."""
        table, _, name = key.partition(".")
        return name in getattr(self, table).model_fields_set


TABLES: dict[str, type[Table]] = {
    "identity": Identity,
    "nand": Nand,
    "ftl": Ftl,
    "write_buffer": WriteBuffer,
    "controller": Controller,
    "host_link": HostLink,
    "housekeeping": Housekeeping,
    "slc_cache": SlcCache,
    "map_cache": MapCache,
    "read_ahead": ReadAhead,
    "data_reduction": DataReduction,
    "parity": Parity,
    "faults": Faults,
    "stripe": Stripe,
    "market": Market,
}
DEFAULT_SOURCE = Source(kind="assumed", source="not in the file: the default of every drive file")


def keys() -> list[str]:
    """Every key that a drive file may hold, as `table.key`, and the two that stand at its top."""
    return ["name", "description", *(f"{table}.{key}" for table, model in TABLES.items() for key in model.model_fields)]
