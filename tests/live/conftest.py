"""Fixtures for the live page: the page of a small drive, served in this process or as a program."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from running_server import running
from small_drives import drive_file
from ssdlab.live.choices import DriveChoice
from ssdlab.live.server import LiveServer
from ssdlab.live.serving import live_server
from ssdlab.live.workbench import Start
from waiting import SECONDS_MAX

# Playwright's default of five seconds is too short on a machine that is busy with other tests.
expect.set_options(timeout=SECONDS_MAX * 1000)

Serve = Callable[..., LiveServer]


@pytest.fixture(scope="session")
def small_drive(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A drive file: 256 erase units of 64 units, an eighth of them spare."""
    path = tmp_path_factory.mktemp("drives") / "small.toml"
    path.write_text(drive_file("small", blocks=256, pages=64, user_bytes=58720256))
    return str(path)


@pytest.fixture
def serve(small_drive: str, tmp_path: Path) -> Iterator[Serve]:
    """Serves the small drive, paused; `drives` selects others, `share` is the address for others."""
    with_block = []

    def start(drives: tuple[str, ...] = (small_drive,), share: str | None = None, **options: object) -> LiveServer:
        choices = tuple(DriveChoice(name=name) for name in drives)
        given = {"seed": 1, "timed": True} | options
        begin = Start(choices, **given)  # type: ignore[arg-type]
        server = live_server(begin, tmp_path / "reports", port=0, tour=None, is_running=False, share=share)
        block = running(server)
        block.__enter__()
        with_block.append(block)
        return server

    yield start
    for block in with_block:
        block.__exit__(None, None, None)


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens pages in the browser and closes them at the end."""
    pages = []

    def make(**options: Any) -> Page:
        page = browser.new_page(**options)
        page.set_default_timeout(SECONDS_MAX * 1000)
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.close()


Open = Callable[..., Page]


@pytest.fixture
def open_page(new_page: Callable[..., Page]) -> Iterator[Open]:
    """Opens the page of a server and waits until it is ready. Console messages are errors."""
    said: list[str] = []
    pages = []

    def open_at(
        server: LiveServer,
        width: int = 1440,
        height: int = 900,
        scheme: str = "light",
        wait: str = '[data-figure="requests"][data-value]',
    ) -> Page:
        page = new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        pages.append(page)

        def note(message: ConsoleMessage) -> None:
            said.append(f"{message.type}: {message.text}")

        page.on("console", note)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(server.address)
        page.wait_for_selector(wait, state="attached")
        return page

    yield open_at
    for page in pages:
        page.close()
    assert said == []
