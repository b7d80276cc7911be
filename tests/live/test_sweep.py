"""The page of a running sweep: its progress, and charts of its results, from finished files alone."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from program import program_in
from running_server import running
from small_drives import drive_file
from ssdlab.errors import InputError
from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.experiments.sweeps.execution import Sweep, carry_out, on_this_machine
from ssdlab.experiments.sweeps.file import load
from ssdlab.experiments.sweeps.plan import plan
from ssdlab.live.server import LiveServer
from ssdlab.live.serving import sweep_server
from ssdlab.live.sweep_state import SweepState, watched_sweep
from talk import Page
from waiting import SECONDS_MAX

Open = Callable[..., BrowserPage]
SWEEP = """
name = "watched"
[axes]
drive = ["small.toml"]
job = ["uniform.fio", "short.fio"]
op = ["10%", "20%", "30%"]
"ftl.victim" = ["greedy", "fifo"]
seed = [1, 2]
[run]
timed = false
until = "job"
precondition = "none"
"""
RUNS = 24


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=256, pages=32, user_bytes=16 << 20))
    for name, loops in (("uniform", 3), ("short", 2)):
        text = f"[{name}]\nrw=randwrite\nbs=4k\nnorandommap\nrandrepeat=0\nloops={loops}\n"
        (tmp_path / f"{name}.fio").write_text(text)
    path = tmp_path / "watched.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def some_kept(file: Path) -> Callable[[int], Dataset]:
    """Runs and stores the given number of the sweep's first runs."""

    def keep(count: int) -> Dataset:
        dataset = Dataset(str(file.parent / "kept"))
        dataset.make()
        carry_out(Sweep(plan(load(file), file)[:count], dataset), on_this_machine(1))
        return dataset

    return keep


def state_of(file: Path) -> SweepState:
    return SweepState(watched_sweep(str(file), str(file.parent / "kept")))


def test_only_what_is_whole_and_of_this_sweep_counts(file: Path, some_kept: Callable[[int], Dataset]) -> None:
    state = state_of(file)
    state.look()
    nothing = state.plain()
    assert (nothing["total"], nothing["kept"], nothing["figures"]) == (RUNS, 0, [])
    dataset = some_kept(7)
    runs = Path(dataset.place) / "runs"
    (runs / ".writing-0123-x").write_bytes(b"PAR1")
    (runs / f"{'0' * 32}.parquet").write_bytes(b"of another sweep")
    state.look()
    shown = state.plain()
    assert (shown["kept"], shown["read"], shown["failed"], shown["damaged"]) == (7, 7, 0, [])
    rows = dataset.frame([planned.key for planned in plan(load(file), file)[:7]])
    (waf,) = [figure for figure in shown["figures"] if figure["name"] == "waf"]
    panels = {panel["name"]: {line["name"]: line["points"] for line in panel["lines"]} for panel in waf["panels"]}
    values = [point for lines in panels.values() for points in lines.values() for point in points]
    assert min(low for _, _, low, _ in values) == rows["waf"].min()
    assert max(high for *_, high in values) == rows["waf"].max()
    # All lines and panels of the sweep have their places from the first result on.
    assert len(panels) == 2 and all(len(lines) == 2 for lines in panels.values())
    assert shown["x"] is not None and (shown["x"]["low"], shown["x"]["high"]) == (0.1, 0.3)


def test_a_damaged_file_is_named_and_the_rest_is_shown(file: Path, some_kept: Callable[[int], Dataset]) -> None:
    dataset = some_kept(3)
    key = plan(load(file), file)[1].key
    (Path(dataset.place) / "runs" / f"{key}.parquet").write_bytes(b"PAR1 and no more")
    state = state_of(file)
    state.look()
    shown = state.plain()
    assert (shown["kept"], shown["read"]) == (3, 2)
    assert key in shown["damaged"][0]
    # The sweep repeats the run after its file is removed.
    dataset.remove(key)
    state.look()
    assert state.plain()["damaged"] == []


def test_the_rate_is_of_what_came_while_one_looked(file: Path, some_kept: Callable[[int], Dataset]) -> None:
    now = 100.0
    state = SweepState(watched_sweep(str(file), str(file.parent / "kept")), clock=lambda: now)
    some_kept(4)
    state.look()
    assert state.plain()["runs_per_second"] is None
    some_kept(10)
    now = 103.0
    state.look()
    assert state.plain()["runs_per_second"] == pytest.approx(2.0)
    assert state.plain()["seconds_left"] == pytest.approx((RUNS - 10) / 2.0)
    now = 106.0
    state.look()
    assert state.plain()["runs_per_second"] == pytest.approx(1.0)


@contextmanager
def served(file: Path, place: str) -> Iterator[LiveServer]:
    with running(sweep_server(str(file), place, port=0)) as server:
        yield server


def test_a_running_sweep_fills_its_page_in(file: Path, open_page: Open) -> None:
    place = str(file.parent / "beside")
    words = [sys.executable, "-m", "ssdlab", "sweep", str(file), "--jobs", "1", "--output", place]
    with served(file, place) as server:
        page = open_page(server, wait="#says")
        expect(page.locator("#says")).to_contain_text(f"0 of {RUNS} runs are stored")
        program = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            expect(page.locator("#sweep-waf canvas").first).to_be_visible()
            assert program.wait(SECONDS_MAX) == 0
        finally:
            program.kill()
            program.wait()
        expect(page.locator("#says")).to_have_text(f"{RUNS} of {RUNS} runs are stored: the sweep is complete")
        assert page.locator("#progress").evaluate("(bar) => [bar.value, bar.max]") == [RUNS, RUNS]
        label = page.locator("#sweep-waf canvas").first.get_attribute("aria-label") or ""
        rows = Dataset(place).frame()
        at_most = rows.filter((rows["op"] == 0.3) & (rows["ftl_victim"] == "greedy") & (rows["job"] == "uniform.fio"))
        assert re.match(rf"uniform over op: .*greedy {at_most['waf'].mean():.2f}", label), label
        assert page.locator("#notice").is_hidden()
        page.close()


@pytest.mark.surroundings
def test_a_sweep_is_not_steered(file: Path) -> None:
    with served(file, str(file.parent / "none")) as server, Page(server) as page:
        assert "watched" in page.ask("run")["message"]
        if "sweep" not in page.newest:
            page.until("sweep")
        assert page.newest["sweep"]["kept"] == 0


def test_what_is_no_sweep_is_said(tmp_path: Path, file: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        watched_sweep(str(tmp_path / "nowhere.toml"), None)
    for arguments in (["--sweep", "watched.toml", "--drive", "tiny"], ["--sweep", "small.toml"]):
        ended = program_in(tmp_path)("live", "--no-browser", *arguments)
        assert ended.returncode == 2, ended.stderr
        assert "Traceback" not in ended.stderr
