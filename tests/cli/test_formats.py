"""Does `--format` print one JSON value or one table, alone on stdout, for every command that prints a result?"""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from program import Program, program_in
from small_drives import drive_file

EXAMPLES = Path(__file__).parents[2] / "examples"
MONDAY, FRIDAY = (str(EXAMPLES / name) for name in ("monday.json", "friday.json"))
TRACE = str(EXAMPLES / "traces/database.csv.gz")

CALLS = {
    "questions": ["questions"],
    "run": ["run", "uniform.fio", "--drive", "small.toml"],
    "compare": ["compare", "uniform.fio", "--drive", "small.toml", "--op", "20%,28%", "--untimed", "--output", "out"],
    "replay": ["replay", TRACE, "--profile", "--op", "7%"],
    "study": ["study"],
    "measure": ["measure", "--protocol"],
    "fleet smart": ["fleet", "smart", MONDAY, FRIDAY],
    "sweep": ["sweep", "spare.toml"],
    "advise smart": ["advise", "smart", MONDAY, FRIDAY],
    "lifetime": ["lifetime", "--before", MONDAY, "--after", FRIDAY, "--rated-tbw", "1PB"],
    "health": ["health", MONDAY, FRIDAY],
    "atlas": ["atlas", "--output", "out"],
    "check": ["check", "uniform.fio"],
    "drives": ["drives", "tiny"],
    "policies": ["policies"],
    "price": ["price", "--drive", "tiny", "--price", "1"],
    "model": ["model", "--op", "7%,28%"],
}
"""One call of each command that takes a moment and needs no device."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=256, pages=16, user_bytes=13_631_488))
    (tmp_path / "uniform.fio").write_text("[uniform]\nrw=randwrite\nbs=4k\nnorandommap\n")
    (tmp_path / "spare.toml").write_text(
        'name = "spare"\n[axes]\ndrive = ["small.toml"]\njob = ["uniform.fio"]\nop = [0.1, 0.28]\n'
        "[run]\ntimed = false\n"
    )
    return program_in(tmp_path)


def table(text: str) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) > 1 and all(len(row) == len(rows[0]) for row in rows), "a head, and rows as wide as it"
    assert len(set(rows[0])) == len(rows[0]), "each column has a name of its own"
    return rows


@pytest.mark.parametrize("name", CALLS)
def test_a_result_is_one_value_or_one_table(name: str, program: Program) -> None:
    as_json, as_csv, as_text = (program(*CALLS[name], "--format", form) for form in ("json", "csv", "text"))
    for ended in (as_json, as_csv, as_text):
        assert ended.returncode == 0, ended.stderr
    assert json.loads(as_json.stdout)
    assert table(as_csv.stdout)
    assert as_text.stdout.strip() not in (as_json.stdout.strip(), as_csv.stdout.strip())


@pytest.mark.parametrize(
    ("older", "newer", "note"),
    [
        (["policies", "--json"], ["policies", "--format", "json"], "--json is now --format json"),
        (["drives", "--json"], ["drives", "--format", "json"], "--json is now --format json"),
        (["health", MONDAY, "--json"], ["health", MONDAY, "--format", "json"], "--json is now --format json"),
        (["replay", TRACE, "--profile", "--json"], ["replay", TRACE, "--profile", "--format", "json"], "--json is now"),
        (
            ["model", "--op", "7%", "--output-format", "json"],
            ["model", "--op", "7%", "--format", "json"],
            "--output-format is now --format",
        ),
        (
            ["replay", TRACE, "--profile", "--format", "msr"],
            ["replay", TRACE, "--profile", "--trace-format", "msr"],
            "--format msr is now --trace-format msr",
        ),
    ],
)
def test_older_forms_are_accepted_with_a_note(older: list[str], newer: list[str], note: str, program: Program) -> None:
    before, after = program(*older), program(*newer)
    assert before.returncode == after.returncode == 0, before.stderr
    assert before.stdout == after.stdout
    assert f"note: {note}" in before.stderr and "note: --" not in after.stderr


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_errors_are_the_same_in_every_format(form: str, program: Program) -> None:
    ended = program("model", "--op", "7", "--format", form)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: --op: '7' is ambiguous")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["model", "--op", "7%", "--format", "yaml"], "--format is 'yaml'; allowed: text, json, csv"),
        (["run", "uniform.fio", "--drive", "small.toml", "--format", "csv", "--output-format", "json"], "exclude"),
        (["policies", "--json", "--format", "csv"], "--json and --format csv exclude each other"),
        (["replay", TRACE, "--profile", "--format", "csv2"], "--trace-format is 'csv2'"),
    ],
)
def test_what_is_no_format_is_refused(words: list[str], said: str, program: Program) -> None:
    ended = program(*words)
    assert ended.returncode == 2 and said in ended.stderr


def test_the_name_of_a_file_decides_the_format(program: Program, tmp_path: Path) -> None:
    call = ["run", "uniform.fio", "--drive", "small.toml"]
    for name in ("out.json", "out.csv"):
        assert program(*call, "--output", name).returncode == 0
    found: Any = json.loads((tmp_path / "out.json").read_text())
    assert found["jobs"][0]["jobname"] == "uniform"
    assert (tmp_path / "out.csv").read_text() == program(*call, "--format", "csv").stdout
    assert table((tmp_path / "out.csv").read_text())
