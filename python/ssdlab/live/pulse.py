"""Sends updates to the pages: about thirty times per second the pictures, ten times per second the figures.

This is the only place that reads the drives' counters since the previous call. It uses a thread, because drives can be
busy.
"""

import asyncio
import json
import time
from collections.abc import Callable

from ssdlab.live.choices import Views
from ssdlab.live.connection import Connection
from ssdlab.live.messages import Expectation, Figures, Marks
from ssdlab.live.picture import packed
from ssdlab.live.samples import History, row_of
from ssdlab.live.session_contract import Shown, Watchable

# Slightly more than the 30 that a screen shows, because the beats are not synchronised with it.
PICTURES_PER_SECOND = 36
BEATS_PER_FIGURES = 3
# A page that is reloaded is closed only for a moment.
_REST_SECONDS_MIN = 2.0


class Pulse:
    """Sends updates from the shown drives to the pages in `connections`."""

    def __init__(self, shown: Watchable, on_rest: Callable[[], None] = lambda: None) -> None:
        """`on_rest` is called when no page has been open for some time and the drives stand still."""
        self.connections: set[Connection] = set()
        self._on_rest = on_rest
        self._arrived = asyncio.Event()
        self._shown = shown
        self._histories: list[History] = []
        self._generation = -1
        self._number = 0
        self._beats = 0
        self._status = ""
        self._asked_at = 0.0
        self._requests_before = 0
        self._requests_per_second: float | None = None
        self._expectations: list[Expectation] = []
        self._last_figures = ""

    async def run(self) -> None:
        """Runs until it is cancelled."""
        period = 1 / PICTURES_PER_SECOND
        next_beat = time.monotonic()
        while True:
            if self._shown.rests_unwatched and not self.connections:
                await self._rest()
            await self.beat()
            next_beat = max(next_beat + period, time.monotonic())
            await asyncio.sleep(max(0.002, next_beat - time.monotonic()))

    async def _rest(self) -> None:
        """Stops the simulation and the counting until a page is opened."""
        self._arrived.clear()
        await asyncio.to_thread(self._shown.set_watched, False)
        start = time.monotonic()
        try:
            await asyncio.wait_for(self._arrived.wait(), _REST_SECONDS_MIN)
        except TimeoutError:
            self._on_rest()
            await self._arrived.wait()
            # A drive that has not begun has not been interrupted.
            if self._requests_before:
                for connection in self.connections:
                    connection.offer_text({"type": "rested", "seconds": time.monotonic() - start})
        # The pause is not part of the rate.
        self._asked_at = 0.0
        await asyncio.to_thread(self._shown.set_watched, True)

    async def beat(self) -> None:
        """One beat: figures if they are due, then pictures for the pages that can receive one."""
        if self._beats % BEATS_PER_FIGURES == 0:
            await self._tell_figures()
        self._beats += 1
        waiting = [connection for connection in self.connections if connection.wants_pictures]
        if not waiting:
            return
        wanted: set[Views] = {connection.view.by for connection in waiting}
        now = self._shown.now
        drives = await asyncio.to_thread(_look, now, wanted)
        if now.generation != self._shown.now.generation:
            return
        for drive, (marks, states, cells) in enumerate(drives):
            for connection in self.connections:
                connection.keep_marks(drive, marks)
            for connection in waiting:
                if connection.view.by in cells:
                    self._number += 1
                    message = packed(
                        drive,
                        connection.view.by,
                        self._number,
                        connection.take_marks(drive),
                        cells[connection.view.by],
                        states,
                    )
                    connection.offer_picture(drive, self._number, message)

    def welcome(self, connection: Connection) -> None:
        """Sends the current state to a new page immediately."""
        self.connections.add(connection)
        self._arrived.set()
        if self._status:
            connection.offer_status(self._status)
        if self._last_figures:
            connection.offer_figures(self._last_figures, self._histories)

    def tell_status(self) -> None:
        """Sends the session's status to all pages if it has changed."""
        status = json.dumps({"type": "status", **self._shown.status(), "expectations": self._expectations})
        if status != self._status:
            self._status = status
            for connection in self.connections:
                connection.offer_status(status)

    async def _tell_figures(self) -> None:
        now = self._shown.now
        if self._generation != now.generation:
            self._generation = now.generation
            self._histories = [History() for _ in now.theories]
            self._requests_before, self._asked_at = 0, 0.0
            for connection in self.connections:
                connection.forget_pictures()
        counted = await asyncio.to_thread(_count, now)
        if now.generation != self._shown.now.generation:
            return
        self._expectations = [theory for _, theory in counted]
        for history, (figures, theory) in zip(self._histories, counted, strict=True):
            if figures["since"]["requests"] or not history.rows:
                history.add(row_of(figures, theory["value"]))
        self._note_rate(sum(figures["requests"] for figures, _ in counted))
        message = {
            "type": "figures",
            "requests_per_second": self._requests_per_second,
            "drives": [figures for figures, _ in counted],
        }
        self.tell_status()
        self._last_figures = json.dumps(message)
        for connection in self.connections:
            connection.offer_figures(self._last_figures, self._histories)

    def _note_rate(self, requests: int) -> None:
        """Computes the requests per second of wall-clock time, over all drives."""
        now = time.monotonic()
        if self._asked_at and requests >= self._requests_before:
            self._requests_per_second = (requests - self._requests_before) / (now - self._asked_at)
        self._requests_before, self._asked_at = requests, now


def _look(now: Shown, wanted: set[Views]) -> list[tuple[Marks, bytes, dict[Views, bytes]]]:
    """For each drive: marks, states, and the cells of each wanted view."""
    session = now.session
    return [
        (session.marks(drive), session.cells(drive, "state"), {by: session.cells(drive, by) for by in wanted})
        for drive in range(len(now.theories))
    ]


def _count(now: Shown) -> list[tuple[Figures, Expectation]]:
    """For each drive: the figures, and the position of theory's line."""
    counted: list[tuple[Figures, Expectation]] = []
    for drive, theory in enumerate(now.theories):
        figures = now.session.figures(drive)
        line = theory.line(figures["capacity"]["effective_over_provisioning"])
        counted.append((figures, {"value": line.value, "formula": line.formula, "reason": line.reason}))
    return counted
