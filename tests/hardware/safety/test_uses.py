"""Holders of every kind, in a simulated sysfs, including kinds that this machine's kernel lacks."""

from pathlib import Path

import pytest

from ssdlab.hardware.safety import sysfs
from ssdlab.hardware.safety.uses import uses_of


class Machine:
    """A sysfs and a proc with a disk sda of two partitions."""

    def __init__(self, folder: Path) -> None:
        self.sys, self.proc = folder / "sys", folder / "proc"
        (self.proc / "self/fd").mkdir(parents=True)
        self.block("sda", "8:0")
        for number in (1, 2):
            partition = self.sys / f"block/sda/sda{number}"
            partition.mkdir()
            self.put(partition / "partition", str(number))
            self.put(partition / "dev", f"8:{number}")

    def put(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def block(self, name: str, number: str, **attributes: str) -> None:
        self.put(self.sys / f"block/{name}/dev", number)
        for key, value in attributes.items():
            self.put(self.sys / f"block/{name}" / key.replace("__", "/"), value)

    def hold(self, held: str, holder: str) -> None:
        folder = sysfs.folder_of(held, self.sys) / "holders"
        folder.mkdir(exist_ok=True)
        (folder / holder).symlink_to(self.sys / "block" / holder)

    def mounts(self, *lines: str) -> None:
        (self.proc / "self/ns").mkdir(exist_ok=True)
        (self.proc / "self/ns/mnt").symlink_to("mnt:[1]")
        self.put(self.proc / "self/mountinfo", "\n".join(lines))

    def found(self, disk: str = "sda") -> list[str]:
        return [use.in_words for use in uses_of(disk, sys=self.sys, proc=self.proc)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_unused_disk(machine: Machine) -> None:
    assert machine.found() == []


def test_a_logical_volume_on_an_encrypted_partition(machine: Machine) -> None:
    machine.block("dm-0", "253:0", dm__name="secret", dm__uuid="CRYPT-LUKS2-0123")
    machine.block("dm-1", "253:1", dm__name="vg-root", dm__uuid="LVM-abcd")
    machine.hold("sda2", "dm-0")
    machine.hold("dm-0", "dm-1")
    machine.mounts("36 35 253:1 / / rw,noatime shared:1 - ext4 /dev/mapper/vg-root rw")
    crypt, lvm, mount = machine.found()
    assert crypt.startswith("/dev/sda2 is held by dm-0 (device-mapper, CRYPT, secret): take the volume apart")
    assert lvm.startswith("/dev/sda2 is held by dm-1 (device-mapper, LVM, vg-root)")
    assert mount == "/dev/dm-1 is mounted at / as the root file system: unmount it"


def test_an_array_of_the_whole_disk_with_a_partition(machine: Machine) -> None:
    machine.block("md0", "9:0", md__level="raid1")
    machine.put(machine.sys / "block/md0/md0p1/partition", "1")
    machine.put(machine.sys / "block/md0/md0p1/dev", "259:0")
    machine.hold("sda", "md0")
    machine.mounts(r"36 35 259:0 / /srv/my\040files rw - xfs /dev/md0p1 rw")
    array, mount = machine.found()
    assert array.startswith("/dev/sda is held by md0 (MD, raid1)")
    assert mount == "/dev/md0p1 is mounted at /srv/my files: unmount it"


def test_a_bcache(machine: Machine) -> None:
    machine.block("bcache0", "252:0")
    (machine.sys / "block/bcache0/bcache").mkdir()
    machine.hold("sda1", "bcache0")
    assert machine.found()[0].startswith("/dev/sda1 is held by bcache0 (bcache)")


def test_a_member_of_a_btrfs_of_several_devices(machine: Machine) -> None:
    """The mount names only one of them."""
    link = machine.sys / "fs/btrfs/6b0a/devices/sda1"
    link.parent.mkdir(parents=True)
    link.symlink_to(machine.sys / "block/sda/sda1")
    assert machine.found() == ["/dev/sda1 is part of the btrfs file system 6b0a: unmount that file system"]


def test_another_disk_is_another_matter(machine: Machine) -> None:
    machine.block("sdb", "8:16")
    machine.mounts("36 35 8:1 / /home rw - ext4 /dev/sda1 rw")
    assert machine.found("sdb") == []
    assert machine.found("sda") == ["/dev/sda1 is mounted at /home: unmount it"]
