"""Runs a server of the live page in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ssdlab.live.server import LiveServer
from waiting import SECONDS_MAX


@contextmanager
def running(server: LiveServer) -> Iterator[LiveServer]:
    """Runs the server in a thread until the end of the block, then ends its session too."""
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(ready.set,))
    thread.start()
    try:
        assert ready.wait(SECONDS_MAX)
        yield server
    finally:
        server.stop()
        thread.join(SECONDS_MAX)
        server.close()
        assert not thread.is_alive()
        assert server.failure is None
