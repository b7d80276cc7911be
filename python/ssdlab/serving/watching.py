"""Drives at work for other processes to look at, over unix sockets in the user's runtime folder.

`ssdlab live` finds served drives there, `ssdlab export` those of live pages too.

Whoever asks sends a line of JSON, `{"ask": "cells", "by": "valid"}`, and is answered with a line, `{"bytes": 1024,
"error": null}`, and so many bytes. The folder belongs to the user alone, and so do the sockets in it.
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

from ssdlab import engine
from ssdlab.serving.asking import Question
from ssdlab.serving.drive import ServedDrive

# A socket's name may be no longer than this, in any operating system.
_NAME_BYTES_MAX = 107
_QUESTION_BYTES_MAX = 1 << 16

SERVED, LIVE = ".sock", ".live"
"""What the sockets' names end in: of a drive that is mounted or served, of the drives on a live page."""

Answer = Callable[[Question], bytes]


def runtime_folder() -> Path:
    """Where the sockets are, made if need be. Raises OSError when another user could get at it."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(given) / "ssdlab" if given else Path(tempfile.gettempdir()) / f"ssdlab-{os.geteuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise OSError(f"{folder} is accessible to other users")
    return folder


@contextlib.contextmanager
def watchable(drive: ServedDrive, place: str) -> Iterator[str | None]:
    """Lets other processes look at a drive that is served at a place. Gives why not, where they cannot."""
    with answering(SERVED, lambda question: _answer(drive, place, question)) as unseen:
        yield unseen


@contextlib.contextmanager
def answering(kind: str, answer: Answer) -> Iterator[str | None]:
    """Answers other processes of this user at a socket of the kind. Gives why not, where that cannot be.

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
    """Removes the sockets of processes that were killed. One that lives answers, even where its number is another's
    within a container."""
    for path in (*folder.glob(f"*{SERVED}"), *folder.glob(f"*{LIVE}")):
        with socket.socket(socket.AF_UNIX) as caller, contextlib.suppress(OSError):
            try:
                caller.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    # A watcher that stays is no reason to stay.
    block_on_close = False

    def __init__(self, answer: Answer, path: Path) -> None:
        self.answer = answer
        super().__init__(str(path), _Watcher)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A watcher that went away in the middle is none."""


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
