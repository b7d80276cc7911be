"""Serves a drive over NBD, at a Unix socket or a TCP port."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ssdlab.errors import InputError
from ssdlab.serving.drive import ServedDrive

if TYPE_CHECKING:
    from ssdlab._engine import Server

LOCALHOST = "localhost"
PORT = 10809
"""The port registered with IANA for NBD."""
CONNECTIONS = 64
"""Default limit of simultaneously connected clients."""
CONNECTIONS_MAX = 1024
"""Upper bound of the configurable limit."""


@dataclass(frozen=True)
class Served:
    """A drive at an address, as an NBD URI."""

    uri: str
    _server: "Server"

    @property
    def connections(self) -> int:
        """The number of clients that have connected so far."""
        return self._server.connections

    @property
    def refused(self) -> int:
        """The number of clients that were refused because of the limit."""
        return self._server.refused


@contextlib.contextmanager
def at_socket(drive: ServedDrive, path: Path, connections_max: int = CONNECTIONS) -> Iterator[Served]:
    """Serves the drive at a new Unix socket. Raises InputError if this fails."""
    # The portable limit for the length of a socket's name.
    if len(str(path).encode()) > 107:
        raise InputError(f"--socket {path}: longer than the limit of 107 bytes for the name of a socket")
    if path.exists() and not path.is_socket():
        raise InputError(f"--socket {path}: is no socket; name a new file")
    serve = partial(drive.device.serve_at_socket, path, connections_max)
    with _stopped(drive, serve, f"--socket {path}") as server:
        yield Served(f"nbd+unix:///?socket={quote(str(path))}", server)


@contextlib.contextmanager
def at_port(drive: ServedDrive, host: str, port: int, connections_max: int = CONNECTIONS) -> Iterator[Served]:
    """Serves the drive at a TCP port; 0 selects a free port. Raises InputError if this fails."""
    serve = partial(drive.device.serve_at_port, host, port, connections_max)
    with _stopped(drive, serve, f"{host}, port {port}") as server:
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
