"""Settings for all test folders: the tests skipped on this machine, the tests with a second try, and the browser.

Marks declare that a test needs root, /dev/fuse or loop devices; it is skipped, with the reason, if they are missing.

Tests whose environment is real get a second try, because it can disturb them without any fault of the code: a browser,
the kernel's mounts and devices, the moment when a signal arrives. All other tests are deterministic and get one try.
Second tries are listed in the summary, so that a test that often needs one is noticed.
"""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NEEDS = {"fuse": "/dev/fuse", "loop": "/dev/loop-control"}
_FIXTURES = {"browser", "devices", "loop", "mount", "serve"}


def pytest_configure() -> None:
    """Under nohup the tests and their child processes would ignore SIGHUP, which some of them test."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


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
