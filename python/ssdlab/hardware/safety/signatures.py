"""Detects file systems, partition tables and parts of volumes on a device, through blkid."""

import shutil
import subprocess

from ssdlab.errors import RunFailed
from ssdlab.hardware.safety import sysfs

_FOUND = 0
_NOTHING_FOUND = 2
_SEVERAL_FOUND = 8


def signatures_of(device: str) -> list[str]:
    """Descriptions of the signatures on a device and its partitions, for example `/dev/sda1: ext4, "home"`.

    Raises RunFailed if blkid is missing or fails. To blkid an unreadable device looks like one without signatures:
    check first that it can be read.
    """
    found = []
    for name in [device, *sysfs.partitions_of(device)]:
        what = _probe(f"/dev/{name}")
        if what:
            found.append(f"/dev/{name}: {what}")
    return found


def _probe(path: str) -> str | None:
    if shutil.which("blkid") is None:
        raise RunFailed(
            "blkid, of the package util-linux, is needed to detect file systems on a device; it is not installed"
        )
    command = ["blkid", "--probe", "--output", "export", path]
    # blkid's low-level mode, which neither reads nor writes its cache.
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == _NOTHING_FOUND and not done.stdout.strip():
        return None
    if done.returncode == _SEVERAL_FOUND:
        return "signatures of several kinds, which blkid cannot resolve"
    if done.returncode != _FOUND:
        raise RunFailed(f"blkid could not read {path} (exit code {done.returncode}): {done.stderr.strip()}")
    fields = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    if table := fields.get("PTTYPE"):
        return f"a partition table ({table})"
    if kind := fields.get("TYPE"):
        label = fields.get("LABEL")
        return f'{kind}, "{label}"' if label else kind
    return None
