"""The web server of the live page: its files, one socket for each page, and the saved reports.

It listens only on the loopback interface, unless the session is shared: then at a second port for other machines, which
can only look. `guard` authorises the requests.
"""

import asyncio
import contextlib
import logging
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import PurePosixPath
from typing import Any, Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from ssdlab.errors import InputError, RunFailed
from ssdlab.live import choices
from ssdlab.live.catalogue import CONTENT_TYPES, page_files
from ssdlab.live.connection import Connection
from ssdlab.live.guard import SHARED, Door, Guard, new_token
from ssdlab.live.messages import Hello, Reply, SweepHello
from ssdlab.live.names import EVERYWHERE, names_of_this_machine
from ssdlab.live.reports import Reports
from ssdlab.presentation.report.theme import css_variables

LOOPBACK = "127.0.0.1"
# The longest message of a page: a job file.
_MESSAGE_BYTES_MAX = 4 * choices.JOB_TEXT_CHARACTERS_MAX
_PAGES_MAX = 16
# A class of pupils with a phone each.
_PAGES_SHARED_MAX = 64
_PING_SECONDS = 30.0
# What a page may ask for that can only look.
_LOOKING = (choices.View, choices.EraseUnit)


class Shown(Protocol):
    """The subject of the pages: a session, a served drive, a sweep."""

    def close(self) -> None: ...


class Beating(Protocol):
    """Sends updates to the pages, from the server's event loop."""

    connections: set[Connection]

    async def run(self) -> None:
        """Runs until it is cancelled."""
        ...

    def welcome(self, connection: Connection) -> None:
        """Sends the current state to a new page immediately."""
        ...

    def tell_status(self) -> None:
        """Called after a command: sends the status to all pages if it has changed."""
        ...


def _in_a_line(record: logging.LogRecord) -> bool:
    """Logs an error on one line: invalid requests and frames are the client's errors, so a traceback does not help."""
    if record.exc_info:
        error = record.exc_info[1]
        record.msg = f"{record.getMessage()} ({type(error).__name__}: {error})".replace("\n", " ")
        record.args, record.exc_info, record.exc_text = None, None, None
    return True


class _Server(uvicorn.Server):
    """Shuts down in order even if Ctrl-C is pressed repeatedly; uvicorn's own server is interrupted by the second."""

    was_interrupted = False

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._interrupt) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _interrupt(self, _number: int, _frame: object) -> None:
        self.was_interrupted = self.should_exit = True


class LiveServer:
    """Serves `shown` until it is stopped."""

    def __init__(
        self,
        shown: Shown,
        pulse: Beating,
        carry_out: Callable[[Any], Any],
        hello: Hello | SweepHello,
        *,
        index: str = "index.html",
        reports: Reports | None = None,
        port: int = 0,
        share: str | None = None,
    ) -> None:
        """Listens immediately, on a free port if `port` is 0, and answers in `run`. Raises OSError if it cannot listen.

        `share` is the address at which other machines can look at the session, such as 0.0.0.0 for all interfaces of
        this machine; `shared_addresses` are then what they open.

        `carry_out` executes a command of a page, in a thread, one at a time; `hello` is the first message to pages;
        `index` is the name of the page.
        """
        self.shown = shown
        self._carry_out = carry_out
        self._reports = reports
        self._hello = hello
        self._pulse = pulse
        self._index = index
        self._files = page_files() | {"theme.css": css_variables().encode()}
        self._changing = asyncio.Lock()
        self._listeners = [socket.create_server((LOOPBACK, port))]
        port = self._listeners[0].getsockname()[1]
        token = new_token()
        authorities = [f"{LOOPBACK}:{port}", f"localhost:{port}"]
        self.address = f"http://{authorities[0]}/{token}/"
        doors = [Door(token, frozenset(authorities))]
        self.shared_addresses: list[str] = []
        if share is not None:
            doors.append(self._open_to_others(share))
        guarded = Guard(self._application(), doors)
        logging.getLogger("uvicorn.error").addFilter(_in_a_line)
        self._server = _Server(
            uvicorn.Config(
                guarded,
                log_config=None,
                access_log=False,
                server_header=False,
                ws="websockets-sansio",
                ws_max_size=_MESSAGE_BYTES_MAX,
                # Compressing pictures takes longer than sending them within a machine.
                ws_per_message_deflate=False,
                # Within a machine the end of a connection is detected immediately, and slow pages must not be
                # disconnected. A phone that leaves the network says nothing.
                ws_ping_interval=None if share is None else _PING_SECONDS,
                ws_ping_timeout=_PING_SECONDS,
                limit_concurrency=4 * (_PAGES_MAX if share is None else _PAGES_SHARED_MAX),
                timeout_graceful_shutdown=1,
            )
        )

    def run(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """Answers until `stop` is called, or until Ctrl-C, which is raised as KeyboardInterrupt."""
        self._on_ready = on_ready
        try:
            self._server.run(sockets=self._listeners)
        finally:
            for listener in self._listeners:
                listener.close()
        if self._server.was_interrupted:
            raise KeyboardInterrupt

    def _open_to_others(self, place: str) -> Door:
        """Listens for other machines too, with a token that only permits to look."""
        listener = socket.create_server((place, 0))
        self._listeners.append(listener)
        port, token = listener.getsockname()[1], new_token()
        names = names_of_this_machine() if place == EVERYWHERE else [place]
        self.shared_addresses = [f"http://{name}:{port}/{token}/" for name in names]
        return Door(token, frozenset(f"{name}:{port}" for name in names), is_shared=True)

    def stop(self) -> None:
        """Stops the server; can be called from any thread."""
        self._server.should_exit = True

    def close(self) -> None:
        """Ends the session. Call it after `run`."""
        self.shown.close()

    @property
    def pages(self) -> int:
        """The number of open pages."""
        return len(self._pulse.connections)

    def _application(self) -> Starlette:
        @contextlib.asynccontextmanager
        async def lifespan(_application: Starlette) -> AsyncIterator[None]:
            beating = asyncio.create_task(self._pulse.run())
            beating.add_done_callback(self._stop_on_failure)
            self._on_ready()
            try:
                yield
            finally:
                beating.cancel()

        return Starlette(
            routes=[
                WebSocketRoute("/socket", self._open_socket),
                Route("/reports/{path:path}", self._send_report, methods=["GET"]),
                Route("/{name:path}", self._send_file, methods=["GET"]),
            ],
            lifespan=lifespan,
        )

    def _stop_on_failure(self, beating: "asyncio.Task[None]") -> None:
        """Stops the server if the pulse fails, because pages would otherwise seem to be live."""
        if not beating.cancelled() and beating.exception() is not None:
            self.failure = beating.exception()
            self.stop()

    failure: BaseException | None = None
    """The error that stopped the server, after `run` has returned; None without one."""

    async def _send_file(self, request: Request) -> Response:
        name = request.path_params["name"] or self._index
        content = self._files.get(name)
        if content is None:
            return Response(status_code=404)
        return Response(content, media_type=CONTENT_TYPES[PurePosixPath(name).suffix])

    async def _send_report(self, request: Request) -> Response:
        reports = None if request.scope[SHARED] else self._reports
        path = request.path_params["path"]
        content = None if reports is None else await asyncio.to_thread(reports.read, path)
        if content is None:
            return Response(status_code=404)
        text, media_type, policy = content
        headers = {"content-security-policy": policy} if policy else {}
        return Response(text, media_type=media_type, headers=headers)

    async def _open_socket(self, websocket: WebSocket) -> None:
        is_shared = bool(websocket.scope[SHARED])
        if self.pages >= (_PAGES_SHARED_MAX if self.shared_addresses else _PAGES_MAX):
            await websocket.close(1013)
            return
        connection = Connection(websocket)
        self._pulse.welcome(connection)
        hello = {**self._hello, "shared": True} if is_shared else self._hello
        try:
            await connection.live(hello, self._look if is_shared else self._answer)
        finally:
            self._pulse.connections.discard(connection)

    async def _look(self, connection: Connection, said: Any) -> None:
        """Executes a command of a page that can only look; refuses all others."""
        try:
            known = isinstance(said, dict) and choices.command(said.get("do"), said.get("with", {}))
        except InputError:
            known = False
        if isinstance(known, _LOOKING):
            await self._answer(connection, said)
            return
        asked = said.get("id") if isinstance(said, dict) else None
        refused: Reply = {"type": "reply", "id": asked, "ok": False, "message": "this page can only look"}
        connection.offer_text(refused)

    async def _answer(self, connection: Connection, said: Any) -> None:
        """Executes one command `{"id", "do", "with"}` and sends the answer."""
        said = said if isinstance(said, dict) else {}
        reply: Reply = {"type": "reply", "id": said.get("id")}
        try:
            command = choices.command(said.get("do"), said.get("with", {}))
            if isinstance(command, choices.View):
                connection.view = command
                value = None
            else:
                # One command at a time, from all pages.
                async with self._changing:
                    value = await asyncio.to_thread(self._carry_out, command)
            reply["ok"], reply["value"] = True, value
        except (InputError, RunFailed) as error:
            reply["ok"], reply["message"] = False, str(error)
        self._pulse.tell_status()
        connection.offer_text(reply)
