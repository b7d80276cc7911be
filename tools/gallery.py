"""Makes the gallery: the pages of the studies, a tour as an animation, pictures of the live page. All of it from runs.

    tools/gallery.py out/gallery [--without-studies]

It takes minutes, most of them the studies, and is no part of the tests. Chromium draws the live page.
"""

import argparse
import io
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from ssdlab.live.choices import DriveChoice
from ssdlab.live.server import LiveServer
from ssdlab.live.serving import live_server
from ssdlab.live.tours import tours
from ssdlab.live.workbench import Start

TOUR = "write-amplification"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]
WIDTH_PX, HEIGHT_PX = 1280, 860
FRAMES_PER_STEP = 16
# By then the drive is in its steady state.
DRIVE_WRITES = 5
FRAME_MS = 500
SHOWN_MS = 260


@contextmanager
def live_page(browser: Browser, scheme: str) -> Iterator[Page]:
    """The page of a drive that is just beginning, in a colour scheme."""
    with tempfile.TemporaryDirectory() as folder:
        start = Start((DriveChoice(name="generic-tlc-480"),))
        server: LiveServer = live_server(start, Path(folder), port=0, tour=None, is_running=False)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            page = browser.new_page(
                viewport={"width": WIDTH_PX, "height": HEIGHT_PX},
                color_scheme=scheme,  # type: ignore[arg-type]
            )
            page.goto(server.address)
            page.wait_for_selector(".picture canvas[data-drawn]")
            yield page
            page.close()
        finally:
            server.stop()
            thread.join()
            server.close()


def begin_tour(page: Page) -> None:
    page.click("#tours-open")
    page.click(f'[data-tour="{TOUR}"]')
    page.wait_for_selector("#tour:not([hidden])")


def animation(browser: Browser, path: Path) -> None:
    """The tour, step by step, as an animated WebP."""
    frames: list[Image.Image] = []
    steps = len(tours()[TOUR].steps)
    with live_page(browser, "light") as page:
        begin_tour(page)
        for step in range(steps):
            for _ in range(FRAMES_PER_STEP):
                page.wait_for_timeout(FRAME_MS)
                picture = Image.open(io.BytesIO(page.screenshot()))
                frames.append(
                    picture.convert("RGB").resize((WIDTH_PX * 3 // 4, HEIGHT_PX * 3 // 4), Image.Resampling.LANCZOS)
                )
            if step + 1 < steps:
                page.click("#tour-next")
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=SHOWN_MS, loop=0, quality=70)


def still(browser: Browser, scheme: str, path: Path) -> None:
    """The page once its drive has come into the steady state."""
    with live_page(browser, scheme) as page:
        page.click("#run")
        drive_writes = page.locator('[data-figure="drive-writes"]')
        while float(drive_writes.get_attribute("data-value") or 0) < DRIVE_WRITES:
            page.wait_for_timeout(500)
        page.screenshot(path=path)


def studies(folder: Path) -> list[str]:
    """The page of each study, in a folder each."""
    subprocess.run([sys.executable, "-m", "ssdlab", "study", "--all", "--output", str(folder)], check=True)
    return sorted(path.parent.name for path in folder.glob("*/report.html"))


def index(names: list[str]) -> str:
    entries = "".join(f'<li><a href="studies/{escape(name)}/report.html">{escape(name)}</a></li>' for name in names)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>ssdlab: gallery</title></head>
<body><h1>ssdlab</h1>
<h2>A tour of the live page</h2>
<p><img src="tour.webp" alt="{escape(tours()[TOUR].title)}, as an animation" width="960"></p>
<h2>The live page</h2><p><img src="live-light.png" alt="The live page, light" width="960"></p>
<p><img src="live-dark.png" alt="The live page, dark" width="960"></p>
<h2>Published experiments, repeated</h2><ul>{entries}</ul></body></html>
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without-studies", action="store_true")
    given = parser.parse_args()
    folder: Path = given.folder
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        if chromium is None:
            raise SystemExit("gallery: chromium is not installed")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        animation(browser, folder / "tour.webp")
        for scheme in ("light", "dark"):
            still(browser, scheme, folder / f"live-{scheme}.png")
        browser.close()
    names = [] if given.without_studies else studies(folder / "studies")
    (folder / "index.html").write_text(index(names), encoding="utf-8")
    print(f"gallery: {folder / 'index.html'}")


if __name__ == "__main__":
    main()
