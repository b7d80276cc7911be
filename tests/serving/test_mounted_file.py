"""The drive as a file: file operations of programs, and the statistics of the drive."""

import ctypes
import ctypes.util
import errno
import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from processes import text_of
from running_drives import Mount, MountMaker
from waiting import SECONDS_MAX, wait_for

pytestmark = pytest.mark.fuse

KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE = 0x01, 0x02, 0x10


def fallocate(descriptor: int, mode: int, offset: int, length: int) -> None:
    libc = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
    arguments = (ctypes.c_int(descriptor), ctypes.c_int(mode), ctypes.c_long(offset), ctypes.c_long(length))
    if libc.fallocate(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def written_units(mount: Mount) -> int:
    return int(mount.statistics()["ssdlab"]["host"]["written_bytes"]) // 4096


def test_what_is_written_is_read_also_directly_and_mapped(mount: MountMaker) -> None:
    mounted = mount()
    data = os.urandom(8192)
    assert mounted.drive.stat().st_size == 268435456
    descriptor = os.open(mounted.drive, os.O_RDWR | os.O_DIRECT)
    try:
        assert os.pread(descriptor, 16, 12345) == bytes(16)
        with mmap.mmap(-1, 8192) as aligned:
            aligned[:] = data
            os.pwritev(descriptor, [aligned], 4096)
            os.preadv(descriptor, [aligned], 4096)
            assert aligned[:] == data
        # Not aligned to units.
        os.pwrite(descriptor, b"part", 5000)
        assert os.pread(descriptor, 6, 4999) == data[903:904] + b"part" + data[908:909]
        assert os.pread(descriptor, 100, 268435456 - 10) == bytes(10)
        with pytest.raises(OSError) as past:
            os.pwrite(descriptor, b"x", 268435456)
        assert past.value.errno in (errno.ENOSPC, errno.EFBIG)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    with mounted.drive.open("r+b") as file, mmap.mmap(file.fileno(), 1 << 20) as mapped:
        assert mapped[4096:5000] == data[:904]
        mapped[65536:65540] = b"mmap"
        mapped.flush()
        assert os.pread(file.fileno(), 4, 65536) == b"mmap"


def test_a_hole_is_a_trim_and_a_zero_range_is_a_write(mount: MountMaker) -> None:
    mounted = mount()
    descriptor = os.open(mounted.drive, os.O_RDWR)
    try:
        os.pwrite(descriptor, b"\xff" * 65536, 0)
        before = mounted.statistics()["ssdlab"]["host"]
        fallocate(descriptor, PUNCH_HOLE | KEEP_SIZE, 4096, 8192)
        after = mounted.statistics()["ssdlab"]["host"]
        assert after["trimmed_bytes"] - before["trimmed_bytes"] == 8192
        assert after["written_bytes"] == before["written_bytes"]
        fallocate(descriptor, ZERO_RANGE | KEEP_SIZE, 16384, 4096)
        assert written_units(mounted) == before["written_bytes"] // 4096 + 1
        # A hole whose ends lie inside units is zero to the byte.
        fallocate(descriptor, PUNCH_HOLE | KEEP_SIZE, 30000, 10000)
        expected = bytearray(b"\xff" * 65536)
        for start, end in ((4096, 12288), (16384, 20480), (30000, 40000)):
            expected[start:end] = bytes(end - start)
        assert os.pread(descriptor, 65536, 0) == bytes(expected)
        fallocate(descriptor, 0, 0, 268435456)
        with pytest.raises(OSError) as refused:
            fallocate(descriptor, 0, 0, 268435457)
        assert refused.value.errno == errno.ENOSPC
    finally:
        os.close(descriptor)


def test_phases_have_counters_of_their_own(mount: MountMaker) -> None:
    mounted = mount()
    with mounted.drive.open("r+b", buffering=0) as file:
        file.write(bytes(40960))
        mounted.command("mark second")
        file.seek(0)
        file.write(bytes(4096))
    statistics = mounted.statistics()
    first, second = statistics["jobs"]
    assert [first["jobname"], second["jobname"]] == ["mounted", "second"]
    assert first["write"]["io_bytes"] == 40960
    assert second["write"]["io_bytes"] == 4096
    assert second["ssdlab"]["host"]["written_bytes"] == 4096
    assert second["write"]["clat_ns"]["N"] == 1
    assert statistics["ssdlab"]["simulated_seconds"] > 0
    mounted.command("idle 1h")
    assert mounted.statistics()["ssdlab"]["simulated_seconds"] > 3600
    mounted.command("reset")
    reset = mounted.statistics()
    assert reset["ssdlab"]["host"]["written_bytes"] == 0
    assert [job["jobname"] for job in reset["jobs"]] == ["mounted"]
    with pytest.raises(OSError) as refused:
        mounted.command("no such command")
    assert refused.value.errno == errno.EINVAL


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_of_a_mount_that_ends(mount: MountMaker, number: signal.Signals) -> None:
    mounted = mount()
    with mounted.drive.open("r+b", buffering=0) as file:
        file.write(bytes(4096))
    code = mounted.end(number)
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    mounted.wait_until_gone()
    assert not list(mounted.folder.iterdir())
    wait_for("no guardian watches over the folder any more", lambda: not guardians_of(mounted))


def guardians_of(mounted: Mount) -> list[str]:
    """Command lines of guardians that still run for the folder."""
    return [
        line
        for process in Path("/proc").glob("[0-9]*/cmdline")
        if str(mounted.folder) in (line := text_of(process)) and "guardian" in line
    ]


def test_real_pace_answers_when_the_drive_would(mount: MountMaker) -> None:
    mounted = mount("--pace", "real")
    with mounted.drive.open("r+b", buffering=0) as file:
        file.write(bytes(65536))
        os.fsync(file.fileno())
        time.sleep(0.02)
        mounted.command("mark reads")
        started = time.monotonic()
        for unit in range(16):
            os.pread(file.fileno(), 4096, unit * 4096)
        seconds = time.monotonic() - started
    statistics = mounted.statistics()
    # A read of the array takes 60 us, and the transfer of 4 KiB at 800 MB/s another 5 us.
    assert statistics["jobs"][-1]["read"]["clat_ns"]["min"] == pytest.approx(65_120, rel=0.02)
    assert seconds >= 16 * 65e-6
    pace = statistics["ssdlab"]["device"]["real_pace"]
    assert pace["requests"] >= 18
    assert pace["achieved_mean_ns"] >= pace["intended_mean_ns"] > 0


def test_an_unmount_from_outside_ends_the_command(mount: MountMaker) -> None:
    mounted = mount()
    subprocess.run(["umount", mounted.folder], check=True)
    assert mounted.process.wait(SECONDS_MAX) == 0


def test_what_cannot_be_mounted_says_why(tmp_path: Path) -> None:
    def refused(*arguments: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, "-m", "ssdlab", "mount", *arguments], capture_output=True, text=True)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    drive = ("--drive", "generic-tlc-480", "--scale", "1/256")
    code, said = refused(str(tmp_path / "full"), *drive)
    assert code == 2
    assert "not empty" in said
    code, said = refused(str(tmp_path / "full/file"), *drive)
    assert code == 2
    assert "not a folder" in said
