"""Reports for people with a screen reader, a keyboard or weak sight: axe-core finds nothing serious.

Each mark of each chart once was a picture without a name, 38 in a report of two variants.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from accessibility import grave_findings
from waiting import SECONDS_MAX


@pytest.mark.parametrize(("scheme", "width_px"), [("light", 390), ("dark", 1280)])
def test_a_report(report: list[Path], browser: Browser, scheme: str, width_px: int) -> None:
    page = browser.new_page(viewport={"width": width_px, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page.goto(report[-1].as_uri())
        page.wait_for_selector("svg .mark-symbol", state="attached", timeout=SECONDS_MAX * 1000)
        assert grave_findings(page) == []
    finally:
        page.close()
