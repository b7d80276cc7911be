"""By which name a drive may be destroyed: its serial number or WWN, which a script cannot carry to another machine.

A loop device has neither. What stands for it is `loop:INODE:SIZE`, of the file behind it, as the kernel reports them.
"""

import json
import os
import struct
import subprocess
from pathlib import Path

from ssdlab.safety import sysfs

_LOOP_GET_STATUS64 = 0x4C05
# struct loop_info64: lo_device, lo_inode, lo_rdevice, lo_offset, lo_sizelimit, ...; 232 bytes in all.
_LOOP_INFO_BYTES = 232

# Where the kernel shows a serial number or a name of the world-wide kind: NVMe and eMMC, SCSI and ATA, virtio.
_SERIALS = ("device/serial", "serial")
_WWNS = ("wwid", "device/wwid")


def identities(disk: str, size_bytes: int) -> tuple[str, ...]:
    """The names by which this disk may be destroyed, the serial number first; empty when none can be read."""
    if disk.startswith("loop"):
        name = _of_loop(disk, size_bytes)
        return (name,) if name else ()
    folder = sysfs.folder_of(disk)
    listed = _from_lsblk(disk)
    serials = [sysfs.read(folder / name) for name in _SERIALS] + [_vital_product_data(folder), listed.get("serial")]
    wwns = [sysfs.read(folder / name) for name in _WWNS] + [listed.get("wwn")]
    # A name may come from several places, and some pad it with spaces.
    return tuple(dict.fromkeys(stripped for name in serials + wwns if name and (stripped := name.strip())))


def model_of(disk: str) -> str | None:
    folder = sysfs.folder_of(disk)
    return sysfs.read(folder / "device/model") or _from_lsblk(disk).get("model")


def _of_loop(disk: str, size_bytes: int) -> str | None:
    """The inode is the kernel's own word, also when the file was moved or removed."""
    # Only here, so that other systems get as far as the message that they are not supported.
    import fcntl

    buffer = bytearray(_LOOP_INFO_BYTES)
    try:
        descriptor = os.open(f"/dev/{disk}", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, buffer)
    except OSError:
        # ENXIO: no file is behind it.
        return None
    finally:
        os.close(descriptor)
    _, inode = struct.unpack_from("=QQ", buffer)
    return f"loop:{inode}:{size_bytes}"


def _vital_product_data(folder: Path) -> str | None:
    """SCSI's page 80h, the unit's serial number: four bytes of header, then text."""
    try:
        page = (folder / "device/vpd_pg80").read_bytes()
    except OSError:
        return None
    return page[4:].decode("ascii", errors="replace").strip("\0 ") or None


def _from_lsblk(disk: str) -> dict[str, str]:
    """What else udev knows."""
    command = ["lsblk", "--json", "--nodeps", "--output", "SERIAL,WWN,MODEL", f"/dev/{disk}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        (device,) = json.loads(done.stdout)["blockdevices"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return {}
    return {key: value for key, value in device.items() if value}
