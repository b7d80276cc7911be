"""Drives that run while they are watched: a thread advances them at the chosen speed, and their jobs can change.

Several drives execute the same requests: their specifications have the same jobs and seed, and they are advanced to the
same number of requests, one after the other. Not for the display of drives, nor for the source of their jobs.
"""

import contextlib
import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, RunFailed
from ssdlab.live.messages import EraseUnit, Figures, Marks, PowerLoss
from ssdlab.simulator import engine
from ssdlab.simulator.engine import memory, plain
from ssdlab.simulator.specification import Specification

if TYPE_CHECKING:
    from ssdlab._engine import LiveDrive, _CellsBy

# The time by which the first drive can be ahead of the others, and the largest delay of a change. Between two slices,
# this thread waits for its turn among the other threads.
_SLICE_SECONDS = 0.1
_HEAP_SECONDS = 0.005
_REQUESTS_MAX = 2**62
_FOREVER_SECONDS = 1e6


@dataclass
class _Drive:
    live: "LiveDrive"
    specification: Specification
    requests: int = 0
    finished: bool = False
    read_only: str | None = None

    def advance(self, requests: int, seconds: float) -> None:
        progress = json.loads(self.live.advance(requests, seconds))
        self.requests += progress["requests"]
        self.finished = progress["finished"]
        self.read_only = progress["read_only"]


class Session:
    """Drives that execute jobs. All methods are thread-safe; those that change something are serialised."""

    def __init__(self, specifications: Sequence[Specification]) -> None:
        """A stopped drive for each specification; their lists of jobs can be empty.

        Raises InputError if a specification is invalid, or if the drives together do not fit into memory.
        """
        memory.check([engine.needed(each.engine_json(), each.scale) for each in specifications])
        self._drives = [_Drive(engine.live_drive(each.engine_json(), each.scale), each) for each in specifications]
        if not self._drives:
            raise InputError("a session needs at least one drive")
        self._is_running = False
        self._is_watched = True
        self._is_closed = False
        self._broken: str | None = None
        self._requests_per_second: float | None = None
        # The time at which the speed was set or the drives continued, and the number of requests issued by then.
        self._paced_from = (0.0, 0)
        self._changed = threading.Condition()
        # `_at_work` is held while the drives are advanced or their jobs changed; `_next` while waiting for `_at_work`.
        self._at_work = threading.Lock()
        self._next = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="drives at work", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the thread advances the drives."""
        return self._is_running

    @property
    def is_finished(self) -> bool:
        """Whether no drive has work left: its jobs are done, or it has become read-only."""
        return all(drive.finished for drive in self._drives)

    @property
    def failure(self) -> str | None:
        """Why a drive became read-only, or the error that stopped the thread; None without either."""
        return self._broken or next((drive.read_only for drive in self._drives if drive.read_only), None)

    def run(self) -> None:
        """Continues at the current speed until all jobs are done or `pause` is called."""
        with self._changed:
            if self._is_closed or self._broken or self._is_running:
                return
            self._is_running = True
            self._pace_from_now()
            self._changed.notify_all()

    def pause(self) -> None:
        """Stops the drives; returns when they stand still."""
        with self._changed:
            self._is_running = False
            self._changed.notify_all()
        with self._next, self._at_work:
            pass

    def set_watched(self, is_watched: bool) -> None:
        """Sets whether a page is open. Without one, running drives stand still until a page is opened again."""
        with self._changed:
            self._is_watched = is_watched
            self._pace_from_now()
            self._changed.notify_all()

    def step(self, requests: int = 1) -> None:
        """Issues this number of requests immediately. With a clock, all requests due at the same time are issued."""
        with self._changes():
            self._advance(requests, _FOREVER_SECONDS)

    def set_speed(self, requests_per_second: float | None) -> None:
        """Sets the requests per second of wall-clock time; None: as fast as possible."""
        if requests_per_second is not None and not requests_per_second > 0:
            raise InputError(f"a speed of {requests_per_second} requests per second; allowed: above 0")
        with self._changed:
            self._requests_per_second = requests_per_second
            self._pace_from_now()
            self._changed.notify_all()

    def end_jobs(self) -> None:
        """Ends all jobs after the requests that they have issued, and completes outstanding requests.

        Jobs that have not begun are removed. Parallel drives issue the same number of requests. Raises InputError for a
        run until the steady state, whose jobs are fixed.
        """
        with self._changes(), engine.in_words_of_the_user():
            after = self._common_end() if len(self._drives) > 1 else None
            for drive in self._drives:
                drive.live.drop_jobs_to_come()
                drive.live.end_job(after)
            for drive in self._drives:
                drive.advance(_REQUESTS_MAX, _FOREVER_SECONDS)
            self._pace_from_now()

    def append(self, jobs: Sequence[Sequence[plain.Job]]) -> None:
        """Appends jobs for each drive, in the format of the engine's specification.

        Raises InputError if a job cannot run; all jobs that have not begun are then removed.
        """
        if len(jobs) != len(self._drives):
            raise ValueError(f"jobs for {len(jobs)} drives, and there are {len(self._drives)}")
        with self._changes(), engine.in_words_of_the_user():
            try:
                for drive, of_drive in zip(self._drives, jobs, strict=True):
                    for job in of_drive:
                        drive.live.append_job(json.dumps(job))
            except engine.native().SpecificationError:
                for drive in self._drives:
                    drive.live.drop_jobs_to_come()
                raise
            for drive, of_drive in zip(self._drives, jobs, strict=True):
                drive.finished = drive.finished and (not of_drive or drive.read_only is not None)

    def specification(self, drive: int) -> Specification:
        """The specification with which `ssdlab run` reproduces the finished drive: ended jobs have a `number_ios`.

        Raises InputError if a job was ended during a repetition, which a number of requests cannot express.
        """
        with engine.in_words_of_the_user():
            text = self._drives[drive].live.specification()
        return replace(self._drives[drive].specification, engine=json.loads(text))

    def issued(self, drive: int) -> list[int]:
        """The number of requests that each of the drive's jobs has issued so far."""
        return self._drives[drive].live.issued()

    def outcome(self, drive: int) -> plain.Outcome:
        """The engine's outcome as if the run ended now."""
        with engine.in_words_of_the_user():
            outcome: plain.Outcome = json.loads(self._drives[drive].live.outcome())
        return outcome

    def figures(self, drive: int) -> Figures:
        """Counters and their growth since the previous call; see `LiveDrive.figures` of the native module."""
        figures: Figures = json.loads(self._drives[drive].live.figures())
        return figures

    def cells(self, drive: int, by: "_CellsBy") -> bytes:
        """One byte for each erase unit; see `LiveDrive.cells`."""
        return self._drives[drive].live.cells(by)

    def marks(self, drive: int) -> Marks:
        """The open erase units, and those cleaned and moved since the previous call; see `LiveDrive.marks`."""
        marks: Marks = json.loads(self._drives[drive].live.marks())
        return marks

    def erase_unit(self, drive: int, index: int) -> EraseUnit:
        """One erase unit; see `LiveDrive.erase_unit`. Raises InputError if the index is out of range."""
        try:
            erase_unit: EraseUnit = json.loads(self._drives[drive].live.erase_unit(index))
        except (IndexError, OverflowError):
            raise InputError(f"drive {drive + 1} has no erase unit {index}") from None
        return erase_unit

    def cut_power(self) -> list[PowerLoss]:
        """The cost of a power loss for each drive now; see `LiveDrive.cut_power`. The drives continue unchanged."""
        return [json.loads(drive.live.cut_power()) for drive in self._drives]

    def close(self) -> None:
        """Ends the thread."""
        with self._changed:
            self._is_closed = True
            self._is_running = False
            self._changed.notify_all()
        self._thread.join()

    @contextlib.contextmanager
    def _changes(self) -> Iterator[None]:
        # Otherwise the thread would take the lock again before any waiting caller; with `_next`, callers queue.
        with self._next:
            self._at_work.acquire()
        try:
            if self._broken:
                raise RunFailed(self._broken)
            yield
        finally:
            self._at_work.release()

    def _common_end(self) -> list[int]:
        """For each job, the number of requests after which it can end on all drives."""
        # A job that delays its next request issues one more, and for a trim with its write both.
        return [max(counts) + 2 for counts in zip(*(drive.live.issued() for drive in self._drives), strict=True)]

    def _pace_from_now(self) -> None:
        self._paced_from = (time.monotonic(), self._requests())

    def _requests(self) -> int:
        return max(drive.requests for drive in self._drives)

    def _work(self) -> None:
        """The main loop of the thread."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: (self._is_running and self._is_watched) or self._is_closed)
                if self._is_closed:
                    return
                wait_seconds = self._seconds_until_due()
                if wait_seconds > 0:
                    self._changed.wait(wait_seconds)
                    continue
            try:
                self._slice()
            except BaseException as error:
                # A panic of the engine is not an Exception. The next caller receives the error.
                self._broken = str(error) or type(error).__name__
                self._is_running = False

    def _slice(self) -> None:
        with self._changes(), engine.in_words_of_the_user():
            if not (self._is_running and self._is_watched):
                return
            self._advance(self._due(), _SLICE_SECONDS)
            if self.is_finished:
                self._is_running = False

    def _advance(self, requests: int, seconds: float) -> None:
        """Advances the first unfinished drive by at most this many requests or seconds, and the others equally far."""
        first, *others = [drive for drive in self._drives if not drive.finished] or self._drives[:1]
        first.advance(requests, seconds)
        for other in others:
            if first.finished and not first.read_only:
                # It has the same jobs; only completing outstanding requests can take longer.
                other.advance(_REQUESTS_MAX, _FOREVER_SECONDS)
            elif first.requests > other.requests:
                other.advance(first.requests - other.requests, _FOREVER_SECONDS)

    def _due(self) -> int:
        """The number of requests that can be issued now."""
        if self._requests_per_second is None:
            return _REQUESTS_MAX
        since, before = self._paced_from
        owed = (time.monotonic() - since) * self._requests_per_second
        issued = self._requests() - before
        # A backlog of more than a second is not made up.
        if owed - issued > max(1.0, self._requests_per_second):
            self._pace_from_now()
            return 1
        return max(0, int(owed) - issued)

    def _seconds_until_due(self) -> float:
        """The seconds until the next request, at most half a second."""
        if self._requests_per_second is None or self.is_finished:
            return 0.0
        since, before = self._paced_from
        # At high speeds, requests are issued in small batches.
        heap = max(1, int(self._requests_per_second * _HEAP_SECONDS))
        next_at = since + (self._requests() - before + heap) / self._requests_per_second
        return min(0.5, max(0.0, next_at - time.monotonic()))
