"""The same protocol in two ways: a served drive with real fio, ext4 and fstrim shows the wear that the simulation
predicts.

File systems are created only on loop devices that the mount attached.
"""

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from own_devices import needs
from running_drives import DRIVE, Mount
from served import Serve, on, result_in, ssdlab
from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.protocols import registry
from ssdlab.experiments.protocols.contract import Point, Step
from ssdlab.experiments.protocols.device import run_protocol
from ssdlab.experiments.protocols.store import Store
from ssdlab.hardware.device import health
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.device.place import claimed
from waiting import SECONDS_MAX, wait_for

pytestmark = [pytest.mark.fuse, pytest.mark.loop, needs("fio", "losetup", "mkfs.ext4", "fstrim", "blkdiscard")]

TOLERANCE = 0.03


@pytest.mark.parametrize("name", ["over-provisioning-sweep", "free-space-sweep", "trim-effect", "fragmentation"])
def test_a_served_drive_wears_its_flash_as_the_simulated_one(name: str, serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    drive = tmp_path / "drive.toml"
    drive.write_text(DRIVE)
    common = ("measure", "--protocol", name, "--quick", "--output")
    ssdlab(*common, f"{tmp_path}/simulated/", "--drive", drive)
    ssdlab(*common, f"{tmp_path}/served/", *on(mounted))
    simulated, served = (result_in(tmp_path / kind)["steps"] for kind in ("simulated", "served"))
    assert [(step["point"], step["step"]) for step in simulated] == [(step["point"], step["step"]) for step in served]
    compared = 0
    for expected, found in zip(simulated, served, strict=True):
        if not expected["shown"] or not expected["written_bytes"] or found["waf"] is None:
            continue
        assert found["waf"] == pytest.approx(expected["waf"], rel=TOLERANCE), (expected["point"], expected["step"])
        assert found["written_bytes"] == pytest.approx(expected["written_bytes"], rel=0.02)
        compared += 1
    assert compared >= 2
    assert all(step["commands"] for step in served)
    assert not mounts_of("self", mounted)


def test_a_run_that_was_cut_off_goes_on_after_the_last_finished_step(serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    out = tmp_path / "out"
    command = ["measure", "--protocol", "write-saturation", "--quick", "--output", f"{out}/", *on(mounted)]
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *command], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    first = out / "steps/point-00-step-00.json"
    wait_for("a step is finished", first.exists)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 128 + signal.SIGTERM, said
    assert "--resume" in said
    incomplete = result_in(out)
    assert incomplete["ssdlab"]["interrupted"] is True
    assert f"{len(incomplete['steps'])} of 3 steps are complete" in incomplete["ssdlab"]["failure"]
    kept = first.read_text()
    done = len(list((out / "steps").glob("point-*.json")))
    written = mounted.statistics()["ssdlab"]["host"]["written_bytes"]
    assert "contains the steps of another run" in ssdlab(*command, "--resume", "--seed", "7", code=2).stderr
    ssdlab(*command, "--resume")
    steps = result_in(out)["steps"]
    assert len(steps) == 3
    assert result_in(out)["ssdlab"]["failure"] is None
    assert first.read_text() == kept
    # Only the missing steps were executed.
    more = mounted.statistics()["ssdlab"]["host"]["written_bytes"] - written
    assert more == (3 - done) * (256 << 20)


def test_what_a_protocol_would_write_is_said_beforehand(serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    done = ssdlab("measure", "--protocol", "over-provisioning-sweep", "--quick", "--dry-run", *on(mounted), "--output",
                  f"{tmp_path}/out/")  # fmt: skip
    # 100 % and 80 % of 256 MiB: once in sequence, twice at random.
    assert f"{int(3 * 1.8 * (256 << 20)) / 1e9:.1f} GB written" in done.stdout
    assert mounted.statistics()["ssdlab"]["host"]["written_bytes"] == 0


def test_a_full_file_system_is_a_failed_run_that_leaves_nothing_mounted(serve: Serve) -> None:
    mounted = serve()
    _, path, _, serial = on(mounted)
    steps = [Step("mkfs", "mkfs"), Step("write", "write data 60%"), Step("too much", "write more 60%")]
    protocol = replace(registry.protocol("trim-effect"), points=lambda _: [Point("", steps, is_script=True)])
    with claimed(Path(path), None, Permission(serial)) as place, pytest.raises(RunFailed, match="No space left"):
        run_protocol(protocol, place, health.of(place.claim.place), Store(None, {}))
    assert not mounts_of("self", mounted)
    assert mounted.end() == 0


def test_a_kill_in_the_midst_leaves_nothing_mounted(serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    command = ["measure", "--protocol", "trim-effect", "--quick", "--output", f"{tmp_path}/out/", *on(mounted)]
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *command], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    wait_for("it writes", lambda: mounted.statistics()["ssdlab"]["host"]["written_bytes"] > 64 << 20)
    # ext4 is mounted there now, and the device is claimed.
    assert mounts_of(process.pid, mounted), "the protocol had not begun"
    process.kill()
    process.wait()
    _, path, _, serial = on(mounted)

    def can_be_claimed() -> bool:
        try:
            with claimed(Path(path), None, Permission(serial, discard_signatures=True)):
                return True
        except InputError:
            return False

    wait_for("the device is free again", can_be_claimed)
    assert mounted.end() == 0


def mounts_of(process: int | str, mounted: Mount) -> list[str]:
    """Mounts of the served drive as a process sees them, without mounts of other tests."""
    lines = Path(f"/proc/{process}/mounts").read_text().splitlines()
    return [line for line in lines if line.startswith(f"{mounted.loop} ")]


def test_a_folder_is_not_enough_where_space_is_left_unused(tmp_path: Path) -> None:
    arguments = ("measure", "--protocol", "trim-effect", "--on", tmp_path, "--output", tmp_path / "out")
    assert "needs a device" in ssdlab(*arguments, "--size", "64MiB", code=2).stderr


def test_fragmentation_is_measured_in_any_folder(tmp_path: Path) -> None:
    place = tmp_path / "here"
    place.mkdir()
    arguments = ("measure", "--protocol", "fragmentation", "--quick", "--size", "64MiB", "--on", place)
    ssdlab(*arguments, "--output", tmp_path / "out/")
    assert list(place.iterdir()) == []
    steps = {step["step"]: step for step in result_in(tmp_path / "out")["steps"]}
    assert steps["read after 97.5 %"]["read"]["mb_s"] > 0
    assert steps["rewrite 97.5 %"]["waf"] is None or steps["rewrite 97.5 %"]["waf"] > 0
