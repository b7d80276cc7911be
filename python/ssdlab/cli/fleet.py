"""What the commands of `ssdlab fleet` share: options, stored runs, tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from ssdlab.cli import options
from ssdlab.cli.console import Console
from ssdlab.cli.form import Printing
from ssdlab.cli.groups import Parsed
from ssdlab.cli.sweep import carry_out_shown
from ssdlab.errors import InputError
from ssdlab.experiments.advice import limits
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import parse_scale
from ssdlab.presentation.terminal import show
from ssdlab.simulator.drives import load

if TYPE_CHECKING:
    from ssdlab.experiments.sweeps.plan import Planned


def _years(text: str) -> float:
    return limits.life_limit(text).bound


Years = Annotated[
    float,
    typer.Option("--life", metavar="TIME", help="The time for which drives are needed."),
    Parsed(_years, default="5y"),
]
Output = Annotated[
    str | None, typer.Option("--output", metavar="DIR", help="Output folder.  [default: out/fleet-NAME]")
]


@dataclass(frozen=True)
class Drive:
    """The drive of a fleet."""

    drive: Annotated[
        str, typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue or a .toml file.")
    ]
    drive_price: Annotated[
        float | None,
        typer.Option(metavar="N", help="Price of a drive.  [default: the drive file's price]"),
        options.PRICE,
    ] = None
    settings: options.Set = None

    @property
    def setting(self) -> Setting:
        """The drive with its settings. Raises InputError if one is not valid."""
        return Setting(load(self.drive), self.settings or {}, self.drive)

    @property
    def price(self) -> float | None:
        """The price of a drive; None if it is not known."""
        return self.drive_price or load(self.drive).market.price_usd


@dataclass(frozen=True)
class Runs:
    """The scale of the drives, and where the simulations run."""

    scale: Annotated[
        Fraction | None,
        typer.Option(
            "--scale",
            metavar="1/N",
            help="Scale of the miniatures, with a sample of each trace.  [default: chosen to fit]",
        ),
        Parsed(parse_scale),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(
            "--workers", "--jobs", min=1, metavar="N", help="Number of processes.  [default: limited by memory]"
        ),
    ] = None
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://scheduler:8786.")
    ] = None
    seed: options.Seed = 1

    def __post_init__(self) -> None:
        if self.cluster and self.jobs:
            raise InputError(
                "--workers counts processes of this machine; with --cluster the workers' own threads count"
            )

    def stored(self, planned: "Sequence[Planned]", directory: Path, form: Printing, what: str) -> dict[str, TableRow]:
        """The results of the runs by their keys; those that the folder lacks are run."""
        from ssdlab.experiments.sweeps.execution import Sweep

        whole = Sweep(planned, Dataset(str(directory)))
        missing, keys = len(whole.missing()), whole.all_keys()
        form.say(f"{what}: {len(keys)} runs, {len(keys) - missing} stored in {directory}, {missing} to run")
        whole.dataset.make()
        carry_out_shown(whole, missing, self.jobs, self.cluster)
        return dict(zip(keys, whole.dataset.frame(keys).iter_rows(named=True), strict=True))


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; the first row has the names of the columns."""
    table = Table(box=box.SIMPLE_HEAD)
    for index, name in enumerate(rows[0]):
        table.add_column(name, justify="right" if index else "left")
    for row in rows[1:]:
        table.add_row(*row)
    show(table, Console())
