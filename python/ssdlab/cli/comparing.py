"""What commands that compare variants have in common: the table, the files, the failures."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from ssdlab.errors import RunFailed

if TYPE_CHECKING:
    from ssdlab.comparison.comparing import Comparison


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
