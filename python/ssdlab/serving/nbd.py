"""Serves a drive over NBD, at a unix socket or a TCP port."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ssdlab.errors import InputError
from ssdlab.serving.drive import ServedDrive

if TYPE_CHECKING:
    from ssdlab._engine import Server

LOCALHOST = "localhost"
PORT = 10809
"""The port that IANA has registered for NBD."""


@dataclass(frozen=True)
class Served:
    """A drive at an address, as the NBD URI standard writes it."""

    uri: str
    _server: "Server"

    @property
    def connections(self) -> int:
        """How many clients have come so far."""
        return self._server.connections


@contextlib.contextmanager
def at_socket(drive: ServedDrive, path: Path) -> Iterator[Served]:
    """The drive at a unix socket, which is made. Raises InputError when that cannot be."""
    # A socket's name may be no longer than this, in any operating system.
    if len(str(path).encode()) > 107:
        raise InputError(f"--socket {path}: longer than the 107 bytes that a socket's name may have")
    with _stopped(drive, lambda: drive.device.serve_at_socket(path), f"--socket {path}") as server:
        yield Served(f"nbd+unix:///?socket={quote(str(path))}", server)


@contextlib.contextmanager
def at_port(drive: ServedDrive, host: str, port: int) -> Iterator[Served]:
    """The drive at a TCP port; 0 takes a free one. Raises InputError when that cannot be."""
    with _stopped(drive, lambda: drive.device.serve_at_port(host, port), f"{host}, port {port}") as server:
        yield Served(f"nbd://{host}:{server.port}", server)


@contextlib.contextmanager
def _stopped(drive: ServedDrive, serve: "Callable[[], Server]", what: str) -> Iterator["Server"]:
    try:
        server = serve()
    except OSError as error:
        raise InputError(f"{what}: {error.strerror or error}") from None
    try:
        yield server
    finally:
        server.stop()
        drive.close()
