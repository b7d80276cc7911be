"""What commands that compare variants have in common: the table, the files, the failures, the line for the page."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from ssdlab.errors import RunFailed

if TYPE_CHECKING:
    from ssdlab.comparison.comparing import Comparison

Said = str | list[str] | bool | None
"""What the command line says of an option; nothing is said of those that are None, empty or False."""


def report(comparison: "Comparison", directory: Path, command_line: str) -> None:
    """Prints the table and the facts, and writes the report and its files. RunFailed when a drive failed."""
    from ssdlab.comparison.table import print_table

    print_table(comparison.variants, Console())
    for fact in comparison.facts:
        typer.echo(f"{fact}.")
    names = comparison.write(directory, command_line=command_line)
    typer.echo(f"\nreport: {directory / names[-1]}\nfiles:  {len(names)} in {directory}")
    failures = [f"{variant.label}: {variant.result.failure}" for variant in comparison if variant.result.failure]
    if failures:
        raise RunFailed("; ".join(failures))


def command_line(words: Sequence[str], said: Mapping[str, Said]) -> str:
    """What makes the same files again, wherever they go and however many processes there are."""
    spoken = list(words)
    for option, value in said.items():
        if isinstance(value, bool):
            spoken += [option] if value else []
        elif isinstance(value, list):
            spoken += [word for entry in value for word in (option, entry)]
        elif value:
            spoken += [option, value]
    return shlex.join(spoken)
