"""`ssdlab live` as a program: it ends with Ctrl-C and nothing else, leaves nothing, and says what is wrong in words."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser

from small_drives import program_in
from ssdlab.live.catalogue import page_files
from ssdlab.live.server import LiveServer

Serve = Callable[..., LiveServer]
RELOADS = int(os.environ.get("SSDLAB_RELOADS", "25"))


def test_closing_the_browser_ends_nothing_and_ctrl_c_everything(
    small_drive: str, browser: Browser, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "ssdlab", "live", "--no-browser", "--drive", small_drive, "--untimed"]
    program = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        address = program.stdout.readline().strip()
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector(".picture canvas[data-drawn]")
        page.close()
        time.sleep(0.3)
        assert program.poll() is None
        assert urlopen(address, timeout=10).status == 200
        # Once more, with a page open at the end.
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector(".picture canvas[data-drawn]")
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=20)
        page.close()
    finally:
        program.kill()
        program.wait()
    assert program.returncode == 0
    assert err.endswith("stopping\n"), err
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", urlsplit(address).port or 0), timeout=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("page", "script"), [("index.html", "main.js"), ("sweep.html", "sweep.js")])
def test_a_page_asks_for_all_its_scripts_at_once(page: str, script: str) -> None:
    """Otherwise the browser learns of each only when it has read those that need it."""
    files = {name: content.decode() for name, content in page_files().items()}
    needed, unread = set[str](), [script]
    while unread:
        found = set(re.findall(r'^import .* from "\./(\w+\.js)";', files[unread.pop()], re.MULTILINE))
        unread += found - needed
        needed |= found
    assert set(re.findall(r'<link rel="modulepreload" href="(\w+\.js)">', files[page])) == needed


def test_reloads_leave_no_thread_and_no_page(serve: Serve, browser: Browser) -> None:
    server = serve()
    page = browser.new_page()
    page.goto(server.address)
    page.wait_for_selector(".picture canvas[data-drawn]")
    for _ in range(5):
        page.reload()
    threads, files = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(RELOADS):
        page.reload(wait_until="domcontentloaded")
    page.wait_for_selector(".picture canvas[data-drawn]")
    deadline = time.monotonic() + 10
    while server.pages > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert server.pages == 1
    page.close()
    # Worker threads of the event loop come as they are needed, up to a few in all.
    assert threading.active_count() <= threads + 4
    assert len(list(Path("/proc/self/fd").iterdir())) <= files + 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--drive", "generic-tlc-48"], "generic-tlc-480"),
        (["--drive", "tiny", "--drive", "tiny", "--drive", "tiny"], "2 drives stand side by side"),
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
