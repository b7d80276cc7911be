"""`ssdlab live` as a program: it ends only with Ctrl-C, leaves nothing behind, and describes errors in words."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page

from processes import of_group
from program import program_in
from ssdlab.live.catalogue import page_files
from ssdlab.live.server import LiveServer
from waiting import SECONDS_MAX, wait_for

Serve = Callable[..., LiveServer]
RELOADS = int(os.environ.get("SSDLAB_RELOADS", "25"))


def test_closing_the_browser_ends_nothing_and_ctrl_c_everything(
    small_drive: str, new_page: Callable[..., Page], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "ssdlab", "live", "--no-browser", "--drive", small_drive, "--untimed"]
    program = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert program.stdout is not None
        address = program.stdout.readline().strip()
        page = new_page()
        page.goto(address)
        page.wait_for_selector(".picture canvas[data-drawn]")
        page.close()
        # The first answer can come before the server has noticed that the page is closed.
        for _ in range(3):
            assert urlopen(address, timeout=SECONDS_MAX).status == 200
        assert program.poll() is None
        # Once more, with a page open at the end.
        page = new_page()
        page.goto(address)
        page.wait_for_selector(".picture canvas[data-drawn]")
        # Two signals in quick succession, as impatient users send.
        program.send_signal(signal.SIGINT)
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=SECONDS_MAX)
    finally:
        program.kill()
        program.wait()
    assert program.returncode == 0
    # Printed only if no page was open for some seconds, for example on a busy machine.
    lines = [line for line in err.splitlines() if not line.startswith("no page is open")]
    assert lines == ["only this machine can open the page; press Ctrl-C to end", "stopping"]
    assert of_group(program.pid) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("page", "script"), [("index.html", "main.js"), ("sweep.html", "sweep.js")])
def test_a_page_asks_for_all_its_scripts_at_once(page: str, script: str) -> None:
    """Otherwise the browser discovers each script only after reading those that import it."""
    files = {name: content.decode() for name, content in page_files().items()}
    needed, unread = set[str](), [script]
    while unread:
        found = set(re.findall(r'^import .* from "\./(\w+\.js)";', files[unread.pop()], re.MULTILINE))
        unread += found - needed
        needed |= found
    assert set(re.findall(r'<link rel="modulepreload" href="(\w+\.js)">', files[page])) == needed


def test_reloads_leave_no_thread_and_no_page(serve: Serve, new_page: Callable[..., Page]) -> None:
    server = serve()
    page = new_page()
    page.goto(server.address)
    page.wait_for_selector(".picture canvas[data-drawn]")
    for _ in range(5):
        page.reload()
    threads, files = own_threads(), open_files()
    for _ in range(RELOADS):
        page.reload(wait_until="domcontentloaded")
    page.wait_for_selector(".picture canvas[data-drawn]")
    wait_for("one page is left", lambda: server.pages == 1)
    # The browser keeps some connections open, which the server closes after a while.
    wait_for("their sockets are closed", lambda: open_files() <= files + 4)
    assert own_threads() <= threads


def own_threads() -> set[threading.Thread]:
    """All threads except the event loop's workers, whose number depends on the machine."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith("asyncio_")}


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--drive", "generic-tlc-48"], "generic-tlc-480"),
        (["--drive", "tiny", "--drive", "tiny", "--drive", "tiny"], "2 drives run side by side at most"),
        (["--tour", "writ"], "write-amplification"),
        (["--scale", "1/9999"], "1/9999"),
        (["--set", "ftl.victim=gredy"], "greedy"),
        (["--watch", "/nowhere"], "no drive is served at /nowhere"),
        (["--watch", "any", "--drive", "tiny"], "--watch"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, arguments: list[str], message: str) -> None:
    ended = program_in(tmp_path)("live", "--no-browser", *arguments)
    assert ended.returncode == 2, ended.stderr
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = program_in(tmp_path)("live", "--no-browser", "--drive", "tiny", "--port", str(port))
    assert ended.returncode == 2
    assert f"--port {port}" in ended.stderr


def test_tours_are_listed(tmp_path: Path) -> None:
    ended = program_in(tmp_path)("live", "--tour", "list")
    assert ended.returncode == 0
    assert "fragmentation" in ended.stdout
