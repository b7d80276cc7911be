"""Runs of the generic drives: none is faster than its link, and each shows the typical behaviour of its class."""

from functools import cache

import pytest

import ssdlab
from ssdlab.simulator.drives import load, names
from ssdlab.simulator.results import Result
from ssdlab.simulator.workloads import jobs

GENERIC = [name for name in names() if name.startswith("generic-")]
LINK_MB_S = {"sata-6g": 600.0, "pcie3x4": 3938.0, "pcie4x4": 7877.0}

STEPS = jobs.parse("""
[global]
randrepeat=0
[fill]
rw=write
bs=128k
iodepth=32
[random-writes]
stonewall
rw=randwrite
bs=4k
iodepth=32
norandommap
io_size=10%
[reads]
stonewall
rw=read
bs=128k
iodepth=32
io_size=5%
""")


@cache
def result_of(name: str) -> Result:
    return ssdlab.run(STEPS, ssdlab.drive(name, scale="1/128"))


@pytest.mark.parametrize("name", GENERIC)
def test_no_drive_is_faster_than_its_link(name: str) -> None:
    result = result_of(name)
    assert result.failure is None
    fill, random_writes, reads = result.jobs
    link = LINK_MB_S.get(load(name).host_link.interface, float("inf"))
    for bytes_per_second in (fill.write.bw_bytes, reads.read.bw_bytes):
        assert bytes_per_second is not None and 50e6 < bytes_per_second < link * 1e6
    assert random_writes.write.iops is not None and random_writes.write.iops > 1000


def test_every_class_is_there() -> None:
    drives = [load(name) for name in GENERIC]
    assert {drive.nand.cell for drive in drives} >= {"mlc", "tlc", "qlc"}
    assert {"sata-6g", "pcie3x4", "pcie4x4"} <= {drive.host_link.interface for drive in drives}
    assert any(drive.has_slc_cache and drive.map_cache.bytes for drive in drives), "consumer, without DRAM"
    assert any(drive.parity.units_per_stripe and drive.write_buffer.power_loss_protection for drive in drives)


@pytest.mark.parametrize("name", ["generic-sata-tlc-500", "generic-nvme-tlc-1000", "generic-nvme-qlc-2000"])
def test_consumer_drives_fold_their_cache(name: str) -> None:
    assert result_of(name).ledger.programmed_units["slc_fold"] > 0


@pytest.mark.parametrize("name", ["generic-nvme-tlc-1000", "generic-nvme-qlc-2000"])
def test_drives_without_dram_write_their_map(name: str) -> None:
    assert result_of(name).ledger.programmed_units["metadata"] > 0
