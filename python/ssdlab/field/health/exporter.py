"""An HTTP server for the drives' metrics. It reads the drives periodically, so that a scrape never waits for a drive.

It has no access control: it answers every client that can reach its address, by default only this machine.
"""

import signal
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ssdlab.errors import InputError
from ssdlab.field.health import metrics
from ssdlab.field.health.drive import Row
from ssdlab.field.health.metrics import Sample
from ssdlab.field.health.scanning import Unread

_PATHS = ("/metrics", "/")
_REQUEST_SECONDS_MAX = 10

Read = Callable[[], tuple[list[Row], list[Unread]]]


class Exporter:
    """Reads the drives in a background thread and serves the metrics of the last reading."""

    def __init__(self, address: tuple[str, int], read: Read, interval_seconds: float) -> None:
        """Starts listening. Raises InputError if this fails."""
        self._read = read
        self._interval_seconds = interval_seconds
        self._ended = threading.Event()
        self._text = b""
        self.unread: list[Unread] = []
        try:
            self._server = _Server(address, self)
        except OSError as error:
            raise InputError(f"--listen {address[0]}:{address[1]}: {error.strerror or error}") from None

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def text(self) -> bytes:
        """The current response to a scrape."""
        return self._text

    def run(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """Serves until SIGTERM, SIGINT or `stop`."""
        before = (
            {number: signal.signal(number, lambda *_: self.stop()) for number in (signal.SIGTERM, signal.SIGINT)}
            if threading.current_thread() is threading.main_thread()
            else {}
        )
        self.refresh()
        reading = threading.Thread(target=self._keep_reading, name="reading", daemon=True)
        answering = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="answering", daemon=True)
        reading.start()
        answering.start()
        on_ready()
        try:
            self._ended.wait()
        finally:
            self._server.shutdown()
            self._server.server_close()
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """Ends `run`. Can be called from any thread or signal handler."""
        self._ended.set()

    def refresh(self) -> None:
        """Reads all drives once. Drives that cannot be read are left out and counted."""
        started = time.monotonic()
        rows, self.unread = self._read()
        own = (
            Sample("ssd_exporter_read_seconds", "gauge", "How long the last reading took.", time.monotonic() - started),
            Sample(
                "ssd_exporter_last_read_timestamp_seconds",
                "gauge",
                "When the last reading ended.",
                float(int(time.time())),
            ),
            Sample("ssd_exporter_unread", "gauge", "Drives that could not be read.", float(len(self.unread))),
        )
        self._text = metrics.text_of(rows, own).encode()

    def _keep_reading(self) -> None:
        while not self._ended.wait(self._interval_seconds):
            self.refresh()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], exporter: Exporter) -> None:
        self.exporter = exporter
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "ssdlab"
    sys_version = ""
    timeout = _REQUEST_SECONDS_MAX

    def do_GET(self) -> None:
        assert isinstance(self.server, _Server)
        found = self.path.split("?")[0] in _PATHS
        body = self.server.exporter.text if found else b"the metrics are at /metrics\n"
        self.send_response(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", metrics.CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Suppresses the log line of each scrape."""
