"""A shared session: others can look by a second address, and change nothing. Served on the loopback interface here."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ssdlab.live.names import names_of_this_machine
from ssdlab.live.server import LiveServer
from talk import Page
from test_guard import status_of
from waiting import SECONDS_MAX

Serve = Callable[..., LiveServer]


@pytest.fixture
def shared(serve: Serve) -> LiveServer:
    return serve(share="127.0.0.1")


def test_the_second_address_shows_the_page_and_not_the_reports(shared: LiveServer) -> None:
    (address,) = shared.shared_addresses
    here, own = urlsplit(address), urlsplit(shared.address)
    assert here.path != own.path and here.port != own.port
    for path, expected in ((here.path, 200), (own.path, 404), ("/", 404)):
        assert status_of(shared, path, host=here.netloc)[0] == expected, path
    # Neither token opens the other's port.
    assert status_of(shared, here.path)[0] == 404
    with Page(shared) as page:
        page.do("step", requests=5_000)
        saved = page.do("report")["page"]
    assert status_of(shared, own.path + saved)[0] == 200
    assert status_of(shared, here.path + saved, host=here.netloc)[0] == 404


def test_who_looks_cannot_change_anything(shared: LiveServer) -> None:
    (address,) = shared.shared_addresses
    with Page(shared, address) as page:
        before = page.status()
        assert page.do("erase-unit", index=5)["state"] == "free"
        page.do("view", by="age")
        for name, arguments in (
            ("run", {}), ("reset", {}), ("share", {}), ("report", {}), ("cut-power", {}), ("nonsense", {}),
            ("step", {"requests": 5}), ("dropped-job", {"name": "a.fio", "text": "[a]"}),
        ):  # fmt: skip
            assert page.ask(name, **arguments)["message"] == "this page can only look", name
        assert page.status()["generation"] == before["generation"]
    with Page(shared) as own:
        assert own.figures()["requests"] == 0


def test_a_socket_from_elsewhere_is_refused(shared: LiveServer) -> None:
    (address,) = shared.shared_addresses
    parts = urlsplit(address)
    with (
        pytest.raises(InvalidStatus),
        connect(
            f"ws://{parts.netloc}{parts.path}socket",
            origin="http://attacker.example",  # type: ignore[arg-type]
            proxy=None,
            open_timeout=SECONDS_MAX,
        ),
    ):
        pass


@pytest.mark.surroundings
@pytest.mark.parametrize("width", [390, 1440])
def test_who_looks_has_no_controls(shared: LiveServer, new_page: Callable[..., BrowserPage], width: int) -> None:
    page = new_page(viewport={"width": width, "height": 800})
    page.goto(shared.shared_addresses[0])
    page.wait_for_selector('[data-figure="requests"][data-value]', state="attached")
    for part in ("#controls", "#share", "#report", "#tours-open"):
        expect(page.locator(part)).to_be_hidden()
    expect(page.locator(".picture").first).to_be_visible()
    expect(page.locator("#chart-waf canvas")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_links_name_this_machine_and_not_its_loopback() -> None:
    names = names_of_this_machine()
    assert names and not any(name.startswith("127.") for name in names)
