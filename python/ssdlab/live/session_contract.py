"""The interface that the page's server needs of running drives: a session, or a served drive."""

from collections.abc import Sequence
from typing import Literal, Protocol

from ssdlab.live.choices import Views
from ssdlab.live.messages import EraseUnit, Figures, Marks, PowerLoss, Status
from ssdlab.live.theory import Line
from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import Specification


class Watched(Protocol):
    """Drives that can be observed. All methods are thread-safe."""

    def figures(self, drive: int) -> Figures:
        """Counters and their growth since the previous call; see `LiveDrive.figures` of the native module."""
        ...

    def cells(self, drive: int, by: Views | Literal["state"]) -> bytes:
        """One byte for each erase unit; see `LiveDrive.cells`."""
        ...

    def marks(self, drive: int) -> Marks:
        """Open erase units, and those cleaned and moved since the previous call; see `LiveDrive.marks`."""
        ...

    def erase_unit(self, drive: int, index: int) -> EraseUnit:
        """One erase unit; see `LiveDrive.erase_unit`."""
        ...


class TheoryLine(Protocol):
    """The position of theory's line for a drive, if there is one."""

    def line(self, effective_over_provisioning: float | None) -> Line: ...


class Shown(Protocol):
    """What a page shows at a moment: running drives, each with theory."""

    @property
    def session(self) -> Watched: ...

    @property
    def theories(self) -> Sequence[TheoryLine]:
        """One for each drive."""
        ...

    @property
    def generation(self) -> int:
        """Increases with every new session, whose figures start again."""
        ...


class Watchable(Protocol):
    """What the server needs of its subject, whether the page controls it or only observes it."""

    @property
    def now(self) -> Shown: ...

    @property
    def rests_unwatched(self) -> bool:
        """Whether its drives stand still while no page is open; otherwise they are always read."""
        ...

    def set_watched(self, is_watched: bool) -> None:
        """Sets whether a page is open."""
        ...

    def status(self) -> Status:
        """The status for the page, without the figures, as plain JSON values; `Status` of `page/types.js`."""
        ...

    def close(self) -> None: ...


class Session(Watched, Protocol):
    """Drives that all execute the same requests, in a separate thread."""

    @property
    def is_running(self) -> bool: ...

    @property
    def is_finished(self) -> bool:
        """Whether all jobs are done, or the drives have become read-only."""
        ...

    @property
    def failure(self) -> str | None:
        """Why a drive became read-only, or the error that stopped the session; None without either."""
        ...

    def run(self) -> None: ...

    def pause(self) -> None:
        """Stops the drives; returns when they stand still."""
        ...

    def set_watched(self, is_watched: bool) -> None:
        """Sets whether a page is open; without one, running drives stand still."""
        ...

    def step(self, requests: int) -> None:
        """Issues this number of requests immediately."""
        ...

    def set_speed(self, requests_per_second: float | None) -> None:
        """Sets the requests per second; None: as fast as possible."""
        ...

    def end_jobs(self) -> None:
        """Ends all jobs after the requests that they have issued."""
        ...

    def append(self, jobs: Sequence[Sequence[plain.Job]]) -> None:
        """Appends jobs for each drive, in the format of the engine's specification."""
        ...

    def specification(self, drive: int) -> Specification:
        """The specification with which `ssdlab run` reproduces the drive, once its jobs have ended.

        Raises InputError if there is none.
        """
        ...

    def issued(self, drive: int) -> list[int]:
        """The number of requests that each of a drive's jobs has issued."""
        ...

    def outcome(self, drive: int) -> plain.Outcome:
        """The engine's outcome as if the run ended now."""
        ...

    def cut_power(self) -> list[PowerLoss]:
        """The cost of a power loss for each drive now; see `LiveDrive.cut_power`."""
        ...

    def close(self) -> None:
        """Ends the thread."""
        ...
