"""Tours: every step can be executed, and at the end the page's figures equal those of the offered command line."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import app
from ssdlab.live.server import LiveServer
from ssdlab.live.tours import tours
from talk import Page

Serve = Callable[..., LiveServer]

STUDIES = {"pny", "fusion-io", "fragmentation", "blog", "sandforce"}
# Requests per step: enough to show it, few enough for a short test.
REQUESTS = 4000


def test_there_is_a_tour_for_each_study_and_one_on_write_amplification() -> None:
    assert set(tours()) == STUDIES | {"write-amplification"}
    for tour in tours().values():
        assert 3 <= len(tour.steps) <= 8
        assert all(step.text and step.look for step in tour.steps)


@pytest.mark.parametrize("name", sorted(STUDIES | {"write-amplification"}))
def test_a_tour_ends_in_what_its_command_line_gives(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with Page(serve()) as page:
        for step in range(len(tours()[name].steps)):
            page.do("tour", name=name, step=step)
            page.do("pause")
            page.do("step", requests=REQUESTS)
            assert page.status()["tour"] == {"name": name, "step": step}
        sessions = page.do("share")
        shown = [page.figures(drive) for drive in range(len(sessions))]
    for figures, session in zip(shown, sessions, strict=True):
        result = run(session, tmp_path, capsys)
        assert figures["host_written_bytes"] == result["host"]["written_bytes"] > 0
        assert (
            sum(figures["programmed_units"].values()) * figures["counted_unit_bytes"]
            == result["nand"]["programmed_bytes"]["total"]
        )
        assert figures["host_read_bytes"] == result["host"]["read_bytes"]
        assert figures["waf"] == result["waf"]
        assert figures["simulated_seconds"] == result["simulated_seconds"]


def run(session: dict[str, str], folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    (folder / session["name"]).write_text(session["job_file"])
    capsys.readouterr()
    app([*shlex.split(session["command"])[1:], "--output-format", "json"], standalone_mode=False)
    result: dict[str, Any] = json.loads(capsys.readouterr().out)["ssdlab"]
    return result
