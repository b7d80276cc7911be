"""Names, labels and contents that hold escape sequences do not reach the terminal as such, in any command.

They come from drive files, job files, traces, reports of drives, file names and the command line. Once a drive's name
could rename the window, colour an error as success, or clear the screen; a trace's name with an escape in a picture
aborted the process.
"""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from program import program_in
from small_drives import drive_file
from ssdlab.cli.commands import COMMANDS, called
from ssdlab.cli.console import Console
from ssdlab.presentation.terminal import show, visible

ROOT = Path(__file__).parents[2]
# A title of the window, a colour, "clear the screen" in one character, text that runs from right to left, delete.
HOSTILE = "\x1b]0;own\x07\x1b[31mred\x9b2J\u202egnp\x7f"
# What a job file may hold: others are not text there.
HOSTILE_TEXT = "\x9b31mred\u202egnp"
SHOWN = (r"\x1b]0;own", r"\u009b2J", r"\u009b31m", r"\xc2\x9b", r"\x9b2J", r"\x9b31m", "]0;own [31mred 2J gnp")
"""The ways in which commands write the names, the last one those that clean what drives say."""

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs of all kinds whose names and contents are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    drive = drive_file("NAME", blocks=128, pages=64, user_bytes=26214400)
    drive = drive.replace('"NAME"', json.dumps(HOSTILE)).replace("made up", json.dumps(HOSTILE)[1:-1])
    for name in ("drive.toml", "other.toml"):
        (folder / name).write_text(drive)
    (folder / f"job{HOSTILE}.fio").write_text(f"[{HOSTILE_TEXT}]\nrw=randwrite\nbs=4k\nsize=1m\ndirect=1\n")
    (folder / "badjob.fio").write_text(f"[a]\n{HOSTILE_TEXT}=1\n")
    (folder / "job.fio").write_text("[a]\nrw=randwrite\nbs=4k\nsize=1m\ndirect=1\n")
    for day in ("monday", "friday"):
        report = json.loads((ROOT / f"examples/{day}.json").read_text())
        report |= {"model_name": HOSTILE, "serial_number": HOSTILE, "firmware_version": HOSTILE}
        (folder / f"{day}{HOSTILE}.json").write_text(json.dumps(report))
    (folder / f"unknown{HOSTILE}.json").write_text(HOSTILE)
    trace = "".join(
        f"{128166372003061629 + 10_000_000 * at},{HOSTILE},0,Write,{4096 * at},4096,1\n" for at in range(200)
    )
    (folder / f"trace{HOSTILE}.csv").write_text(trace)
    (folder / "badtrace.csv").write_text(f"128166372003061629,usr,0,{HOSTILE},0,4096,1\n")
    calls = '7 1700000000.000000 write(3</srv/a>, "x", 1) = 1\n' * 3
    (folder / f"calls{HOSTILE}.strace").write_text(calls + HOSTILE + "\n")
    (folder / "points.csv").write_text(f"workload,space_in_use,metric,value\n{HOSTILE},1,waf,1.1\n")
    axes = '[axes]\ndrive = ["drive.toml"]\njob = ["job.fio"]\nop = ["28%"]\n[run]\ntimed = false\n'
    (folder / "sweep.toml").write_text(f"name = {json.dumps(HOSTILE)}\n{axes}")
    (folder / "fleet").mkdir()
    (folder / "fleet" / f"a{HOSTILE}.csv").write_text(trace)
    return folder


_JOB, _TRACE, _SMART = f"job{HOSTILE}.fio", f"trace{HOSTILE}.csv", (f"monday{HOSTILE}.json", f"friday{HOSTILE}.json")
_DRIVE = ("--drive", "drive.toml")
_DRIVE_OF_TENANTS = ("--drive", str(ROOT / "examples/tenants.toml"))
_CALLS = {
    "a drive": ["drives", "drive.toml"],
    "a drive as JSON": ["drives", "drive.toml", "--json"],
    "a run": ["run", _JOB, *_DRIVE],
    "a run as JSON": ["run", _JOB, *_DRIVE, "--output-format", "json"],
    "a run as terse": ["run", _JOB, *_DRIVE, "--output-format", "terse"],
    "a bad job": ["run", "badjob.fio", *_DRIVE],
    "a comparison": ["compare", _JOB, *_DRIVE, "--op", "28%,40%", "--until", "job", "--output", f"out{HOSTILE}"],
    "a replay": ["replay", _TRACE, *_DRIVE, "--op", "28%", "--until", "trace", "--output", "out/replay"],
    "a profile": ["replay", _TRACE, "--profile"],
    "a profile as JSON": ["replay", _TRACE, "--profile", "--json"],
    "a bad trace": ["replay", "badtrace.csv", *_DRIVE],
    "a bad trace of a named format": ["replay", "badtrace.csv", *_DRIVE, "--trace-format", "msr"],
    "health": ["health", *_SMART],
    "health as JSON": ["health", _SMART[0], "--json"],
    "an unknown report": ["health", f"unknown{HOSTILE}.json", _SMART[0]],
    "a life between reports": ["lifetime", "--before", _SMART[0], "--after", _SMART[1]],
    "a life of an unknown job": ["lifetime", HOSTILE, *_DRIVE, "--writes-per-day", "1GB"],
    "advice": ["advise", "space", _JOB, *_DRIVE, "--waf", "5", "--output", f"out/advice{HOSTILE}"],
    "advice by reports": ["advise", "smart", _SMART[0]],
    "a fleet": ["fleet", "simulate", "fleet", *_DRIVE, "--op", "28%", "--output", "out/fleet"],
    "a fleet's reports": ["fleet", "smart", _SMART[0], "--output", "out/smart"],
    "tenants": ["advise", "tenants", HOSTILE, *_DRIVE_OF_TENANTS],
    "a fleet of tenants": ["fleet", "tenants", HOSTILE, *_DRIVE_OF_TENANTS, "--writes-per-day", "1GB"],
    "a drive to refresh": ["advise", "refresh", "--drive", HOSTILE, "--reads-per-day", "1GB", "--life", "5y"],
    "targets": ["compare", "targets", _JOB, "--target", f"device:{HOSTILE}"],
    "points": ["fit", "points.csv", *_DRIVE, "--free", "nand.program_us=100..2000"],
    "a sweep": ["sweep", "sweep.toml"],
    "an unknown study": ["study", HOSTILE],
    "a measured job": ["measure", _JOB, "--on", f"target{HOSTILE}", "--size", "1MiB"],
    "a measurement's plan": ["measure", _JOB, "--on", f"target{HOSTILE}", "--size", "1MiB", "--dry-run"],
    "a refused target": ["measure", _JOB, "--on", f"no{HOSTILE}/such", "--size", "1MiB"],
    "an identification": ["identify", "--drive", HOSTILE],
    "prices": ["price", "--drive", HOSTILE],
    "a policy": ["policies", HOSTILE],
    "a model": ["model", "--op", "7%", "--victim", HOSTILE],
    "an atlas": ["atlas", HOSTILE],
    "a recording of calls": ["blame", f"calls{HOSTILE}.strace", *_DRIVE],
    "a command to blame": ["blame", *_DRIVE, "--", HOSTILE],
    "a check": ["check", HOSTILE],
    "a refresh": ["refresh", HOSTILE],
    "an exporter": ["export", "--listen", HOSTILE],
    "a mount": ["mount", HOSTILE, "--drive", HOSTILE],
    "a server": ["serve", "--drive", HOSTILE],
    "a live page": ["live", "--drive", HOSTILE],
    "a demonstration": ["demo", "--output", f"drive.toml/{HOSTILE}"],
    "an unknown command": [HOSTILE],
    "an unknown option": ["run", "--" + HOSTILE],
    "a key": ["run", "job.fio", *_DRIVE, "--set", f"ftl.{HOSTILE}=1"],
    "a value": ["run", "job.fio", *_DRIVE, "--set", f"ftl.victim={HOSTILE}"],
}


@pytest.mark.parametrize("what", _CALLS)
def test_hostile_names_are_written_out(what: str, folder: Path) -> None:
    ended = _call(_CALLS[what], folder)
    said = ended.stdout + ended.stderr
    assert ended.returncode in (0, 2), said
    assert not _CONTROLS.findall(ended.stdout + ended.stderr), ascii(said)
    assert any(name in said for name in SHOWN), said


def test_every_command_is_given_hostile_names() -> None:
    takes_nothing = {"questions"}
    assert {called(words)[0] for words in _CALLS.values()} >= COMMANDS.keys() - takes_nothing


def _call(words: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    return program_in(folder, columns=100)(*words)


def test_json_on_stdout_keeps_its_values(folder: Path) -> None:
    """What JSON leaves as it is, such as the controls of direction, is written in JSON's own form."""
    ended = _call(["run", _JOB, *_DRIVE, "--output-format", "json"], folder)
    result = json.loads(ended.stdout)
    assert result["jobs"][0]["jobname"] == HOSTILE_TEXT
    assert result["ssdlab"]["specification"]["drive"]["name"] == HOSTILE


def test_a_terminal_gets_only_the_programs_own_sequences(folder: Path) -> None:
    """Bars, notes that are printed beside them, tables and errors, as on a terminal."""
    words = [
        "compare",
        _JOB,
        "--drive",
        "drive.toml",
        "--drive",
        "other.toml",
        "--until",
        "job",
        "--output",
        "out/terminal",
    ]
    said = _on_a_terminal(words, folder)
    assert "\x1b[" in said, "no bars"
    for sequence in ("\x1b]", "\x1b[31mred", "\x9b", "\u202e", "\x7f", "\x07"):
        assert sequence not in said, ascii(said)
    assert r"\u009b31m" in said or r"\x1b]0;own" in said, said
    said = _on_a_terminal(["drives", HOSTILE], folder)
    assert said.startswith("\x1b[1;31merror:\x1b[0m"), ascii(said)
    assert "\x1b" not in said.removeprefix("\x1b[1;31merror:\x1b[0m"), ascii(said)


def _on_a_terminal(words: list[str], folder: Path) -> str:
    controller, terminal = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env=environment | {"COLUMNS": "100", "TERM": "xterm-256color"},
    )
    os.close(terminal)
    said = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:
            # Linux reports the end of a terminal as an error.
            part = b""
        if not part:
            break
        said += part
    os.close(controller)
    process.wait(600)
    return said.decode()


@given(st.text())
def test_visible_text_has_no_control_characters(text: str) -> None:
    shown = visible(text)
    assert not _CONTROLS.search(shown.replace("\r\n", ""))
    assert visible(shown) == shown
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text


def test_columns_are_as_wide_as_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("name", "value", box=None)
    table.add_row(HOSTILE, "1")
    table.add_row("plain [/] :smile:", "2")
    show(table, Console())
    out = capsys.readouterr().out
    _, first, second = out.splitlines()
    assert first.index("1", 30) == second.index("2")
    assert "plain [/] :smile:" in second


def test_only_one_console_is_used() -> None:
    """rich's own would print the escape sequences of names as such."""
    for file in sorted((ROOT / "python/ssdlab").rglob("*.py")):
        text = file.read_text()
        if re.search(r"(?<!class )\bConsole\(", text):
            assert "from ssdlab.cli.console import Console" in text, file
