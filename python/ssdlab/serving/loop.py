"""A loop device over the drive's file, for file systems. Requires root."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

from ssdlab.errors import RunFailed
from ssdlab.hardware.safety.held import path_of
from ssdlab.serving.guardian import mounts_of

# Without this the kernel merges neighbouring requests; experiments need them as the file system sent them.
_NO_MERGES = "2"


def check() -> None:
    """Raises RunFailed if permission, a program or the kernel's loop devices are missing."""
    if os.geteuid() != 0:
        raise RunFailed(
            "--loop attaches a loop device, which requires root; without --loop the drive is available as a file"
        )
    if shutil.which("losetup") is None:
        raise RunFailed("--loop needs losetup, of the package util-linux (mount on some systems)")
    if not Path("/dev/loop-control").exists():
        raise RunFailed("--loop: /dev/loop-control is missing; `modprobe loop` loads the loop driver")


def attach(file: Path, sector_bytes: int = 4096) -> str:
    """Attaches a free loop device to the file, with direct I/O. Returns its path, for example /dev/loop3."""
    command = ["losetup", "--find", "--show", "--direct-io=on", f"--sector-size={sector_bytes}"]
    held = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        # Must be the file of the mount; otherwise writes to the loop device would overwrite another file.
        if os.fstat(held).st_dev not in _numbers_of_mounts(file.parent):
            raise RunFailed(f"{file} was replaced by another file; no loop device was attached")
        done = subprocess.run([*command, str(path_of(held))], capture_output=True, text=True)
    finally:
        os.close(held)
    if done.returncode != 0:
        raise RunFailed(f"losetup could not attach {file}: {done.stderr.strip()}")
    name = done.stdout.strip()
    queue = Path(f"/sys/block/{Path(name).name}/queue")
    with contextlib.suppress(OSError):
        (queue / "nomerges").write_text(_NO_MERGES)
        # The kernel keeps a limit that was set while the device was attached to another file.
        (queue / "discard_max_bytes").write_text((queue / "discard_max_hw_bytes").read_text())
    return name


def _numbers_of_mounts(folder: Path) -> list[int]:
    """Device numbers of the ssdlab mounts at a folder."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
        fields = line.split()
        source = fields[fields.index("-") + 2]
        if source == "ssdlab" and fields[4].encode().decode("unicode_escape") == str(folder):
            found.append(os.makedev(*map(int, fields[2].split(":"))))
    return found


def detach(name: str) -> None:
    """Unmounts everything on the device and detaches it. Raises RunFailed if a program still uses it."""
    for folder in mounts_of(name):
        subprocess.run(["umount", folder], capture_output=True)
    still = mounts_of(name)
    if still:
        raise RunFailed(f"{name} is mounted at {', '.join(still)}, and a program uses it")
    done = subprocess.run(["losetup", "--detach", name], capture_output=True, text=True)
    if done.returncode != 0:
        raise RunFailed(f"losetup could not detach {name}: {done.stderr.strip()}")
