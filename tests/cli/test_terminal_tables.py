"""Every table in the terminal fits 60, 80 and 120 columns: no cell is cut, no word is broken, and omitted columns are
named."""

import io
import re
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from ssdlab.cli import app
from ssdlab.cli.console import Console as OurConsole
from ssdlab.experiments.advice.fit import Fit
from ssdlab.experiments.advice.fit_drive import Point, parameter
from ssdlab.experiments.comparison.axes import plan
from ssdlab.experiments.comparison.table import print_table
from ssdlab.experiments.comparison.variant import Variant
from ssdlab.experiments.protocols import output as protocols
from ssdlab.experiments.protocols import registry, simulated
from ssdlab.experiments.studies.contract import Row
from ssdlab.experiments.studies.table import print_rows
from ssdlab.presentation.terminal import show, wrapped
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import load
from ssdlab.simulator.targets import simulated as target
from ssdlab.simulator.workloads.specifying import specify

fit, fleet, model, sweep = (import_module(f"ssdlab.cli.{name}") for name in ("fit", "fleet", "model", "sweep"))

ROOT = Path(__file__).parents[2]
WIDTHS = (60, 80, 120)
# Wide enough for every table without changes.
WIDE = 400

_COMMANDS = {
    "drives": ["drives"],
    "one drive": ["drives", "generic-nvme-tlc-1000"],
    "striped drive": ["drives", "iodrive-duo-320gb-slc"],
    "policies": ["policies"],
    "price": ["price", "--drive", "agility2-100gb", "--drive", "agility2-120gb", "--op", "7%,28%"],
    "model": ["model", "--op", "7%,14%,28%", "--victim", "greedy", "--units-per-erase-unit", "256"],
    "profile": ["replay", str(ROOT / "examples" / "traces" / "mail.csv.gz"), "--profile"],
    "health": ["health", str(ROOT / "examples" / "monday.json"), str(ROOT / "examples" / "friday.json")],
}


def _variants(timed: bool) -> list[Variant]:
    planned = plan(["tiny", "textbook"], None, ["ftl.victim=greedy,fifo"], scale=None)
    planned = [each for each in planned if each.drive.name == "tiny"]
    job = workloads.load(str(ROOT / "jobs" / "randwrite.fio"))
    specifications = [specify(job, each.drive, until="steady", precondition="fill", timed=timed) for each in planned]
    return [Variant(each, target.run(one), 1.0) for each, one in zip(planned, specifications, strict=True)]


def _compare(timed: bool) -> Callable[[Console], None]:
    variants = _variants(timed)
    return lambda console: print_table(variants, console)


def _study(console: Console) -> None:
    rows = [
        Row("Write amplification of the hybrid policy at 28 %", 1.5, 1.52, "", 0.05, group="Table 3 of the article"),
        Row("Random writes of 4 KiB", 31_000.0, 29_500.5, "requests per second", 0.1, group="Table 3 of the article"),
    ]
    print_rows(rows, console)


def _protocol() -> Callable[[Console], None]:
    protocol = registry.protocol("trim-effect")
    drive = plan(["generic-tlc-480"], "7%", [], scale=Fraction(1, 256))[0].drive
    figures = simulated.run(protocol, drive, quick=True)
    return lambda console: protocols.print_table(protocol, figures, console)


def _fit(_console: Console) -> None:
    points = [Point(Path("random-writes-of-an-hour.fio"), "100GiB", "write_mib_s", 61.0, "points.csv:2")]
    bounds = parameter("nand.program_us=300..1500", load("generic-tlc-480"))
    found = Fit((612.5,), (60.2,), (-0.013,), ((600.0, 640.0),), 1.0, (), (), 9, ((-0.9,),))
    fit._print(found, [bounds], points, [60.9])


def _sweep(_console: Console) -> None:
    row = [0.07, "cost-benefit", 3.123456, 51234.5, None, 1234.5, None]
    names = ("op", "ftl_victim", "waf", "write_iops", "read_iops", "write_latency_us_p999", "failure")
    sweep._print_rows(pl.DataFrame([row], names, orient="row"))


def _fleet(_console: Console) -> None:
    heading = ["OP", "WAF", "least", "10 %", "median", "90 %", "most", "years", "under 5 years", "price of all"]
    fleet.print_rows(
        [heading, ["7 %", "1.40", "1.06", "1.09", "1.25", "1.40", "1.44", "2,541", "0 of 2", "$ 1,280,000"]]
    )


def _model(_console: Console) -> None:
    model._print_table([model._Row(0.07, 0.0654, 0.93, 7.654)], "greedy, closed form", 1.0)


@pytest.fixture(scope="module")
def printers() -> dict[str, Callable[[Console], None]]:
    made = {"compare": _compare(False), "timed compare": _compare(True), "protocol": _protocol(), "study": _study}
    return made | {"fit": _fit, "sweep": _sweep, "fleet": _fleet}


def _of_command(arguments: list[str], width: int) -> str:
    result = CliRunner(env={"COLUMNS": str(width)}).invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def _printed(
    printer: Callable[[Console], None], width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    printer(Console(width=width))
    return capsys.readouterr().out


def _check(narrow: str, wide: str, width: int) -> None:
    assert "\N{HORIZONTAL ELLIPSIS}" not in narrow
    assert [line for line in narrow.splitlines() if len(line.rstrip()) > width] == []

    def words(text: str) -> set[str]:
        # The drawing of a drive adapts differently: tests/simulator/drives/test_commands.py.
        text = text[text.find("definition") :] if "controller" in text else text
        return set(re.findall(r"[^\s,\N{BOX DRAWINGS LIGHT HORIZONTAL}]+", text))

    said = re.sub(r"left out for width: [\w, ]*\n", "", narrow)
    assert words(said) - words(wide) == set()


@pytest.mark.parametrize("name", _COMMANDS)
def test_tables_of_commands_fit(name: str) -> None:
    wide = _of_command(_COMMANDS[name], WIDE)
    for width in WIDTHS:
        _check(_of_command(_COMMANDS[name], width), wide, width)


@pytest.mark.parametrize("name", ["compare", "timed compare", "protocol", "study", "fit", "sweep", "fleet"])
def test_tables_of_runs_fit(
    name: str,
    printers: dict[str, Callable[[Console], None]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wide = _printed(printers[name], WIDE, monkeypatch, capsys)
    for width in WIDTHS:
        _check(_printed(printers[name], width, monkeypatch, capsys), wide, width)


def test_drives_take_one_line_each() -> None:
    from ssdlab.simulator.drives import names

    for width in WIDTHS:
        lines = _of_command(["drives"], width).splitlines()
        assert all(sum(line.split()[:1] == [name] for line in lines) == 1 for name in names())


_words = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=14)
_prose = st.lists(_words, min_size=1, max_size=8).map(" ".join)


@settings(max_examples=60)
@given(
    rows=st.integers(1, 8).flatmap(
        lambda n: st.lists(st.lists(_prose, min_size=n, max_size=n), min_size=1, max_size=4)
    ),
    width=st.integers(40, 130),
    right=st.booleans(),
)
def test_any_table_keeps_every_word_whole(rows: list[list[str]], width: int, right: bool) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for index in range(len(rows[0])):
        table.add_column(f"column {index}", justify="right" if right and index else "left")
    for row in rows:
        table.add_row(*row)
    stream = io.StringIO()
    show(table, Console(file=stream, width=width))
    text = stream.getvalue()
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    printed = text.split()
    for word in (word for row in rows for cell in row for word in cell.split()):
        assert word in printed


def test_a_column_that_is_left_out_is_named() -> None:
    def text(width: int) -> str:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for name in ("drive", "speed", "price"):
            table.add_column(name, no_wrap=True)
        table.add_row("a" * 20, "b" * 20, "c" * 20)
        stream = io.StringIO()
        show(table, Console(file=stream, width=width), ("price", "speed"))
        return stream.getvalue()

    assert "left out" not in text(70)
    assert "left out for width: price" in text(50) and "ccc" not in text(50)
    assert "left out for width: price, speed" in " ".join(text(30).split())
    assert "left out" not in text(18) and "speed" in text(18)


SENTENCE = "Of 480 GB 99.9 % were read at 1.67 \N{PLUS-MINUS SIGN}0.04 MB/s, 12.5 ms each; 7.3 GiB in 10 s."


@pytest.mark.parametrize("width", range(24, 60))
def test_no_line_ends_within_a_figure(width: int) -> None:
    """A regression: lines ended with "99", and the next one began with "%"."""
    printed = io.StringIO()
    console = OurConsole()
    console.file, console.width = printed, width
    console.print(SENTENCE)
    console.print(Text(SENTENCE))
    table = Table("said", box=None)
    table.add_row(SENTENCE)
    show(table, console)
    shown = f"{wrapped(SENTENCE, width)}\n{printed.getvalue()}"
    assert [line for line in shown.splitlines() if re.match(r"\s*(%|\N{PLUS-MINUS SIGN}|MB|GB|GiB|ms|s\.)", line)] == []
    assert " ".join(shown.split()).count(SENTENCE) == 4
    assert "\u00a0" not in shown and "\u2800" not in shown
