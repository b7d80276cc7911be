"""How much a drive holds, in every definition that is in use. Arithmetic only, exact until the last division."""

from dataclasses import dataclass
from fractions import Fraction

from ssdlab.drives.policies import open_erase_units
from ssdlab.drives.schema import DriveFile


@dataclass(frozen=True)
class Capacity:
    """Sizes of a drive. T is `physical_units`, U is `user_units`; a unit is a mapping unit."""

    mapping_unit_bytes: int
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
    # The capacity on the label of the drive, whatever share of it the host uses now.
    sold_bytes: int

    @property
    def physical_bytes(self) -> int:
        return self.physical_units * self.mapping_unit_bytes

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
        held_back = self.reserve_erase_units + self.open_erase_units + 1
        return self.data_units - held_back * self.data_units_per_erase_unit


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
    erase_units = blocks // blocks_per_erase_unit
    good_share = 1 - Fraction(str(drive.faults.factory_bad_blocks))
    return Capacity(
        mapping_unit_bytes=ftl.mapping_unit_bytes,
        physical_units=blocks * units_per_block,
        user_units=ftl.user_bytes // ftl.mapping_unit_bytes,
        planes=planes,
        blocks=blocks,
        erase_units=erase_units,
        units_per_erase_unit=units_per_erase_unit,
        data_units_per_erase_unit=data_units_per_erase_unit,
        reserve_erase_units=ftl.reserve_erase_units,
        open_erase_units=open_erase_units(ftl.placement),
        data_units=int(erase_units * good_share * data_units_per_erase_unit),
        sold_bytes=sold_bytes or drive.market.sold_bytes or ftl.user_bytes,
    )
