"""Tests the site built by `tools/website.py` in Chromium: links, accessibility, search, and the engine in the page.

    tools/try_site.py

Every link must lead to an existing page and heading, no other server is contacted, and axe-core finds nothing serious.
The engine in the page must return the same bytes as the native one, and execute at least a million timed requests per
second. Exits with code 1 if one of these fails; without Chromium it prints so and tests nothing.
"""

import http.server
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from urllib.parse import unquote, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page, Request, sync_playwright

from ssdlab.simulator import engine

SITE = Path(__file__).parents[1] / "out/site"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]
# Pages with highlighted code: shell, Python, TOML.
HIGHLIGHTED = ("contributing.html", "python.html", "simulate/sweeps.html")
# Pages with tables of figures.
FIGURES = ("simulate/caches.html", "real-drives/identify-method.html")
# One page of each kind: prose, tables, code, lists of studies.
LOOKED_AT = (
    "index.html",
    "tutorial.html",
    "simulate/drive-file.html",
    "commands.html",
    "studies.html",
    *HIGHLIGHTED,
    *FIGURES,
)
PATIENCE_MS = 60_000
RATE_MIN = 1e6
MEASURED_SECONDS = 8
RUN_REQUESTS = 300_000


class _Page(HTMLParser):
    """The links and resources of a page, and the anchors in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is not None and name in ("href", "src"):
                self.links.append(value)
            elif value is not None and name == "id":
                self.ids.add(value)


def lost_links() -> list[str]:
    """Links of any page without a target on the site; links to other sites are not followed."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in SITE.rglob("*.html")}
    lost = []
    for path, page in pages.items():
        # The error page is served for any path, so its links start at the root.
        for link in page.links if path.name != "404.html" else []:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(url.fragment)
            has_anchor = not anchor or target not in pages or anchor in pages[target].ids
            if not target.is_file() or not has_anchor:
                lost.append(f"{path.relative_to(SITE)}: {link}")
    return lost


@contextmanager
def served() -> Iterator[str]:
    """The address of the site, served on a free port of this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def grave(page: Page) -> list[str]:
    """The serious and critical findings of axe-core."""
    rules = Axe().run(page).response["violations"]
    grave = [rule for rule in rules if rule["impact"] in ("serious", "critical")]
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:120]}" for rule in grave]


_FIGURES_ON_LINES = """[...document.querySelectorAll("td.figure")].filter((cell) => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  return text.getClientRects().length > 1;
}).length"""


def _broken(page: Page) -> list[str]:
    """What does not fit the window, and figures of tables that stand on two lines."""
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    figures = page.evaluate(_FIGURES_ON_LINES)
    return ["wider than the window"] * bool(wide) + [f"{figures} figures on two lines"] * bool(figures)


def read(browser: Browser, address: str) -> list[str]:
    """Opens pages in both colour schemes and widths. Returns the problems found."""
    wrong: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            wrong.append(f"asks {request.url}")

    def fail(error: Error) -> None:
        wrong.append(str(error))

    for scheme, width in product(("light", "dark"), (390, 1280)):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page.on("request", note)
        page.on("pageerror", fail)
        for name in LOOKED_AT:
            page.goto(address + name)
            wrong += [f"{name}, {scheme}, {width} px: {finding}" for finding in (*grave(page), *_broken(page))]
        page.close()
    return wrong


def search_of_file(browser: Browser) -> list[str]:
    """Searches on a page that was opened from a file, without a server. Returns the problems found."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((SITE / "simulate/jobs.html").as_uri())
    page.click('[data-md-component="search-query"]')
    page.keyboard.type("wear leveling")
    try:
        page.wait_for_selector(".md-search-result__link", timeout=PATIENCE_MS)
    except Error as error:
        return [f"a page opened from a file does not search: {error.message.splitlines()[0]}"]
    finally:
        page.close()
    return []


_RUN = """async (specification) => {
  const { Engine } = await import(new URL("engine.js", location.href).href);
  const module = await (await fetch("engine.wasm")).arrayBuffer();
  const engine = await Engine.of(module);
  const text = new TextEncoder().encode(`{"do":"run","specification":${specification}}`);
  const room = engine.exports.room(text.length);
  new Uint8Array(engine.exports.memory.buffer, room, text.length).set(text);
  const length = engine.exports.answer();
  return new TextDecoder().decode(new Uint8Array(engine.exports.memory.buffer, engine.exports.address(), length));
}"""

_RATE = """async ([specification, seconds]) => {
  const { Engine } = await import(new URL("engine.js", location.href).href);
  const module = await (await fetch("engine.wasm")).arrayBuffer();
  const engine = await Engine.of(module);
  engine.ask({ do: "open", drive: 0, specification });
  // The best second: in the others this machine may have done something else.
  let best = 0;
  let before = 0;
  for (let second = 0; second < seconds; second++) {
    const start = performance.now();
    let requests = before;
    const heap = { do: "advance", drive: 0, requests: 20000 };
    while (performance.now() < start + 1000) requests = engine.ask(heap).requests;
    best = Math.max(best, (requests - before) / (performance.now() - start) * 1000);
    before = requests;
  }
  return [best, engine.memoryBytes];
}"""


def _specification(number_ios: int | None) -> str:
    """The specification of the page's initial drive under random writes, as the engine receives it."""
    from ssdlab.live.bench import resolve_to_watch
    from ssdlab.live.choices import DriveChoice
    from ssdlab.simulator.workloads.controls import Controls
    from ssdlab.simulator.workloads.jobs import parse
    from ssdlab.simulator.workloads.specifying import specify

    (section,) = Controls().sections("work", 100)
    limit = f"number_ios={number_ios * 64}\n" if number_ios else ""
    drive = resolve_to_watch(DriveChoice(name="generic-tlc-480"), {}, None)
    return specify(parse(section + limit, "try_site"), drive, seed=1).engine_json()


def try_engine(page: Page, address: str) -> list[str]:
    """Compares the page's engine with the native one, byte by byte, and measures its speed. Returns the problems
    found."""
    # A page in that folder without drives.
    page.goto(f"{address}live/catalogue.json")
    wrong = []
    specification = _specification(RUN_REQUESTS)
    native, _ = engine.simulate(engine.Work(specification))
    if page.evaluate(_RUN, specification) != native:
        wrong.append("the engine in the page gives other bytes than the native one")
    else:
        print(f"try_site: {len(native)} bytes of a run's outcome, the same in the page and natively")
    begun = json.loads(_specification(None))
    begun["jobs"][0]["seed"] = 1
    rate, memory_bytes = page.evaluate(_RATE, [begun, MEASURED_SECONDS])
    print(f"try_site: {rate:,.0f} timed requests a second in the page, {memory_bytes / 2**20:.0f} MiB of memory")
    if rate < RATE_MIN:
        wrong.append(f"{rate:,.0f} timed requests a second in the page; at least {RATE_MIN:,.0f} are asked for")
    return wrong


def try_page(page: Page, address: str) -> list[str]:
    """Checks that the live page shows a running drive and that its controls change it. Returns the problems found."""
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.goto(f"{address}live/index.html")
    page.wait_for_selector(".picture canvas[data-drawn]", timeout=PATIENCE_MS)
    page.wait_for_selector('[data-figure="waf"][data-value]', timeout=PATIENCE_MS)
    wrong += grave(page)
    page.click("#compare")
    page.wait_for_function("document.querySelectorAll('.picture').length === 2", timeout=PATIENCE_MS)
    page.select_option("#kind", "sequential")
    page.click("#mark")
    page.wait_for_selector("#moments li", timeout=PATIENCE_MS)
    page.click("#cut-power")
    page.wait_for_selector("#recovery:not([hidden])", timeout=PATIENCE_MS)
    print(f"try_site: the live page says '{page.text_content('#rate')}'")
    if page.is_visible("#notice.wrong"):
        wrong.append(f"the live page says: {page.text_content('#notice')}")
    return wrong


def main() -> int:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    wrong = lost_links()
    if path is None:
        print("try_site: Chromium is not installed; only the links are tried")
    else:
        with served() as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            wrong += read(browser, address)
            wrong += search_of_file(browser)
            if (SITE / "live/engine.wasm").is_file():
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                wrong += try_engine(page, address)
                page.close()
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                wrong += try_page(page, address)
            browser.close()
    for line in wrong:
        print(f"try_site: {line}", file=sys.stderr)
    print(f"try_site: {len(list(SITE.rglob('*.html')))} pages, {len(wrong)} faults")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
