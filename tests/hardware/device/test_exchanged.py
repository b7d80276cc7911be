"""A measurement writes to the object that was checked, even if its path leads elsewhere later.

A regression: fio opened the file by its path once per stage. A user with write access to the folder could put a link
there between two stages: a file of root's was overwritten, and a mounted file system lost its superblock; exit code 0.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from own_devices import Devices, devices, needs
from served import result_in, ssdlab
from ssdlab.errors import InputError
from ssdlab.hardware.device import run
from ssdlab.hardware.device.health import Health, ReadOut
from ssdlab.hardware.device.measured import Measured
from ssdlab.hardware.device.opened import opened
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.safety import locate
from ssdlab.simulator.workloads import jobs

__all__ = ["devices"]
pytestmark = needs("fio")

TWO_STAGES = "[global]\nsize=1m\nrw=write\nbs=64k\n[first]\n[second]\nstonewall\n"
CONTENT = b"precious" * (1 << 18)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (folder := tmp_path / "here").mkdir()
    return folder


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    (folder := tmp_path / "elsewhere").mkdir()
    (file := folder / "victim").write_bytes(CONTENT)
    file.chmod(0o600)
    return file


def measured_with(
    attack: Callable[[], None], path: Path, permission: Permission | None = None, *, before_stage: int = 1
) -> Measured:
    """Two stages, and the attack before the second (when the first has ended), or before the first (right before fio
    starts)."""
    job = jobs.parse(TWO_STAGES)
    looks = 0

    def read() -> ReadOut:
        nonlocal looks
        looks += 1
        if looks == 1 + before_stage:
            attack()
        return ReadOut(None, "not read")

    with opened(path, job, permission or Permission()) as found:
        return run.measure(job, found, Health("a test", read))


def data_file(folder: Path) -> Path:
    """The measured file, anywhere in the folder."""
    (found,) = folder.rglob("*.data")
    return found


@pytest.mark.parametrize("how", ["symbolic link", "hard link", "another file"])
def test_a_file_that_is_exchanged_between_two_stages(place: Path, victim: Path, how: str) -> None:
    def attack() -> None:
        file = data_file(place)
        file.unlink()
        match how:
            case "symbolic link":
                file.symlink_to(victim)
            case "hard link":
                file.hardlink_to(victim)
            case _:
                victim.rename(file)

    found = measured_with(attack, place)
    left = data_file(place) if how == "another file" else victim
    assert left.read_bytes() == CONTENT
    assert found.failure is not None and "was replaced by another file" in found.failure
    assert left.exists(), "what is not ours is not removed"


def test_a_file_that_gets_a_second_name(place: Path, tmp_path: Path) -> None:
    found = measured_with(lambda: os.link(data_file(place), tmp_path / "second"), place)
    assert found.failure is not None and "more name" in found.failure


def test_a_folder_that_is_exchanged_for_a_link(place: Path, tmp_path: Path) -> None:
    """The whole path leads elsewhere, to a file of the same name."""
    theirs: list[Path] = []

    def attack() -> None:
        file = data_file(place).relative_to(place)
        moved = place.rename(tmp_path / "moved")
        (copy := tmp_path / "elsewhere" / file).parent.mkdir(parents=True)
        copy.write_bytes(CONTENT)
        theirs.append(copy)
        place.symlink_to(tmp_path / "elsewhere")
        assert moved.exists()

    measured_with(attack, place)
    assert theirs[0].read_bytes() == CONTENT
    assert not list((tmp_path / "moved").iterdir()), "what was made is found and removed where it is now"


@pytest.mark.loop
@needs("mkfs.ext4")
def test_a_link_to_a_mounted_device(place: Path, devices: Devices) -> None:
    """A regression: the device lost its superblock."""
    device = devices.loop()
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    folder = devices.mount(device)
    subprocess.run(["sync", "--file-system", str(folder)], check=True)

    def attack() -> None:
        file = data_file(place)
        file.unlink()
        file.symlink_to(device)

    found = measured_with(attack, place)
    assert found.failure is not None and "was replaced by" in found.failure
    assert Path(device).read_bytes()[1024 + 0x38 :][:2] == b"\x53\xef", "ext4's magic number"


@pytest.mark.loop
def test_a_device_node_that_comes_to_be_another_devices(devices: Devices, tmp_path: Path) -> None:
    right, wrong = devices.loop(), devices.loop()
    node = tmp_path / "node"

    def make_node(device: str) -> None:
        number = Path(device).stat().st_rdev
        os.mknod(node, 0o600 | 0o060000, number)

    def attack() -> None:
        node.unlink()
        make_node(wrong)

    make_node(right)
    permission = Permission(serial=locate(right).identities[0])
    found = measured_with(attack, node, permission, before_stage=0)
    assert len(found.jobs) == 1, "after the first stage it is seen"
    assert found.failure is not None and "at the start it was" in found.failure
    assert not any(Path(wrong).read_bytes())
    assert any(Path(right).read_bytes())


@pytest.mark.loop
def test_the_disks_statistics_are_still_there(devices: Devices) -> None:
    """fio identifies the disk by the file's path, which a descriptor does not have."""
    device = devices.loop()
    found = measured_with(lambda: None, Path(device), Permission(serial=locate(device).identities[0]))
    (first, second) = found.to_dict()["disk_util"]
    assert first["name"] == second["name"] == Path(device).name
    # In requests of 64 KiB.
    assert first["write_ios"] >= 16 and first["write_ticks"] >= 0 and 0 <= first["util"] <= 100


def test_results_name_the_file_as_the_user_does(place: Path, tmp_path: Path) -> None:
    """fio opens a descriptor, but results must show the path."""
    (job := tmp_path / "job.fio").write_text(TWO_STAGES)
    ssdlab("measure", job, "--on", place / "a:b.data", "--output", tmp_path / "out")
    text = (tmp_path / "out/result.json").read_text()
    assert "/proc/" not in text
    result = result_in(tmp_path / "out")
    names = {found["job options"]["filename"] for found in result["jobs"]}
    assert names == {str(place / "a:b.data").replace(":", "\\:")}
    assert str(place / "a:b.data").replace(":", "\\:") in result["ssdlab"]["stages"][0]["job_text"]


@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_folder_that_others_may_write_to(place: Path, tmp_path: Path, mode: int) -> None:
    (job := tmp_path / "job.fio").write_text(TWO_STAGES)
    place.chmod(mode)
    said = ssdlab("measure", job, "--on", place, code=2).stderr
    assert f"{place}: others may write there (mode {mode:04o})" in said and "sticky bit" in said
    assert not list(place.iterdir())
    place.chmod(mode | 0o1000)
    ssdlab("measure", job, "--on", place)


def test_what_bears_our_folders_name_and_is_not_ours(place: Path) -> None:
    job = jobs.parse(TWO_STAGES)
    name = f"ssdlab-measure-{os.geteuid()}"

    def refusal() -> str:
        with opened(place, job, Permission()) as found, pytest.raises(InputError) as refused:
            run.measure(job, found, Health("a test", lambda: ReadOut(None, "not read")))
        return str(refused.value)

    (place / name).symlink_to(place)
    assert "is not a folder" in refusal()
    (place / name).unlink()
    (place / name).mkdir(0o755)
    assert "mode 0755, ours is 0700" in refusal()
    (place / name).chmod(0o700)
    (place / name / "thesis.tex").write_text("precious")
    assert "thesis.tex, which is not from ssdlab" in refusal()
    (place / name / "thesis.tex").rename(place / name / "thesis.data")
    assert "no marker of ssdlab" in refusal()
    assert (place / name / "thesis.data").read_text() == "precious"
    (place / name / "thesis.data").unlink()
    os.chown(place / name, 12345, -1)
    assert "uid 12345" in refusal()
