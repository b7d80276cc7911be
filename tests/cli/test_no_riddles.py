"""Is any of the texts that nobody could read on a page or on a terminal back, and can everybody use the pages?

Real pages of real commands, as a reader sees them: without markup, scripts and the sources of runs. For the labels of
axes, which are drawn, see `test_readable.py`.
"""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from accessibility import all_findings
from program import program_in
from small_drives import drive_file
from ssdlab.cli import note_sayer
from ssdlab.errors import Note

EXAMPLES = Path(__file__).parents[2] / "examples"
MONDAY, FRIDAY = (str(EXAMPLES / name) for name in ("monday.json", "friday.json"))

NAMESPACES = '[[namespace]]\nname = "a"\nsize_bytes = "8 MiB"\n[[namespace]]\nname = "b"\nsize_bytes = "5 MiB"\n'
TENANTS = "[a]\nfilename=a\nrw=randwrite\nnumber_ios=9000\n[b]\nfilename=b\nrw=randwrite\nnumber_ios=6000\n"
SMALL = ("--drive", "small.toml")
CALLS = {
    "run": ["run", "uniform.fio", *SMALL, "--op", "20%"],
    "compare": ["compare", "uniform.fio", *SMALL, "--op", "20%,28%", "--set", "ftl.victim=greedy,fifo"],
    "compare, untimed": ["compare", "uniform.fio", *SMALL, "--until", "job", "--untimed"],
    "compare targets": ["compare", "targets", "uniform.fio", "--target", "simulated:small.toml"],
    "advise space": ["advise", "space", "uniform.fio", *SMALL, "--waf", "3"],
    "advise smart": ["advise", "smart", MONDAY, FRIDAY],
    "replay": ["replay", str(EXAMPLES / "traces/database.csv.gz"), *SMALL, "--op", "20%"],
    "fleet smart": ["fleet", "smart", MONDAY, FRIDAY],
    "health": ["health", MONDAY, FRIDAY],
    "advise refresh": ["advise", "refresh", *SMALL, "--reads-per-day", "1TB", "--life", "1y"],
    "check": ["check", "uniform.fio"],
    "lifetime by SMART": ["lifetime", "--before", MONDAY, "--after", FRIDAY, "--rated-tbw", "1PB"],
    "lifetime": ["lifetime", "uniform.fio", *SMALL, "--writes-per-day", "1GB", "--op", "28%"],
    "model": ["model", "--op", "7%,28%"],
    "price": ["price", "--drive", "tiny", "--price", "1"],
    "atlas": ["atlas"],
    "fsync": ["measure", "fsync", "--protocol", *SMALL, "--quick"],
    "write saturation": ["measure", "write-saturation", "--protocol", *SMALL, "--quick"],
    "sweep": ["sweep", "spare.toml"],
    "fit": ["fit", "points.csv", *SMALL, "--free", "nand.program_us=100..5000", "--until", "job"],
    "blame": ["blame", str(EXAMPLES / "commits.strace"), "--drive", "generic-tlc-480", "--rated-tbw", "150TB"],
    "advise tenants": ["advise", "tenants", "tenants.fio", "--drive", "tenants.toml", "--whole"],
    "run alone": ["run", "tenants.fio", "--drive", "tenants.toml", "--alone"],
    "fleet tenants": [
        *("fleet", "tenants", "tenants.fio", "--drive", "tenants.toml", "--drives", "2", "--writes-per-day", "1GB"),
    ],
    "fleet simulate": [
        *("fleet", "simulate", str(EXAMPLES / "traces"), "--drive", "generic-nvme-tlc-1000", "--op", "28%"),
    ],
}

RIDDLES = {
    "eff. OP": r"\beff\. ?OP",
    "dev.": r"\bdev\.(?!\w)",
    "6.1 U": r"\d U\b",
    "[R1, R9]": r"\[R\d",
    "saturated": r"\bsaturated \d",
    "pt": r"[\d.]+ pt\b",
    "3/1024 leaves": r"(?<!--scale )\b\d+/\d+ leaves",
    "2e-05 %": r"\de-\d+",
    "4,748 %": r"\d,\d{3}(?:\.\d+)? %",
    "829.85 %": r"\b\d{3,}\.\d+ %",
    "ftl.placement = ... should": r"\w\.\w+ = '?[\w-]+'? should",
    "1,0001,1001,2001": r"\d,\d{4},\d{4}",
    "2,000,000,000 MB/s": r"\d,\d{3},\d{3},\d{3} MB/s",
    "the 13 % of the article": r"\barticle\b",
    "(T - U) / U": r"\bT - U\b",
    "33.3333 %": r"\d\.\d{3,} %",
    "1 of 14 columns are": r"\b1 of \d+ columns are",
    "MSI Spatium; MSI Spatium: the note": r"\b(\w[\w ]{5,}); \1\b",
    "every 0.567 days": r"\b0\.\d+ days",
}
"""Each with the pattern of its kind."""
LONE_CELLS = r"whole|saturated|dev|pt|\d+/\d+"
"""What a cell or a head of a table must not be alone: "whole", "2/2"."""


def texts(page: str) -> Iterator[str]:
    """The visible texts of a page, element by element."""
    for hidden in ("style", "script", "pre"):
        page = re.sub(rf"<{hidden}\b.*?</{hidden}>", "", page, flags=re.DOTALL)
    yield from (unescape(text).replace("\xa0", " ").strip() for text in re.split(r"<[^>]+>", page) if text.strip())


def test_each_pattern_finds_its_text() -> None:
    """The canary of the next test."""
    for text, pattern in RIDDLES.items():
        shown = {"ftl.placement = ... should": "ftl.placement = 'host-streams' should be", "pt": "21.4 pt"}.get(
            text, text
        )
        assert re.search(pattern, f"a {shown.replace('saturated', 'saturated 4 KiB')} b"), text
    assert re.fullmatch(LONE_CELLS, "2/2") and re.fullmatch(LONE_CELLS, "whole")
    assert list(texts("<p>one <b>two</b></p><script>three</script>")) == ["one", "two"]


@pytest.fixture(scope="module", params=CALLS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The page of a call, and what it printed."""
    folder = tmp_path_factory.mktemp("made")
    small = drive_file("small", blocks=256, pages=16, user_bytes=13_631_488)
    (folder / "small.toml").write_text(small)
    (folder / "tenants.toml").write_text(f"{small}\n{NAMESPACES}")
    (folder / "tenants.fio").write_text(TENANTS)
    (folder / "uniform.fio").write_text("[uniform]\nrw=randwrite\nbs=4k\nnorandommap\n")
    (folder / "points.csv").write_text("workload,space_in_use,metric,value\nuniform.fio,,write_mib_s,5\n")
    (folder / "spare.toml").write_text(
        'name = "spare"\n[axes]\ndrive = ["small.toml"]\njob = ["uniform.fio"]\nop = [0.2, 0.28]\n'
        "[run]\ntimed = false\n"
    )
    ended = program_in(folder)(*CALLS[request.param], "--output", "out")
    assert ended.returncode == 0, ended.stderr
    return folder / "out/report.html", ended.stdout


def test_neither_page_nor_terminal_has_one(made: tuple[Path, str]) -> None:
    page, printed = made
    shown = [*texts(page.read_text()), *printed.splitlines()]
    found = [(text, each) for text, pattern in RIDDLES.items() for each in shown if re.search(pattern, each)]
    assert found == []
    assert [each for each in shown if re.fullmatch(LONE_CELLS, each)] == []


def test_a_note_of_several_runs_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A regression: advise tenants, which runs a job twice, printed three notes twice."""
    say = note_sayer()
    for text in ("one", "two", "one"):
        say(Note(text), Note)
    say(Warning("of a library"), Warning)
    assert capsys.readouterr().err == "note: one\nnote: two\n"


@pytest.mark.surroundings
def test_axe_finds_nothing_and_a_phone_shows_the_whole_width(made: tuple[Path, str], browser: Browser) -> None:
    """A regression: the cell above the names of rows was a head without text, on two kinds of page."""
    for scheme, width_px in (("light", 390), ("dark", 1280)):
        page = browser.new_page(viewport={"width": width_px, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        try:
            page.goto(made[0].as_uri())
            assert all_findings(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width_px
        finally:
            page.close()
