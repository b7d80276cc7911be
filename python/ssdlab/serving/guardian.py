"""A small process that removes what its parent has attached when the parent has ended for any reason: mounts, loop
devices, NVMe controllers.

A killed process cannot clean up, and it leaves a folder that does not respond and devices without a server. The
guardian waits for the end of a pipe that only the parent holds open, which detects any end. This file runs alone,
without the package, so that it starts fast and uses little memory.
"""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

CLEAN = b"."
"""The byte that the parent writes after it has cleaned up."""


def start(folder: str | None, loop: str | None, nqn: str | None = None) -> int:
    """Starts a guardian for a mount and its loop device, or for an NVMe subsystem. Returns the end of the pipe to hold
    open."""
    read_end, write_end = os.pipe()
    subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, folder or "", loop or "", nqn or ""],
        stdin=read_end,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Ctrl-C in a terminal goes to all processes of its group, and the guardian has to survive it.
        start_new_session=True,
    )
    os.close(read_end)
    return write_end


def stop(write_end: int) -> None:
    """Ends the guardian without cleaning up."""
    with contextlib.suppress(OSError):
        os.write(write_end, CLEAN)
    os.close(write_end)


def clean(folder: str, loop: str | None) -> None:
    """Removes a mount and its loop device if they exist. Prints nothing."""
    if loop:
        for mounted_at in mounts_of(loop):
            _run("umount", "--lazy", mounted_at)
        _run("losetup", "--detach", loop)
    if folder in mounted_folders():
        for unmount in (("umount", "--lazy"), ("fusermount3", "-u", "-z"), ("fusermount", "-u", "-z")):
            if _run(*unmount, folder):
                break


def disconnect(nqn: str) -> None:
    """Removes this machine's controllers of an NVMe subsystem, as `nvme disconnect` does. Prints nothing."""
    for name in Path("/sys/class/nvme").glob("*/subsysnqn"):
        # Not readable: the controller is gone. Not writable: only root may remove it.
        with contextlib.suppress(OSError):
            if name.read_text().strip() == nqn:
                (name.parent / "delete_controller").write_text("1")


def mounts_of(device: str) -> list[str]:
    """Folders at which a device is mounted."""
    return [folder for source, folder in _mounts() if source == device]


def mounted_folders() -> set[str]:
    return {folder for source, folder in _mounts() if source == "ssdlab"}


def _mounts() -> list[tuple[str, str]]:
    fields = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return [(source, folder.encode().decode("unicode_escape")) for source, folder, *_ in fields]


def _run(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _wait_and_clean(folder: str, loop: str, nqn: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if sys.stdin.buffer.read(1) != CLEAN:
        clean(folder, loop or None)
        if nqn:
            disconnect(nqn)


if __name__ == "__main__":
    _wait_and_clean(*sys.argv[1:4])
