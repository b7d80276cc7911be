"""One open page: the messages to it, at the rate at which it processes them, and those from it.

No messages queue up for a slow or hidden page: only the newest picture and figures wait, and of the rows only the
position of the page is stored. A picture is sent when the one before the previous one has been drawn.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from ssdlab.live import choices
from ssdlab.live.messages import Marks, Reply, Rested
from ssdlab.live.samples import History

# A page with more unanswered requests is not from ssdlab.
_ANSWERS_MAX = 64
_MARKS_MAX = 256
# Starlette reports a closed page as either of these errors.
_GONE = (WebSocketDisconnect, RuntimeError)

Answer = Callable[["Connection", Any], Awaitable[Any]]


class Connection:
    """A page. The `offer_...` methods can be called at any time from the server's event loop."""

    def __init__(self, socket: WebSocket) -> None:
        self.view = choices.View()
        self._socket = socket
        self._wake = asyncio.Event()
        self._texts: deque[str] = deque(maxlen=_ANSWERS_MAX)
        self._status: str | None = None
        self._figures: str | None = None
        self._pictures: dict[int, tuple[int, bytes]] = {}
        self._marks: dict[int, Marks] = {}
        self._histories: list[History] = []
        self._known: list[tuple[int, int]] = []
        self._awaited: set[int] = set()

    async def live(self, hello: Mapping[str, object], answer: Answer) -> None:
        """Runs until the page is closed. `hello` is sent first; `answer` executes the commands from the page."""
        with contextlib.suppress(*_GONE):
            await self._socket.accept()
            await self._socket.send_text(json.dumps(hello))
        sender = asyncio.create_task(self._send())
        try:
            while (text := await self._next_text()) is not None:
                await self._hear(text, answer)
        finally:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, *_GONE):
                await sender

    def offer_text(self, message: Reply | Rested) -> None:
        """Sends a message that must arrive, such as an answer."""
        self._texts.append(json.dumps(message))
        self._wake.set()

    def offer_status(self, text: str) -> None:
        self._status = text
        self._wake.set()

    def offer_figures(self, text: str, histories: list[History]) -> None:
        """Sends new figures, and the rows that belong to them."""
        if histories is not self._histories:
            self._histories, self._known = histories, [(-1, 0)] * len(histories)
        self._figures = text
        self._wake.set()

    @property
    def wants_pictures(self) -> bool:
        """Whether the page can receive a picture: one can be in transit while another is drawn."""
        return self.view.frames and len(self._awaited) <= max(1, len(self._histories))

    def keep_marks(self, drive: int, marks: Marks) -> None:
        """Collects the erase units cleaned and moved; they are sent with the next picture."""
        kept = self._marks.get(drive)
        victims, moves = (kept["victims"], kept["moves"]) if kept else ([], [])
        self._marks[drive] = {
            "victims": (victims + marks["victims"])[-_MARKS_MAX:],
            "moves": (moves + marks["moves"])[-_MARKS_MAX:],
            "open": marks["open"],
            "emptying": marks["emptying"],
        }

    def take_marks(self, drive: int) -> Marks:
        return self._marks.pop(drive, {"open": [], "emptying": [], "victims": [], "moves": []})

    def offer_picture(self, drive: int, number: int, message: bytes) -> None:
        self._pictures[drive] = (number, message)
        self._awaited.add(number)
        self._wake.set()

    def forget_pictures(self) -> None:
        """Discards pictures and marks after the drives were replaced."""
        self._pictures.clear()
        self._marks.clear()
        self._awaited.clear()

    async def _next_text(self) -> str | None:
        """The next message; None if the page is closed or sends bytes, which pages of ssdlab never do."""
        try:
            return await self._socket.receive_text()
        except (KeyError, *_GONE):
            return None

    async def _hear(self, text: str, answer: Answer) -> None:
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            said = None
        if isinstance(said, dict) and "drawn" in said:
            self._awaited.discard(said["drawn"] if isinstance(said["drawn"], int) else -1)
            return
        await answer(self, said)

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            # The status goes before the answers: a page that gets an answer must already know its effect.
            if self._status is not None:
                status, self._status = self._status, None
                await self._socket.send_text(status)
            while self._texts:
                await self._socket.send_text(self._texts.popleft())
            if self._figures is not None:
                figures, self._figures = self._figures, None
                for message in self._new_rows():
                    await self._socket.send_text(message)
                await self._socket.send_text(figures)
            while self._pictures:
                _, (_, picture) = self._pictures.popitem()
                await self._socket.send_bytes(picture)

    def _new_rows(self) -> list[str]:
        """Messages with the rows that the page lacks. The last row it has can have changed since, and is sent again."""
        messages = []
        for drive, history in enumerate(self._histories):
            epoch, count = self._known[drive]
            start = max(0, count - 1) if epoch == history.epoch else 0
            rows = history.rows[start:]
            self._known[drive] = (history.epoch, len(history.rows))
            if rows or epoch != history.epoch:
                messages.append(json.dumps({"type": "rows", "drive": drive, "from": start, "rows": rows}))
        return messages
