"""What commands that compare variants have in common: the runs side by side, the table, the files, the failures.

Which variants there are, and what is said of them, is each command's own.
"""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from ssdlab.comparison.variant import Variant
    from ssdlab.results import Result
    from ssdlab.targets.specification import Specification

Said = str | list[str] | bool | None
"""What the command line says of an option; nothing is said of those that are None, empty or False."""


def run_all(labels: Sequence[str], specifications: "Sequence[Specification]", workers: int | None) -> "list[Result]":
    """The results in the order of the specifications, with a progress bar for each label."""
    from ssdlab.cli.progress import shown
    from ssdlab.runs import run_many

    results = {}
    with shown(list(labels)) as tell, closing(run_many(specifications, workers, tell)) as finished:
        for index, result in finished:
            results[index] = result
            if tell:
                tell(index, 1.0, result.ledger.host_written_bytes)
    return [results[index] for index in range(len(specifications))]


def report(
    variants: "Sequence[Variant]",
    directory: Path,
    *,
    title: str,
    subtitle: str,
    command_line: str,
    notes: Sequence[str],
    facts: Sequence[str] = (),
) -> None:
    """Prints the table and the facts, and writes the report and its files. RunFailed when a drive failed."""
    from rich.console import Console

    from ssdlab.comparison import output as files
    from ssdlab.comparison.table import print_table
    from ssdlab.errors import RunFailed

    print_table(variants, Console())
    for fact in facts:
        typer.echo(f"{fact}.")
    names = files.write(
        variants, directory, title=title, subtitle=subtitle, command_line=command_line, notes=[*notes, *facts]
    )
    typer.echo(f"\nreport: {directory / names[-1]}\nfiles:  {len(names)} in {directory}")
    failures = [f"{variant.label}: {variant.result.failure}" for variant in variants if variant.result.failure]
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
