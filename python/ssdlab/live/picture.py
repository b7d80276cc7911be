"""Encodes one picture of a drive as a binary message: two bytes for each erase unit, and its marks as JSON."""

import json
import struct

from ssdlab.live.choices import VIEWS, Views
from ssdlab.live.messages import Marks

# Form, drive, view, padding, number of the picture, bytes of the marks, bytes of the cells; little-endian.
HEADER = struct.Struct("<BBBxIII")
FORM = 2


def packed(drive: int, by: Views, number: int, marks: Marks, cells: bytes, states: bytes) -> bytes:
    """The message: header, marks, the shown value of every erase unit, then its state; `page/picture.js` reads it."""
    text = json.dumps(marks, separators=(",", ":")).encode()
    return HEADER.pack(FORM, drive, VIEWS.index(by), number & 0xFFFFFFFF, len(text), len(cells)) + text + cells + states
