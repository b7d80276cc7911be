"""The figures on the page equal those of `ssdlab run` with the command line that the page offers, to the last digit."""

import json
import shlex
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from compared_results import variants_of
from ssdlab.cli import app
from ssdlab.live.samples import COLUMNS, REQUESTS_MIN, History, Row
from ssdlab.live.server import LiveServer
from talk import Page
from waiting import wait_for

Serve = Callable[..., LiveServer]


RunOf = Callable[[dict[str, str]], dict[str, Any]]


@pytest.fixture
def run_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunOf:
    """The result of the offered command line as JSON, run in the folder of its job file."""
    monkeypatch.chdir(tmp_path)

    def run(session: dict[str, str]) -> dict[str, Any]:
        (tmp_path / session["name"]).write_text(session["job_file"])
        words = shlex.split(session["command"])
        assert words[0] == "ssdlab"
        capsys.readouterr()
        app([*words[1:], "--output-format", "json"], standalone_mode=False)
        result: dict[str, Any] = json.loads(capsys.readouterr().out)["ssdlab"]
        return result

    return run


def assert_same(figures: dict[str, Any], result: dict[str, Any]) -> None:
    assert figures["requests"] > 0
    assert figures["host_written_bytes"] == result["host"]["written_bytes"]
    assert figures["host_read_bytes"] == result["host"]["read_bytes"]
    assert figures["host_trimmed_bytes"] == result["host"]["trimmed_bytes"]
    assert (
        sum(figures["programmed_units"].values()) * figures["counted_unit_bytes"]
        == result["nand"]["programmed_bytes"]["total"]
    )
    assert figures["waf"] == result["waf"]
    assert figures["simulated_seconds"] == result["simulated_seconds"]
    assert figures["effective_over_provisioning"] == result["capacity"]["effective_over_provisioning"]


@pytest.mark.parametrize("timed", [True, False], ids=["timed", "untimed"])
def test_a_session_with_every_change_is_a_command_line(serve: Serve, run_of: RunOf, timed: bool) -> None:
    with Page(serve(timed=timed)) as page:
        page.do("fill")
        page.do("step", requests=20_000)
        page.do("workload", workload={"read_percent": 30, "trim_percent": 20, "iodepth": 16})
        page.do("step", requests=9_000)
        page.do("partition", percent=80)
        page.do("step", requests=7_000)
        page.do("workload", workload={"skew": 1.2})
        page.do("step", requests=1)
        page.do("workload", workload={"kind": "sequential", "block_bytes": 65536})
        page.do("step", requests=300)
        page.do("partition", percent=95)
        page.do(
            "dropped-job",
            name="mine.fio",
            text="[global]\nrw=randrw\ndirect=1\n[a]\nbs=4k,8k\nnumjobs=2\n[b]\nstonewall\n",
        )
        page.do("step", requests=5_000)
        (session,) = page.do("share")
        assert_same(page.figures(), run_of(session))


def test_two_drives_get_the_same_requests(serve: Serve, small_drive: str, run_of: RunOf) -> None:
    with Page(serve((small_drive, small_drive))) as page:
        page.do("drives", drives=[{"name": small_drive}, {"name": small_drive, "op": 0.5, "victim": "fifo"}])
        page.do("speed", requests_per_second=40_000)
        page.do("run")
        # Enough that both drives collect garbage.
        wait_for("both drives are at work", lambda: page.figures()["requests"] >= 25_000)
        page.do("workload", workload={"skew": 0.8})
        page.do("pause")
        sessions = page.do("share")
        first, second = page.figures(0), page.figures(1)
        assert first["requests"] == second["requests"]
        assert first["waf"] != second["waf"]
        for figures, session in zip((first, second), sessions, strict=True):
            assert_same(figures, run_of(session))


def test_a_report_is_the_session(serve: Serve) -> None:
    with Page(serve()) as page:
        page.do("step", requests=30_000)
        page.do("mark", name="enough")
        saved = page.do("report")
        figures = page.figures()
    folder = Path(saved["folder"])
    (variant,) = variants_of(folder / "result.json")
    assert variant["ssdlab"]["waf"] == figures["waf"]
    page_text = (folder / "report.html").read_text()
    assert "enough" in page_text
    # A regression: "theory differs by up to 53 %", of a transient beside the formula of the steady state.
    assert "theory differs" not in page_text and "theory agrees" not in page_text
    assert "the write amplification is not that of the steady state" in page_text
    session = {"name": "session.fio", "job_file": (folder / "session.fio").read_text()}
    command = next(
        line for line in (folder / "report.html").read_text().splitlines() if "ssdlab run session.fio" in line
    )
    assert "--seed 1" in command
    assert "number_ios=30000" in session["job_file"]


def test_page_and_server_need_the_same_number_of_requests_for_a_rate() -> None:
    page = (files("ssdlab.live") / "page/series.js").read_text()
    assert f"REQUESTS_MIN = {REQUESTS_MIN};" in page


def test_an_interval_of_few_requests_is_no_row() -> None:
    """A regression: in a lecture, at 20 requests a second, charts had rows of two requests, and the largest figure on
    the wall was a dash, or ten million requests a second."""
    history = History(requests_min=10)
    row: Row = [0.0] * len(COLUMNS)
    place = list(COLUMNS).index("requests")
    for requests in (4.0, 4.0, 4.0, 25.0, 3.0):
        history.add([*row[:place], requests, *row[place + 1 :]])
    assert [each[place] for each in history.rows] == [12, 25, 3]
