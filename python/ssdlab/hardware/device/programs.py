"""The programs that a measurement needs, and their packages."""

import shutil
import subprocess

from ssdlab.errors import InputError, RunFailed

PACKAGES = {
    "fio": "fio",
    "sysbench": "sysbench",
    "smartctl": "smartmontools",
    "mkfs.ext4": "e2fsprogs",
    "resize2fs": "e2fsprogs",
    "e2fsck": "e2fsprogs",
    "fstrim": "util-linux",
    "blkdiscard": "util-linux",
    "umount": "mount (util-linux on some systems)",
    "mount": "mount (util-linux on some systems)",
    "mountpoint": "util-linux",
}


def check(*names: str) -> None:
    """Raises InputError, with the packages to install, if a program is missing."""
    missing = {name: PACKAGES[name] for name in names if shutil.which(name) is None}
    if missing:
        packages = ", ".join(sorted(set(missing.values())))
        raise InputError(f"not installed: {', '.join(missing)}; install {packages} (apt-get install, or the like)")


def call(*command: str, timeout_seconds: float = 600) -> str:
    """Runs a program and returns its standard output. Raises RunFailed if it fails, cannot be run, or exceeds the time
    limit."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        raise RunFailed(f"{command[0]} did not end within {timeout_seconds:g} s") from None
    except OSError as error:
        raise RunFailed(f"{command[0]} could not be run: {error.strerror}") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise RunFailed(f"{' '.join(command)} failed ({done.returncode}){': ' if said else ''}{''.join(said)}")
    return done.stdout
