"""Options in groups: do they match their fields, and are values parsed and rejected by their types?"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from ssdlab.cli import advise_space, compare, replay, workload_options
from ssdlab.cli.commands import COMMANDS, module_of
from ssdlab.cli.groups import Parsed, flat, given
from ssdlab.errors import InputError
from ssdlab.experiments.advice import limits, workload
from ssdlab.experiments.comparison import request
from ssdlab.experiments.replays import request as replay_request
from ssdlab.foundation.quantities import parse_bytes

PARAMETERS_MAX = 10


@dataclass(frozen=True)
class Group:
    size: Annotated[int | None, typer.Option("--size", metavar="SIZE"), Parsed(parse_bytes)] = None
    rest: Annotated[int, typer.Option(metavar="SIZE"), Parsed(parse_bytes, default="1KiB")] = 1024
    how: Annotated[Literal["fast", "safe"], typer.Option("--in-which-way", help="How.")] = "fast"
    names: Annotated[Sequence[str], typer.Option("--name")] = ()


SEEN: list[tuple[str, Group]] = []


def command(what: Annotated[str, typer.Argument()], group: Group) -> None:
    SEEN.append((what, group))


def run(*words: str) -> str:
    SEEN.clear()
    app = typer.Typer(rich_markup_mode=None)
    app.command()(flat(command))
    return CliRunner().invoke(app, list(words), catch_exceptions=False).output


def test_a_group_gets_its_options() -> None:
    run("x")
    assert SEEN.pop() == ("x", Group())
    run("x", "--size", "2KiB", "--rest", "3KiB", "--in-which-way", "safe", "--name", "a", "--name", "b")
    _, group = SEEN.pop()
    assert group == Group(2048, 3072, "safe", ["a", "b"])
    assert given(group) == ["--size", "--rest", "--in-which-way", "--name"]
    assert given(Group(rest=1024, how="safe")) == ["--in-which-way"]


def test_the_help_shows_what_is_allowed() -> None:
    shown = run("--help")
    assert "--in-which-way fast|safe" in shown
    assert "[default: 1KiB]" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--size", "much"], "--size: 'much'"),
        (["--rest", "much"], "--rest: 'much'"),
        (["--in-which-way", "sage"], "--in-which-way is 'sage'; did you mean 'safe'[?]; allowed: fast, safe"),
    ],
)
def test_a_value_is_refused_with_the_name_of_its_option(words: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        run("x", *words)
    assert not SEEN


def test_a_shell_completes_words() -> None:
    info = inspect.signature(flat(command)).parameters["how"].annotation.__metadata__[0]
    assert info.autocompletion("s") == ["safe"]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_has_a_long_list_of_parameters(name: str) -> None:
    function = getattr(import_module(module_of(name)), name.replace(" ", "_"))
    assert len(inspect.signature(function).parameters) <= PARAMETERS_MAX


@pytest.mark.parametrize(
    ("options", "library"),
    [
        (advise_space.Wanted, limits.Wanted),
        (compare.Stages, request.Stages),
        (replay.Reading, replay_request.Reading),
        (replay.Repeating, replay_request.Repeating),
        (replay.Requests, replay_request.Requests),
        (replay.Start, replay_request.Start),
        (workload_options.Reading, workload.Reading),
    ],
)
def test_options_have_the_fields_and_defaults_of_the_library(options: type, library: type) -> None:
    # The format of a trace is in `FormOrTraces`, beside that of the result.
    assert [(each.name, each.default) for each in fields(options)] == [
        (each.name, each.default) for each in fields(library) if each.name != "format_name"
    ]
