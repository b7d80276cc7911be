"""A drive as a kernel block device through ublk (Linux 6.0). Requires root."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ssdlab.errors import RunFailed
from ssdlab.serving.drive import ServedDrive


@contextlib.contextmanager
def attached(drive: ServedDrive) -> Iterator[Path]:
    """Attaches the drive as a block device and yields its path, for example /dev/ublkb0. Raises RunFailed if the
    feature, the module or permission is missing."""
    try:
        device = drive.device.attach()
    except OSError as error:
        needs_root = isinstance(error, PermissionError) and os.geteuid() != 0
        missing = "root is required" if needs_root else error.strerror or error
        raise RunFailed(f"--ublk: {missing}") from None
    try:
        yield device.path
    finally:
        device.stop()
        drive.close()
