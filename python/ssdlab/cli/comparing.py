"""The options and the output that the commands that compare variants have in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options
from ssdlab.cli.console import Console
from ssdlab.cli.form import Printing
from ssdlab.cli.progress import shown
from ssdlab.errors import RunFailed
from ssdlab.experiments.comparison import request
from ssdlab.experiments.comparison.table import print_table
from ssdlab.foundation.quantities import AUTO

if TYPE_CHECKING:
    from ssdlab.experiments.comparison.comparing import Comparison


@dataclass(frozen=True)
class Variants(request.Variants):
    """The drives to compare, as options."""

    drives: Annotated[
        Sequence[str],
        typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file. Repeatable."),
    ] = ()
    op: options.OpList = None
    settings: options.SetLists = None
    scale: options.ScaleOrAuto = AUTO
    left_empty: options.LeftEmptyList = None


@dataclass(frozen=True)
class Running:
    """The settings of the runs, as options."""

    untimed: options.Untimed = False
    dwpd: options.Dwpd = 1.0
    seed: options.Seed = 1
    workers: options.Workers = None
    co2e_per_kwh: options.Co2e = None

    @property
    def chosen(self) -> request.Running:
        """The same settings as a request, with progress shown in the terminal."""
        return request.Running(self.seed, not self.untimed, self.dwpd, self.workers, shown, self.co2e_per_kwh)


def report(comparison: "Comparison", directory: Path, command_line: str, form: Printing) -> None:
    """Prints the table and the facts, and writes the report and its files. Raises RunFailed if a drive failed."""
    form.give(comparison, lambda: _print(comparison))
    names = comparison.write(directory, command_line=command_line)
    form.say_files(directory, names)
    failures = [f"{variant.label}: {variant.result.failure}" for variant in comparison if variant.result.failure]
    if failures:
        raise RunFailed("; ".join(failures))


def _print(comparison: "Comparison") -> None:
    console = Console()
    print_table(comparison.variants, console)
    for fact in comparison.facts:
        console.print(f"{fact}.")
