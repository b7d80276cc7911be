"""Access to a drive that `ssdlab mount` or `ssdlab serve` has open in another process.

It can be observed like the drives of a session; the programs that use it decide what it executes.
"""

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.live.messages import EraseUnit, Figures, Marks
from ssdlab.serving.asking import Asked, Question
from ssdlab.serving.drive import ServedDescription
from ssdlab.serving.watching import SERVED, runtime_folder
from ssdlab.simulator.results.result import ResultJson

if TYPE_CHECKING:
    from ssdlab._engine import _CellsBy


class WatchedDrive:
    """One served drive. All methods are thread-safe; `drive` is always 0, because there is only one.

    The methods raise RunFailed when it is no longer served. Changes since the previous call of `figures` and `marks`
    are reported to one caller only.
    """

    def __init__(self, socket_path: Path) -> None:
        """Connects to the drive. Raises OSError if no process answers."""
        self._asked = Asked(socket_path)
        self.description: ServedDescription = self._ask_json({"ask": "description"})

    def figures(self, drive: int = 0) -> Figures:
        """Counters and their growth since the previous call; see `Device.figures` of the native module."""
        figures: Figures = self._ask_json({"ask": "figures"})
        return figures

    def cells(self, drive: int, by: "_CellsBy") -> bytes:
        """One byte for each erase unit; see `Device.cells`."""
        return self._ask({"ask": "cells", "by": by})

    def marks(self, drive: int = 0) -> Marks:
        """The open erase units, and those cleaned and moved since the previous call; see `Device.marks`."""
        marks: Marks = self._ask_json({"ask": "marks"})
        return marks

    def erase_unit(self, drive: int, index: int) -> EraseUnit:
        """One erase unit; see `Device.erase_unit`. Raises InputError if the index is out of range."""
        erase_unit: EraseUnit = self._ask_json({"ask": "erase-unit", "index": index})
        return erase_unit

    def statistics(self) -> ResultJson:
        """The result so far, as in `stats.json`."""
        statistics: ResultJson = self._ask_json({"ask": "statistics"})
        return statistics

    def command(self, line: str) -> None:
        """Sends a command that could be written to `control`, such as `power-cut`. Raises InputError if unknown."""
        self._ask({"ask": "command", "line": line})

    def close(self) -> None:
        """Closes the connection."""
        self._asked.close()

    def _ask_json(self, question: Question) -> Any:
        return json.loads(self._ask(question))

    def _ask(self, question: Question) -> bytes:
        return self._asked.ask(question)


def watched(place: str | None = None) -> WatchedDrive:
    """The drive served at a folder or an address; None: the only drive that this user serves.

    Raises InputError, which lists the served drives, if none or several match.
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
    """Whether both name the same folder or socket, through links or by the path of the socket."""
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
            # The serving process was killed.
            path.unlink(missing_ok=True)
        except (OSError, RunFailed):
            continue
    return drives
