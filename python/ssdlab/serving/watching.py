"""A served drive for other processes to look at: a unix socket in the user's runtime folder, which `ssdlab live` finds.

Whoever asks sends a line of JSON, `{"ask": "cells", "by": "valid"}`, and is answered with a line, `{"bytes": 1024,
"error": null}`, and so many bytes. The folder belongs to the user alone, and so do the sockets in it.
"""

import contextlib
import json
import os
import socketserver
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ssdlab.serving.drive import ServedDrive
from ssdlab.targets import engine

# A socket's name may be no longer than this, in any operating system.
_NAME_BYTES_MAX = 107
_QUESTION_BYTES_MAX = 1 << 16


def runtime_folder() -> Path:
    """Where the sockets are, made if need be. Raises OSError when another user could get at it."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(given) / "ssdlab" if given else Path(tempfile.gettempdir()) / f"ssdlab-{os.geteuid()}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise OSError(f"{folder} is not this user's alone")
    return folder


@contextlib.contextmanager
def watchable(drive: ServedDrive, place: str) -> Iterator[str | None]:
    """Lets other processes look at a drive that is served at a place. Gives why not, where they cannot."""
    try:
        path = runtime_folder() / f"{os.getpid()}.sock"
        if len(os.fsencode(path)) > _NAME_BYTES_MAX:
            raise OSError(f"{path} is longer than the {_NAME_BYTES_MAX} bytes that a socket's name may have")
        path.unlink(missing_ok=True)
        server = _Server(drive, place, path)
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


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    # A watcher that stays is no reason to stay.
    block_on_close = False

    def __init__(self, drive: ServedDrive, place: str, path: Path) -> None:
        self.drive = drive
        self.place = place
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
                    body = _answer(server, json.loads(question))
            except Exception as refused:
                error = str(refused) or type(refused).__name__
            self.wfile.write(json.dumps({"bytes": len(body), "error": error}).encode() + b"\n" + body)


def _answer(server: _Server, question: dict[str, Any]) -> bytes:
    device = server.drive.device
    match question:
        case {"ask": "description"}:
            return json.dumps({"place": server.place, "pid": os.getpid(), **server.drive.description()}).encode()
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
            return json.dumps(server.drive.statistics()).encode()
        case _:
            raise ValueError(f"{question!r} is no question")
