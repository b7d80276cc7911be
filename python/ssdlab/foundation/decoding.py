"""Decodes users' files to text, including the encodings that terminals, editors or PowerShell produce."""

import codecs

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 512


def text_of(data: bytes) -> str | None:
    """The text of UTF-8 or UTF-16 data, each with or without a byte order mark; None for binary data."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    start = data[:_LOOKED_AT]
    if b"\0" in start:
        return _utf16(data, start)
    # Bytes that are not UTF-8 are thousands separators of the locale; the parsers skip them.
    return data.decode("utf-8", errors="replace")


def _utf16(data: bytes, start: bytes) -> str | None:
    """Detects UTF-16. Reports are ASCII except for separators, so nearly every second byte is 0, and no other byte."""
    for encoding, zeros, others in (("utf-16-le", start[1::2], start[::2]), ("utf-16-be", start[::2], start[1::2])):
        if zeros.count(0) > 0.9 * len(zeros) and others.count(0) == 0:
            return data.decode(encoding, errors="replace")
    return None
