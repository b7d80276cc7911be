"""Simulated drives that are mounted, served or on a live page, as rows for the same metrics as real drives."""

import contextlib
import json
from pathlib import Path

from ssdlab.errors import InputError, RunFailed
from ssdlab.field.health.drive import Row, row_of
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart import reading
from ssdlab.serving.asking import Asked
from ssdlab.serving.watching import LIVE, SERVED, runtime_folder


def rows() -> list[Row]:
    """Rows of all running simulated drives of this user. A drive that ends meanwhile is left out."""
    found = []
    for path in sorted(path for path in runtime_folder().iterdir() if path.suffix in (SERVED, LIVE)):
        with contextlib.suppress(OSError, RunFailed, InputError):
            for drive in _drives_at(path):
                place = drive["place"]
                found.append(row_of(reading.parse(drive["smart"], place), place))
    return found


def _drives_at(path: Path) -> list[JsonObject]:
    with contextlib.closing(Asked(path)) as process:
        drives: list[JsonObject] = json.loads(process.ask({"ask": "smart"}))
    return drives
