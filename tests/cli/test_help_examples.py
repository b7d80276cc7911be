"""The examples in `--help` work as they stand: existing options and shipped files."""

import re
import shlex
from pathlib import Path

import pytest

from ssdlab.cli.commands import COMMANDS, called, loaded

ROOT = Path(__file__).parents[2]
_SUFFIXES = {".fio", ".toml", ".csv", ".gz", ".json", ".db"}
# Outputs and mount points are created.
_MADE = ("--output", "--socket")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_a_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, *given = shlex.split(COMMANDS[name].example)
    command, words = called(given)
    assert (program, command) == ("ssdlab", name)
    monkeypatch.chdir(ROOT)
    loaded(name).make_context(name, list(words))
    read = [word for before, word in zip(["", *words], words, strict=False) if before not in _MADE]
    named = [word for word in read if Path(word).suffix in _SUFFIXES or (word.endswith("/") and name != "mount")]
    assert [word for word in named if not Path(word).exists()] == []
    assert not any(word.startswith("/") for word in words)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_help_names_no_type_of_python(name: str) -> None:
    """A regression: "PLACE... <list[str]>" and "--cycles <int>"."""
    command = loaded(name)
    said = command.get_help(command.make_context(name, [], resilient_parsing=True))
    assert not re.search(r"<(list|str|int|float)\b", said), said
