"""A refreshed device keeps its contents; its file system is frozen only briefly, and never left frozen."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import fmean

import pytest

from own_devices import Devices, forget, make_ext4, needs, run, served_drive, write_out
from processes import text_of
from running_drives import DRIVE
from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.refresh import rewriting, thaw_guardian
from ssdlab.hardware.refresh.freezing import freezer
from ssdlab.hardware.refresh.refreshing import Choices, refresh
from ssdlab.serving import guardian
from waiting import SECONDS_MAX, wait_for

MIB = 1 << 20
QUICK = Choices(read_test_bytes=0)
# Each kill takes seconds on a busy machine. 50 and more were run manually, half of them while the file system was
# frozen.
KILLS = int(os.environ.get("SSDLAB_TEST_KILLS", "2"))

pytestmark = [pytest.mark.loop, needs("mkfs.ext4")]


def digest(path: Path | str) -> str:
    """The hash of the device's contents, read without the page cache."""
    forget(path)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def is_frozen(folder: Path, seconds: float = SECONDS_MAX) -> bool:
    """Whether a write there does not complete within this time. The waiting thread is left behind."""
    file = folder / "probe"
    thread = threading.Thread(target=lambda: file.write_bytes(b"x"), daemon=True)
    thread.start()
    thread.join(seconds)
    return thread.is_alive()


def filled_ext4(devices: Devices) -> tuple[str, Path]:
    """A device of 64 MiB with a mounted ext4 and 20 MiB of data."""
    make_ext4(device := devices.loop(64 * MIB))
    folder = devices.mount(device)
    for number in range(5):
        (folder / f"file-{number}").write_bytes(os.urandom(4 * MIB))
    write_out(folder)
    return device, folder


def process(path: Path | str, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ssdlab", "refresh", str(path), "--read-test", "0", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_an_unmounted_device_is_what_it_was_and_what_is_empty_stays_so(loop: str) -> None:
    with open(loop, "r+b") as device:  # noqa: PTH123
        device.seek(3 * MIB)
        device.write(os.urandom(10 * MIB))
    before = digest(loop)
    backing = Path(f"/sys/block/{Path(loop).name}/loop/backing_file").read_text().strip()
    blocks = Path(backing).stat().st_blocks
    done = refresh(loop, QUICK)
    assert digest(loop) == before
    assert (done.rewritten_bytes, done.zero_bytes) == (10 * MIB, 22 * MIB)
    assert Path(backing).stat().st_blocks == blocks, "what was trimmed, or never written, was not written"


def test_a_mounted_device_is_what_it_was_while_others_write_to_it(devices: Devices) -> None:
    """Another program writes and flushes all the time; its last write is present, and all else is unchanged."""
    device, folder = filled_ext4(devices)
    before = {file.name: digest(file) for file in folder.glob("file-*")}
    counts = [0]
    ends = threading.Event()

    def write() -> None:
        descriptor = os.open(folder / "written", os.O_RDWR | os.O_CREAT)
        while not ends.is_set():
            counts[0] += 1
            os.pwrite(descriptor, counts[0].to_bytes(8, "little") * 512, counts[0] % 256 * 4096)
            os.fsync(descriptor)
        os.close(descriptor)

    turns = [0]

    def give_turn(what: str, share: float) -> None:
        """Called between slices, while nothing is frozen."""
        before = counts[0]
        wait_for("others write between slices", lambda: counts[0] > before + 1)
        turns[0] += 1

    thread = threading.Thread(target=write)
    thread.start()
    wait_for("something is written", lambda: counts[0] > 10)
    try:
        done = refresh(device, Choices(rate_bytes_s=20e6, read_test_bytes=0), give_turn)
    finally:
        ends.set()
        thread.join()
    assert done.rewritten_bytes >= 20 * MIB
    assert turns[0] > 1
    assert {file.name: digest(file) for file in folder.glob("file-*")} == before
    written = (folder / "written").read_bytes()
    for number in range(max(1, counts[0] - 200), counts[0] + 1):
        place = number % 256 * 4096
        assert written[place : place + 4096] == number.to_bytes(8, "little") * 512
    run("umount", str(folder))
    assert subprocess.run(["fsck.ext4", "-fn", device], capture_output=True).returncode == 0


@needs("mkfs.xfs")
def test_a_mounted_xfs(devices: Devices) -> None:
    run("mkfs.xfs", "-q", device := devices.loop(320 * MIB))
    folder = devices.mount(device)
    (folder / "file").write_bytes(os.urandom(20 * MIB))
    write_out(folder)
    before = digest(folder / "file")
    done = refresh(device, QUICK)
    assert digest(folder / "file") == before
    assert 20 * MIB <= done.rewritten_bytes < 60 * MIB
    assert not is_frozen(folder)
    run("umount", str(folder))
    assert subprocess.run(["xfs_repair", "-n", device], capture_output=True).returncode == 0


def test_free_space_is_left_alone(devices: Devices) -> None:
    device, folder = filled_ext4(devices)
    done = refresh(device, Choices(dry_run=True))
    room = os.statvfs(folder)
    assert done.plan.skipped_bytes["free space"] == pytest.approx(room.f_bfree * room.f_frsize, abs=4 * MIB)
    assert 20 * MIB <= done.plan.rewrite_bytes <= 32 * MIB


@pytest.mark.parametrize("mounted", [True, False], ids=["mounted", "file"])
def test_killed_at_any_moment(devices: Devices, mounted: bool) -> None:
    device, folder = filled_ext4(devices)
    (large := folder / "file-large").write_bytes(os.urandom(16 * MIB))
    write_out(folder)
    files = sorted(folder.glob("file-*"))
    before = [digest(file) for file in files]
    target: Path | str = device if mounted else large
    moments = random.Random(11)
    killed = 0
    for _ in range(KILLS):
        # At this rate the refresh takes seconds, so that the kills fall within it on any machine.
        with process(target, "--rate", "10MB" if mounted else "4MB", "--restart") as refreshing:
            time.sleep(moments.uniform(0.3, 1.2))
            killed += refreshing.poll() is None
            refreshing.send_signal(signal.SIGKILL)
            refreshing.wait(SECONDS_MAX)
        assert not is_frozen(folder)
        assert [digest(file) for file in files] == before
    # Not all: if the machine delays this test, a refresh can end first.
    assert killed


def test_a_process_that_stops_while_frozen_is_ended_and_the_file_system_thawed(devices: Devices) -> None:
    _, folder = filled_ext4(devices)
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from ssdlab.hardware.refresh import thaw_guardian\n"
        "from ssdlab.hardware.refresh.freezing import freezer\n"
        "thaw_guardian.start.__defaults__ = (1.0,)\n"
        f"with freezer(Path({str(folder)!r})) as made, made.frozen():\n"
        "    os.kill(os.getpid(), signal.SIGSTOP)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as stopped:
        assert stopped.wait(SECONDS_MAX) == -signal.SIGKILL
    assert not is_frozen(folder)


def test_frozen_is_frozen_and_thawed_after_a_failure(devices: Devices) -> None:
    """A check of the tests above: `is_frozen` detects a frozen file system."""
    _, folder = filled_ext4(devices)
    with freezer(folder) as made, pytest.raises(ZeroDivisionError), made.frozen():
        assert is_frozen(folder, seconds=0.5)
        raise ZeroDivisionError
    assert not is_frozen(folder)


def test_what_another_has_frozen_is_not_thawed(devices: Devices) -> None:
    device, folder = filled_ext4(devices)
    run("fsfreeze", "--freeze", str(folder))
    try:
        with process(device) as refreshing:
            assert refreshing.wait(SECONDS_MAX) == 1
        assert subprocess.run(["fsfreeze", "--freeze", str(folder)], capture_output=True).returncode != 0
    finally:
        run("fsfreeze", "--unfreeze", str(folder))


def test_the_guardian_says_when_it_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="did not start"):
        thaw_guardian.start(str(tmp_path / "missing"))


def test_a_device_with_other_uses(devices: Devices) -> None:
    device = devices.loop(64 * MIB)
    first = devices.partition(device)
    second = devices.partition(device, number=2, start_bytes=20 * MIB, size_bytes=8 * MIB)
    make_ext4(first)
    devices.mount(first)
    with pytest.raises(InputError, match=rf"{first} is mounted"):
        refresh(device, QUICK)
    refresh(second, QUICK)
    refresh(first, QUICK)


def test_who_comes_to_write_meanwhile_ends_it(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(loop, "r+b") as device:  # noqa: PTH123
        device.write(os.urandom(16 * MIB))
    monkeypatch.setattr(rewriting, "_LOOK_SECONDS", 0.0)
    script = f"import sys; f = open('{loop}', 'r+b'); print('open', flush=True); sys.stdin.read()"
    others: list[subprocess.Popen[str]] = []

    def come(what: str, share: float) -> None:
        if not others:
            others.append(
                subprocess.Popen(
                    [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            assert others[0].stdout is not None
            others[0].stdout.readline()

    try:
        with pytest.raises(RunFailed, match=r"has come into use: .* is open for writing"):
            refresh(loop, Choices(rate_bytes_s=4e6, read_test_bytes=0), come)
    finally:
        for other in others:
            other.communicate()


def test_a_device_that_is_held(loop: str) -> None:
    descriptor = os.open(loop, os.O_RDONLY | os.O_EXCL)
    try:
        with pytest.raises(InputError, match="held by something that is not visible here"):
            refresh(loop, QUICK)
    finally:
        os.close(descriptor)


@needs("mkfs.btrfs")
def test_a_mounted_file_system_that_copies_on_write(devices: Devices) -> None:
    run("mkfs.btrfs", "-q", device := devices.loop(128 * MIB))
    devices.mount(device)
    with pytest.raises(InputError, match=r"has users other than one|does not report which space"):
        refresh(device, QUICK)


@needs("fio")
def test_a_fragmented_drive_reads_again_as_when_it_was_fresh(devices: Devices, tmp_path: Path) -> None:
    """On a simulated drive, by its own clock: random rewrites scatter a file, and refreshing restores its order."""

    def fio(*options: str) -> None:
        run("fio", "--name=job", f"--filename={file}", "--size=100m", "--direct=1", "--output=/dev/null", *options)

    with served_drive(tmp_path, DRIVE) as (device, _):
        make_ext4(device)
        folder = devices.mount(device)
        try:
            file = folder / "big"
            fio("--rw=write", "--bs=1m")
            fresh = fmean(refresh(file, Choices()).before_mb_s)
            # The tests of the diagnosis do the same to the file.
            fio("--rw=randwrite", "--bs=4k", "--io_size=200m", "--ioengine=libaio", "--iodepth=16")
            content = digest(file)
            done = refresh(device, Choices())
            assert done.clock_is_simulated
            assert fmean(done.before_mb_s) < 0.5 * fresh
            assert fmean(done.after_mb_s) > 0.9 * fresh
            assert done.change is not None and done.change.low > 1.8
            assert digest(file) == content
        finally:
            devices.take_away()


def test_a_drive_that_goes_in_the_middle_leaves_nothing_hanging(devices: Devices, tmp_path: Path) -> None:
    """The simulated drive is killed while its file system is being refreshed, as if it had been unplugged."""
    with served_drive(tmp_path, DRIVE) as (device, served):
        make_ext4(device)
        folder = devices.mount(device)
        (folder / "file").write_bytes(os.urandom(64 * MIB))
        write_out(folder)
        command = [sys.executable, "-m", "ssdlab", "refresh", device, "--read-test", "0", "--rate", "5MB"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as refreshing:
            wait_for("something is rewritten", lambda: any((tmp_path / "state").rglob("*.json")))
            (owner,) = (
                int(entry.name)
                for entry in Path("/proc").iterdir()
                if entry.name.isdigit() and {str(served), "--loop"} <= set(text_of(entry / "cmdline").split("\0"))
            )
            os.kill(owner, signal.SIGKILL)
            _, said = refreshing.communicate(timeout=SECONDS_MAX)
        assert refreshing.returncode == 1, said
        assert "cannot be" in said or "could not be" in said
        assert "Traceback" not in said
        wait_for("the mount is gone", lambda: str(served) not in guardian.mounted_folders())
