"""Trims a whole claimed device, which brings it into the state of a new one."""

import subprocess

from ssdlab.errors import RunFailed
from ssdlab.hardware.device import programs
from ssdlab.hardware.device.place import Place


def purge(place: Place) -> None:
    """Trims a whole device. Raises RunFailed if the device cannot be trimmed, InputError if blkdiscard is missing."""
    programs.check("blkdiscard")
    # --force: the claim has the device open exclusively, which blkdiscard would otherwise refuse.
    done = subprocess.run(["blkdiscard", "--force", str(place.claim.path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RunFailed(f"{place.path} cannot be trimmed: {done.stderr.strip()}")
