"""How far a refresh came, in a small file in the user's state folder, so that the same command goes on from there.

It is a convenience only: whatever it says, going on from any place is safe, because what is rewritten does not change.
"""

import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.results.files import write_text
from ssdlab.safety.place import Place


@dataclass
class Progress:
    """What is remembered."""

    path: str
    identity: str
    """Of the file or device: when it is another one, a new start is made."""
    next_offset: int = 0
    rewritten_bytes: int = 0
    zero_bytes: int = 0
    before_mb_s: float | None = None
    """What the read test gave before the first byte was rewritten."""


def identity_of(place: Place) -> str:
    """Of a file its inode and size, of a device its name and size."""
    if place.is_device:
        return f"{' '.join(place.identities) or place.device}, {place.size_bytes} bytes"
    return f"inode {place.file_id.inode}, {place.size_bytes} bytes"


class Keeper:
    """Reads and writes the file of one place. Where the folder cannot be written, nothing is remembered."""

    def __init__(self, place: Place) -> None:
        name = hashlib.sha256(os.fsencode(place.path)).hexdigest()[:16]
        self.file = state_folder() / f"{name}.json"
        self._place = place

    def load(self) -> Progress | None:
        """None when there is nothing to go on from."""
        try:
            found = Progress(**json.loads(self.file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        is_same = (found.path, found.identity) == (str(self._place.path), identity_of(self._place))
        return found if is_same and found.next_offset > 0 else None

    def save(self, progress: Progress) -> bool:
        """Whole or not at all. False when it could not be written."""
        try:
            write_text(self.file, json.dumps(asdict(progress)) + "\n")
        except (InputError, OSError):
            return False
        return True

    def forget(self) -> None:
        with contextlib.suppress(OSError):
            self.file.unlink()


def state_folder() -> Path:
    """As the XDG base directory specification has it."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local/state")
    return Path(state) / "ssdlab/refresh"
