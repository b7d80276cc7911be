"""An NBD client that sends one request at a time, so that a drive gets the same requests in the same order.

Written contents are a repeated byte; read contents are returned as a hash.
"""

import hashlib
import socket
import struct
from pathlib import Path

_READ, _WRITE, _DISCONNECT, _FLUSH, _TRIM, _WRITE_ZEROES = 0, 1, 2, 3, 4, 6
_FUA = 1
_EXPORT_NAME = 1


class Client:
    """A connection to a server at a Unix socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        magic = self._receive(18)
        assert magic[:16] == b"NBDMAGICIHAVEOPT", magic
        no_zeroes = 2
        self._socket.sendall(struct.pack(">I8sII", 1 | no_zeroes, b"IHAVEOPT", _EXPORT_NAME, 0))
        self._receive(10)

    def read(self, offset_bytes: int, length_bytes: int) -> str | int:
        """The hash of the data, or the number of an error."""
        error = self._ask(_READ, offset_bytes, length_bytes)
        return error or hashlib.blake2b(self._receive(length_bytes), digest_size=8).hexdigest()

    def write(self, offset_bytes: int, length_bytes: int, byte: int, durable: bool) -> int:
        return self._ask(_WRITE, offset_bytes, length_bytes, bytes([byte]) * length_bytes, _FUA if durable else 0)

    def trim(self, offset_bytes: int, length_bytes: int) -> int:
        return self._ask(_TRIM, offset_bytes, length_bytes)

    def zero(self, offset_bytes: int, length_bytes: int) -> int:
        return self._ask(_WRITE_ZEROES, offset_bytes, length_bytes)

    def flush(self) -> int:
        return self._ask(_FLUSH, 0, 0)

    def close(self) -> None:
        self._socket.sendall(_request(_DISCONNECT, 0, 0, 0))
        self._socket.close()

    def _ask(self, command: int, offset_bytes: int, length_bytes: int, data: bytes = b"", flags: int = 0) -> int:
        self._socket.sendall(_request(command, offset_bytes, length_bytes, flags) + data)
        _, error, _ = struct.unpack(">IIQ", self._receive(16))
        return int(error)

    def _receive(self, length_bytes: int) -> bytes:
        received = b""
        while len(received) < length_bytes:
            part = self._socket.recv(length_bytes - len(received))
            assert part, "the server has closed the connection"
            received += part
        return received


def _request(command: int, offset_bytes: int, length_bytes: int, flags: int) -> bytes:
    return struct.pack(">IHHQQI", 0x25609513, flags, command, 0, offset_bytes, length_bytes)
