"""Finds, reads, stores and combines the reports in places, as drives. Used by commands, atlas and fleet."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISBLK, S_ISCHR

import polars as pl

from ssdlab.errors import InputError
from ssdlab.field.health import contents, scanning
from ssdlab.field.health.scanning import Part, Tell, Unread
from ssdlab.field.health.spool import Spool


@contextmanager
def surveyed(
    places: Sequence[str], *, workers: int | None = None, kept: Path | None = None, tell: Tell | None = None
) -> Iterator[Spool]:
    """Yields the reports in files, folders and archives, or of devices. `kept` is a folder that keeps the parts for the
    next call.

    Raises InputError if a place does not exist, or if nothing in the places could be read.
    """
    devices = [place for place in places if is_device(place)]
    files = [place for place in places if place not in devices]
    with tempfile.TemporaryDirectory(prefix="ssdlab-health-") as own:
        spool = Spool(kept or Path(own))
        for part in scanning.parts(contents.found(files), workers or scanning.default_workers(), spool.has, tell):
            spool.put(part)
        if devices:
            spool.put(_of_devices(devices))
        _check(spool, places)
        yield spool


def _of_devices(names: list[str]) -> Part:
    found = list(scanning.device_rows(names))
    rows = [row for row in found if not isinstance(row, Unread)]
    return Part("devices", len(names), rows, [row for row in found if isinstance(row, Unread)])


def is_device(place: str) -> bool:
    """Whether the place is a drive rather than a file with reports."""
    try:
        mode = Path(place).stat().st_mode
    except OSError:
        return False
    # A controller such as /dev/nvme0 is a character device; other character devices, such as a terminal, are not
    # drives.
    return S_ISBLK(mode) or (S_ISCHR(mode) and Path(place).name.startswith("nvme"))


def _check(spool: Spool, places: Sequence[str]) -> None:
    first = spool.rows().filter(pl.col("unread").is_null()).head(1).collect()
    if first.is_empty():
        unread = spool.unread().head(1).collect()
        if unread.is_empty():
            raise InputError(f"{', '.join(places)}: contains no file")
        source, reason = unread.row(0)
        raise InputError(f"{source}: {reason}")
