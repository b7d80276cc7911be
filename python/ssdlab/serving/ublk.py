"""A drive as a block device of the kernel's own, through ublk (Linux 6.0). Takes root."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ssdlab.errors import RunFailed
from ssdlab.serving.drive import ServedDrive


@contextlib.contextmanager
def attached(drive: ServedDrive) -> Iterator[Path]:
    """The drive as a block device, such as /dev/ublkb0. Raises RunFailed with what is missing: the feature, the module,
    permission.
    """
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
