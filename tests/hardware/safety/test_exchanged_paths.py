"""Paths that are checked first and opened later: an object put at the path in between is not touched.

Each test replaces a path between the two steps. Similar tests for measurements, with fio, are in tests/hardware/device.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from own_devices import Devices
from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.device.joblogs import JobLogs
from ssdlab.hardware.diagnosis import file_system
from ssdlab.hardware.diagnosis.check import check
from ssdlab.hardware.refresh import freezing
from ssdlab.hardware.refresh.progress import Keeper, Progress
from ssdlab.hardware.refresh.refreshing import Choices, refresh
from ssdlab.hardware.safety import claim, locate
from ssdlab.presentation.report.files import write_atomically
from ssdlab.serving import loop as loop_devices
from ssdlab.simulator.results.files import staged
from ssdlab.simulator.workloads.jobs import parse

CONTENT = b"precious" * (1 << 18)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    (folder := tmp_path / "elsewhere").mkdir()
    (file := folder / "victim").write_bytes(CONTENT)
    return file


def exchanged_before(function: Callable[..., Any], exchange: Callable[[], object]) -> Callable[..., Any]:
    """Wraps a function: on its first call, the object at a path is replaced before it runs."""
    done: list[object] = []

    def call(*arguments: Any, **options: Any) -> Any:
        if not done:
            done.append(True)
            exchange()
        return function(*arguments, **options)

    return call


def linked(path: Path, target: Path | str) -> Callable[[], None]:
    def exchange() -> None:
        path.rename(path.with_name("moved"))
        path.symlink_to(target)

    return exchange


def test_a_file_that_is_refreshed(tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file := tmp_path / "file").write_bytes(CONTENT)
    before = victim.stat()
    monkeypatch.setattr(file_system, "of", exchanged_before(file_system.of, linked(file, victim)))
    with pytest.raises(InputError, match="was replaced after the check"):
        refresh(file, Choices(read_test_bytes=0))
    assert victim.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.loop
def test_a_file_that_is_refreshed_and_becomes_a_device(
    tmp_path: Path, devices: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "file").write_bytes(CONTENT)
    system = file_system.of(file)
    exchange = linked(file, devices.loop())
    monkeypatch.setattr(file_system, "of", exchanged_before(lambda _path: system, exchange))
    with pytest.raises(InputError, match="was replaced after the check"):
        refresh(file, Choices(read_test_bytes=0))


@pytest.mark.loop
def test_a_folder_that_is_frozen(devices: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is replaced by one on a file system other than the device's."""
    device, other = devices.loop(), devices.loop()
    for each in (device, other):
        subprocess.run(["mkfs.ext4", "-q", each], check=True)
    devices.mount(device)
    elsewhere = devices.mount(other)
    monkeypatch.setattr(file_system, "mounted_at", lambda _number: elsewhere)
    frozen: list[object] = []
    monkeypatch.setattr(freezing.Freezer, "frozen", frozen.append)
    with pytest.raises(InputError, match="a file system other than that of"):
        refresh(device, Choices(read_test_bytes=0))
    assert not frozen


def test_the_progress_of_a_refresh(tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: progress is written to a temporary file first, and a link with that name was followed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (file := tmp_path / "file").write_bytes(CONTENT)
    keeper = Keeper(locate(file))
    keeper.file.parent.mkdir(parents=True)
    keeper.file.with_suffix(".new").symlink_to(victim)
    keeper.file.symlink_to(victim)
    assert keeper.save(Progress("path", "identity", next_offset=1))
    assert victim.read_bytes() == CONTENT


def test_a_file_that_is_checked(tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file := tmp_path / "file").write_bytes(CONTENT * 8)
    monkeypatch.setattr(file_system, "of", exchanged_before(file_system.of, linked(file, victim)))
    with pytest.raises(InputError, match="was replaced after the check"):
        check(str(file), read_bytes_max=1 << 30)


@pytest.mark.loop
def test_a_device_that_is_claimed(devices: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the check and the hold."""
    import sys

    right, wrong = devices.loop(), devices.loop()
    node = tmp_path / "node"
    os.mknod(node, 0o060600, Path(right).stat().st_rdev)

    def exchange() -> None:
        node.unlink()
        os.mknod(node, 0o060600, Path(wrong).stat().st_rdev)

    module = sys.modules[claim.__module__]
    monkeypatch.setattr(module, "open_same", exchanged_before(module.open_same, exchange))
    with (
        pytest.raises(InputError, match="was replaced after the check"),
        claim(node, serial=locate(right).identities[0]),
    ):
        pytest.fail("was claimed")


def test_the_files_of_a_result(tmp_path: Path, victim: Path) -> None:
    """A regression: they were written by the path of a temporary folder, which users with write access to its parent
    could replace."""
    out = tmp_path / "out"
    theirs = victim.with_name("result.json")
    theirs.write_bytes(CONTENT)
    with staged(out) as place:
        (aside,) = out.iterdir()
        linked(aside, theirs.parent)()
        (place / "result.json").write_text("ours")
    assert theirs.read_bytes() == CONTENT
    assert (out / "result.json").read_text() == "ours"


def test_the_folder_of_a_result(tmp_path: Path, victim: Path) -> None:
    out = tmp_path / "out"
    theirs = victim.with_name("result.json")
    theirs.write_bytes(CONTENT)
    with staged(out) as place:
        (place / "result.json").write_text("ours")
        linked(out, theirs.parent)()
    assert theirs.read_bytes() == CONTENT


def test_the_files_of_a_report(tmp_path: Path, victim: Path) -> None:
    (tmp_path / f".page.html.{os.getpid()}.tmp").symlink_to(victim)
    (tmp_path / "page.html").symlink_to(victim)
    write_atomically(tmp_path / "page.html", "ours")
    assert victim.read_bytes() == CONTENT
    assert (tmp_path / "page.html").read_text() == "ours"


@pytest.mark.parametrize("per_job", [0, 1])
def test_the_logs_of_a_job(tmp_path: Path, victim: Path, per_job: int) -> None:
    """fio's logs are moved to names that the job file specifies."""
    job = parse(f"[a]\nsize=1m\nrw=write\nnumjobs=2\nper_job_logs={per_job}\nwrite_bw_log=x\n")
    (ran := tmp_path / "ran").mkdir()
    (out := tmp_path / "out").mkdir()
    for number in (1, 2):
        (ran / f"asked_bw.{number}.log").write_text("1, 2, 1, 4096, 0\n")
    for name in ("x_bw.log", "x_bw.1.log", "x_bw.2.log"):
        (out / name).symlink_to(victim)
    logs = JobLogs(out)
    logs.keep(ran, job.sections)
    assert victim.read_bytes() == CONTENT
    assert all((out / name).read_text().startswith("1, 2") for name in logs.names)
    (out / logs.names[0]).unlink()
    (out / logs.names[0]).symlink_to(victim)
    for number in (1, 2):
        (ran / f"asked_bw.{number}.log").write_text("1, 2, 1, 4096, 0\n")
    if per_job == 0:
        with pytest.raises(OSError):
            logs.keep(ran, job.sections)
    assert victim.read_bytes() == CONTENT


@pytest.mark.loop
def test_the_file_behind_a_loop_device(tmp_path: Path, victim: Path) -> None:
    """For a mounted drive: a file system would be created on the file at that path."""
    before = set(Path("/sys/block").glob("loop*/loop"))
    (tmp_path / "drive").symlink_to(victim)
    with pytest.raises(OSError):
        loop_devices.attach(tmp_path / "drive")
    with pytest.raises(RunFailed, match="was replaced by another file"):
        loop_devices.attach(victim)
    own = [entry for entry in set(Path("/sys/block").glob("loop*/loop")) - before if _is_over(entry, victim)]
    assert not own


def _is_over(entry: Path, file: Path) -> bool:
    try:
        return (entry / "backing_file").read_text().strip() == str(file)
    except OSError:
        return False
