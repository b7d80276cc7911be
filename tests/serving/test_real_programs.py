"""Real programs on a mounted drive under garbage collection: fio's checksums, a file system's check, hashes of files.

File systems are created only on loop devices that the mount attached. Nothing is trimmed before `mountpoint` has
confirmed that the folder is a mount of that device: after a failed mount fstrim would trim this machine's file system.
"""

import contextlib
import hashlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from own_devices import needs
from running_drives import Mount, MountMaker

pytestmark = [pytest.mark.fuse, pytest.mark.loop]


def run(*command: str | Path) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def fio(*options: str, folder: Path) -> dict[str, Any]:
    command = ["fio", "--output-format=json", "--bs=4k", "--direct=1", "--ioengine=libaio", "--iodepth=32", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    result: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    assert all(job["error"] == 0 for job in result["jobs"])
    return result


@needs("fio", "losetup")
def test_fio_verifies_over_the_loop_device_under_gc_with_trims(mount: MountMaker, tmp_path: Path) -> None:
    mounted = mount("--loop")
    assert mounted.loop is not None
    queue = Path(f"/sys/block/{Path(mounted.loop).name}/queue")
    assert (queue / "logical_block_size").read_text().strip() == "4096"
    assert (queue / "nomerges").read_text().strip() == "2"
    target = f"--filename={mounted.loop}"
    fio("--name=fill", target, "--rw=write", "--bs=256k", folder=tmp_path)
    fio("--name=trim", target, "--rw=randtrim", "--bs=64k", "--io_size=32m", "--randseed=3", folder=tmp_path)
    mounted.command("mark verified")
    verify = ("--verify=crc32c", "--verify_fatal=1", "--do_verify=1", "--verify_backlog=4096")
    fio("--name=verify", target, "--rw=randwrite", *verify, folder=tmp_path)
    statistics = mounted.statistics()
    phase = statistics["jobs"][-1]
    assert statistics["ssdlab"]["host"]["trimmed_bytes"] >= 32 << 20
    # The whole drive written at random at 6 % over-provisioning: garbage collection had to move much data.
    assert phase["ssdlab"]["host"]["written_bytes"] == 256 << 20
    assert phase["ssdlab"]["waf"] > 1.5
    assert phase["ssdlab"]["nand"]["programmed_bytes"]["gc"] > 64 << 20


@contextlib.contextmanager
def file_system(mounted: Mount, folder: Path) -> Iterator[Path]:
    """The file system of the mount's loop device, mounted at a folder and verified."""
    assert mounted.loop is not None
    folder.mkdir(exist_ok=True)
    run("mount", mounted.loop, folder)
    try:
        run("mountpoint", "-q", folder)
        yield folder
    finally:
        run("umount", folder)


def trim(folder: Path) -> None:
    run("mountpoint", "-q", folder)
    run("fstrim", folder)


def hashes(folder: Path) -> dict[str, str]:
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.rglob("*.data"))}


@needs("mkfs.ext4", "fsck.ext4", "fstrim", "losetup")
def test_ext4_filled_deleted_and_trimmed_keeps_its_files(mount: MountMaker, tmp_path: Path) -> None:
    mounted = mount("--loop")
    assert mounted.loop is not None
    run("mkfs.ext4", "-q", "-E", "nodiscard", mounted.loop)
    with file_system(mounted, tmp_path / "files") as folder:
        for index in range(48):
            (folder / f"{index}.data").write_bytes(os.urandom(4 << 20))
        run("sync", "--file-system", folder)
        for turn in range(3):
            # Every third file is rewritten, others are deleted and trimmed, so that the drive is full of holes and
            # collects garbage.
            for index in range(turn, 48, 3):
                (folder / f"{index}.data").unlink(missing_ok=True)
                if index % 2:
                    (folder / f"{index}.data").write_bytes(os.urandom(4 << 20))
            trim(folder)
        kept = hashes(folder)
        assert len(kept) == 24
    run("fsck.ext4", "-f", "-n", mounted.loop)
    mounted.command("power-cut")
    with file_system(mounted, tmp_path / "files") as folder:
        assert hashes(folder) == kept
    run("fsck.ext4", "-f", "-n", mounted.loop)
    statistics = mounted.statistics()["ssdlab"]
    # ext4 decides when and how much of the freed space it trims.
    assert statistics["host"]["trimmed_bytes"] > 16 << 20
    assert statistics["device"]["power_cycles"] == 1
    assert mounted.end() == 0
    mounted.wait_until_gone()


def test_a_kill_takes_the_loop_device_and_its_file_system_away(mount: MountMaker, tmp_path: Path) -> None:
    mounted = mount("--loop")
    assert mounted.loop is not None
    run("mkfs.ext4", "-q", "-E", "nodiscard", mounted.loop)
    (tmp_path / "files").mkdir()
    run("mount", mounted.loop, tmp_path / "files")
    mounted.end(signal.SIGKILL)
    mounted.wait_until_gone()
    assert str(tmp_path / "files") not in Path("/proc/self/mounts").read_text()
