"""Creates the gallery: the pages of the studies, a tour as an animation, pictures of the live page. All of it from
runs.

    tools/gallery.py out/gallery [--study NAME ...] [--readme docs/pictures]

It takes minutes, most of them for the studies (all by default; `none` for none), and is not part of the tests. Chromium
draws the live page. `--readme` copies the pictures that the README shows to that folder.
"""

import argparse
import base64
import io
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from markupsafe import Markup
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from ssdlab.experiments.studies import registry
from ssdlab.live.choices import DriveChoice
from ssdlab.live.server import LiveServer
from ssdlab.live.serving import live_server
from ssdlab.live.theory import LOADING
from ssdlab.live.tours import tours
from ssdlab.live.workbench import Start
from ssdlab.presentation.report import page as report

TOUR = "write-amplification"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]
WIDTH_PX, HEIGHT_PX = 1280, 860
FRAMES_PER_STEP = 16
# After this amount the drive is in steady state.
DRIVE_WRITES = 5
FRAME_MS = 500
PATIENCE_MS = 60_000
QUALITY = 82
README_PICTURE = "free-space-fusionio/pictures/throughput-against-space-*.svg"
SHOWN_MS = 260


@contextmanager
def live_pages(browser: Browser, *schemes: str) -> Iterator[list[Page]]:
    """Pages of a drive that is just starting, one in each colour scheme."""
    with tempfile.TemporaryDirectory() as folder:
        start = Start((DriveChoice(name="generic-tlc-480"),))
        server: LiveServer = live_server(start, Path(folder), port=0, tour=None, is_running=False)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            pages = []
            for scheme in schemes:
                page = browser.new_page(
                    viewport={"width": WIDTH_PX, "height": HEIGHT_PX},
                    color_scheme=scheme,  # type: ignore[arg-type]
                )
                pages.append(page)
                page.goto(server.address)
                page.wait_for_selector(".picture canvas[data-drawn]", timeout=PATIENCE_MS)
            yield pages
            for page in pages:
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
    with live_pages(browser, "light") as (page,):
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
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=SHOWN_MS, loop=0, quality=70, method=4)


def stills(browser: Browser, folder: Path) -> None:
    """The page after its drive has reached steady state, light and dark."""
    with live_pages(browser, "light", "dark") as pages:
        first = pages[0]
        # Waits until theory's line is loaded.
        first.wait_for_function(
            "(loading) => document.querySelector('[data-figure=theory]').title !== loading",
            arg=LOADING,
            timeout=PATIENCE_MS,
        )
        first.click("#run")
        drive_writes = first.locator('[data-figure="drive-writes"]')
        while float(drive_writes.get_attribute("data-value") or 0) < DRIVE_WRITES:
            first.wait_for_timeout(500)
        for page, scheme in zip(pages, ("light", "dark"), strict=True):
            picture = Image.open(io.BytesIO(page.screenshot()))
            picture.convert("RGB").save(folder / f"live-{scheme}.webp", quality=QUALITY, method=6)


def studies(folder: Path, names: list[str]) -> list[str]:
    """Writes the page of each study, each to its own folder; of all studies, if none is named."""
    wanted = {name: [name] for name in names} or {"all": ["--all"]}
    for name, words in wanted.items():
        output = folder if name == "all" else folder / name
        subprocess.run(
            [sys.executable, "-m", "ssdlab", "study", *words, "--output", str(output), "--pictures", "svg"], check=True
        )
    return sorted(path.parent.name for path in folder.glob("*/report.html"))


def put_for_readme(gallery: Path, pictures: Path) -> None:
    """Copies the pictures that the README shows; a study's picture only if the study was run."""
    for path in (*gallery.glob("live-*.webp"), *(gallery / "studies").glob(README_PICTURE)):
        shutil.copyfile(path, pictures / path.name)


def index(folder: Path, names: list[str]) -> str:
    """The gallery's index page, which like every page of ssdlab contains its pictures."""
    title = tours()[TOUR].title
    live = Markup(
        '<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
        '<img src="{light}" alt="The live page" style="max-width: 100%"></picture>'
    ).format(dark=_embedded(folder / "live-dark.webp"), light=_embedded(folder / "live-light.webp"))
    tour = Markup('<img src="{address}" alt="{title}, as an animation" style="max-width: 100%">').format(
        address=_embedded(folder / "tour.webp"), title=title
    )
    entries = Markup().join(
        Markup('<li><a href="studies/{name}/report.html">{title}</a></li>').format(
            name=name, title=registry.study(name).title
        )
        for name in names
    )
    entries = Markup("<ul>{}</ul>").format(entries)
    return report.Page(
        title="ssdlab: gallery",
        subtitle="Made from runs by make gallery",
        summary="A drive at work in the browser, one of its guided tours, and the published experiments, repeated.",
        before=[
            report.Section("The live page", live),
            report.Section(f"A tour of it: {title}", tour),
            *([report.Section("Published experiments, repeated", entries)] if names else []),
        ],
    ).html()


def _embedded(picture: Path) -> str:
    return f"data:image/webp;base64,{base64.b64encode(picture.read_bytes()).decode()}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--study", action="append", default=[], metavar="NAME|none")
    parser.add_argument("--readme", type=Path, metavar="DIR")
    given = parser.parse_args()
    folder: Path = given.folder
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        if chromium is None:
            raise SystemExit("gallery: chromium is not installed")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        stills(browser, folder)
        animation(browser, folder / "tour.webp")
        browser.close()
    names = [] if given.study == ["none"] else studies(folder / "studies", given.study)
    (folder / "index.html").write_text(index(folder, names), encoding="utf-8")
    if given.readme is not None:
        put_for_readme(folder, given.readme)
    print(f"gallery: {folder / 'index.html'}")


if __name__ == "__main__":
    main()
