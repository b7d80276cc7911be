"""Invalid requests and frames: does each cause at most one line of output, and do other pages continue?"""

import os
import socket
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from ssdlab.live.server import LiveServer
from talk import Page
from waiting import SECONDS_MAX

Serve = Callable[..., LiveServer]
_MASK = b"\0\0\0\0"


def frame(payload: bytes, code: int = 1, length: int | None = None) -> bytes:
    """A frame of a client; `length` can announce more than the payload."""
    size = len(payload) if length is None else length
    if size < 126:
        head = bytes([0x80 | code, 0x80 | size])
    elif size < 1 << 16:
        head = bytes([0x80 | code, 0x80 | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([0x80 | code, 0x80 | 127]) + size.to_bytes(8, "big")
    return head + _MASK + payload


def opened(server: LiveServer) -> socket.socket:
    """A connection after the handshake, ready for frames."""
    parts = urlsplit(server.address)
    lines = [
        f"GET {parts.path}socket HTTP/1.1",
        f"Host: {parts.netloc}",
        f"Origin: http://{parts.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
    ]
    connection = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=SECONDS_MAX)
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    assert connection.recv(12) == b"HTTP/1.1 101"
    return connection


@pytest.mark.parametrize(
    "sent",
    [
        os.urandom(100),
        frame(b"\xff\xfe"),
        frame(b"[" * 60_000),
        frame(b"x" * 10, length=1 << 40),
        frame(b"abc", length=100),
        frame(b"abc", code=2),
        frame(b"x", code=3),
        frame(b"x", code=0),
        frame(b"x" * 200, code=9),
        frame(b"\0", code=8),
    ],
    ids=["garbage", "not-utf8", "deep", "oversized", "half", "bytes", "reserved", "continued", "long-ping", "close"],
)
def test_broken_frames_are_said_in_a_line_at_most(
    sent: bytes, serve: Serve, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A regression: invalid UTF-8 and endlessly nested brackets caused tracebacks of 60 lines on the terminal."""
    server = serve()
    with opened(server) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        # Waits until the server has closed the connection, and so has processed the input.
        while connection.recv(1 << 16):
            pass
    with Page(server) as page:
        page.until("hello")
    assert all(record.exc_info is None and "\n" not in record.getMessage() for record in caplog.records)
    assert len(caplog.records) <= 1
    assert "Traceback" not in capfd.readouterr().err
