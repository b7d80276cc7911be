"""What holds for every folder: which tests are skipped on this machine, which have one more try, and the browser.

A test that needs root, /dev/fuse or loop devices says so by a mark, and is skipped with the reason where there is none.

One more try have those whose surroundings are real, and may disturb them though nothing is wrong: a browser, a kernel's
mounts and devices, and the moment at which a signal arrives are not the tests' own. A test that has none of these is
the same each time, and must hold each time. Tries are shown in the summary, so that one that is needed often is seen.
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
    """Under nohup the tests and all programs that they start would ignore SIGHUP, which some of them test."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        marks = {mark for mark in (*_NEEDS, "surroundings") if item.get_closest_marker(mark)}
        for reason in filter(None, map(_missing, marks & _NEEDS.keys())):
            item.add_marker(pytest.mark.skip(reason=reason))
        if marks or _FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """A headless Chromium, that of the system."""
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
