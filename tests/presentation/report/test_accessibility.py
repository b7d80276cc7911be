"""Reports for users with a screen reader, a keyboard or weak sight: axe-core finds nothing serious.

A regression: each mark of each chart was a picture without a name, 38 in a report of two variants.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from accessibility import all_findings
from ssdlab.presentation.report.page import Page, Section
from ssdlab.presentation.report.parts import definitions, table
from waiting import SECONDS_MAX


@pytest.mark.parametrize(("scheme", "width_px"), [("light", 390), ("dark", 1280)])
def test_a_report(report: list[Path], browser: Browser, scheme: str, width_px: int) -> None:
    page = browser.new_page(viewport={"width": width_px, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page.goto(report[-1].as_uri())
        page.wait_for_selector("svg .mark-symbol", state="attached", timeout=SECONDS_MAX * 1000)
        assert all_findings(page) == []
    finally:
        page.close()


@pytest.mark.parametrize("width_px", [390, 768, 1280])
def test_a_long_term_stays_on_the_screen(browser: Browser, width_px: int) -> None:
    """A regression: one of a study's assumptions took the whole width, so that its reason was outside the screen."""
    entries = [("a term of so many words that no line of a small screen has room for all of it " * 2, "why " * 60)]
    shown = Page(title="", subtitle="", summary="", after=[Section("Assumed", definitions(entries))])
    page = browser.new_page(viewport={"width": width_px, "height": 900})
    try:
        page.set_content(shown.html())
        assert page.evaluate("document.documentElement.scrollWidth") <= width_px
        width = page.evaluate("document.querySelector('dd').getBoundingClientRect().width")
        assert width > width_px / 3
    finally:
        page.close()


def test_columns_beyond_the_text_are_seen_on_a_desktop(browser: Browser) -> None:
    """A regression: two of eight columns of a study stood to the right of the screen, at whose sides there was room."""
    heads = ["figure", *(f"head {number}" for number in range(8))]
    rows = [["a phrase of five words, MB/s", *["0.123456"] * 7, "the last of nine columns"]]
    shown = Page(title="", subtitle="", summary="", after=[Section("Rows", table("rows", heads, rows, wraps=True))])
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    try:
        page.set_content(shown.html())
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert page.is_hidden(".beyond"), "no column is to the right"
        assert page.evaluate("document.querySelector('table').offsetWidth") > 66 * 16, "or it fits the text"
    finally:
        page.close()
