"""Does the library return the results and errors of the commands, and display its results?"""

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

import ssdlab
from program import Program, program_in
from small_drives import drive_file
from ssdlab.cli.groups import flat
from ssdlab.errors import Note
from ssdlab.foundation.quantities import parse_share
from ssdlab.presentation.report.shown import ROWS_SHOWN_MAX, Shown
from synthetic_traces import made

JOB = "[uniform]\nrw=randwrite\nbs=4k\nnorandommap\n"
FUNCTIONS = (
    "advise", "compare", "drive", "drives", "fit", "health", "identify", "lifetime", "measure", "model", "mount",
    "policies", "price", "protocol", "replay", "run", "run_many", "specify", "study", "sweep",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(drive_file("small", blocks=256, pages=16, user_bytes=13_631_488))
    Path("uniform.fio").write_text(JOB)
    return tmp_path


@pytest.fixture
def program(folder: Path) -> Program:
    return program_in(folder)


def shows_itself(result: Any, rows: int) -> None:
    assert isinstance(result, Shown)
    assert result.frame().height == rows
    assert nw.from_arrow(result, backend="polars").shape == result.frame().shape
    assert len(repr(result)) < 200 and "\n" not in repr(result)
    html = result._repr_html_()
    assert type(html) is str, "markup would escape what a notebook adds to it"
    assert html.count("<tr>") == min(rows, ROWS_SHOWN_MAX) + 1 and "<svg" in html


def test_a_note_names_the_line_of_the_program(folder: Path) -> None:
    """A regression: notes named a line of ssdlab, and Python says a note of one line but once."""
    Path("older.toml").write_text(Path("small.toml").read_text().replace("[ftl]", "[housekeeping]\n[ftl]"))
    for call in (
        lambda: ssdlab.run("uniform.fio", "small.toml"),
        lambda: ssdlab.compare("uniform.fio", "small.toml", timed=False),
        lambda: ssdlab.drive("older.toml"),
    ):
        with pytest.warns(Note) as said:
            call()
        assert {each.filename for each in said} == {__file__}


def test_dir_shows_the_library_alone() -> None:
    assert callable(ssdlab.run)
    shown = dir(ssdlab)
    assert shown == sorted([*FUNCTIONS, "InputError", "Result", "RunFailed", "Specification"])
    for name in FUNCTIONS:
        function = getattr(ssdlab, name)
        assert inspect.getdoc(function), name
        hints = inspect.signature(function)
        assert all(each.annotation is not inspect.Parameter.empty for each in hints.parameters.values()), name
        assert hints.return_annotation is not inspect.Signature.empty, name


@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if name not in ("drive", "protocol", "run_many", "specify")]
)
def test_names_and_defaults_are_those_of_the_command(name: str) -> None:
    called = {"advise": "advise_space"}.get(name, name)
    command = inspect.signature(flat(getattr(importlib.import_module(f"ssdlab.cli.{called}"), called))).parameters
    shared = {
        each.name: each.default
        for each in inspect.signature(getattr(ssdlab, name)).parameters.values()
        if each.name in command and each.default is not inspect.Parameter.empty
    }
    assert shared or name in ("drives", "policies", "sweep")
    for parameter, default in shared.items():
        own = command[parameter].default
        # The command has a share as it is typed.
        typed = isinstance(own, str) and isinstance(default, float)
        assert (parse_share(own) if typed else own or None) == (default or None), parameter


def test_each_name_stays_a_function_whatever_was_imported_before() -> None:
    """A regression: `ssdlab.replay` was a package too. Python sets a package's name on its parent at import, so that
    the function was replaced as soon as the package was imported."""
    program = (
        "import pkgutil, importlib, ssdlab\n"
        "for each in pkgutil.iter_modules(ssdlab.__path__):\n"
        "    if each.name != '__main__': importlib.import_module('ssdlab.' + each.name)\n"
        "print([name for name in dir(ssdlab) if not callable(getattr(ssdlab, name))])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"


@pytest.mark.parametrize(("op", "said"), [(7, "7"), (7.0, "7"), ("7", "7"), (-0.1, "negative"), (float("nan"), "nan")])
def test_a_share_is_refused_as_the_command_refuses_it(op: Any, said: str, program: Program) -> None:
    """A regression: `op=7` was taken for 700 %, while the command rejects 7 as ambiguous."""
    with pytest.raises(ssdlab.InputError, match=said):
        ssdlab.drive("textbook", op=op)
    with pytest.raises(ssdlab.InputError, match=said):
        ssdlab.compare("uniform.fio", "small.toml", op=[op])
    text = str(op).removesuffix(".0")
    assert program("run", "uniform.fio", "--drive", "small.toml", "--op", text).returncode == 2


def test_compare_is_the_command(program: Program) -> None:
    compared = ssdlab.compare("uniform.fio", "small.toml", op=["10%", 0.28], timed=False)
    words = ["compare", "uniform.fio", "--drive", "small.toml", "--op", "10%,28%", "--untimed", "--output", "out"]
    assert program(*words).returncode == 0
    of_command = json.loads(Path("out/result.json").read_text())
    assert compared.to_dict() == of_command
    shows_itself(compared, 2)
    assert compared["28 %"].settled_waf == compared.frame()["waf"][1] < compared.frame()["waf"][0]
    assert set(compared.series()["variant"]) == {"10 %", "28 %"}
    with pytest.raises(KeyError, match="10 %, 28 %"):
        compared["7 %"]
    assert compared.plot("waf-against-over-provisioning").to_dict()["title"]
    with pytest.raises(ValueError, match="waf-over-host-writes"):
        compared.plot("none")
    assert "report.html" in compared.write("again")


def test_replay_is_the_command(program: Program) -> None:
    made("zipf", Path(), 3000, 6000)
    replayed = ssdlab.replay("zipf.trace", "small.toml", op="28%", loop_until="2x")
    words = ["replay", "zipf.trace", "--drive", "small.toml", "--op", "28%", "--loop-until", "2x", "--output", "out"]
    ended = program(*words)
    assert ended.returncode == 0, ended.stderr
    assert replayed.to_dict() == json.loads(Path("out/result.json").read_text())
    shows_itself(replayed, 1)
    with pytest.raises(ssdlab.InputError, match="loop_until"):
        ssdlab.replay("zipf.trace", "small.toml", loop_until="2x", until="steady")


def test_a_replay_at_recorded_times_compares_no_rates(folder: Path) -> None:
    """A regression: two volumes of 1.67 requests a second were "equally fast": the rate is that of the trace."""
    del folder
    made("zipf", Path(), 3000, 6000)
    recorded = ssdlab.replay("zipf.trace", "small.toml", op=[0.1, 0.1001])
    titles = [figure.title for figure in recorded.figures()]
    assert any(title.startswith("Requests arrive at the recorded times, ") for title in titles), titles
    assert "fast" not in " ".join([recorded.headline, *titles])
    assert recorded.headline.endswith(", in a run too short to be steady")
    closed = ssdlab.replay("zipf.trace", "small.toml", op=[0.1, 0.1001], arrival="closed", loop_until="6x")
    assert "fast" in closed.headline and "short" not in closed.headline


def test_advise_says_what_its_runs_support(folder: Path) -> None:
    advice = ssdlab.advise("uniform.fio", "small.toml", waf=2.5)
    share = advice.over_provisioning
    assert share is not None and f"{100 * share:.3g}" in advice.headline.text
    shows_itself(advice, len(advice.trials.done))
    rows = {name: (at, waf) for name, at, waf in advice.frame().select("run", "over_provisioning", "waf").iter_rows()}
    assert all(waf <= 2.5 for at, waf in (rows[name] for name in advice.headline.runs))
    with pytest.raises(ssdlab.InputError, match=r"\bwaf\b"):
        ssdlab.advise("uniform.fio", "small.toml")


def test_sweep_keeps_its_runs_and_answers_questions(folder: Path) -> None:
    Path("spare.toml").write_text(
        'name = "spare"\n[axes]\ndrive = ["small.toml"]\njob = ["uniform.fio"]\nop = [0.1, 0.28]\n'
        "[run]\ntimed = false\n"
    )
    swept = ssdlab.sweep("spare.toml", workers=1)
    shows_itself(swept, 2)
    assert swept.query("select min(waf) < max(waf) as falls from runs")["falls"].to_list() == [True]
    done: list[float] = []
    ssdlab.sweep("spare.toml", on_progress=lambda count, share: done.append(count))
    assert done == [], "what is kept is not run again"


def test_fit_finds_what_made_the_points(folder: Path) -> None:
    made = ssdlab.run("uniform.fio", ssdlab.drive("small.toml", settings={"nand.program_us": "400"}))
    rate = made.jobs[0].write.bw_bytes
    assert rate is not None
    Path("points.csv").write_text(f"workload,space_in_use,metric,value\nuniform.fio,,write_mib_s,{rate / 2**20}\n")
    fitted = ssdlab.fit("points.csv", "small.toml", "nand.program_us=100..1000", until="job")
    assert fitted.drive.nand.program_us == pytest.approx(400, rel=0.02)
    shows_itself(fitted, 1)


def test_a_measurement_and_a_mounted_drive(folder: Path) -> None:
    with pytest.raises(ssdlab.InputError, match=r"small\.toml"):
        ssdlab.measure("uniform.fio", "small.toml", size="1MiB")
    with pytest.raises(ssdlab.InputError, match="not empty"), ssdlab.mount(".", "small.toml"):
        pass


@pytest.mark.fuse
def test_mount_is_a_context(folder: Path) -> None:
    with ssdlab.mount("here", "small.toml") as mounted:
        with mounted.file.open("r+b") as file:
            file.write(b"x" * 1_048_576)
        assert mounted.statistics()["ssdlab"]["host"]["written_bytes"] == 1_048_576
    assert not any(Path("here").iterdir())


def test_a_study_shows_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from ssdlab.experiments.studies import contract, registry

    row = contract.Row("WAF", contract.Range(2.0), 3.0, "", tolerance=0.1)
    made_up = contract.Study("made-up", "?", "nobody", (), (), lambda _: contract.StudyResult("Yes.", [row]))
    monkeypatch.setattr(registry, "study", lambda _: made_up)
    studied = ssdlab.study("made-up")
    assert studied.frame().row(0, named=True)["verdict"] == "met"
    assert "<tr>" in studied._repr_html_() and repr(studied).startswith("<Studied: made-up")
    assert isinstance(studied.frame(), pl.DataFrame)
