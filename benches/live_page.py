"""The live page in a real browser: pictures a second at 65,536 erase units, the engine's rate with and without the
page, the time to the first picture, and what a thousand reloads leave behind. A JSON line a benchmark.

    .venv/bin/python benches/live_page.py [--rounds 5] [--reloads 1000]

The rates are from turns in one run, with the page and without, so that they can be compared on a busy machine.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from ssdlab.live.choices import DriveChoice
from ssdlab.live.server import LiveServer
from ssdlab.live.serving import live_server
from ssdlab.live.workbench import Start, Workbench

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]
CHROMIUM = "/usr/bin/chromium"
# 64 planes of 1,024 blocks, each block an erase unit of 256 units.
MANY = {"nand.blocks_per_plane": "1024", "nand.pages_per_block": "64", "ftl.erase_unit": "block"}
TURN_SECONDS = 4.0
DRAWN = ".picture canvas[data-drawn]"


@contextmanager
def serving(start: Start) -> Iterator[LiveServer]:
    """A server in a thread of this process."""
    with tempfile.TemporaryDirectory() as folder:
        server = live_server(start, Path(folder), port=0, tour=None, is_running=True)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join()
            server.close()


def bench_of(server: LiveServer) -> Workbench:
    assert isinstance(server.shown, Workbench)
    return server.shown


def drawn_page(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.wait_for_selector(DRAWN)
    return page


def requests_in(server: LiveServer, seconds: float) -> float:
    """The engine's requests a second over a turn."""
    session = bench_of(server).session
    before, start = sum(session.issued(0)), time.monotonic()
    time.sleep(seconds)
    return (sum(session.issued(0)) - before) / (time.monotonic() - start)


def rates(browser: Browser, rounds: int, *, timed: bool) -> dict[str, object]:
    """Turns with the page and without."""
    start = Start((DriveChoice(name="generic-tlc-480", op=0.28),), settings=MANY, timed=timed)
    with_page, without, pictures = [], [], []
    with serving(start) as server:
        # Until the drive is full and cleaning, whose work is then the same in every turn.
        while sum(bench_of(server).session.issued(0)) < 2.5 * bench_of(server).benches[0].drive.capacity.user_units:
            time.sleep(0.2)
        for _ in range(rounds):
            page = drawn_page(browser, server.address)
            page.wait_for_timeout(1000)
            with_page.append(requests_in(server, TURN_SECONDS))
            pictures.append(float(page.evaluate("document.documentElement.dataset.picturesPerSecond")))
            page.close()
            time.sleep(0.3)
            without.append(requests_in(server, TURN_SECONDS))
        erase_units = bench_of(server).benches[0].drive.capacity.erase_units
    shares = [one / other for one, other in zip(with_page, without, strict=True)]
    return {
        "benchmark": f"live page, {'timed' if timed else 'untimed'}",
        "erase_units": erase_units,
        "pictures_per_second": statistics.median(pictures),
        "requests_per_second_with_page": round(statistics.median(with_page)),
        "requests_per_second_without": round(statistics.median(without)),
        "engine_share": round(statistics.median(shares), 3),
    }


def first_picture(browser: Browser, rounds: int) -> dict[str, object]:
    """From the command to the first picture in a browser that is open."""
    to_address, to_picture = [], []
    for _ in range(rounds):
        start = time.monotonic()
        command = [
            sys.executable,
            "-m",
            "ssdlab",
            "live",
            "--no-browser",
            "--drive",
            "generic-tlc-480",
            "--scale",
            "1/64",
        ]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert program.stdout is not None
            address = program.stdout.readline().strip()
            to_address.append(time.monotonic() - start)
            page = drawn_page(browser, address)
            to_picture.append(time.monotonic() - start)
            page.close()
        finally:
            program.terminate()
            program.wait()
    return {
        "benchmark": "first picture",
        "address_seconds": round(statistics.median(to_address), 2),
        "picture_seconds": round(statistics.median(to_picture), 2),
        "picture_seconds_min": round(min(to_picture), 2),
    }


def reloads(browser: Browser, count: int) -> dict[str, object]:
    """What the server holds after so many reloads, against a tenth of them."""

    def held() -> dict[str, int]:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return {"threads": int(status["Threads"]), "memory_kib": int(status["VmRSS"].split()[0])}

    with serving(Start((DriveChoice(name="generic-tlc-480"),), timed=False)) as server:
        bench_of(server).set_speed(100_000)
        page = drawn_page(browser, server.address)
        early = held()
        for number in range(1, count + 1):
            page.reload(wait_until="domcontentloaded")
            if number % 10 == 0:
                page.wait_for_selector(DRAWN)
            if number == max(1, count // 10):
                early = held()
        late, pages = held(), server.pages
        page.close()
    return {"benchmark": "reloads", "count": count, "pages_open": pages, "after_a_tenth": early, "after_all": late}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reloads", type=int, default=100)
    given = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        print(json.dumps(first_picture(browser, given.rounds)), flush=True)
        for timed in (True, False):
            print(json.dumps(rates(browser, given.rounds, timed=timed)), flush=True)
        print(json.dumps(reloads(browser, given.reloads)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
