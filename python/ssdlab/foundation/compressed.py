"""Compressed files (gz, zst, bz2, xz), recognised by their first bytes and not by their names."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any

import zstandard

_OPENERS: Mapping[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\x28\xb5\x2f\xfd": lambda file: zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
MARKS = tuple(_OPENERS)
"""The first bytes of compressed files."""
BROKEN = (zstandard.ZstdError, lzma.LZMAError, zlib.error, EOFError, OSError)
"""What reading a damaged or truncated file raises."""


def unpacked(file: IO[bytes]) -> io.BufferedReader:
    """The content of a file that is at its beginning, unpacked if it is compressed."""
    start = file.read(max(map(len, MARKS)))
    file.seek(0)
    opener = next((opener for mark, opener in _OPENERS.items() if start.startswith(mark)), None)
    stream: Any = opener(file) if opener else file
    return io.BufferedReader(stream, 1 << 20)
