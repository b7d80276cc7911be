"""Losses of power while programs run, drives that outlive their process, and their SMART values."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from running_drives import DRIVE, MountMaker

pytestmark = pytest.mark.fuse

# Must follow the table of sources.
STRIPE = """
"stripe.*" = { kind = "assumed", source = "made up for tests" }
[stripe]
devices = 2
chunk_bytes = 65536
"""


def test_what_was_synced_is_there_when_the_power_comes_back(mount: MountMaker) -> None:
    mounted = mount()
    data = os.urandom(1 << 20)
    with mounted.drive.open("r+b", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())
        mounted.command("power-cut")
        file.seek(0)
        assert file.read(1 << 20) == data
    statistics = mounted.statistics()["ssdlab"]
    assert statistics["device"]["power_cycles"] == 1
    assert statistics["device"]["recovery"]["scanned_pages"] >= 64
    assert statistics["device"]["recovery"]["duration_ns"] > 0
    health = statistics["smart"]["nvme_smart_health_information_log"]
    assert health["unsafe_shutdowns"] == 1
    assert health["critical_warning"] == 0
    assert health["available_spare"] == 100
    # Thousands of 512 bytes, rounded up: 2048 sectors are three.
    assert health["data_units_written"] == 3
    assert health["temperature"] is None
    assert statistics["smart"]["ocp_smart_log"]["physical_media_units_written_bytes"] >= 1 << 20
    assert statistics["smart"]["smart_status"]["passed"]


def test_a_drive_in_a_file_outlives_a_kill_and_an_orderly_end(mount: MountMaker, tmp_path: Path) -> None:
    store = str(tmp_path / "flash")
    data = os.urandom(1 << 20)
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        mounted = mount("--store", store)
        with mounted.drive.open("r+b", buffering=0) as file:
            if number != signal.SIGKILL:
                assert file.read(1 << 20) == data
                file.seek(0)
            file.write(data := os.urandom(1 << 20))
            if number == signal.SIGKILL:
                # A regression: SIGHUP lost unflushed data, as a kill does; an orderly end keeps it.
                os.fsync(file.fileno())
        mounted.end(number)
        mounted.wait_until_gone()
    command = ["mount", str(tmp_path / "other"), "--drive", "generic-tlc-480", "--scale", "1/256", "--store", store]
    done = subprocess.run([sys.executable, "-m", "ssdlab", *command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "another drive" in done.stderr


def test_a_stripe_keeps_what_it_was_given_through_a_loss_of_power_and_a_kill(mount: MountMaker, tmp_path: Path) -> None:
    striped = tmp_path / "striped.toml"
    striped.write_text(DRIVE.replace("= 268435456", "= 536870912") + STRIPE)
    store = str(tmp_path / "flash")
    data = os.urandom(1 << 20)
    for number in (signal.SIGKILL, signal.SIGINT):
        mounted = mount("--store", store, drive=striped)
        assert mounted.drive.stat().st_size == 536870912
        with mounted.drive.open("r+b", buffering=0) as file:
            # Across the boundaries of chunks and of units.
            file.seek((256 << 20) - 5000)
            if number == signal.SIGINT:
                assert file.read(1 << 20) == data
                file.seek(-(1 << 20), os.SEEK_CUR)
            file.write(data := os.urandom(1 << 20))
            os.fsync(file.fileno())
            mounted.command("power-cut")
            file.seek((256 << 20) - 5000)
            assert file.read(1 << 20) == data
        told = mounted.statistics()
        assert told["ssdlab"]["device"]["recovery"]["duration_ns"] > 0
        assert told["ssdlab"]["capacity"]["user_bytes"] == 536870912
        assert told["ssdlab"]["waf"] is not None
        assert told["ssdlab"]["smart"]["nvme_smart_health_information_log"]["available_spare"] == 100
        assert told["jobs"][0]["ssdlab"]["latency_breakdown"]["write"] is not None
        mounted.end(number)
        mounted.wait_until_gone()


def test_faults_of_the_flash_are_errors_and_never_wrong_data(mount: MountMaker) -> None:
    mounted = mount("--faults", "uncorrectable_reads=2%", "--faults", "program_failures=0.7%")
    data = os.urandom(16 << 20)
    with mounted.drive.open("r+b", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())
        failed = 0
        for at in range(0, len(data), 4096):
            try:
                assert os.pread(file.fileno(), 4096, at) == data[at : at + 4096]
            except OSError as error:
                assert error.errno == errno.EIO
                failed += 1
    statistics = mounted.statistics()["ssdlab"]
    assert 20 < failed < 200
    events = statistics["device"]["events"]
    assert events["lost_units"] >= failed
    assert events["program_failures"] > 0
    assert statistics["smart"]["nvme_smart_health_information_log"]["media_errors"] == events["lost_units"]


def test_a_kind_of_fault_that_there_is_not_is_refused(tmp_path: Path) -> None:
    for wrong in ("read_errors=1%", "erase_failures", "program_failures=200%"):
        command = ["mount", str(tmp_path / "here"), "--drive", "generic-tlc-480", "--faults", wrong]
        done = subprocess.run([sys.executable, "-m", "ssdlab", *command], capture_output=True, text=True)
        assert done.returncode == 2
        assert wrong in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "here").exists()


def test_idle_time_folds_the_slc_cache(mount: MountMaker, tmp_path: Path) -> None:
    drive = tmp_path / "cached.toml"
    # A block of 8 pages has 2 in SLC mode, so 16 erase units of the cache hold 4 MiB.
    cache = '[slc_cache]\nstatic_bytes = 4194304\n[sources]\n"slc_cache.*" = { kind = "assumed", source = "made up" }\n'
    drive.write_text(DRIVE.replace("blocks_per_plane = 272", "blocks_per_plane = 300").replace("[sources]\n", cache))
    mounted = mount(drive=drive)
    data = os.urandom(3 << 20)
    with mounted.drive.open("r+b", buffering=0) as file:
        file.write(data)
        os.fsync(file.fileno())
        assert mounted.statistics()["ssdlab"]["nand"]["programmed_bytes"]["slc_fold"] == 0
        mounted.command("idle 1h")
        statistics = mounted.statistics()["ssdlab"]
        assert statistics["nand"]["programmed_bytes"]["slc_fold"] > 2 << 20
        mounted.command("power-cut")
        assert os.pread(file.fileno(), len(data), 0) == data
