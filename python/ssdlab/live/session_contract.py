"""What the page's server asks of drives at work, whatever keeps them working: a session, or a served drive."""

from collections.abc import Sequence
from typing import Literal, Protocol

from ssdlab.engine import plain
from ssdlab.live.choices import Views
from ssdlab.live.messages import EraseUnit, Figures, Marks, PowerLoss, Status
from ssdlab.live.theory import Line
from ssdlab.specification import Specification


class Watched(Protocol):
    """Drives that can be looked at. All calls may come from any thread."""

    def figures(self, drive: int) -> Figures:
        """Counters and their growth since the previous call, as `LiveDrive.figures` of the native module."""
        ...

    def cells(self, drive: int, by: Views | Literal["state"]) -> bytes:
        """One byte an erase unit, as `LiveDrive.cells`."""
        ...

    def marks(self, drive: int) -> Marks:
        """Open erase units, and what was cleaned and moved since the previous call, as `LiveDrive.marks`."""
        ...

    def erase_unit(self, drive: int, index: int) -> EraseUnit:
        """One erase unit, as `LiveDrive.erase_unit`."""
        ...


class TheoryLine(Protocol):
    """Where theory's line is for a drive, if there is one."""

    def line(self, effective_over_provisioning: float | None) -> Line: ...


class Shown(Protocol):
    """What a page shows at a moment: drives at work, each with theory."""

    @property
    def session(self) -> Watched: ...

    @property
    def theories(self) -> Sequence[TheoryLine]:
        """One a drive."""
        ...

    @property
    def generation(self) -> int:
        """Grows with every new session, whose figures start again."""
        ...


class Watchable(Protocol):
    """What the server needs of what it shows, whether the page steers it or only looks on."""

    @property
    def now(self) -> Shown: ...

    @property
    def rests_unwatched(self) -> bool:
        """Whether its drives stand still while no page is open; else they are looked at all the time."""
        ...

    def set_watched(self, is_watched: bool) -> None:
        """Whether a page is open."""
        ...

    def status(self) -> Status:
        """What the page shows in addition to the figures, as plain JSON values; `Status` of `page/types.js`."""
        ...

    def close(self) -> None: ...


class Session(Watched, Protocol):
    """Drives that execute jobs, all of them the same requests, in a thread of their own."""

    @property
    def is_running(self) -> bool: ...

    @property
    def is_finished(self) -> bool:
        """Whether all jobs are done, or a drive has turned read-only."""
        ...

    @property
    def failure(self) -> str | None:
        """Why a drive turned read-only, or what broke; None while all is well."""
        ...

    def run(self) -> None: ...

    def pause(self) -> None:
        """Returns when the drives stand still."""
        ...

    def set_watched(self, is_watched: bool) -> None:
        """Drives that run stand still while nobody looks."""
        ...

    def step(self, requests: int) -> None:
        """Issues so many requests, at once, and stands still."""
        ...

    def set_speed(self, requests_per_second: float | None) -> None:
        """None: as fast as it goes."""
        ...

    def end_jobs(self) -> None:
        """All jobs end now, after the requests that they have issued."""
        ...

    def append(self, jobs: Sequence[Sequence[plain.Job]]) -> None:
        """For each drive the jobs, as the engine's specification has them, that come after those there are."""
        ...

    def specification(self, drive: int) -> Specification:
        """What `ssdlab run` is given for the same outcome, once its jobs have ended. InputError where there is none."""
        ...

    def issued(self, drive: int) -> list[int]:
        """Requests that each of a drive's jobs has issued."""
        ...

    def outcome(self, drive: int) -> plain.Outcome:
        """What `ssdlab run` would give if the run ended now."""
        ...

    def cut_power(self) -> list[PowerLoss]:
        """What a loss of power would cost each drive now, as `LiveDrive.cut_power`."""
        ...

    def close(self) -> None:
        """Ends the thread."""
        ...
