"""A page without a browser: communicates with the server as the page's script does."""

import json
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

from ssdlab.live.picture import HEADER
from ssdlab.live.server import LiveServer
from waiting import SECONDS_MAX


class Page(AbstractContextManager["Page"]):
    """One connection. Stores the newest received message of each kind."""

    def __init__(self, server: LiveServer, address: str | None = None) -> None:
        parts = urlsplit(address or server.address)
        at, origin = f"ws://{parts.netloc}{parts.path}socket", f"http://{parts.netloc}"
        self._stack = ExitStack()
        self.socket: ClientConnection = self._stack.enter_context(
            connect(at, origin=origin, proxy=None, max_size=None, open_timeout=SECONDS_MAX, ping_interval=None)  # type: ignore[arg-type]
        )
        self.newest: dict[str, Any] = {}
        self.rows: dict[int, list[list[float | None]]] = {}
        self.pictures: list[tuple[int, int, dict[str, Any], bytes, bytes]] = []
        self._id = 0

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def hear(self) -> str:
        """Receives one message and returns its kind. Pictures are acknowledged."""
        message = self.socket.recv(SECONDS_MAX)
        if isinstance(message, bytes):
            form, drive, view, number, marks, cells = HEADER.unpack_from(message)
            assert form == 2
            start = HEADER.size + marks
            picture = message[start : start + cells], message[start + cells :]
            self.pictures.append((drive, view, json.loads(message[HEADER.size : start]), *picture))
            self.socket.send(json.dumps({"drawn": number}))
            return "picture"
        told = json.loads(message)
        if told["type"] == "rows":
            rows = self.rows.setdefault(told["drive"], [])
            rows[told["from"] :] = told["rows"]
        self.newest[told["type"]] = told
        return str(told["type"])

    def until(self, kind: str) -> Any:
        """The next message of a kind."""
        while self.hear() != kind:
            pass
        return self.newest.get(kind)

    def ask(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer."""
        self._id += 1
        self.socket.send(json.dumps({"id": self._id, "do": name, "with": arguments}))
        while (reply := self.until("reply"))["id"] != self._id:
            pass
        return dict(reply)

    def do(self, name: str, /, **arguments: Any) -> Any:
        """Like `ask`, for a command that must succeed."""
        reply = self.ask(name, **arguments)
        assert reply["ok"], reply["message"]
        return reply["value"]

    def figures(self, drive: int = 0) -> dict[str, Any]:
        """Figures that were computed after this call began, with their counters beside them."""
        # Messages already in the socket are older than the answer; one computation can be in progress.
        self.ask("nothing")
        self.until("figures")
        figures: dict[str, Any] = self.until("figures")["drives"][drive]
        return {**figures, **figures["ledger"], **figures["capacity"]}

    def status(self) -> dict[str, Any]:
        if "status" not in self.newest:
            self.until("status")
        status: dict[str, Any] = self.newest["status"]
        return status


def programmed_bytes(figures: dict[str, Any]) -> int:
    """What figures of a page say was programmed, whatever for."""
    return sum(figures["programmed_units"].values()) * int(figures["counted_unit_bytes"])
