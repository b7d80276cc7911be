"""Jobs that send NVMe commands: fio opens the held generic device, under the claim of the namespace's block device.

A loop device is the namespace, and `/dev/full`, which nobody else opens, is its generic device. A program in place of
fio says what it was given.
"""

import json
import os
from pathlib import Path

import pytest

from own_devices import Devices, devices, make_ext4, needs
from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.device import place as device_place
from ssdlab.hardware.device import run
from ssdlab.hardware.device.health import Health, ReadOut
from ssdlab.hardware.device.measured import Measured
from ssdlab.hardware.device.opened import opened
from ssdlab.hardware.device.permission import Permission
from ssdlab.hardware.device.place import is_device
from ssdlab.hardware.safety import Kind, generic, locate, place
from ssdlab.hardware.safety.generic import Generic
from ssdlab.simulator.workloads import jobs

__all__ = ["devices"]
pytestmark = pytest.mark.loop

JOB = "[hot]\nioengine=io_uring_cmd\nfdp=1\nplids=1\nrw=randwrite\nsize=1m\n[cold]\nrw=write\nsize=1m\n"
# Notes each file name of the job file, and where it leads, then fails as a fio without flexible data placement does.
_FIO = """#!/bin/sh
for last; do case $last in *.fio) job=$last;; esac; done
sed -n 's/^filename=//p' "$job" | while read -r name; do echo "$name $(readlink "$name")"; done > {said}
echo 'Bad option <fdp=1>'
echo 'fio: job hot dropped'
exit 1
"""


@pytest.fixture
def namespace(devices: Devices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a loop device that is taken for an NVMe namespace."""
    loop = devices.loop()
    (programs := tmp_path / "programs").mkdir()
    (programs / "fio").write_text(_FIO.format(said=tmp_path / "said"))
    (programs / "fio").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(place, "_kind", lambda _name: Kind.DISK)

    def of_disk(disk: str, sys: Path | None = None) -> Generic | None:
        return Generic("full", (1, 7)) if disk == Path(loop).name else None

    monkeypatch.setattr(generic, "of_disk", of_disk)
    monkeypatch.setattr(generic, "namespace_of", lambda _descriptor: 1)
    return loop


def measured(path: str) -> Measured:
    job = jobs.parse(JOB)
    with opened(Path(path), job, Permission(locate(path).identities[0])) as found:
        return run.measure(job, found, Health("a test", lambda: ReadOut(None, "not read")))


def test_each_job_opens_its_own_device_as_it_was_checked(namespace: str, tmp_path: Path) -> None:
    found = measured(namespace)
    names, leads_to = zip(*(line.split() for line in (tmp_path / "said").read_text().splitlines()), strict=True)
    assert leads_to == ("/dev/full", namespace)
    assert all(name.startswith(f"/proc/{os.getpid()}/fd/") for name in names)
    assert found.failure == "fio failed (1): Bad option <fdp=1>"
    text = found.stages[0].job_text or ""
    assert "filename=/dev/full\n" in text and f"filename={namespace}\n" in text, "as the user knows them"
    json.dumps(found.to_dict())


def test_the_device_is_held_until_the_claim_ends(namespace: str) -> None:
    job = jobs.parse(JOB)
    with opened(Path(namespace), job, Permission(locate(namespace).identities[0])) as found:
        assert found.claim.generic is None, "no job has asked for it"
        run.prepared(job, found)
        held = found.claim.generic
        assert held is not None and held.path.exists()
        found.claim.recheck()
    assert not held.path.exists()


def test_a_generic_device_that_is_exchanged_ends_the_run(namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job = jobs.parse(JOB)
    with opened(Path(namespace), job, Permission(locate(namespace).identities[0])) as found:
        run.prepared(job, found)
        monkeypatch.setattr(generic, "of_disk", lambda _disk, _sys=None: Generic("full", (242, 0)))
        with pytest.raises(RunFailed, match=f"/dev/full is no longer the generic device of {namespace}"):
            found.claim.recheck()


@needs("mkfs.ext4")
def test_all_checks_of_the_block_device_apply(namespace: str, devices: Devices, tmp_path: Path) -> None:
    make_ext4(namespace)
    with pytest.raises(InputError, match=r"ext4.*--discard-signatures"):
        measured(namespace)
    folder = devices.mount(namespace)
    with pytest.raises(InputError, match=f"is mounted at {folder}"):
        measured(namespace)
    assert not (tmp_path / "said").exists()


def test_the_name_of_the_generic_device_is_that_of_the_namespace(
    namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device_place, "block_device_of", lambda _path: Path(namespace))
    assert is_device(Path("/dev/full"))
    job = jobs.parse(JOB)
    with (
        pytest.raises(InputError, match=rf"{namespace} \(.*--destroy-data-on loop:"),
        opened(Path("/dev/full"), job, Permission()),
    ):
        pytest.fail("was claimed")
    with opened(Path("/dev/full"), job, Permission(locate(namespace).identities[0])) as found:
        assert found.claim.place.path == Path(namespace)
        assert found.size_bytes == locate(namespace).size_bytes


def test_other_character_devices_are_refused() -> None:
    with pytest.raises(InputError, match="/dev/full is not a folder, regular file or block device"):
        is_device(Path("/dev/full"))


def test_places_without_a_generic_device_are_refused(namespace: str, tmp_path: Path, devices: Devices) -> None:
    (folder := tmp_path / "here").mkdir()
    job = jobs.parse(JOB)
    for path, permission in ((folder, Permission()), (devices.loop(), None)):
        name = permission or Permission(locate(path).identities[0])
        with opened(Path(path), job, name) as found, pytest.raises(InputError) as refused:
            run.prepared(job, found)
        assert "line 2: ioengine=io_uring_cmd sends commands to a whole NVMe namespace, and " in str(refused.value)
        assert "use --on with one, such as /dev/nvme0n1, or another ioengine" in str(refused.value)


def test_a_partition_has_no_generic_device(namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands would reach the whole namespace, beyond the partition."""
    monkeypatch.setattr(place, "_kind", lambda _name: Kind.PARTITION)
    job = jobs.parse(JOB)
    with (
        opened(Path(namespace), job, Permission(locate(namespace).identities[0])) as found,
        pytest.raises(InputError, match="sends commands to a whole NVMe namespace"),
    ):
        run.prepared(job, found)
