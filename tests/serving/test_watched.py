"""A served drive, seen from another process, shows its real state, and is found by its folder or address."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from running_drives import MountMaker, Server
from ssdlab.errors import InputError, RunFailed
from ssdlab.live.served import WatchedDrive, watched
from ssdlab.serving import watching
from ssdlab.serving.drive import ServedDrive
from ssdlab.simulator.drives import load, resolve

UNITS_PER_ERASE_UNIT = 256


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides other drives that are served on this machine."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def look_again(drive: WatchedDrive) -> WatchedDrive:
    """Resets the figures and marks counted so far."""
    drive.figures()
    drive.marks()
    return drive


@pytest.mark.fuse
def test_a_mounted_drive_is_seen_at_work(mount: MountMaker) -> None:
    mounted = mount()
    drive = look_again(watched(str(mounted.folder)))
    assert drive.description["name"] == "mounted" and drive.description["pid"] == mounted.process.pid
    assert set(drive.cells(0, "state")) == {0}
    data = os.urandom(1 << 20)
    with mounted.drive.open("r+b", buffering=0) as file:
        for written in range(200):
            file.seek((written * 37 % 120) << 20)
            file.write(data)
        os.fsync(file.fileno())
    figures = drive.figures()
    statistics = drive.statistics()["ssdlab"]
    since = figures["since"]
    assert since is not None and figures["simulated_seconds"] is not None
    assert figures["ledger"]["host_written_bytes"] == statistics["host"]["written_bytes"] == 200 << 20
    assert since["ledger"]["host_written_bytes"] == 200 << 20
    assert figures["waf"] == pytest.approx(statistics["waf"])
    assert figures["simulated_seconds"] == pytest.approx(statistics["simulated_seconds"])
    assert since["write_latency"] is not None
    assert since["write_latency"]["count"] == since["requests"] >= 200
    assert since["iops"] == pytest.approx(figures["requests"] / figures["simulated_seconds"], rel=0.01)
    states, valid = drive.cells(0, "state"), drive.cells(0, "valid")
    assert len(states) == len(valid) == 272
    assert states.count(0) == figures["free_erase_units"]
    close = [drive.erase_unit(0, index) for index in range(272)]
    assert sum(unit["valid"] for unit in close) == figures["capacity"]["live_units"] == 120 * UNITS_PER_ERASE_UNIT
    assert all(unit["units"].count("v") == unit["valid"] for unit in close)
    assert [name for _, name in drive.marks()["open"]] == ["host"]
    with pytest.raises(InputError, match="no erase unit 272"):
        drive.erase_unit(0, 272)

    # Counters restart with a phase and after a loss of power; the watcher continues.
    for line in ("mark next", "power-cut", "reset"):
        drive.command(line)
        with mounted.drive.open("r+b", buffering=0) as file:
            file.write(data)
        assert drive.figures()["since"]["ledger"]["host_written_bytes"] == 1 << 20
    with pytest.raises(InputError, match="no command"):
        drive.command("dance")
    mounted.end()
    with pytest.raises(RunFailed, match="no longer served"):
        drive.figures()
    drive.close()
    with pytest.raises(InputError, match="no drive is served"):
        watched()


def test_served_drives_are_found_by_their_address(serve: Callable[..., Server]) -> None:
    first = serve()
    drive = watched()
    assert drive.description["place"] == first.uri
    drive.close()
    second = serve("--port", "0")
    for server in (first, second):
        drive = watched(server.uri)
        assert drive.description["pid"] == server.process.pid and len(drive.cells(0, "age")) == 272
        drive.close()
    with pytest.raises(InputError, match="several drives are served"):
        watched()
    with pytest.raises(InputError, match="there are: nbd"):
        watched("elsewhere")
    # A killed process leaves its socket, which must not be offered.
    second.end(signal.SIGKILL)
    second.process.wait()
    assert len(list(watching.runtime_folder().iterdir())) == 2
    drive = watched()
    assert drive.description["place"] == first.uri
    drive.close()
    assert len(list(watching.runtime_folder().iterdir())) == 1


def test_a_folder_that_others_can_reach_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "ssdlab").mkdir()
    (tmp_path / "ssdlab").chmod(0o755)
    with pytest.raises(OSError, match="is accessible to other users"):
        watching.runtime_folder()


def test_sockets_of_killed_processes_are_removed_at_the_next_start(tmp_path: Path) -> None:
    """A regression: a killed drive left its socket, and `ssdlab live` offered it until somebody removed it by hand."""
    folder = watching.runtime_folder()
    dead = folder / "4000000.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(dead))
    alive = folder / "4000001.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(alive))
        listener.listen()
        drive = ServedDrive(resolve(load("tiny")))
        with watching.watchable(drive, "here") as unseen:
            assert unseen is None
            assert sorted(folder.glob("*.sock")) == sorted([alive, folder / f"{os.getpid()}.sock"])
        drive.close()
