"""Every drive of the catalogue loads, states the source of each value, and has its nominal capacity."""

from fractions import Fraction
from importlib import resources

import msgspec
import pytest

from ssdlab.simulator.drives import load, names, resolve
from ssdlab.simulator.drives.loader import parse
from ssdlab.simulator.drives.schema import TABLES
from ssdlab.simulator.drives.writer import to_toml

ALL = names()


def idema_bytes(gigabytes: int) -> int:
    """IDEMA LBA1-03: the size in bytes of a drive sold with this many GB, 50 or more."""
    return 512 * (97_696_368 + 1_953_504 * (gigabytes - 50))


def test_the_catalogue_is_there() -> None:
    assert {"generic-tlc-480", "textbook", "tiny", "pny-120gb", "competitor-128gb"} <= set(ALL)
    assert sorted(ALL) == ALL


@pytest.mark.parametrize("name", ALL)
def test_the_name_is_the_file_and_sources_are_given(name: str) -> None:
    drive = load(name)
    assert drive.name == name
    for table in TABLES:
        for key in drive.content.get(table, {}):
            assert drive.source_of(f"{table}.{key}").source


@pytest.mark.parametrize("name", ALL)
def test_capacity_is_the_product_of_the_geometry(name: str) -> None:
    drive = load(name)
    nand = drive.nand
    capacity = resolve(drive).capacity
    pages = nand.channels * nand.dies_per_channel * nand.planes_per_die * nand.blocks_per_plane * nand.pages_per_block
    assert capacity.flash_bytes == drive.stripe.devices * pages * nand.page_bytes
    assert capacity.physical_bytes == capacity.flash_bytes - capacity.held_out_bytes
    assert capacity.erase_units * capacity.units_per_erase_unit == capacity.physical_units
    assert capacity.user_bytes == drive.ftl.user_bytes
    assert capacity.spare_factor == pytest.approx(capacity.over_provisioning / (1 + capacity.over_provisioning))
    assert capacity.user_units <= capacity.user_units_max


@pytest.mark.parametrize("name", ALL)
def test_a_drive_file_survives_writing_and_reading(name: str) -> None:
    drive = load(name)
    assert parse(to_toml(drive), where="again") == drive


@pytest.mark.parametrize("name", ALL)
def test_catalogue_files_are_one_per_drive_and_end_with_a_newline(name: str) -> None:
    text = (resources.files("ssdlab.simulator.drives") / "catalogue" / f"{name}.toml").read_text()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize(
    ("name", "gigabytes", "flash_gib"),
    [
        ("generic-tlc-480", 480, 480),
        ("generic-nvme-960", 960, 1024),
        ("generic-qlc-1000", 1000, 1024),
        ("generic-sata-mlc-256", 256, 256),
        ("generic-sata-tlc-500", 500, 512),
        ("generic-sata-dc-480", 480, 512),
        ("generic-nvme-tlc-1000", 1000, 1024),
        ("generic-nvme-qlc-2000", 2000, 2048),
        ("generic-nvme-dc-3840", 3840, 4096),
        ("agility2-100gb", 100, 128),
        ("agility2-120gb", 120, 128),
        ("x25m-g2-160gb", 160, 160),
        ("nova-v128", 128, 128),
        ("c300-128gb", 128, 128),
        ("pny-120gb", 120, 128),
        ("competitor-128gb", 128, 128),
    ],
)
def test_sold_drives_have_idema_capacities(name: str, gigabytes: int, flash_gib: int) -> None:
    capacity = resolve(load(name)).capacity
    assert capacity.flash_bytes == flash_gib * 2**30
    assert capacity.user_bytes == idema_bytes(gigabytes)
    assert capacity.sold_bytes == gigabytes * 10**9


def test_the_drives_of_the_pny_paper_differ_in_nothing_but_what_the_host_may_use() -> None:
    mine, other = load("pny-120gb"), load("competitor-128gb")
    assert (mine.nand, mine.write_buffer) == (other.nand, other.write_buffer)
    assert msgspec.structs.replace(mine.ftl, user_bytes=0) == msgspec.structs.replace(other.ftl, user_bytes=0)
    assert resolve(mine).capacity.flash_bytes == resolve(other).capacity.flash_bytes == 137_438_953_472
    assert (mine.ftl.user_bytes, other.ftl.user_bytes) == (120_034_123_776, 128_035_676_160)
    # GiB of flash sold as GB: the 7.37 % that the published "0 %" omits, less what both reserve, in whole erase units.
    capacity = resolve(other).capacity
    held_out = capacity.held_out_bytes / capacity.sold_bytes
    assert capacity.hidden_over_provisioning + held_out == pytest.approx(2**30 / 10**9 - 1)
    assert resolve(mine).capacity.erase_units >= 1000


def test_the_design_s_example_is_in_the_catalogue_as_it_is_there_with_a_write_buffer() -> None:
    specification = resolve(load("generic-tlc-480")).specification()
    assert specification == {
        "name": "generic-tlc-480",
        "nand": {
            "cell": "tlc",
            "channels": 8,
            "dies_per_channel": 4,
            "planes_per_die": 2,
            "blocks_per_plane": 640,
            "pages_per_block": 768,
            "page_bytes": 16384,
            "read_us": 60.0,
            "copy_read_us": 0.0,
            "copy_pages_together": 0,
            "program_us": 700.0,
            "erase_us": 5000.0,
            "erases_at_once": 1,
            "erase_by_plane": False,
            "channel_mb_s": 800.0,
            "endurance_cycles": 3000,
            "pages_per_program": 1,
            "suspend": False,
            "program_suspend_us": 0.0,
            "erase_suspend_us": 0.0,
            "suspend_spread_us": 0.0,
            "resume_us": 0.0,
            "suspend_repeats_us": 0.0,
            "suspends_per_operation_max": 0,
            "background_us": 0.0,
            "background_per_second": 0.0,
        },
        "ftl": {
            "user_bytes": 480103981056,
            "mapping_unit_bytes": 4096,
            "erase_unit": "superblock",
            "victim": {"name": "greedy"},
            "placement": {"name": "host-gc-split"},
            "wear_leveling": {"name": "none"},
            "reserve_erase_units": 2,
            "spare_area": "dynamic",
            "reserved_bytes": 0,
            "gc_throttling": {"name": "proportional", "catch_up": 0.25},
            "die_choice": {"name": "round-robin"},
        },
        "write_buffer": {
            "bytes": 8 * 2**20,
            "power_loss_protection": True,
            "resume_bytes": 0,
            "close_bytes": 0,
            "closed_per_second": 0,
            "programs_first": False,
            "coalesce": False,
            "free_at_program": False,
            "gc_admission_share": 0.0,
            "paced": False,
        },
        "controller": {
            "command_us": 5.0,
            "commands_per_second_max": 0,
            "trim_us": 0.0,
            "trim_us_per_mib": 0.0,
            "command_slots": 0,
            "slots_in_turn": False,
            "program_us": 0.0,
            "delayed_share": 0.0,
            "delay_us": 0.0,
        },
        "host_link": {"interface": "none", "mb_s": None, "duplex": None, "command_us": 0.0},
        "background": {
            "idle_after_ms": 0.0,
            "erased_pool_bytes": 0,
            "defragment": False,
            "wear_leveling": False,
            "read_disturb_reads": 0,
            "retention_days": 0.0,
        },
        "slc_cache": {
            "static_bytes": 0,
            "dynamic_bytes_max": 0,
            "dynamic_free_share": 0.0,
            "when_full": "direct",
            "read_us": 25.0,
            "program_us": 200.0,
            "erase_us": 3000.0,
        },
        "map_cache": {
            "bytes": 0,
            "entries_per_map_page": 1024,
            "entry_bytes": 4,
            "eviction": "lru",
            "form": "page",
            "miss_us": 0.0,
        },
        "read_ahead": {"window_bytes": 0, "segment_bytes": 131072},
        "data_reduction": {
            "compression": False,
            "deduplication": False,
            "packing_bytes": 512,
            "index_bytes_per_unit": 0,
        },
        "parity": {"units_per_stripe": 0},
        "faults": {"factory_bad_blocks": 0.0, "wear_out": False, "endurance_spread": 0.0},
        "stripe": {"devices": 1, "chunk_bytes": 65536},
        "zones": {
            "zone_bytes": 0,
            "capacity_bytes": 0,
            "open_max": 0,
            "active_max": 0,
            "random_write_area_bytes": 0,
            "flush_granularity_bytes": 0,
        },
    }


def test_the_textbook_drive_is_the_textbook_s() -> None:
    drive = load("textbook")
    capacity = resolve(drive).capacity
    assert (capacity.planes, capacity.units_per_erase_unit) == (1, 256)
    assert capacity.erase_units >= 1000
    assert drive.nand.page_bytes == drive.ftl.mapping_unit_bytes
    assert (drive.ftl.erase_unit, drive.ftl.placement.name, drive.ftl.reserve_erase_units) == ("block", "single", 1)
    assert capacity.user_units == int(capacity.physical_units / (1 + Fraction(127, 1000)))


@pytest.mark.parametrize("name", ["textbook", "tiny"])
def test_drives_for_theory_and_for_tests_have_no_write_buffer(name: str) -> None:
    drive = resolve(load(name))
    assert drive.specification()["write_buffer"]["bytes"] == 0
    assert drive.specification()["controller"]["command_us"] == 5.0


def test_the_tiny_drive_is_tiny() -> None:
    drive = load("tiny")
    assert resolve(drive).capacity.physical_units == 64
    assert (drive.nand.blocks_per_plane, drive.nand.pages_per_block) == (8, 4)
