"""The names that authorize destroying a drive: its serial number or WWN, so that a script does not work on another
machine.

A loop device has neither. It is named `loop:INODE:SIZE`, by the file behind it, as reported by the kernel.
"""

import json
import os
import struct
import subprocess
from pathlib import Path

from ssdlab.hardware.safety import sysfs

_LOOP_GET_STATUS64 = 0x4C05
# struct loop_info64: lo_device, lo_inode, lo_rdevice, lo_offset, lo_sizelimit, ...; 232 bytes in all.
_LOOP_INFO_BYTES = 232

# sysfs entries for serial numbers and world-wide names: NVMe and eMMC, SCSI and ATA, virtio.
_SERIALS = ("device/serial", "serial")
_WWNS = ("wwid", "device/wwid")


def identities(disk: str, size_bytes: int) -> tuple[str, ...]:
    """The names that authorize destroying this disk, the serial number first; empty if none can be read."""
    if disk.startswith("loop"):
        name = _of_loop(disk, size_bytes)
        return (name,) if name else ()
    folder = sysfs.folder_of(disk)
    listed = _from_lsblk(disk)
    serials = [sysfs.read(folder / name) for name in _SERIALS] + [_vital_product_data(folder), listed.get("serial")]
    wwns = [sysfs.read(folder / name) for name in _WWNS] + [listed.get("wwn")]
    # Several sources can return the same name, and some pad it with spaces.
    return tuple(dict.fromkeys(stripped for name in serials + wwns if name and (stripped := name.strip())))


def model_of(disk: str) -> str | None:
    folder = sysfs.folder_of(disk)
    return sysfs.read(folder / "device/model") or _from_lsblk(disk).get("model")


def firmware_of(disk: str) -> str | None:
    """The firmware's revision, of NVMe or SCSI; None if the kernel has none."""
    folder = sysfs.folder_of(disk)
    found = sysfs.read(folder / "device/firmware_rev") or sysfs.read(folder / "device/rev")
    return found.strip() if found else None


def _of_loop(disk: str, size_bytes: int) -> str | None:
    """The inode is reported by the kernel, so it is right even if the file was moved or removed."""
    # Imported here, so that other systems reach the message that they are not supported.
    import fcntl

    buffer = bytearray(_LOOP_INFO_BYTES)
    try:
        descriptor = os.open(f"/dev/{disk}", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.ioctl(descriptor, _LOOP_GET_STATUS64, buffer)
    except OSError:
        # ENXIO: the loop device has no file.
        return None
    finally:
        os.close(descriptor)
    _, inode = struct.unpack_from("=QQ", buffer)
    return f"loop:{inode}:{size_bytes}"


def _vital_product_data(folder: Path) -> str | None:
    """The serial number from SCSI's page 80h: four bytes of header, then text."""
    try:
        page = (folder / "device/vpd_pg80").read_bytes()
    except OSError:
        return None
    return page[4:].decode("ascii", errors="replace").strip("\0 ") or None


def _from_lsblk(disk: str) -> dict[str, str]:
    """Serial number, WWN and model as known to udev, through lsblk; empty if lsblk fails."""
    command = ["lsblk", "--json", "--nodeps", "--output", "SERIAL,WWN,MODEL", f"/dev/{disk}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        (device,) = json.loads(done.stdout)["blockdevices"]
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError):
        return {}
    return {key: value for key, value in device.items() if value}
