"""One picture of a drive as the bytes of a message: two bytes an erase unit, and what is open, cleaned and moved."""

import json
import struct

from ssdlab.live.choices import VIEWS, Views
from ssdlab.live.messages import Marks

# Form, drive, view, nothing, number of the picture, bytes of the marks, bytes of the cells; little-endian.
HEADER = struct.Struct("<BBBxIII")
FORM = 2


def packed(drive: int, by: Views, number: int, marks: Marks, cells: bytes, states: bytes) -> bytes:
    """The message, with what is drawn of every erase unit and then its state; `page/picture.js` reads it."""
    text = json.dumps(marks, separators=(",", ":")).encode()
    return HEADER.pack(FORM, drive, VIEWS.index(by), number & 0xFFFFFFFF, len(text), len(cells)) + text + cells + states
