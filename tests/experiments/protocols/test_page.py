"""The page of a protocol, of one drive and of two, on a phone and on a large screen: axe-core finds nothing."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import ssdlab as lab
from accessibility import all_findings
from running_drives import DRIVE
from waiting import SECONDS_MAX

pytestmark = pytest.mark.surroundings


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "drive.toml").write_text(DRIVE)
    drives = [lab.drive(folder / "drive.toml", op=op) for op in (0.07, 0.28)]
    first, second = (lab.protocol("snia-iops", drive, quick=True) for drive in drives)
    first.write(folder / "one", command_line="ssdlab measure --protocol snia-iops")
    second.laid_beside(folder / "one").write(folder / "two", command_line="ssdlab measure --protocol snia-iops")
    return [folder / name / "report.html" for name in ("one", "two")]


@pytest.mark.parametrize(("scheme", "width_px"), [("light", 390), ("dark", 1280)])
def test_the_pages_have_no_findings(pages: list[Path], browser: Browser, scheme: str, width_px: int) -> None:
    page = browser.new_page(viewport={"width": width_px, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        for path in pages:
            page.goto(path.as_uri())
            page.wait_for_selector("svg .mark-line", state="attached", timeout=SECONDS_MAX * 1000)
            assert all_findings(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    finally:
        page.close()
