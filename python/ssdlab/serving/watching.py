"""Gives other processes access to running drives, over Unix sockets in the user's runtime folder.

`ssdlab live` finds served drives there, `ssdlab export` also those of live pages.

A client sends a line of JSON, `{"ask": "cells", "by": "valid"}`. The answer is a line, `{"bytes": 1024, "error":
null}`, followed by that number of bytes. Only the user has access to the folder and the sockets in it.
"""

import contextlib
import json
import os
import socket
import socketserver
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from ssdlab.serving.asking import Question
from ssdlab.serving.drive import ServedDrive
from ssdlab.simulator import engine

# The portable limit for the length of a socket's name.
_NAME_BYTES_MAX = 107
_QUESTION_BYTES_MAX = 1 << 16

SERVED, LIVE = ".sock", ".live"
"""Suffixes of the sockets' names: for a mounted or served drive, and for the drives on a live page."""

Answer = Callable[[Question], bytes]


def runtime_folder() -> Path:
    """The folder of the sockets, created if needed. Raises OSError if other users have access to it."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(given) / "ssdlab" if given else Path(tempfile.gettempdir()) / f"ssdlab-{os.geteuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise OSError(f"{folder} is accessible to other users")
    return folder


@contextlib.contextmanager
def watchable(drive: ServedDrive, place: str) -> Iterator[str | None]:
    """Gives other processes access to a served drive. Yields the reason if this fails, otherwise None."""
    with answering(SERVED, lambda question: _answer(drive, place, question)) as unseen:
        yield unseen


@contextlib.contextmanager
def answering(kind: str, answer: Answer) -> Iterator[str | None]:
    """Answers other processes of this user at a socket of the kind. Yields the reason if this fails, otherwise None.

    An error that `answer` raises is sent to the client.
    """
    try:
        path = runtime_folder() / f"{os.getpid()}{kind}"
        if len(os.fsencode(path)) > _NAME_BYTES_MAX:
            raise OSError(f"{path} is longer than the {_NAME_BYTES_MAX} bytes that the name of a socket may have")
        path.unlink(missing_ok=True)
        _remove_dead(path.parent)
        server = _Server(answer, path)
    except OSError as error:
        yield str(error)
        return
    path.chmod(0o600)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="watchers", daemon=True)
    thread.start()
    try:
        yield None
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        path.unlink(missing_ok=True)


def _remove_dead(folder: Path) -> None:
    """Removes the sockets of killed processes. They are detected by connecting, because process numbers in containers
    overlap."""
    for path in (*folder.glob(f"*{SERVED}"), *folder.glob(f"*{LIVE}")):
        with socket.socket(socket.AF_UNIX) as caller, contextlib.suppress(OSError):
            try:
                caller.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    # Open connections do not delay the end of the server.
    block_on_close = False

    def __init__(self, answer: Answer, path: Path) -> None:
        self.answer = answer
        super().__init__(str(path), _Watcher)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnect during a request."""


class _Watcher(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server = cast(_Server, self.server)
        while question := self.rfile.readline(_QUESTION_BYTES_MAX):
            error = None
            body = b""
            try:
                with engine.in_words_of_the_user():
                    body = server.answer(json.loads(question))
            except Exception as refused:
                error = str(refused) or type(refused).__name__
            self.wfile.write(json.dumps({"bytes": len(body), "error": error}).encode() + b"\n" + body)


def _answer(drive: ServedDrive, place: str, question: Question) -> bytes:
    device = drive.device
    match question:
        case {"ask": "description"}:
            return json.dumps({"place": place, "pid": os.getpid(), **drive.description()}).encode()
        case {"ask": "figures"}:
            return device.figures().encode()
        case {"ask": "marks"}:
            return device.marks().encode()
        case {"ask": "cells", "by": str(by)}:
            return device.cells(cast(Any, by))
        case {"ask": "erase-unit", "index": int(index)}:
            return device.erase_unit(index).encode()
        case {"ask": "command", "line": str(line)}:
            device.command(line)
            return b""
        case {"ask": "statistics"}:
            return json.dumps(drive.statistics()).encode()
        case {"ask": "smart"}:
            return json.dumps([{"place": place, "smart": drive.statistics()["ssdlab"].get("smart")}]).encode()
        case _:
            raise ValueError(f"{question!r} is no question")
