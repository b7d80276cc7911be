"""Does each question of `ssdlab questions` have a command that runs as it is printed?"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ssdlab.cli.commands import COMMANDS, GROUPS, called, loaded
from ssdlab.cli.questions import QUESTIONS, YOURS, in_lines

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).parent / "files"
RATED = next(each for each in QUESTIONS if "--rated-tbw" in each.command)
SMALLER = {
    "ssdlab advise": "from ssdlab.experiments.advice import advising; advising._UNITS = 100_000",
    "ssdlab study fdp": "from ssdlab.experiments.studies.fdp_streams import comparison; comparison.SCALE = '1/1408'",
}
"""By the beginning of a command: what makes the drive that it chooses for itself small. The answers on drives of the
usual size are tested with what gives them."""


def test_the_groups_of_the_overview_have_every_command_once() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)


@pytest.mark.parametrize("columns", [80, 60])
def test_commands_are_wrapped_as_a_shell_reads_them(columns: int) -> None:
    for each in QUESTIONS:
        lines = in_lines(each.command, columns)
        assert max(map(len, lines.splitlines())) <= columns
        read = subprocess.run(
            ["bash", "-c", f'ssdlab() {{ printf "%s\\n" ssdlab "$@"; }}\n{lines}'], capture_output=True, text=True
        )
        assert read.stdout.splitlines() == shlex.split(each.command)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.text)
def test_a_command_has_options_that_exist_and_no_file_but_the_readers(question: object) -> None:
    words = shlex.split(question.command.partition(" -- ")[0])  # type: ignore[attr-defined]
    assert words[0] == "ssdlab"
    name, rest = called(words[1:])
    loaded(name).make_context(name, [*rest, *(["job"] if " -- " in question.command else [])])  # type: ignore[attr-defined]
    assert {word for word in words if Path(word).suffix in (".txt", ".db", ".fio", ".toml")} <= set(YOURS)


@pytest.mark.parametrize("number", range(1, 1 + len(QUESTIONS)), ids=[each.text for each in QUESTIONS])
def test_a_question_is_answered(number: int, tmp_path: Path) -> None:
    """A line of the script of a stranger's first questions: as typed, in a folder with nothing else."""
    given = tmp_path / "given"
    given.mkdir()
    for name in ("smart.txt", "iostat.txt"):
        (given / name).write_bytes((FILES / name).read_bytes())
    (given / "big.db").write_bytes(os.urandom(20 << 20))
    command = QUESTIONS[number - 1].command
    smaller = [lines for beginning, lines in SMALLER.items() if command.startswith(beginning)]
    program = tmp_path / "program"
    call = ("from ssdlab.cli import main", "raise SystemExit(main())")
    program.write_text("\n".join((f"#!{sys.executable}", *smaller, *call)))
    program.chmod(0o755)
    ended = subprocess.run(
        [ROOT / "tools/ten_questions", program, given, str(number)],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    *said, last = ended.stdout.splitlines()
    assert said and last.startswith("1 of ten questions answered in")
    assert QUESTIONS[number - 1] is not RATED or "1.26 years" in ended.stdout
