"""Draws a drive's geometry as plain text: channels as rows, with dies along them and planes inside."""

import textwrap

from ssdlab.foundation.quantities import format_bytes_binary, format_count
from ssdlab.simulator.drives.schema import DriveFile
from ssdlab.simulator.engine.types import DriveCapacity

_ROWS_MAX = 16
_PLANES_MAX = 8
_PLANE = "■"
_CONTROLLER = "controller"


def draw(drive: DriveFile, capacity: DriveCapacity, *, width: int = 80) -> str:
    """The drawing and, below it, the content of each level. No line is longer than `width` (at least 60)."""
    of_each = [f" one of {drive.stripe.devices} such devices:"] if drive.is_striped else []
    return "\n".join([*of_each, *_dies(drive, width), "", *_levels(drive, capacity, width)])


def _dies(drive: DriveFile, width: int) -> list[str]:
    nand = drive.nand
    planes = _PLANE * nand.planes_per_die if nand.planes_per_die <= _PLANES_MAX else f"{_PLANE}x{nand.planes_per_die}"
    die = f"[{planes}]"
    channels: list[int | None] = list(range(nand.channels))
    if nand.channels > _ROWS_MAX:
        channels = [*range(_ROWS_MAX - 2), None, nand.channels - 1]
    label_width = len(str(nand.channels - 1))
    room = width - (len(_CONTROLLER) + 6) - label_width - 6
    chain = _chain(die, nand.dies_per_channel, room)
    blank = " " * len(_CONTROLLER)
    lines = [f" ┌─{'─' * len(_CONTROLLER)}─┐"]
    for row, channel in enumerate(channels):
        box = _CONTROLLER if row == (len(channels) - 1) // 2 else blank
        rest = f"├─ {channel:>{label_width}} ──{chain}" if channel is not None else f"│  {'⋮':>{label_width}}"
        lines.append(f" │ {box} {rest}")
    lines.append(f" └─{'─' * len(_CONTROLLER)}─┘")
    return lines


def _chain(die: str, count: int, room: int) -> str:
    """The dies of a channel. If they do not fit, the number of dies replaces some of them."""
    link = "──"
    if count * len(die) + (count - 1) * len(link) <= room:
        return link.join([die] * count)
    middle = f" … {count} dies … "
    shown = max(2, (room - len(middle) + len(link)) // (len(die) + len(link)))
    return link.join([die] * (shown - 1)) + middle + die


def _levels(drive: DriveFile, capacity: DriveCapacity, width: int) -> list[str]:
    nand, ftl = drive.nand, drive.ftl
    block_bytes = nand.pages_per_block * nand.page_bytes
    erase_unit_bytes = capacity.units_per_erase_unit * capacity.mapping_unit_bytes
    planes = _count(capacity.planes // capacity.devices, "plane")
    of_blocks = f"one block of each of {planes}" if ftl.erase_unit == "superblock" else "a block"
    dies = nand.channels * nand.dies_per_channel
    devices = drive.stripe.devices
    chunks = f"{devices} devices in turn, in chunks of {format_bytes_binary(drive.stripe.chunk_bytes)}"
    rows = [
        *([("drive", capacity.flash_bytes, chunks)] if drive.is_striped else []),
        (
            "device" if drive.is_striped else "drive",
            capacity.flash_bytes // devices,
            f"{_count(nand.channels, 'channel')} x {_count(nand.dies_per_channel, 'die')}"
            f" x {_count(nand.planes_per_die, 'plane')}",
        ),
        ("die", capacity.flash_bytes // devices // dies, f"{_count(nand.planes_per_die, 'plane')} {_PLANE}"),
        ("plane", nand.blocks_per_plane * block_bytes, _count(nand.blocks_per_plane, "block")),
        ("block", block_bytes, _count(nand.pages_per_block, "page")),
        (
            "page",
            nand.page_bytes,
            f"{_count(nand.page_bytes // ftl.mapping_unit_bytes, 'mapping unit')}"
            f" of {format_bytes_binary(ftl.mapping_unit_bytes)}",
        ),
        ("erase unit", erase_unit_bytes, f"{of_blocks}; {format_count(capacity.erase_units)} of them"),
    ]
    lines = []
    for name, size, holds in rows:
        begun = f" {name:<10} {format_bytes_binary(size):>10}   "
        lines += textwrap.wrap(holds, width, initial_indent=begun, subsequent_indent=" " * len(begun))
    return lines


def _count(number: int, noun: str) -> str:
    return f"{format_count(number)} {noun}{'' if number == 1 else 's'}"
