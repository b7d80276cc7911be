"""Stores the position of a refresh in a small file in the user's state folder, so that the same command resumes there.

Resuming at any position is safe, because rewriting does not change the data.
"""

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.hardware.safety.place import Place
from ssdlab.simulator.results.files import write_text


@dataclass
class Progress:
    """The stored values."""

    path: str
    identity: str
    """Identity of the file or device. If it differs, the refresh starts again."""
    next_offset: int = 0
    rewritten_bytes: int = 0
    zero_bytes: int = 0
    before_mb_s: tuple[float, ...] = ()
    """The readings of the read test before the first byte was rewritten."""


def identity_of(place: Place) -> str:
    """The inode and size of a file; the names and size of a device."""
    if place.is_device:
        return f"{' '.join(place.identities) or place.device}, {place.size_bytes} bytes"
    return f"inode {place.file_id.inode}, {place.size_bytes} bytes"


class Keeper:
    """Reads and writes the progress file of a place. If the folder is not writable, nothing is stored."""

    def __init__(self, place: Place) -> None:
        name = hashlib.sha256(os.fsencode(place.path)).hexdigest()[:16]
        self.file = state_folder() / f"{name}.json"
        self._place = place

    def load(self) -> Progress | None:
        """The stored progress, or None if there is none to resume."""
        try:
            kept = json.loads(self.file.read_text(encoding="utf-8"))
            # A single reading, which an older version kept, is compared with nothing.
            readings = kept.get("before_mb_s")
            found = Progress(**{**kept, "before_mb_s": tuple(readings) if isinstance(readings, list) else ()})
        except (OSError, ValueError, TypeError, AttributeError):
            return None
        is_same = (found.path, found.identity) == (str(self._place.path), identity_of(self._place))
        return found if is_same and found.next_offset > 0 else None

    def save(self, progress: Progress) -> bool:
        """Stores the progress atomically. Returns False if it could not be written."""
        try:
            write_text(self.file, json.dumps(asdict(progress)) + "\n")
        except (InputError, OSError):
            return False
        return True

    def forget(self) -> None:
        with contextlib.suppress(OSError):
            self.file.unlink()


def state_folder() -> Path:
    """The folder of progress files, as in the XDG base directory specification."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(state) / "ssdlab/refresh"
