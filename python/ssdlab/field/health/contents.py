"""Finds reports in files, folders, standard input, archives (tar, zip) and compressed files (gz, zst, bz2, xz).

A file's type is detected by its first bytes, not by its name. Folders are walked in order, one entry at a time, so that
memory use does not grow with the number of files. `ssdlab.hardware.smart.formats` detects the format of the reports.
"""

import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ssdlab.errors import InputError
from ssdlab.foundation import compressed

_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_ZIP_MARK = b"PK\x03\x04"
_START_BYTES = 512
CONTENT_BYTES_MAX = 1 << 30
"""Larger content is not a report. The limit also bounds the memory for data unpacked from an archive."""

_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    *compressed.BROKEN,
    NotImplementedError,
    RuntimeError,
)
"""Exceptions that the unpackers raise for damaged, truncated and encrypted archives."""


@dataclass(frozen=True)
class Content:
    """A file that possibly contains reports. `data` is None if `read` has to open the file; `failed` is the error, if
    any."""

    name: str
    path: Path | None = None
    data: bytes | None = None
    stamp: str = ""
    """Changes when the file changes."""
    failed: str | None = None

    def read(self) -> bytes:
        """The content. Raises InputError, with the name, if it cannot be read."""
        if self.failed:
            raise InputError(f"{self.name}: {self.failed}")
        if self.data is not None:
            return self.data
        assert self.path is not None
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise InputError(f"{self.name}: {error.strerror}") from None


def found(places: list[str]) -> Iterator[Content]:
    """All files in the places, in order. Raises InputError for a place that does not exist."""
    for place in places:
        if place == "-":
            yield from _unpacked("standard input", io.BytesIO(sys.stdin.buffer.read()), "")
            continue
        path = Path(place)
        if path.is_dir():
            yield from _in_folder(path)
        elif path.exists():
            yield from _of_file(path, place)
        else:
            raise InputError(f"{place}: is neither a file nor a folder nor a device")


def _in_folder(folder: Path) -> Iterator[Content]:
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield Content(str(folder), failed=f"is a folder that cannot be read: {error.strerror}")
        return
    for entry in ordered:
        if entry.is_dir(follow_symlinks=False):
            yield from _in_folder(Path(entry.path))
        elif entry.is_file():
            yield from _of_file(Path(entry.path), entry.path)


def _of_file(path: Path, name: str) -> Iterator[Content]:
    """The file itself, not yet opened, or the contents of an archive."""
    try:
        status = path.stat()
        stamp = f"{status.st_size}-{status.st_mtime_ns}"
        with path.open("rb") as file:
            start = file.read(_START_BYTES)
            if not _is_packed(start):
                too_large = status.st_size > CONTENT_BYTES_MAX
                yield Content(name, path, stamp=stamp, failed="is too large for a report" if too_large else None)
                return
            file.seek(0)
            yield from _unpacked(name, file, stamp)
    except OSError as error:
        yield Content(name, failed=error.strerror or str(error))


def _is_packed(start: bytes) -> bool:
    return start.startswith((*compressed.MARKS, _ZIP_MARK)) or start[_TAR_MARK_AT : _TAR_MARK_AT + 5] == _TAR_MARK


def _unpacked(name: str, file: IO[bytes], stamp: str, depth: int = 0) -> Iterator[Content]:
    """The contents of a file, unpacked at most twice (`reports.tar.gz` in a zip)."""
    start = file.read(_START_BYTES)
    file.seek(0)
    try:
        if start.startswith(_ZIP_MARK):
            yield from _in_zip(name, file, stamp, depth)
            return
        buffered = compressed.unpacked(file)
        if buffered.peek(_START_BYTES)[_TAR_MARK_AT : _TAR_MARK_AT + 5] == _TAR_MARK:
            yield from _in_tar(name, buffered, stamp, depth)
        else:
            yield _content(name, buffered, stamp)
    except _BROKEN as error:
        yield Content(name, failed=f"is damaged or cut off: {error or type(error).__name__}")


def _in_tar(name: str, stream: IO[bytes], stamp: str, depth: int) -> Iterator[Content]:
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            if member.isfile():
                opened = archive.extractfile(member)
                assert opened is not None
                yield from _member(f"{name}/{member.name}", opened, stamp, depth)


def _in_zip(name: str, file: IO[bytes], stamp: str, depth: int) -> Iterator[Content]:
    with zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                with archive.open(entry) as opened:
                    yield from _member(f"{name}/{entry.filename}", opened, stamp, depth)


def _member(name: str, opened: IO[bytes], stamp: str, depth: int) -> Iterator[Content]:
    content = _content(name, opened, stamp)
    if content.data is not None and depth == 0 and _is_packed(content.data[:_START_BYTES]):
        yield from _unpacked(name, io.BytesIO(content.data), stamp, depth + 1)
    else:
        yield content


def _content(name: str, opened: IO[bytes], stamp: str) -> Content:
    data = opened.read(CONTENT_BYTES_MAX + 1)
    if len(data) > CONTENT_BYTES_MAX:
        return Content(name, failed="is too large for a report")
    return Content(name, data=data, stamp=stamp)
