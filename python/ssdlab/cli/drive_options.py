"""The options that `mount` and `serve` share: the drive, and the place of its contents."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli.console import Console
from ssdlab.cli.form import Form, Rows
from ssdlab.cli.groups import Parsed
from ssdlab.errors import InputError, near
from ssdlab.foundation.quantities import parse_share, parse_spare_areas
from ssdlab.serving.drive import ServedDrive
from ssdlab.serving.ending import print_end, rows
from ssdlab.serving.mounting import Pace
from ssdlab.serving.what_if import WhatIf
from ssdlab.simulator.results.files import check_writable, write_text

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive

Drive = Annotated[
    str,
    typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
]
FAULTS = ("uncorrectable_reads", "program_failures", "erase_failures")
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="FILE", help="File for the statistics at the end, as JSON."),
]


def _faults(texts: list[str]) -> dict[str, float]:
    """Shares of operations that fail, by kind of fault. Raises InputError for an unknown kind or an invalid share."""
    found = {}
    for text in texts:
        kind, equals, share = text.partition("=")
        if kind not in FAULTS or not equals:
            allowed = ", ".join(f"{kind}=SHARE" for kind in FAULTS)
            raise InputError(f"--faults is {text!r}{near(kind, FAULTS)}; allowed: {allowed}")
        found[kind] = parse_share(share)
        if found[kind] > 1:
            raise InputError(f"--faults is {text!r}; a share of operations is at most 100%")
    return found


@dataclass(frozen=True)
class Served:
    """How the drive serves requests, and where its contents are stored."""

    store: Annotated[
        Path | None,
        typer.Option(
            "--store", metavar="FILE", help="Store the contents in a sparse file and reuse them.  [default: memory]"
        ),
    ] = None
    queue_depth: Annotated[
        int | None,
        typer.Option(
            "--queue-depth",
            min=1,
            metavar="N",
            help="Queue depth in simulated time.  [default: the observed number of waiting requests]",
        ),
    ] = None
    pace: Annotated[
        Pace,
        typer.Option(
            "--pace",
            metavar="PACE",
            help="virtual: answer as fast as this machine can; real: at the speed of the simulated drive.",
        ),
    ] = "virtual"
    faults: Annotated[
        dict[str, float] | None,
        typer.Option(
            "--faults",
            metavar="KIND=SHARE",
            help="Share of flash operations that fail, such as uncorrectable_reads=0.01%; also program_failures, "
            "erase_failures. "
            "Repeatable.",
        ),
        Parsed(_faults, several=True),
    ] = None
    does_nothing: Annotated[
        bool,
        typer.Option(
            "--null", help="A device of the same size that does nothing, to measure the cost of the front end."
        ),
    ] = False

    what_if: Annotated[
        list[float],
        typer.Option(
            "--what-if",
            metavar="LIST",
            help="Say at the end what the same requests would have given with other spare areas, such as 14%,28%: as "
            "much capacity with more or less flash. Requests are kept in the temporary folder, 32 bytes each.",
        ),
        Parsed(parse_spare_areas),
    ] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.what_if and self.does_nothing:
            raise InputError("--what-if asks drives again what one was asked; leave out --null, which has none")

    @property
    def place(self) -> str:
        """The file of the contents, or "memory"."""
        return str(self.store or "memory")

    def drive(self, drive: "ResolvedDrive", seed: int, *, knows_zones: bool = False) -> ServedDrive:
        """Opens the drive with these options. Raises InputError if they are not valid."""
        return ServedDrive(
            drive,
            seed=seed,
            store=self.store,
            queue_depth=self.queue_depth,
            does_nothing=self.does_nothing,
            real_pace=self.pace == "real",
            faults=self.faults or {},
            knows_zones=knows_zones,
        )


def writer_of(output: str | None) -> Callable[[str], None]:
    """A function that writes the statistics to `--output`, or does nothing without it. Raises InputError for a folder,
    or if the folder of the file is not writable."""
    if not output:
        return lambda _text: None
    file = Path(output)
    if file.is_dir():
        raise InputError(f"--output {output}: is a folder; a file is needed")
    check_writable(file.parent)
    return lambda text: write_text(file, text)


def give_end(served: ServedDrive, asked: WhatIf, write: Callable[[str], None], form: Form) -> None:
    """Prints what happened, as text to stderr because stdout has the address, and writes the statistics. As JSON it is
    what `--output` gets, as CSV a row for each phase."""
    state = served.device.state()
    write(served.render(state))
    console = Console(stderr=True)
    if not form.is_data:
        print_end(served, state, console)
    if again := asked.say(state, console):
        write(served.render(state, again))
    if form.is_data:
        form.give(Rows(rows(served, state), served.render_dict(state, again)), lambda: None)
