"""The command line that a page shows, with which the reader can reproduce its files."""

import shlex
from collections.abc import Collection

import typer

_NOT_SHOWN = {"cluster", "jobs", "output", "output_format", "resume", "workers"}
"""Options that do not affect the content of the files."""
_SEED = "seed"
"""This option is always shown, at the end."""


def command_line(context: typer.Context, *, command: str | None = None, without: Collection[str] = ()) -> str:
    """The command of `context` with its arguments, the options given, and always the seed.

    `command` replaces the name of the command, and the options `without` are left out.
    """
    words = ["ssdlab", *(command or context.command.name or "").split()]
    options: list[str] = []
    for parameter in sorted(context.command.params, key=lambda each: each.name == _SEED):
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        is_given = source is not None and source.name == "COMMANDLINE"
        if name in _NOT_SHOWN or name in without or not (is_given or name == _SEED):
            continue
        value = context.params[name]
        values = [_word(each) for each in (value if isinstance(value, list | tuple) else [value])]
        if parameter.param_type_name == "argument":
            words += values
        elif isinstance(value, bool):
            options += [parameter.opts[0]] if value else []
        else:
            options += [word for each in values for word in (parameter.opts[0], each)]
    return shlex.join([*words, *options])


def _word(value: object) -> str:
    """A value as typed on the command line; a whole number without a decimal point."""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
