"""Generic character devices of NVMe namespaces, in a simulated sysfs: they are found, checked and seen in use."""

import os
from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.hardware.safety import generic
from ssdlab.hardware.safety.generic import Generic, block_device_of, of_disk
from ssdlab.hardware.safety.uses import uses_of

NULL = Path("/dev/null")
"""A character device of every machine, in place of a generic device."""


class Machine:
    """A sysfs and a proc with NVMe namespaces."""

    def __init__(self, folder: Path) -> None:
        self.sys, self.proc = folder / "sys", folder / "proc"
        (self.proc / "self/fd").mkdir(parents=True)

    def put(self, name: str, kind: str, parent: str, number: str) -> Path:
        """A device of a class below a controller or a subsystem, as the kernel links them."""
        own = self.sys / "devices" / parent / name
        own.mkdir(parents=True)
        (own / "device").symlink_to("..")
        (own / "dev").write_text(f"{number}\n")
        shown = self.sys / kind / name
        shown.parent.mkdir(parents=True, exist_ok=True)
        shown.symlink_to(own)
        return own

    def disk(self, name: str, parent: str, number: str = "259:0") -> Path:
        return self.put(name, "block", parent, number)

    def generic(self, name: str, parent: str, number: str = "242:0") -> None:
        own = self.put(name, "class/nvme-generic", parent, number)
        (self.sys / "dev/char").mkdir(parents=True, exist_ok=True)
        (self.sys / "dev/char" / number).symlink_to(own)

    def opens(self, process: int, path: str, flags: int) -> None:
        folder = self.proc / str(process)
        for name in ("fd", "fdinfo"):
            (folder / name).mkdir(parents=True)
        (folder / "fd/5").symlink_to(path)
        (folder / "fdinfo/5").write_text(f"pos:\t0\nflags:\t{flags:o}\n")
        (folder / "comm").write_text("cachebench\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_generic_device_of_each_namespace(machine: Machine) -> None:
    for number in (1, 2):
        machine.disk(f"nvme0n{number}", "pci/nvme/nvme0")
        machine.generic(f"ng0n{number}", "pci/nvme/nvme0", f"242:{number}")
    assert of_disk("nvme0n2", machine.sys) == Generic("ng0n2", (242, 2))
    assert Generic("ng0n2", (242, 2)).path == Path("/dev/ng0n2")


def test_names_alone_do_not_decide(machine: Machine) -> None:
    """The block device has the number of the subsystem, the generic device that of the controller."""
    machine.disk("nvme0n1", "pci/nvme/nvme1")
    machine.disk("nvme1n1", "pci/nvme/nvme0")
    machine.generic("ng0n1", "pci/nvme/nvme0", "242:0")
    machine.generic("ng1n1", "pci/nvme/nvme1", "242:1")
    assert of_disk("nvme0n1", machine.sys) == Generic("ng1n1", (242, 1))
    assert of_disk("nvme1n1", machine.sys) == Generic("ng0n1", (242, 0))


def test_what_has_no_generic_device(machine: Machine) -> None:
    disk = machine.disk("nvme0n1", "pci/nvme/nvme0")
    machine.generic("ng0n2", "pci/nvme/nvme0")
    (disk / "nvme0n1p1").mkdir()
    (disk / "nvme0n1p1/partition").write_text("1\n")
    machine.disk("sda", "pci/ata1")
    assert [of_disk(name, machine.sys) for name in ("nvme0n1", "nvme0n1p1", "sda", "loop0")] == [None] * 4


def test_a_generic_device_stands_for_its_block_device(machine: Machine, tmp_path: Path) -> None:
    machine.disk("nvme3n1", "pci/nvme/nvme3")
    machine.generic("ng3n1", "pci/nvme/nvme3", "1:3")
    link = tmp_path / "drive"
    link.symlink_to(NULL)
    assert [block_device_of(path, machine.sys) for path in (NULL, link)] == [Path("/dev/nvme3n1")] * 2
    others = [Path("/dev/zero"), tmp_path, tmp_path / "missing"]
    assert [block_device_of(path, machine.sys) for path in others] == others


def test_a_generic_device_without_its_block_device_is_refused(machine: Machine) -> None:
    """What is mounted from it is not visible: the namespace can belong to another subsystem's name."""
    machine.disk("nvme3n1", "pci/nvme/nvme4")
    machine.generic("ng3n1", "pci/nvme/nvme3", "1:3")
    with pytest.raises(InputError, match="/dev/null: the block device of this NVMe namespace is not visible"):
        block_device_of(NULL, machine.sys)


def test_a_program_that_has_the_generic_device_open_uses_the_disk(machine: Machine) -> None:
    machine.disk("nvme0n1", "pci/nvme/nvme0")
    machine.generic("ng0n1", "pci/nvme/nvme0", "1:3")
    machine.opens(77, "/dev/null", os.O_RDONLY)
    machine.opens(78, "/dev/zero", os.O_RDWR)
    (use,) = uses_of("nvme0n1", sys=machine.sys, proc=machine.proc)
    assert use.in_words == "/dev/ng0n1 is open for NVMe commands by cachebench (process 77): end that program"


@pytest.fixture
def null_is_generic(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """`/dev/null` is the generic device of every disk, and of the same namespace as its block device."""
    monkeypatch.setattr(generic, "of_disk", lambda _disk: Generic("null", (1, 3)))
    monkeypatch.setattr(generic, "namespace_of", lambda _descriptor: 1)
    return monkeypatch


def test_it_is_held_by_its_descriptor(null_is_generic: pytest.MonkeyPatch) -> None:
    with generic.held("nvme0n1", 0) as found:
        assert found is not None
        assert found.path.readlink() == NULL
        assert found.device.path == NULL
    assert not found.path.exists()


def test_another_device_at_its_path_is_refused(null_is_generic: pytest.MonkeyPatch) -> None:
    null_is_generic.setattr(generic, "of_disk", lambda _disk: Generic("null", (242, 0)))
    with pytest.raises(InputError, match="/dev/null was replaced after the check"), generic.held("nvme0n1", 0):
        pytest.fail("was held")


def test_another_namespace_is_refused(null_is_generic: pytest.MonkeyPatch) -> None:
    null_is_generic.setattr(generic, "namespace_of", lambda descriptor: 1 if descriptor == 0 else 2)
    with pytest.raises(InputError, match="/dev/null is not the namespace of /dev/nvme0n1"), generic.held("nvme0n1", 0):
        pytest.fail("was held")


def test_what_is_no_namespace_is_refused() -> None:
    with NULL.open() as opened, pytest.raises(InputError, match="/dev/null: its NVMe namespace is not known"):
        generic.namespace_of(opened.fileno())


def test_a_disk_without_one_has_none(null_is_generic: pytest.MonkeyPatch) -> None:
    null_is_generic.setattr(generic, "of_disk", lambda _disk: Generic("ng-that-is-missing", (242, 0)))
    with generic.held("nvme0n1", 0) as found:
        assert found is None
