"""A refreshed file keeps its contents and location; no other process changes it meanwhile; impossible cases are
rejected."""

import json
import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from own_devices import Devices, make_ext4, needs, run, write_out
from ssdlab.cli.refresh import _text
from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.diagnosis.extents import extents_of
from ssdlab.hardware.refresh import rewriting
from ssdlab.hardware.refresh.progress import Keeper
from ssdlab.hardware.refresh.refreshing import Choices, Refreshed, refresh
from ssdlab.hardware.safety import locate
from waiting import SECONDS_MAX, wait_for

MIB = 1 << 20
QUICK = Choices(read_test_bytes=0)


@pytest.fixture
def ext4(devices: Devices) -> Path:
    """The folder of an ext4 of 64 MiB, so that the tests are independent of the machine's file system."""
    make_ext4(device := devices.loop(64 * MIB))
    return devices.mount(device)


pytestmark = [pytest.mark.loop, needs("mkfs.ext4")]


@pytest.fixture
def file(ext4: Path) -> Path:
    """9 MiB of data and a partial sector, with a hole and never-written space between."""
    path = ext4 / "file"
    with path.open("wb") as opened:
        opened.write(os.urandom(5 * MIB))
        opened.seek(8 * MIB)
        opened.write(os.urandom(4 * MIB + 1234))
        os.posix_fallocate(opened.fileno(), 6 * MIB, MIB)
        opened.flush()
        os.fsync(opened.fileno())
    os.utime(path, ns=(10**18, 10**18))
    return path


def places(path: Path) -> list[tuple[int, int, int]]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return [(each.offset, each.device_offset, each.length) for each in extents_of(descriptor)]
    finally:
        os.close(descriptor)


def process(path: Path | str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "ssdlab", "refresh", str(path), "--read-test", "0", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_progress(file: Path) -> None:
    """Waits until the other process has rewritten data and stored its progress."""
    wait_for("something is rewritten", lambda: Keeper(locate(file)).load() is not None)


def test_it_is_what_and_where_it_was(file: Path) -> None:
    before, lay = file.read_bytes(), places(file)
    done = refresh(file, Choices(verify=True))
    assert (file.read_bytes(), places(file)) == (before, lay)
    assert file.stat().st_mtime_ns == 10**18
    assert done.rewritten_bytes == 9 * MIB + 1234
    assert done.plan.skipped_bytes == {"holes": 2 * MIB, "allocated, never written": MIB}
    assert not Keeper(done.place).file.exists()


def test_it_is_really_written(file: Path) -> None:
    """Counts the sectors written to the device."""
    statistics = Path(f"/sys/block/{locate(file).disk}/stat")
    write_out(file)
    before = int(statistics.read_text().split()[6])
    refresh(file, QUICK)
    assert int(statistics.read_text().split()[6]) - before >= (9 * MIB + 1234) // 512


def test_a_dry_run_changes_and_remembers_nothing(file: Path) -> None:
    statistics = Path(f"/sys/block/{locate(file).disk}/stat")
    write_out(file)
    before = int(statistics.read_text().split()[6])
    done = refresh(file, Choices(dry_run=True, rated_tbw=1))
    assert done.plan.rewrite_bytes == 9 * MIB + 1234
    assert done.share_of_tbw == pytest.approx((9 * MIB + 1234) / 1e12)
    write_out(file)
    assert int(statistics.read_text().split()[6]) == before
    assert not Keeper(done.place).file.exists()


def test_the_rate_is_kept(file: Path) -> None:
    began = time.monotonic()
    refresh(file, Choices(rate_bytes_s=10e6, read_test_bytes=0))
    # No pause is needed after the last block.
    assert time.monotonic() - began > (9 * MIB - rewriting.BLOCK_BYTES) / 10e6


def test_a_file_that_somebody_has_open(file: Path) -> None:
    with file.open("rb"), pytest.raises(InputError, match="is open elsewhere"):
        refresh(file, QUICK)


def test_who_has_it_open_is_named(file: Path) -> None:
    script = f"import sys; f = open('{file}'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdin is not None
        other.stdout.readline()
        with pytest.raises(InputError, match=rf"process {other.pid}\)"):
            refresh(file, QUICK)
        other.stdin.close()


def test_a_file_that_is_mapped(file: Path) -> None:
    with file.open("r+b") as opened:
        mapped = mmap.mmap(opened.fileno(), 4096)
    with mapped, pytest.raises(InputError, match="is open elsewhere"):
        refresh(file, QUICK)


def test_who_opens_it_meanwhile_is_let_in_and_nothing_of_theirs_is_lost(file: Path) -> None:
    before = bytearray(file.read_bytes())
    with process(file, "--rate", "1MB") as refreshing:
        wait_for_progress(file)
        with file.open("r+b") as opened:
            opened.seek(5 * MIB - 100)
            opened.write(b"theirs")
        _, said = refreshing.communicate(timeout=SECONDS_MAX)
    before[5 * MIB - 100 : 5 * MIB - 94] = b"theirs"
    assert refreshing.returncode == 1
    assert "another program opens the file" in said and "the same command resumes" in said
    assert file.read_bytes() == before
    done = refresh(file, QUICK)
    assert done.resumed_at > 0
    assert done.rewritten_bytes == 9 * MIB + 1234
    assert file.read_bytes() == before


def test_a_polite_kill_keeps_what_was_done(file: Path) -> None:
    before = file.read_bytes()
    with process(file, "--rate", "1MB") as refreshing:
        wait_for_progress(file)
        refreshing.terminate()
        _, said = refreshing.communicate(timeout=SECONDS_MAX)
    assert refreshing.returncode == 128 + signal.SIGTERM
    assert "the same command resumes" in said
    assert file.read_bytes() == before
    assert refresh(file, QUICK).resumed_at > 0


def test_another_file_of_that_name_is_begun_anew(file: Path) -> None:
    keeper = Keeper(locate(file))
    with process(file, "--rate", "1MB") as refreshing:
        wait_for_progress(file)
        refreshing.kill()
    assert keeper.load() is not None
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(data + b"more")
    assert Keeper(locate(file)).load() is None
    assert refresh(file, QUICK).resumed_at == 0


def test_a_state_folder_that_cannot_be_written(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in-the-way").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "in-the-way"))
    assert "will start again" in refresh(file, QUICK).notes[0]


def test_a_drive_that_does_not_give_back_what_was_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = os.pwritev

    def lying(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        written = genuine(descriptor, buffers, offset)
        if offset == 0:
            genuine(descriptor, [memoryview(mmap.mmap(-1, 4096))], 4096)
        return written

    monkeypatch.setattr(os, "pwritev", lying)
    with pytest.raises(RunFailed, match="byte 0 reads back differently"):
        refresh(file, Choices(verify=True, read_test_bytes=0))


def test_a_read_that_fails_ends_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(descriptor: int, buffers: list[memoryview], offset: int) -> int:
        raise OSError(5, "Input/output error")

    before = file.read_bytes()
    monkeypatch.setattr(os, "preadv", failing)
    with pytest.raises(RunFailed, match="byte 0 cannot be read: Input/output error; nothing was written"):
        refresh(file, QUICK)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda file: run("chattr", "+i", str(file)), "immutable or append-only"),
        (lambda file: run("mount", "-o", "remount,ro", str(file.parent)), "remount it read-write first"),
    ],
    ids=["immutable", "read-only"],
)
def test_what_may_not_be_written(file: Path, make: "object", says: str) -> None:
    assert callable(make)
    make(file)
    try:
        with pytest.raises(InputError, match=says):
            refresh(file, QUICK)
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(file.parent)], check=True)
        subprocess.run(["chattr", "-i", str(file)], check=True)


def test_a_running_program(ext4: Path) -> None:
    program = ext4 / "sleep"
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    with subprocess.Popen([str(program), "600"]) as running:
        with pytest.raises(InputError, match="running program or a swap file"):
            refresh(program, QUICK)
        running.kill()


@needs("mkswap", "swapon")
def test_a_swap_file(ext4: Path, devices: Devices) -> None:
    swap = ext4 / "swap"
    swap.write_bytes(bytes(8 * MIB))
    swap.chmod(0o600)
    run("mkswap", str(swap))
    if subprocess.run(["swapon", str(swap)], capture_output=True).returncode != 0:
        pytest.skip("the kernel has no swap")
    devices.also_undo("swapoff", str(swap))
    with pytest.raises(InputError, match=r"running program or a swap file|is open elsewhere"):
        refresh(swap, QUICK)


@needs("mkfs.btrfs")
def test_a_file_system_that_copies_on_write(devices: Devices) -> None:
    run("mkfs.btrfs", "-q", device := devices.loop(128 * MIB))
    file = devices.mount(device) / "file"
    file.write_bytes(bytes(MIB))
    with pytest.raises(InputError, match=r"btrfs copies on write.*cp --reflink=never"):
        refresh(file, QUICK)


@needs("mkfs.xfs")
def test_a_file_that_shares_data(devices: Devices) -> None:
    run("mkfs.xfs", "-q", "-m", "reflink=1", device := devices.loop(400 * MIB))
    file = devices.mount(device) / "file"
    file.write_bytes(os.urandom(MIB))
    run("cp", "--reflink=always", str(file), str(file) + ".copy")
    with pytest.raises(InputError, match="shares data with another file"):
        refresh(file, QUICK)


def test_a_file_system_of_memory(devices: Devices) -> None:
    file = devices.mount("none", "-t", "tmpfs") / "file"
    file.write_bytes(bytes(MIB))
    with pytest.raises(InputError, match="unknown whether tmpfs writes in place"):
        refresh(file, QUICK)


def test_a_folder_and_a_virtual_device(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"find .* -exec ssdlab refresh"):
        refresh(tmp_path, QUICK)
    if Path("/dev/zram0").exists():
        with pytest.raises(InputError, match="is built on other devices"):
            refresh("/dev/zram0", QUICK)


def test_the_command_line(file: Path) -> None:
    with process(file, "--rated-tbw", "150", "--output-format", "json") as refreshing:
        said, errors = refreshing.communicate(timeout=SECONDS_MAX)
    assert refreshing.returncode == 0, errors
    done = json.loads(said)
    assert (done["rewritten_bytes"], done["read_mb_s"]["before"]) == (9 * MIB + 1234, None)
    with process(file, "--rate", "fast") as refreshing:
        _, errors = refreshing.communicate(timeout=SECONDS_MAX)
    assert refreshing.returncode == 2 and "--rate" in errors


def test_what_is_said_of_a_simulated_clock(file: Path) -> None:
    assert isinstance(refresh(file, QUICK), Refreshed)
    assert refresh(file, QUICK).to_dict()["read_mb_s"]["clock"] == "wall"


def test_a_change_of_speed_is_said_only_where_the_readings_show_it(file: Path) -> None:
    """A regression: one reading before and one after of an unchanged file gave "0.87 times"."""
    done = refresh(file, Choices())
    assert len(done.before_mb_s) == len(done.after_mb_s) == 5
    done.before_mb_s, done.after_mb_s = (500.0, 430.0, 470.0, 520.0, 410.0), (440.0, 500.0, 390.0, 480.0, 430.0)
    assert "no difference seen (one of 17 % would have been)" in _text(done)
    done.after_mb_s = (900.0, 930.0, 970.0, 920.0, 910.0)
    assert done.change is not None and done.change.low > 1.5 and "times" in _text(done)
