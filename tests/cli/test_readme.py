"""The examples of docs/examples.md and README.md work as they stand: each is a command with existing options, each
named file is in the repository or created by an earlier line, and README names figures that its commands print."""

import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from program import program_in
from shown_figures import figures, not_printed
from ssdlab.cli import app
from ssdlab.cli.commands import COMMANDS as HELP
from ssdlab.experiments.advice.fit_drive import read_points

ROOT = Path(__file__).parents[2]
_BLOCKS = [
    block
    for page in ("docs/examples.md", "README.md")
    for block in re.findall(r"^```\n(.*?)^```", ROOT.joinpath(page).read_text(), re.MULTILINE | re.DOTALL)
]
LINES = [words for block in _BLOCKS for line in block.splitlines() if (words := shlex.split(line, comments=True))]
COMMANDS = [words for words in LINES if words[0] == "ssdlab"]
README = ROOT.joinpath("README.md").read_text()
_SUFFIXES = {".fio", ".toml", ".csv", ".gz", ".json", ".txt", ".db", ".files"}
# The values of these options are output paths.
_WRITTEN = ("--output", "--socket", "--save-state")


def _made(words: list[str]) -> list[str]:
    """The files that a line creates."""
    if words[0] == "ssdlab":
        outputs = [value for option, value in itertools.pairwise(words) if option in _WRITTEN]
        return [*outputs, words[-1]] if words[1:3] == ["drives", "new"] else outputs
    return [word for word in words[1:] if not word.startswith("-")]


def _named(words: list[str]) -> list[str]:
    """The files that a line of ssdlab reads."""
    read = [word for before, word in itertools.pairwise(words) if before not in _WRITTEN]
    return [word for word in read if Path(word).suffix in _SUFFIXES or word.endswith("/")]


def test_there_are_examples() -> None:
    assert len(COMMANDS) > 25


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_example_is_a_command_with_options_that_exist(words: list[str]) -> None:
    group: Any = typer.main.get_command(app)
    given = [*words[1 : words.index("--")], "job"] if "--" in words else words[1:]
    name, command, rest = group.resolve_command(group.make_context("ssdlab", ["drives"]), given)
    assert command, f"no command {words[1]}"
    # Parses the line and converts its values; raises a usage error if it is invalid.
    # A job may follow as a command line of its own.
    command.make_context(name, rest)


def test_every_file_in_an_example_is_shipped_or_made_above() -> None:
    made: set[str] = set()
    for words in LINES:
        if words[0] == "ssdlab":
            new = _made(words)
            missing = [name for name in _named(words) if not ROOT.joinpath(name).exists() and name not in made]
            assert [name for name in missing if name not in new and name.rstrip("/") not in made] == [], words
        made.update(name.rstrip("/") for name in _made(words))
        made.update(_made(words))


ANSWERS = re.findall(r"^\*\*[^*]+\?\*\* (.+?)\n\n```\n(.+?)\n```", README, re.MULTILINE | re.DOTALL)
"""What README answers to its questions, each with the command."""


@pytest.mark.parametrize(("answer", "command"), ANSWERS[:2], ids=["left empty", "five years"])
def test_figures_of_an_answer_are_what_the_command_prints(answer: str, command: str, tmp_path: Path) -> None:
    ended = program_in(tmp_path)(*shlex.split(command)[1:])
    assert ended.returncode == 0, ended.stderr
    assert len(set(figures(answer)) - set(figures(command))) > 2
    assert not_printed(answer, command, ended.stdout) == []


def test_shipped_files_are_those_that_the_tool_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "example_files.py"), str(tmp_path)], check=True)
    shipped = sorted(path.relative_to(ROOT / "examples") for path in (ROOT / "examples").rglob("*") if path.is_file())
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    # What strace wrote of 300 commits of SQLite.
    assert shipped == sorted([*made, Path("commits.strace")])
    for name in made:
        assert (tmp_path / name).read_bytes() == (ROOT / "examples" / name).read_bytes(), name


@pytest.mark.parametrize(
    "words", [w for w in COMMANDS if w[1] in ("lifetime", "health") or w[2:3] == ["smart"]], ids=" ".join
)
def test_reports_in_examples_are_read(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if "--before" not in words and words[1] == "lifetime":
        pytest.skip("runs a job")
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, words[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def test_traces_and_points_in_examples_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert read_points(Path("examples/points.csv"))
    for path in Path("examples/traces").iterdir():
        result = CliRunner().invoke(app, ["replay", str(path), "--profile"], catch_exceptions=False)
        assert (result.exit_code, "6,00" in result.output) == (0, True), result.output


def test_the_fit_of_the_help_finds_the_program_time_of_its_points(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A regression: its drive reached a twelfth of the rate of its point."""
    monkeypatch.chdir(ROOT)
    words = [*shlex.split(HELP["fit"].example)[1:], "--output", str(tmp_path)]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    (found,) = json.loads((tmp_path / "result.json").read_text())["parameters"]
    assert found["confidence_95"]["min"] < 400 < found["confidence_95"]["max"]
