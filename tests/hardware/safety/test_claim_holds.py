"""A claim while it is held: it excludes others, rechecks, counts, and stops; then it is released."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import reports
from own_devices import Devices, make_ext4, needs, run
from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.safety import Claim, claim, health, locate
from ssdlab.hardware.smart import reading
from ssdlab.hardware.smart.source import Report, Unavailable
from waiting import SECONDS_MAX

pytestmark = pytest.mark.loop


@pytest.fixture
def claimed(loop: str) -> Iterator[Claim]:
    with claim(loop, serial=locate(loop).identities[0], write_budget_bytes=10_000) as made:
        yield made


def can_be_held(device: str) -> bool:
    try:
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError:
        return False
    return True


@needs("mkfs.ext4")
def test_it_cannot_be_mounted_nor_made_a_file_system(devices: Devices, tmp_path: Path) -> None:
    make_ext4(loop := devices.loop())
    mount = ["mount", loop, str(tmp_path / "folder")]
    (tmp_path / "folder").mkdir()
    devices.also_undo("umount", str(tmp_path / "folder"))
    with claim(loop, serial=locate(loop).identities[0], discard_signatures=True):
        assert subprocess.run(mount, capture_output=True).returncode != 0
        assert subprocess.run(["mkfs.ext4", "-q", "-F", loop], capture_output=True).returncode != 0
    assert subprocess.run(mount, capture_output=True).returncode == 0, "once released it can"


def test_a_held_disk_keeps_its_partitions(devices: Devices) -> None:
    partition = devices.partition(loop := devices.loop())
    with claim(loop, serial=locate(loop).identities[0]):
        assert not can_be_held(partition)
    assert can_be_held(partition)


@needs("fio")
def test_fio_may_write_to_it(claimed: Claim) -> None:
    job = ["--name=job", "--rw=write", "--bs=64k", "--size=1m", "--direct=1", "--output-format=json"]
    done = subprocess.run(["fio", f"--filename={claimed.place.path}", *job], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    claimed.recheck()


def test_two_claims_of_one_device(claimed: Claim) -> None:
    with (
        pytest.raises(InputError, match="another ssdlab"),
        claim(claimed.place.path, serial=claimed.place.identities[0]),
    ):
        pytest.fail("was claimed twice")


def test_it_is_released_after_a_failure(loop: str) -> None:
    with pytest.raises(ZeroDivisionError), claim(loop, serial=locate(loop).identities[0]):
        assert not can_be_held(loop)
        raise ZeroDivisionError
    assert can_be_held(loop)


def test_it_is_released_by_a_kill(loop: str) -> None:
    script = (
        "import sys; from ssdlab.hardware.safety import claim, locate\n"
        f"with claim('{loop}', serial=locate('{loop}').identities[0]):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert not can_be_held(loop)
        process.kill()
    assert can_be_held(loop)


def test_who_comes_in_between_is_seen_at_the_next_phase(claimed: Claim) -> None:
    script = f"import sys; f = open('{claimed.place.path}', 'r+b'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        with pytest.raises(RunFailed, match="come into use"):
            claimed.recheck()
        process.stdin.close()
        process.wait(SECONDS_MAX)
    claimed.recheck()


def test_the_budget(claimed: Claim) -> None:
    claimed.recheck(10_000)
    claimed.count_written(6_000)
    assert claimed.budget_left_bytes == 4_000
    with pytest.raises(RunFailed, match=r"next phase writes 5 kB, but only 4 kB of --max-write 10 kB are left"):
        claimed.recheck(5_000)
    with pytest.raises(RunFailed, match="stops here"):
        claimed.count_written(4_001)


def test_a_drive_that_is_shorter_than_at_the_start(claimed: Claim) -> None:
    assert claimed.place.backing_file is not None
    os.truncate(claimed.place.backing_file, 16 << 20)
    run("losetup", "--set-capacity", str(claimed.place.path))
    with pytest.raises(RunFailed, match="at the start it was"):
        claimed.recheck()


def test_a_drive_that_no_longer_answers(claimed: Claim) -> None:
    """The file behind the device is truncated: reads fail, as on an unplugged drive."""
    assert claimed.place.backing_file is not None
    os.truncate(claimed.place.backing_file, 0)
    with pytest.raises(RunFailed, match="cannot be read"):
        claimed.recheck()


def test_a_device_that_has_gone(loop: str, tmp_path: Path) -> None:
    """The device node no longer leads to a device."""
    node = tmp_path / "node"
    run("mknod", str(node), "b", "7", Path(f"/sys/block/{Path(loop).name}/dev").read_text().strip().split(":")[1])
    with claim(node, serial=locate(loop).identities[0]) as claimed:
        node.unlink()
        with pytest.raises(RunFailed, match="is gone"):
            claimed.recheck()


def report_of(raw: dict[str, Any]) -> Report:
    return Report(raw, None, reading.parse(raw, "a test"))


def test_smart_that_becomes_unreadable_ends_the_run(claimed: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed.recheck()
    claimed.smart = report_of(reports.nvme(5))
    with pytest.raises(RunFailed, match="SMART could be read at the start but not now: a loop device"):
        claimed.recheck()
    monkeypatch.setattr(health, "read", lambda place: report_of(reports.nvme(6)))
    assert isinstance(claimed.recheck(), Report)


def test_a_drive_in_trouble_is_not_claimed_and_not_written_on(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = locate(loop).identities[0]
    monkeypatch.setattr(health, "read", lambda place: report_of(reports.nvme(5)))
    with claim(loop, serial=name) as claimed:
        monkeypatch.setattr(health, "read", lambda place: report_of(reports.nvme(5, warning=0x0C)))
        with pytest.raises(RunFailed, match="its reliability is degraded; the media are read-only"):
            claimed.recheck()
    with pytest.raises(RunFailed, match="ssdlab stops writing"), claim(loop, serial=name):
        pytest.fail("was claimed")


def test_what_is_trouble() -> None:
    well = report_of(reports.nvme(5)).reading
    assert health.trouble(well) is None
    assert health.trouble(replace(well, temperature_c=69)) is None
    assert health.trouble(replace(well, temperature_c=70)) == "the drive is at 70 °C; its limit is 70 °C; let it cool"
    assert health.trouble(replace(well, temperature_c=84, temperature_max_c=85)) is None
    assert "limit is 85" in str(health.trouble(replace(well, temperature_c=85, temperature_max_c=85)))
    sata = report_of(reports.ata(None, {}) | {"smart_status": {"passed": False}}).reading
    assert "self-assessment test has failed" in str(health.trouble(sata))
    assert health.trouble(report_of(reports.ata(None, {})).reading) is None


def test_a_folder_needs_no_name_and_keeps_the_budget(tmp_path: Path) -> None:
    with claim(tmp_path, write_budget_bytes=100) as claimed:
        claimed.recheck(100)
        claimed.count_written(60)
        with pytest.raises(RunFailed, match="--max-write"):
            claimed.recheck(41)
        assert claimed.path.samefile(tmp_path)


def test_a_folder_that_has_gone(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with claim(folder) as claimed:
        folder.rmdir()
        with pytest.raises(RunFailed, match="no longer exists"):
            claimed.recheck()


def test_a_folder_without_room(tmp_path: Path) -> None:
    with claim(tmp_path) as claimed, pytest.raises(RunFailed, match="free"):
        claimed.recheck(1 << 60)


def test_no_smart_is_no_trouble(claimed: Claim) -> None:
    assert isinstance(claimed.smart, Unavailable)
    assert isinstance(claimed.recheck(), Unavailable)


@needs("mkfs.ext4")
def test_a_lent_device_may_be_mounted_and_nothing_else(devices: Devices, tmp_path: Path) -> None:
    loop = devices.loop()
    with claim(loop, serial=locate(loop).identities[0]) as claimed:
        with claimed.lent():
            make_ext4(loop)
            (folder := tmp_path / "volume").mkdir()
            run("mount", loop, str(folder))
            try:
                claimed.recheck()
                above = run("losetup", "--find", "--show", loop).stdout.strip()
                devices.also_undo("losetup", "--detach", above)
                with pytest.raises(RunFailed, match="backs the loop device"):
                    claimed.recheck()
                run("losetup", "--detach", above)
            finally:
                run("umount", str(folder))
        assert not can_be_held(loop)
        claimed.recheck()


def test_who_opens_it_for_a_moment_is_given_time(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: another program's `losetup --find` opens a loop device briefly to see whether it is free."""
    name = locate(loop).identities[0]
    script = f"import os, sys; os.open('{loop}', os.O_RDWR | os.O_EXCL); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        looks = []

        def end_the_other(seconds: float) -> None:
            looks.append(seconds)
            process.communicate(timeout=SECONDS_MAX)

        # The name of the function hides that of the module.
        monkeypatch.setattr(sys.modules[claim.__module__], "time", SimpleNamespace(sleep=end_the_other))
        with claim(loop, serial=name):
            assert len(looks) == 1, "it had waited for the other"
