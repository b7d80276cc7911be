"""The live page for users with a screen reader, a keyboard or weak sight: axe-core finds nothing."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from accessibility import all_findings
from ssdlab.live.server import LiveServer

pytestmark = pytest.mark.surroundings


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_live_page(serve: Callable[..., LiveServer], open_page: Callable[..., Page], scheme: str) -> None:
    page = open_page(serve(), scheme=scheme)
    assert all_findings(page) == []
    page.click("#tours-open")
    assert all_findings(page) == []


def test_the_live_page_on_a_phone(serve: Callable[..., LiveServer], open_page: Callable[..., Page]) -> None:
    assert all_findings(open_page(serve(), width=390)) == []


def test_a_lecture(serve: Callable[..., LiveServer], open_page: Callable[..., Page]) -> None:
    """A regression: without the controls the headings of the charts stood right below the page's."""
    page = open_page(serve())
    page.click("#lecture")
    page.wait_for_selector("#charts h3")
    assert all_findings(page) == []


def test_what_is_wrong_is_found(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.set_content('<html lang="en"><title>x</title><main><button></button><img src="data:,"></main></html>')
    assert [finding.partition(" ")[0] for finding in all_findings(page)] == [
        "button-name",
        "image-alt",
        "page-has-heading-one",
    ]
