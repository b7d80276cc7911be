"""A claimed device put back to how it was made: all of it trimmed."""

import subprocess

from ssdlab.errors import RunFailed
from ssdlab.targets.device import programs
from ssdlab.targets.device.place import Place


def purge(place: Place) -> None:
    """Trims a whole device. Raises RunFailed where it takes no trims, InputError where blkdiscard is missing."""
    programs.check("blkdiscard")
    # The claim holds the device, which blkdiscard would take for somebody else's use.
    done = subprocess.run(["blkdiscard", "--force", str(place.claim.path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RunFailed(f"{place.path} cannot be trimmed: {done.stderr.strip()}")
