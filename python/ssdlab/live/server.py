"""The web server of the live page: the page's files, one socket a page, the reports that were saved.

Only the loopback interface of this machine is listened on, and `guard` decides who is answered.
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
from ssdlab.live.guard import Guard, new_token
from ssdlab.live.messages import Hello, Reply, SweepHello
from ssdlab.live.reports import Reports
from ssdlab.report.theme import css_variables

LOOPBACK = "127.0.0.1"
# A message of a page: a job file at most.
_MESSAGE_BYTES_MAX = 4 * choices.JOB_TEXT_CHARACTERS_MAX
_PAGES_MAX = 16


class Shown(Protocol):
    """What pages are about: a session, a served drive, a sweep."""

    def close(self) -> None: ...


class Beating(Protocol):
    """What reports that to the pages, from the server's loop."""

    connections: set[Connection]

    async def run(self) -> None:
        """Until it is cancelled."""
        ...

    def welcome(self, connection: Connection) -> None:
        """A new page receives the present state at once."""
        ...

    def tell_status(self) -> None:
        """After a command: sends to all pages what they do not know yet."""
        ...


def _in_a_line(record: logging.LogRecord) -> bool:
    """What a client sent that is no request and no frame is its fault, and no reason to show where we noticed."""
    if record.exc_info:
        error = record.exc_info[1]
        record.msg = f"{record.getMessage()} ({type(error).__name__}: {error})".replace("\n", " ")
        record.args, record.exc_info, record.exc_text = None, None, None
    return True


class _Server(uvicorn.Server):
    """Ends in order however often Ctrl-C is pressed; uvicorn's own would be torn out of its loop by the second."""

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
    """Serves what is shown until it is stopped."""

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
    ) -> None:
        """Listens at once, on a free port if none is named, and answers in `run`. OSError when that cannot be.

        `carry_out` does what a command of a page says, from a thread, one at a time; `hello` is what pages receive
        first; `index` names the page.
        """
        self.shown = shown
        self._carry_out = carry_out
        self._reports = reports
        self._hello = hello
        self._pulse = pulse
        self._index = index
        self._files = page_files() | {"theme.css": css_variables().encode()}
        self._changing = asyncio.Lock()
        self._listener = socket.create_server((LOOPBACK, port))
        port = self._listener.getsockname()[1]
        token = new_token()
        authorities = [f"{LOOPBACK}:{port}", f"localhost:{port}"]
        self.address = f"http://{authorities[0]}/{token}/"
        guarded = Guard(self._application(), token, authorities)
        logging.getLogger("uvicorn.error").addFilter(_in_a_line)
        self._server = _Server(
            uvicorn.Config(
                guarded,
                log_config=None,
                access_log=False,
                server_header=False,
                ws="websockets-sansio",
                ws_max_size=_MESSAGE_BYTES_MAX,
                # Compressing pictures costs more than sending them within a machine.
                ws_per_message_deflate=False,
                # Within a machine a page that is gone is gone at once; one that is only slow must not be cut off.
                ws_ping_interval=None,
                limit_concurrency=4 * _PAGES_MAX,
                timeout_graceful_shutdown=1,
            )
        )

    def run(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """Answers until Ctrl-C, which comes out of this call as KeyboardInterrupt, or `stop`."""
        self._on_ready = on_ready
        try:
            self._server.run(sockets=[self._listener])
        finally:
            self._listener.close()
        if self._server.was_interrupted:
            raise KeyboardInterrupt

    def stop(self) -> None:
        """From any thread."""
        self._server.should_exit = True

    def close(self) -> None:
        """Ends the session; after `run`."""
        self.shown.close()

    @property
    def pages(self) -> int:
        """How many are open."""
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
        """A pulse that broke would leave pages that look alive."""
        if not beating.cancelled() and beating.exception() is not None:
            self.failure = beating.exception()
            self.stop()

    failure: BaseException | None = None
    """What broke, after `run` has returned."""

    async def _send_file(self, request: Request) -> Response:
        name = request.path_params["name"] or self._index
        content = self._files.get(name)
        if content is None:
            return Response(status_code=404)
        return Response(content, media_type=CONTENT_TYPES[PurePosixPath(name).suffix])

    async def _send_report(self, request: Request) -> Response:
        reports = self._reports
        path = request.path_params["path"]
        content = None if reports is None else await asyncio.to_thread(reports.read, path)
        if content is None:
            return Response(status_code=404)
        text, media_type, policy = content
        headers = {"content-security-policy": policy} if policy else {}
        return Response(text, media_type=media_type, headers=headers)

    async def _open_socket(self, websocket: WebSocket) -> None:
        if self.pages >= _PAGES_MAX:
            await websocket.close(1013)
            return
        connection = Connection(websocket)
        self._pulse.welcome(connection)
        try:
            await connection.live(self._hello, self._answer)
        finally:
            self._pulse.connections.discard(connection)

    async def _answer(self, connection: Connection, said: Any) -> None:
        """Carries out one command and answers it: `{"id", "do", "with"}`."""
        said = said if isinstance(said, dict) else {}
        reply: Reply = {"type": "reply", "id": said.get("id")}
        try:
            command = choices.command(said.get("do"), said.get("with", {}))
            if isinstance(command, choices.View):
                connection.view = command
                value = None
            else:
                # One after the other, whichever page they come from.
                async with self._changing:
                    value = await asyncio.to_thread(self._carry_out, command)
            reply["ok"], reply["value"] = True, value
        except (InputError, RunFailed) as error:
            reply["ok"], reply["message"] = False, str(error)
        self._pulse.tell_status()
        connection.offer_text(reply)
