"""One test for each rejection of a claim, on loop devices: the message states the cause and a remedy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from own_devices import Devices, make_ext4, needs, run
from ssdlab.cli.check import check as check_command
from ssdlab.cli.commands import loaded
from ssdlab.cli.form import FormOrOutputFormat
from ssdlab.cli.refresh import refresh as refresh_command
from ssdlab.errors import InputError
from ssdlab.hardware.safety import claim, locate
from ssdlab.hardware.safety.uses import uses_of
from waiting import SECONDS_MAX

pytestmark = pytest.mark.loop


def refusal(device: str, *, serial: str | None = None, discard_signatures: bool = False) -> str:
    """The message with which a claim with the correct name is rejected; the device must be unchanged."""
    before = Path(device).read_bytes()
    name = locate(device).identities[0] if serial is None else serial
    with (
        pytest.raises(InputError) as refused,
        claim(device, serial=name, discard_signatures=discard_signatures),
    ):
        pytest.fail("was claimed")
    assert Path(device).read_bytes() == before
    return str(refused.value)


def test_a_claim_by_the_right_name_is_given(loop: str) -> None:
    with claim(loop, serial=locate(loop).identities[0]) as claimed:
        claimed.recheck()


def test_without_a_name_the_refusal_says_it(loop: str) -> None:
    file = next(Path(f"/sys/block/{Path(loop).name}/loop").glob("backing_file")).read_text().strip()
    with (
        pytest.raises(InputError, match=rf"--destroy-data-on loop:{Path(file).stat().st_ino}:{32 << 20}$"),
        claim(loop),
    ):
        pytest.fail("was claimed")


def test_another_drives_name(loop: str) -> None:
    assert "is another drive" in refusal(loop, serial="S3Z8NB0K123456")


def test_the_name_of_another_loop_device(devices: Devices) -> None:
    first, second = devices.loop(), devices.loop()
    assert "is another drive" in refusal(first, serial=locate(second).identities[0])


@needs("mkfs.ext4")
def test_a_file_system_unless_it_may_be_discarded(loop: str) -> None:
    make_ext4(loop, "-L", "precious")
    assert 'ext4, "precious"' in (said := refusal(loop)) and "--discard-signatures" in said
    with claim(loop, serial=locate(loop).identities[0], discard_signatures=True):
        pass


@needs("mkfs.ext4")
def test_a_file_system_on_a_partition(devices: Devices) -> None:
    partition = devices.partition(loop := devices.loop())
    make_ext4(partition)
    assert f"{partition}: ext4" in refusal(loop)
    assert f"{partition}: ext4" in refusal(partition)


def test_a_partition_table_that_the_kernel_has_not_read(loop: str) -> None:
    table = bytearray(512)
    table[446:462] = bytes([0, 0, 2, 0, 0x83, 0, 3, 0]) + (2048).to_bytes(4, "little") + (4096).to_bytes(4, "little")
    table[510:512] = b"\x55\xaa"
    with open(loop, "r+b") as device:  # noqa: PTH123
        device.write(table)
    assert "a partition table (dos)" in refusal(loop)


@needs("mkfs.ext4")
def test_a_mounted_device(devices: Devices) -> None:
    make_ext4(loop := devices.loop())
    folder = devices.mount(loop)
    said = refusal(loop, discard_signatures=True)
    assert f"is mounted at {folder}: unmount it" in said


@needs("mkfs.ext4")
def test_a_mounted_partition_of_the_disk(devices: Devices) -> None:
    partition = devices.partition(loop := devices.loop())
    make_ext4(partition)
    folder = devices.mount(partition)
    assert f"{partition} is mounted at {folder}" in refusal(loop, discard_signatures=True)


@needs("mkfs.ext4")
def test_another_partition_of_the_disk_is_mounted(devices: Devices) -> None:
    loop = devices.loop()
    first = devices.partition(loop)
    second = devices.partition(loop, number=2, start_bytes=20 << 20, size_bytes=8 << 20)
    make_ext4(first)
    devices.mount(first)
    assert f"{first} is mounted" in refusal(second, discard_signatures=True)


@needs("mkfs.ext4", "unshare")
def test_a_mount_in_another_namespace(devices: Devices, tmp_path: Path) -> None:
    make_ext4(loop := devices.loop())
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    script = f"mount {loop} {folder} && echo mounted && read line"
    with subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        try:
            if process.stdout.readline() != "mounted\n":
                pytest.skip("mount namespaces cannot be made here")
            assert str(folder) not in Path("/proc/self/mounts").read_text()
            assert f"is mounted at {folder}" in refusal(loop, discard_signatures=True)
        finally:
            process.stdin.close()
            process.wait(SECONDS_MAX)


@needs("mkswap", "swapon")
def test_swap(devices: Devices) -> None:
    run("mkswap", loop := devices.loop())
    assert "swap" in refusal(loop)
    if subprocess.run(["swapon", loop], capture_output=True).returncode != 0:
        pytest.skip("the kernel has no swap")
    devices.also_undo("swapoff", loop)
    assert f"{loop} is swap ({loop}): swapoff it" in refusal(loop, discard_signatures=True)


@needs("dmsetup")
def test_a_device_mapper_volume_on_it(devices: Devices) -> None:
    if not Path("/sys/class/misc/device-mapper").exists():
        pytest.skip("the kernel has no device-mapper")
    loop, name = devices.loop(), f"ssdlab-test-{os.getpid()}"
    run("dmsetup", "create", name, "--table", f"0 {(32 << 20) // 512} linear {loop} 0")
    devices.also_undo("dmsetup", "remove", name)
    said = refusal(loop)
    assert "is held by dm-" in said and name in said
    assert "is built on other devices" in refusal(f"/dev/mapper/{name}", serial="x")


@needs("mdadm")
def test_an_array_on_it(devices: Devices) -> None:
    if not Path("/proc/mdstat").exists():
        pytest.skip("the kernel has no MD")
    loop, array = devices.loop(), f"/dev/md/ssdlab-test-{os.getpid()}"
    run("mdadm", "--create", array, "--run", "--level=1", "--force", "--raid-devices=1", "--metadata=1.2", loop)
    devices.also_undo("mdadm", "--stop", array)
    assert "is held by md" in refusal(loop, discard_signatures=True)


def test_a_loop_device_over_it(devices: Devices) -> None:
    below = devices.loop()
    above = run("losetup", "--find", "--show", below).stdout.strip()
    devices.also_undo("losetup", "--detach", above)
    assert f"backs the loop device {above}" in refusal(below)


def test_a_program_that_writes_to_it(loop: str) -> None:
    script = f"import sys; f = open('{loop}', 'r+b'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "open\n"
        assert f"(process {process.pid}): end that program" in refusal(loop)
        process.stdin.close()


def test_a_holder_that_cannot_be_seen(loop: str) -> None:
    """As with a ZFS pool or another container: only the kernel knows of it."""
    descriptor = os.open(loop, os.O_RDONLY | os.O_EXCL)
    try:
        assert "held by something that is not visible here" in refusal(loop)
    finally:
        os.close(descriptor)


def test_a_read_only_device(devices: Devices) -> None:
    loop = devices.loop()
    devices.also_undo("blockdev", "--setrw", loop)
    run("blockdev", "--setro", loop)
    assert "is read-only" in refusal(loop)


def test_a_virtual_device(tmp_path: Path) -> None:
    if not Path("/dev/zram0").exists():
        pytest.skip("no /dev/zram0")
    with pytest.raises(InputError, match="is built on other devices or on memory"), claim("/dev/zram0", serial="x"):
        pytest.fail("was claimed")


def test_the_disk_of_the_root_file_system() -> None:
    """By any path: it is in use, or it has no name. Its name would not help."""
    disk = locate("/").disk
    if disk is None:
        pytest.skip("the root file system's disk cannot be seen from here")
    assert any(use.what == "is mounted at / as the root file system" for use in uses_of(disk))
    place = locate(f"/dev/{disk}")
    name = place.identities[0] if place.identities else "x"
    with pytest.raises(InputError), claim(place.path, serial=name):
        pytest.fail("was claimed")


def test_a_file_that_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "letters").write_text("dear")
    with pytest.raises(InputError, match="name its folder"), claim(tmp_path / "letters"):
        pytest.fail("was claimed")


def test_a_name_for_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only devices are destroyed"), claim(tmp_path, serial="S1"):
        pytest.fail("was claimed")


@pytest.mark.parametrize("path", ["/dev/null", "/nonexistent/folder"])
def test_what_is_no_place(path: str) -> None:
    with pytest.raises(InputError, match=path), claim(path):
        pytest.fail("was claimed")


def test_other_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The message is reached even if the module fcntl is missing, as on Windows."""
    check = (
        "import sys; sys.modules['fcntl'] = None; sys.platform = 'win32'\n"
        "from ssdlab.hardware.safety import claim\n"
        f"with claim({str(tmp_path)!r}): pass"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert "InputError: real drives are measured, checked and refreshed on Linux only" in done.stderr
    monkeypatch.setattr(sys, "platform", "darwin")
    context = typer.Context(loaded("check"))
    for call in (
        lambda: check_command(context, str(tmp_path), form=FormOrOutputFormat()),
        lambda: refresh_command(str(tmp_path), form=FormOrOutputFormat()),
    ):
        with pytest.raises(InputError, match="on Linux only"):
            call()
