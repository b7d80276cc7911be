"""The live page in a real browser: pictures a second at 65,536 erase units, the engine's rate with and without the
page, the time to the first picture, and what a thousand reloads leave behind. A JSON line a benchmark.

    .venv/bin/python benches/live_page.py [--rounds 5] [--reloads 1000]

The rates are from turns in one run, with the page and without, so that they can be compared on a busy machine. With no
rounds only the reloads are done, and with no reloads only the rounds.
"""

import argparse
import json
import os
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
PATIENCE_MS = 120_000
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
    page.wait_for_selector(DRAWN, timeout=PATIENCE_MS)
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


@contextmanager
def program(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`ssdlab live` as users start it, and its address."""
    command = [sys.executable, "-m", "ssdlab", "live", "--no-browser", "--drive", "generic-tlc-480", "--scale", "1/64"]
    started = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert started.stdout is not None
        yield started, started.stdout.readline().strip()
    finally:
        started.terminate()
        started.wait()


def first_picture(browser: Browser, rounds: int) -> dict[str, object]:
    """From the command to the first picture in a browser that is open, and how much of it the program computed."""
    to_address, to_picture, computed = [], [], []
    for _ in range(rounds):
        start = time.monotonic()
        with program() as (server, address):
            to_address.append(time.monotonic() - start)
            computed.append(processor_seconds(server.pid))
            page = drawn_page(browser, address)
            to_picture.append(time.monotonic() - start)
            page.close()
    return {
        "benchmark": "first picture",
        "address_seconds": round(statistics.median(to_address), 2),
        "address_processor_seconds": round(statistics.median(computed), 2),
        "picture_seconds": round(statistics.median(to_picture), 2),
        "picture_seconds_min": round(min(to_picture), 2),
    }


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def held(pid: int) -> dict[str, int]:
    """What a process holds."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return {"threads": int(status["Threads"]), "files": files, "memory_kib": int(status["VmRSS"].split()[0])}


def reloads(browser: Browser, count: int) -> dict[str, object]:
    """What the program holds after so many reloads, against a tenth of them, when its history is as long as it gets."""
    with program("--untimed") as (server, address):
        page = drawn_page(browser, address)
        # It goes on, at a speed at which pages have the machine to themselves.
        for _ in range(5):
            page.keyboard.press("-")
        begun = time.monotonic()
        early = held(server.pid)
        for number in range(1, count + 1):
            page.reload(wait_until="domcontentloaded")
            if number % 10 == 0:
                page.wait_for_selector(DRAWN, timeout=PATIENCE_MS)
            if number == max(1, count // 10):
                early = held(server.pid)
        page.close()
        time.sleep(2)
        late = held(server.pid)
    seconds = round(time.monotonic() - begun)
    return {"benchmark": "reloads", "count": count, "seconds": seconds, "after_a_tenth": early, "after_all": late}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--reloads", type=int, default=100)
    given = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        if given.rounds:
            print(json.dumps(first_picture(browser, given.rounds)), flush=True)
            for timed in (True, False):
                print(json.dumps(rates(browser, given.rounds, timed=timed)), flush=True)
        if given.reloads:
            print(json.dumps(reloads(browser, given.reloads)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
