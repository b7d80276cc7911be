"""How much a drive holds, in every definition that is in use. Arithmetic only, exact until the last division."""

from dataclasses import dataclass
from fractions import Fraction

from ssdlab.drives.policies import open_blocks_per_stream, open_erase_units
from ssdlab.drives.schema import DriveFile


@dataclass(frozen=True)
class Capacity:
    """Sizes of a drive, all devices of a stripe together. T is `physical_units`, U is `user_units`; a unit is a mapping
    unit."""

    mapping_unit_bytes: int
    # T and what is held out of it: all of the flash.
    flash_units: int
    physical_units: int
    user_units: int
    planes: int
    blocks: int
    erase_units: int
    units_per_erase_unit: int
    # What is left of an erase unit beside parity.
    data_units_per_erase_unit: int
    # Held back from cleaning: the free reserve and what stands open.
    reserve_erase_units: int
    open_erase_units: int
    # Units that can hold data once parity and factory bad blocks are off.
    data_units: int
    # Of the map pages that lie in flash among the data; 0: the map takes none of it.
    entries_per_map_page: int
    # What the index of a drive that reduces data takes beside each unit.
    index_bytes_per_unit: int
    # Devices of the stripe, and how many units lie on one before the next has its turn.
    devices: int
    chunk_units: int
    # The capacity on the label of the drive, whatever share of it the host uses now.
    sold_bytes: int

    @property
    def physical_bytes(self) -> int:
        return self.physical_units * self.mapping_unit_bytes

    @property
    def flash_bytes(self) -> int:
        return self.flash_units * self.mapping_unit_bytes

    @property
    def held_out_bytes(self) -> int:
        return self.flash_bytes - self.physical_bytes

    @property
    def blocks_per_erase_unit(self) -> int:
        return self.blocks * self.units_per_erase_unit // self.flash_units

    @property
    def user_bytes(self) -> int:
        return self.user_units * self.mapping_unit_bytes

    @property
    def spare_bytes(self) -> int:
        return self.physical_bytes - self.user_bytes

    @property
    def over_provisioning(self) -> float:
        """(T - U) / U."""
        return (self.physical_units - self.user_units) / self.user_units

    @property
    def spare_factor(self) -> float:
        """(T - U) / T."""
        return (self.physical_units - self.user_units) / self.physical_units

    @property
    def hidden_over_provisioning(self) -> float:
        """(T - S) / S for the S that the drive is sold as: 7.37 % for GiB of flash sold as GB."""
        return (self.physical_bytes - self.sold_bytes) / self.sold_bytes

    @property
    def user_units_max(self) -> int:
        """The most that the host may use while cleaning still has one whole erase unit to gain; 0 or less: none."""
        held_back = (self.reserve_erase_units + self.open_erase_units) // self.devices + 1
        units = self.data_units // self.devices - held_back * self.data_units_per_erase_unit
        units = units * self.mapping_unit_bytes // (self.mapping_unit_bytes + self.index_bytes_per_unit)
        entries = self.entries_per_map_page
        # Each map page in flash takes a unit beside those that it names.
        units = units * entries // (entries + 1) if entries else units
        if self.devices == 1:
            return units
        # The first device is the first to be full, with a part of a chunk.
        rows, rest = divmod(units, self.chunk_units)
        return self.devices * rows * self.chunk_units + rest


def capacity_of(drive: DriveFile, *, sold_bytes: int | None = None) -> Capacity:
    """The capacity of a drive whose sizes are whole multiples of each other (see `consistency.py`).

    `sold_bytes` replaces that of the file, for a drive that was made smaller.
    """
    nand, ftl = drive.nand, drive.ftl
    planes = nand.channels * nand.dies_per_channel * nand.planes_per_die
    units_per_block = nand.pages_per_block * (nand.page_bytes // ftl.mapping_unit_bytes)
    blocks = planes * nand.blocks_per_plane
    blocks_per_erase_unit = planes if ftl.erase_unit == "superblock" else 1
    units_per_erase_unit = units_per_block * blocks_per_erase_unit
    stripe = drive.parity.units_per_stripe
    data_units_per_erase_unit = units_per_erase_unit - (-(-units_per_erase_unit // stripe) if stripe else 0)
    flash_erase_units = blocks // blocks_per_erase_unit
    static_slc = -(-drive.slc_cache.static_bytes // slc_bytes_per_erase_unit(drive))
    erase_units = flash_erase_units - _held_out_erase_units(drive, units_per_erase_unit) - static_slc
    good_share = 1 - Fraction(str(drive.faults.factory_bad_blocks))
    dies = nand.channels * nand.dies_per_channel
    open_blocks = open_blocks_per_stream(ftl.erase_unit, dies, ftl.die_choice.name)
    devices = drive.stripe.devices
    return Capacity(
        mapping_unit_bytes=ftl.mapping_unit_bytes,
        flash_units=devices * blocks * units_per_block,
        physical_units=devices * erase_units * units_per_erase_unit,
        user_units=ftl.user_bytes // ftl.mapping_unit_bytes,
        planes=devices * planes,
        blocks=devices * blocks,
        erase_units=devices * erase_units,
        units_per_erase_unit=units_per_erase_unit,
        data_units_per_erase_unit=data_units_per_erase_unit,
        reserve_erase_units=devices * ftl.reserve_erase_units,
        open_erase_units=devices * (open_erase_units(ftl.placement) * open_blocks + _open_for_cache(drive)),
        data_units=devices * int((erase_units - flash_erase_units * (1 - good_share)) * data_units_per_erase_unit),
        entries_per_map_page=drive.map_cache.entries_per_map_page if drive.map_cache.bytes else 0,
        index_bytes_per_unit=drive.data_reduction.index_bytes_per_unit if drive.data_reduction.is_on else 0,
        devices=devices,
        chunk_units=max(1, drive.stripe.chunk_bytes // ftl.mapping_unit_bytes),
        sold_bytes=sold_bytes or drive.market.sold_bytes or ftl.user_bytes,
    )


def _held_out_erase_units(drive: DriveFile, units_per_erase_unit: int) -> int:
    """Whole erase units that hold no host data: the drive's own."""
    return -(-drive.ftl.reserved_bytes // (units_per_erase_unit * drive.ftl.mapping_unit_bytes))


BITS_PER_CELL = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}


def slc_bytes_per_erase_unit(drive: DriveFile) -> int:
    """What an erase unit holds in SLC mode, parity taken off; 1 where the question makes no sense, and is refused."""
    nand, ftl = drive.nand, drive.ftl
    planes = nand.channels * nand.dies_per_channel * nand.planes_per_die
    blocks = planes if ftl.erase_unit == "superblock" else 1
    pages = nand.pages_per_block // BITS_PER_CELL[nand.cell]
    units = pages * (nand.page_bytes // ftl.mapping_unit_bytes) * blocks
    stripe = drive.parity.units_per_stripe
    data_units = units - (-(-units // stripe) if stripe else 0)
    return max(1, data_units * ftl.mapping_unit_bytes)


def _open_for_cache(drive: DriveFile) -> int:
    """Erase units that an SLC cache holds open: what is written past it, and one in SLC mode."""
    cache = drive.slc_cache
    return int(cache.is_on) + int(cache.dynamic_bytes_max > 0)
