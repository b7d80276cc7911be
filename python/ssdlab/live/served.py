"""A drive that `ssdlab mount` or `ssdlab serve` has open in another process, seen from here.

It can be looked at as the drives of a session can; what it executes is up to the programs that use it.
"""

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.live.messages import EraseUnit, Figures, Marks
from ssdlab.results.result import ResultJson
from ssdlab.serving.asking import Asked, Question
from ssdlab.serving.drive import ServedDescription
from ssdlab.serving.watching import SERVED, runtime_folder

if TYPE_CHECKING:
    from ssdlab._engine import _CellsBy


class WatchedDrive:
    """One served drive. All calls may come from any thread; `drive` is always 0, as there is one.

    They raise RunFailed when it is no longer served. What `figures` and `marks` tell since the previous call they tell
    one watcher only.
    """

    def __init__(self, socket_path: Path) -> None:
        """Raises OSError when nobody answers there."""
        self._asked = Asked(socket_path)
        self.description: ServedDescription = self._ask_json({"ask": "description"})

    def figures(self, drive: int = 0) -> Figures:
        """Counters and their growth since the previous call, as `Device.figures` of the native module."""
        figures: Figures = self._ask_json({"ask": "figures"})
        return figures

    def cells(self, drive: int, by: "_CellsBy") -> bytes:
        """One byte an erase unit, as `Device.cells`."""
        return self._ask({"ask": "cells", "by": by})

    def marks(self, drive: int = 0) -> Marks:
        """What is open and what was cleaned and moved since the previous call, as `Device.marks`."""
        marks: Marks = self._ask_json({"ask": "marks"})
        return marks

    def erase_unit(self, drive: int, index: int) -> EraseUnit:
        """One erase unit, as `Device.erase_unit`. Raises InputError when the drive has none such."""
        erase_unit: EraseUnit = self._ask_json({"ask": "erase-unit", "index": index})
        return erase_unit

    def statistics(self) -> ResultJson:
        """The result so far, as in `stats.json`."""
        statistics: ResultJson = self._ask_json({"ask": "statistics"})
        return statistics

    def command(self, line: str) -> None:
        """What may be written to `control`, such as `power-cut`. Raises InputError when it is no command."""
        self._ask({"ask": "command", "line": line})

    def close(self) -> None:
        """Looks no longer."""
        self._asked.close()

    def _ask_json(self, question: Question) -> Any:
        return json.loads(self._ask(question))

    def _ask(self, question: Question) -> bytes:
        return self._asked.ask(question)


def watched(place: str | None = None) -> WatchedDrive:
    """The drive that is served at a folder or an address, or the only one that this user serves.

    Raises InputError with what there is.
    """
    found: list[WatchedDrive] = []
    others: list[str] = []
    for drive in _served():
        served_at = drive.description["place"]
        if place is None or served_at == place or _same_path(served_at, place):
            found.append(drive)
        else:
            others.append(served_at)
            drive.close()
    if len(found) == 1:
        return found[0]
    places = [drive.description["place"] for drive in found] or others
    for drive in found:
        drive.close()
    there = f"there are: {', '.join(places)}" if places else "none is running; start one with ssdlab mount or serve"
    what = "several drives are served; name one" if found else f"no drive is served at {place or 'any place'}"
    raise InputError(f"{what}; {there}")


def _same_path(served_at: str, place: str) -> bool:
    """A folder by another name, a socket by its path."""
    path = str(Path(place).absolute())
    with contextlib.suppress(OSError):
        path = str(Path(place).resolve())
    return served_at in (path, str(Path(path).parent)) or served_at.endswith(f"socket={path}")


def _served() -> list[WatchedDrive]:
    drives = []
    try:
        sockets = sorted(runtime_folder().glob(f"*{SERVED}"))
    except OSError:
        return []
    for path in sockets:
        try:
            drives.append(WatchedDrive(path))
        except ConnectionRefusedError:
            # Its process was killed.
            path.unlink(missing_ok=True)
        except (OSError, RunFailed):
            continue
    return drives
