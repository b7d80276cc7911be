"""Is the written report complete, and does a browser draw it without errors and network access?"""

import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from made_up import made_up_variant
from ssdlab.presentation.report import ComparedVariant, write_comparison
from ssdlab.presentation.report.comparison import comparison_page
from ssdlab.presentation.report.files import write_atomically
from ssdlab.presentation.report.theme import DARK, LIGHT

PICTURES = (
    "waf-over-host-writes",
    "waf-against-over-provisioning",
    "iops-over-time",
    "latency-over-time",
    "latency-by-part",
    "iops-against-over-provisioning",
    "latency-against-over-provisioning",
    "nand-writes-by-part",
    "wear",
    "spare-area-over-host-writes",
)
CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def test_every_picture_is_there_in_every_form(report: list[Path]) -> None:
    expected = {
        f"{name}-{theme}.{ending}" for name in PICTURES for theme in ("light", "dark") for ending in ("svg", "png")
    }
    assert {path.name for path in report} == expected | {"report.html"}
    assert report[-1].name == "report.html"
    folder = report[-1].parent
    assert {path for path in folder.rglob("*") if path.is_file()} == set(report), "a temporary file was left"
    assert {path.name for path in folder.iterdir()} == {"report.html", "pictures"}
    for path in report:
        if path.suffix == ".png":
            content = path.read_bytes()
            assert content.startswith(b"\x89PNG")
            assert int.from_bytes(content[16:20]) >= 1500, f"{path.name} is not drawn at twice the size"
        if path.suffix == ".svg":
            background = "#12161c" if "dark" in path.name else "#ffffff"
            assert background in path.read_text().lower()


def test_titles_are_in_the_pictures(report: list[Path]) -> None:
    svg = next(path for path in report if path.name == "waf-against-over-provisioning-light.svg").read_text()
    assert "of over-provisioning" in svg.replace("\u00a0", " ")


class _References(HTMLParser):
    """Collects the resources that an HTML file would load, and its ids and tags."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.tags: list[str] = []
        self.language = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data", "action", "poster"):
                self.references.append(value or "")
            if tag == "html" and name == "lang":
                self.language = value or ""


def test_page_refers_to_nothing_outside_itself(report: list[Path]) -> None:
    page = report[-1].read_text()
    parser = _References()
    parser.feed(page)
    assert [reference for reference in parser.references if not reference.startswith("#")] == []
    assert "link" not in parser.tags
    assert "default-src 'none'" in unescape(page)
    styles = "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    assert parser.language == "en"
    assert 'name="viewport"' in page


def test_foreign_text_is_escaped(report: list[Path]) -> None:
    page = report[-1].read_text()
    assert "<h1>Spare &lt;area&gt;</h1>" in page
    assert "&lt;/script&gt;&lt;b&gt;" in page
    assert "<b>" not in page.split("<script", 1)[0]


def test_missing_values_say_why(report: list[Path]) -> None:
    page = report[-1].read_text()
    table = page[page.index("<table>") : page.index("</ul>")]
    assert table.count("\u2014") == 4  # theory and deviation of one variant, TBW and years of another
    assert "no rated cycles" in table
    assert "no closed form applies" in table
    assert "not reached" in table


def test_scale_is_said(report: list[Path]) -> None:
    assert "Simulated at a scale of 1/16 (28\u00a0%)" in report[-1].read_text()


@pytest.mark.parametrize("without", [2, 1, 0])
def test_runs_without_a_clock_say_what_the_clock_changes(without: int, tmp_path: Path) -> None:
    """A regression: write amplification with and without a clock differed by 3 to 6 %, and nothing said so."""
    variants = [replace(made_up_variant(name, 0.07), is_untimed=at < without) for at, name in enumerate("ab")]
    page = comparison_page(variants, [], "title", "subtitle", "command")
    notices = [notice for notice in page.notices if "with the clock write amplification differs" in notice]
    assert len(notices) == bool(without)
    assert [notice.startswith("a: ") for notice in notices] == [without == 1] * bool(without)


def _dumped(page: Path, profile: Path, *, scheme: str, width: int = 1280) -> tuple[str, str]:
    """The DOM after the scripts have run, and the browser's log."""
    assert CHROMIUM is not None
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", "--disable-quic", "--enable-logging=stderr"]
    flags += [f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}", f"--user-data-dir={profile}"]
    flags += [f"--window-size={width},2400", "--virtual-time-budget=8000", "--dump-dom", page.as_uri()]
    done = subprocess.run([CHROMIUM, *flags], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def _drawn(dom: str) -> str:
    """The charts in the DOM, without the scripts, which contain the same text."""
    return "".join(re.findall(r"<svg.*?</svg>", re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL), re.DOTALL))


@needs_chromium
@pytest.mark.surroundings
def test_browser_draws_all_pictures(report: list[Path], tmp_path: Path) -> None:
    dom, log = _dumped(report[-1], tmp_path / "profile", scheme="light")
    assert "CONSOLE" not in log, [line for line in log.splitlines() if "CONSOLE" in line]
    assert _drawn(dom).count("<svg") == len(PICTURES)
    assert dom.count('data-drawn="true"') == len(PICTURES)
    for index in range(3):
        assert LIGHT.variants[index] in _drawn(dom)


@needs_chromium
@pytest.mark.surroundings
def test_key_switches_a_variant_off_in_every_picture_in_dark_and_narrow(report: list[Path], tmp_path: Path) -> None:
    click = """<script>
    const wait = setInterval(() => {
      if (document.querySelectorAll("[data-drawn]").length < PICTURES) return;
      clearInterval(wait);
      document.querySelector(".key button").click();
    }, 50);
    </script></body>""".replace("PICTURES", str(len(PICTURES)))
    before, _, after = report[-1].read_text().rpartition("</body>")
    page = tmp_path / "clicked.html"
    page.write_text(before + click + after)
    dom, log = _dumped(page, tmp_path / "profile", scheme="dark", width=500)
    assert "CONSOLE" not in log, [line for line in log.splitlines() if "CONSOLE" in line]
    assert len(re.findall('<button[^>]*aria-pressed="false"', dom)) == len(PICTURES) - 2, (
        "the key of variants stands at all pictures but those of parts"
    )
    assert _drawn(dom).count("<svg") == len(PICTURES)
    assert DARK.variants[0] not in _drawn(dom), "the first variant is still drawn"
    assert DARK.variants[1] in _drawn(dom), "the second variant is gone too"


def test_nothing_is_written_when_a_caller_errs(variants: list[ComparedVariant], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="labels"):
        write_comparison([variants[0], variants[0]], tmp_path / "out", title="t", subtitle="s")
    assert not (tmp_path / "out").exists()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_atomically(tmp_path / "report.html", "old")

    def fail(self: Path, content: bytes) -> int:
        raise OSError("disk full")

    with monkeypatch.context() as broken, pytest.raises(OSError, match="disk full"):
        broken.setattr(Path, "open", fail)
        write_atomically(path, "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"
