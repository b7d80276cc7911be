"""[map_cache] and [read_ahead]: allowed values, scaling, and agreement with the engine."""

from fractions import Fraction
from pathlib import Path

import pytest

import ssdlab
from ssdlab.errors import InputError
from ssdlab.simulator.drives import load, resolve

CACHE = {"map_cache.bytes": "256KiB"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (CACHE | {"map_cache.entries_per_map_page": "2048"}, "at most a mapping unit of 4096 B"),
        ({"map_cache.bytes": "4095"}, "at least a map page of 4096 B"),
        (CACHE | {"map_cache.eviction": '"fifo"'}, "'lru' or 'clock'"),
        (CACHE | {"map_cache.miss_us": "-1"}, "map_cache.miss_us = -1 should be a number of 0 or more"),
        (
            CACHE
            | {
                "ftl.user_bytes": "65536000000",
                "ftl.mapping_unit_bytes": "65536",
                "nand.page_bytes": "65536",
                "map_cache.entry_bytes": "1",
                "map_cache.entries_per_map_page": "40000",
                "map_cache.form": '"extent"',
            },
            "at most 32767 for a map of extents",
        ),
        ({"read_ahead.window_bytes": "64KiB"}, "at most read_ahead.window_bytes = 65536"),
        ({"read_ahead.window_bytes": "64KiB", "read_ahead.segment_bytes": "5000"}, "a multiple of a mapping unit"),
    ],
)
def test_what_does_not_fit_together_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(load("generic-tlc-480"), settings=settings)


def test_the_cache_keeps_its_share_of_the_map_and_never_less_than_a_map_page() -> None:
    drive = load("generic-tlc-480")
    settings = {"map_cache.bytes": "1MiB", "read_ahead.window_bytes": "1MiB"}
    scaled = resolve(drive, settings=settings, scale=Fraction(1, 64)).specification()
    assert scaled["map_cache"]["bytes"] == 2**14
    assert scaled["read_ahead"]["window_bytes"] == 2**20
    tiny = resolve(drive, settings=CACHE, scale=Fraction(1, 256)).specification()
    assert tiny["map_cache"]["bytes"] == 4096


def test_map_pages_take_room_of_the_spare_area(tmp_path: Path) -> None:
    drive = load("textbook")
    without = resolve(drive).capacity
    settings = {"map_cache.bytes": "64KiB", "map_cache.entries_per_map_page": "16"}
    with_map = resolve(drive, settings=settings)
    assert with_map.capacity.user_units_max == without.user_units_max * 16 // 17
    least = with_map.over_provisioning_min
    job = tmp_path / "writes.fio"
    job.write_text(JOB)
    result = ssdlab.run(job, ssdlab.drive("textbook", op=least, settings=settings), timed=False)
    assert result.failure is None
    assert result.ledger.programmed_units["metadata"] > 0


JOB = """[fill]
rw=write
bs=128k

[writes]
stonewall
rw=randwrite
bs=4k
norandommap
io_size=16m
"""
