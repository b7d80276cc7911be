"""Settings for all test folders: the tests skipped on this machine, the tests with a second try, and the browser.

Marks declare that a test needs root, /dev/fuse or loop devices; it is skipped, with the reason, if they are missing.

Tests whose environment is real get a second try, because it can disturb them without any fault of the code: a browser,
the kernel's mounts and devices, the moment when a signal arrives. All other tests are deterministic and get one try.
Second tries are listed in the summary, so that a test that often needs one is noticed.

Processes that tests leave running would keep the output of the whole run open, for hours; they are ended and named, and
the run fails.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NEEDS = {"fuse": "/dev/fuse", "loop": "/dev/loop-control"}
_FIXTURES = {"browser", "devices", "loop", "mount", "serve"}


_MARK = "SSDLAB_TEST_RUN"
"""In the environment of the run and of all its child processes: the process of the run."""


def pytest_configure() -> None:
    """Under nohup the tests and their child processes would ignore SIGHUP, which some of them test."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.environ.setdefault(_MARK, str(os.getpid()))


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """After the workers of the run have ended, too, since pytest-xdist waits for them in this hook."""
    if program := sys.modules.get("program"):
        program.end()
    yield
    if os.environ[_MARK] != str(os.getpid()):
        return
    # Helpers of multiprocessing and the browser end a moment after their parents.
    give_up_at = time.monotonic() + 10
    while (left := _other_processes()) and time.monotonic() < give_up_at:
        time.sleep(0.1)
    if not left:
        return
    for process, command in left.items():
        print(f"\nleft running by a test, ended now: {process} {command}")
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    if session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _other_processes() -> dict[int, str]:
    """The other processes of this run, with their command lines."""
    mark = f"{_MARK}={os.environ[_MARK]}".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                found[int(folder.name)] = command
    return {process: command for process, command in found.items() if command and process != os.getpid()}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Keeps the slowest tests in `target/durations.txt`, as `--durations` shows them."""
    count = terminalreporter.config.option.durations
    if not count or not Path("target").is_dir():
        return
    reports = [report for group in terminalreporter.stats.values() for report in group if hasattr(report, "duration")]
    slowest = sorted(reports, key=lambda report: report.duration, reverse=True)[:count]
    lines = [f"{report.duration:.2f}s {report.when} {report.nodeid}\n" for report in slowest]
    Path("target/durations.txt").write_text("".join(lines))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        marks = {mark for mark in (*_NEEDS, "surroundings") if item.get_closest_marker(mark)}
        for reason in filter(None, map(_missing, marks & _NEEDS.keys())):
            item.add_marker(pytest.mark.skip(reason=reason))
        if marks or _FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.flaky(reruns=1))
            # So that `-m "not surroundings"` also leaves out those that only ask for a fixture.
            item.add_marker(pytest.mark.surroundings)


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The system's Chromium, headless."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("chromium is not installed")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()


def _missing(mark: str) -> str | None:
    if not Path(_NEEDS[mark]).exists():
        return f"no {_NEEDS[mark]}"
    return None if os.geteuid() == 0 else "not root"
