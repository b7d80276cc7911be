"""Options, and groups of options, that several commands share."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from ssdlab.cli.groups import Parsed
from ssdlab.errors import InputError, notify
from ssdlab.foundation.quantities import (
    AUTO,
    parse_bytes_per_day,
    parse_bytes_with_unit,
    parse_dwpd,
    parse_left_empties,
    parse_left_empty,
    parse_price,
    parse_rate_with_unit,
    parse_scale,
    parse_scale_or_auto,
    parse_spare_area,
)
from ssdlab.hardware.device.permission import Permission
from ssdlab.presentation.terminal import for_reader
from ssdlab.simulator.drives import ResolvedDrive, left_empty_sentences, load, resolve
from ssdlab.simulator.drives.settings import split
from ssdlab.simulator.workloads.specifying import Beginning


def settings_of(texts: Sequence[str]) -> dict[str, str]:
    """The keys and values of `--set`. Raises InputError for a text that is not KEY=VALUE or a repeated key."""
    settings: dict[str, str] = {}
    for text in texts:
        key, value = split(text)
        if key in settings:
            raise InputError(f"--set {text}: {key} is already set to {settings[key]}")
        settings[key] = value
    return settings


def spare_area(text: str) -> float:
    """The share in `--op`. Raises InputError unless it is one valid share."""
    try:
        return parse_spare_area(text)
    except InputError as error:
        hint = "; `ssdlab compare` accepts a list" if "," in text else ""
        raise InputError(f"--op: {error}{hint}") from None


def left_empty(text: str) -> float:
    """The share in `--left-empty`. Raises InputError unless it is one valid share."""
    hint = "; `ssdlab compare` accepts a list" if "," in text else ""
    try:
        return parse_left_empty(text)
    except InputError as error:
        raise InputError(f"--left-empty: {error}{hint}") from None


def left_empties(text: str | None) -> list[float]:
    """The shares in a list in `--left-empty`, or none. Raises InputError unless all are valid."""
    try:
        shares = [] if text is None else parse_left_empties(text)
    except InputError as error:
        raise InputError(f"--left-empty: {error}") from None
    if len(set(shares)) < len(shares):
        raise InputError(f"--left-empty {text}: a share is listed twice")
    return shares


def left_empty_of_reports(text: str) -> list[float]:
    shares = left_empties(text)
    if not all(shares):
        raise InputError(f"--left-empty is {text!r}; allowed: shares above 0 % and below 100 %")
    return shares


def _place(text: str) -> Path:
    """The path in `--on`. Raises InputError for an empty text, which would be the working directory."""
    if not text.strip():
        raise InputError("--on is empty; allowed: a folder, the name of a file that does not exist yet, or a device")
    return Path(text)


SIZE = Parsed(parse_bytes_with_unit)
RATE = Parsed(parse_rate_with_unit)
DAILY = Parsed(parse_bytes_per_day)
PRICE = Parsed(parse_price)
PLACE = Parsed(_place)
Job = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="A fio job file, a script with calls of fio, a file-system script (NAME.files), 'fio ...' and "
        "'sysbench fileio ... run' (after --, without quotes), a database or a "
        "cache: 'lsm-tree ...', 'b-plus-tree ...', 'flash-cache ...', 'kv-cache ...', NAME.store.",
        show_default=False,
    ),
]
Op = Annotated[
    float | None,
    typer.Option("--op", metavar="SHARE", help="Over-provisioning, (T - U) / U, such as 7%; sets U from T."),
    Parsed(spare_area),
]
OpList = Annotated[
    str | None,
    typer.Option("--op", metavar="LIST", help="Spare areas, such as 7%,28%.  [default: each drive's own]"),
]
LEFT_EMPTY_HELP = "Share of the drive that the host leaves empty (unpartitioned), such as 20%; more OP"
LeftEmpty = Annotated[
    float | None,
    typer.Option("--left-empty", metavar="SHARE", help=f"{LEFT_EMPTY_HELP}. Instead of --op."),
    Parsed(left_empty),
]
LeftEmptyList = Annotated[
    str | None,
    typer.Option("--left-empty", metavar="LIST", help=f"{LEFT_EMPTY_HELP}: 0%,20% compares. In addition to --op."),
]
Reports = Annotated[
    list[str],
    typer.Argument(metavar="PLACE...", help="SMART reports, as for ssdlab health.", show_default=False),
]
LEFT_EMPTY_OF_REPORTS = "7%,14%,28%"
LeftEmptyOfReports = Annotated[
    list[float],
    typer.Option("--left-empty", metavar="LIST", help="Shares of a drive to leave unpartitioned."),
    Parsed(left_empty_of_reports, default=LEFT_EMPTY_OF_REPORTS),
]
LeftEmptyOfFleet = Annotated[
    list[float] | None,
    typer.Option(
        "--left-empty",
        metavar="LIST",
        help=f"{LEFT_EMPTY_HELP}. In addition to --op.",
    ),
    Parsed(left_empty_of_reports),
]
Set = Annotated[
    dict[str, str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any key of the drive file, such as ftl.victim=fifo. Repeatable."),
    Parsed(settings_of, several=True),
]
SetLists = Annotated[
    dict[str, str] | None,
    typer.Option(
        "--set", metavar="KEY=LIST", help="A key of the drive file; several values with commas vary it. Repeatable."
    ),
    Parsed(settings_of, several=True),
]
PRECONDITION_HELP = (
    "State of the drive at the start: none: fresh; fill: written once sequentially; steady: the steady state that a "
    "smaller drive reaches under the job, and with a clock one more drive write that is not counted."
)
Precondition = Annotated[Beginning, typer.Option(help=PRECONDITION_HELP)]
Dwpd = Annotated[
    float,
    typer.Option(metavar="N", help="Drive writes per day, for the life in years."),
    Parsed(parse_dwpd, default="1"),
]
Co2e = Annotated[
    float | None,
    typer.Option(metavar="GRAMS", help="CO2e of a kWh, in g: for what drives with [power] cause by their operation."),
]
Scale = Annotated[
    Fraction | None,
    typer.Option(
        "--scale",
        metavar="1/N",
        help="Simulate a smaller drive and workload with the same ratios; stated in every result.",
    ),
    Parsed(parse_scale),
]
ScaleOrAuto = Annotated[
    Fraction | str | None,
    typer.Option(
        "--scale",
        metavar="1/N|auto",
        help="Simulate a smaller drive and workload with the same ratios; stated in every result. auto: the largest "
        "scale with about 30 s of work whose write amplification is that of the whole drive within 1 %, for fio job "
        "files; 1: the whole drive.",
    ),
    Parsed(parse_scale_or_auto, default=AUTO),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        max=2**64 - 1,
        metavar="N",
        help="Seed of the random numbers; the same seed gives the same result.",
    ),
]
Untimed = Annotated[
    bool,
    typer.Option("--untimed", help="Run without the clock: faster, write amplification only; speeds are null."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, metavar="N", help="Number of processes; default: limited by processors and memory."
    ),
]


def folder(default: str) -> Any:
    """The option `--output` of commands that write a folder."""
    return typer.Option("--output", metavar="DIR", help=f"Output folder.  [default: {default}]")


def output(default: str) -> Any:
    """The option `--output` of commands that write what they print into a file, or everything into a folder."""
    return typer.Option(
        "--output",
        metavar="FILE|DIR",
        help="A FILE (a name with a suffix) for the printed output; a DIR for result.json, data/ and the report.  "
        f"[default: {default}]",
    )


Output = Annotated[str | None, output("print only")]
TextOrJson = Annotated[
    Literal["text", "json"], typer.Option("--output-format", metavar="FORMAT", help="text or json.", show_default=False)
]
DestroyDataOn = Annotated[
    str | None,
    typer.Option(
        "--destroy-data-on", metavar="SERIAL", help="Serial number or WWN of the device: all its data is lost."
    ),
]
DiscardSignatures = Annotated[
    bool, typer.Option("--discard-signatures", help="Also if a file system or a partition table is found.")
]

SmartFile = Annotated[
    Path | None,
    typer.Option(
        "--smart", metavar="FILE", help="Read SMART data from FILE (smartctl -j, or a served drive's stats.json)."
    ),
]
MaxWrite = Annotated[
    int | None, typer.Option("--max-write", metavar="SIZE", help="Maximum amount to write, such as 100GB."), SIZE
]


@dataclass(frozen=True)
class Simulations:
    """How a command simulates, as options."""

    scale: Scale = None
    seed: Seed = 1
    workers: Workers = None


@dataclass(frozen=True)
class Changes:
    """Changes to the drive of a command."""

    op: Op = None
    settings: Set = None
    scale: Scale = None
    left_empty: LeftEmpty = None

    @property
    def is_changed(self) -> bool:
        return any(each is not None for each in (self.op, self.left_empty, self.scale)) or bool(self.settings)

    def of(self, drive: str) -> ResolvedDrive:
        """A drive of the catalogue or a drive file with the changes applied. Raises InputError if one is not valid."""
        resolved = resolve(
            load(drive),
            over_provisioning=self.op,
            left_empty=self.left_empty,
            settings=self.settings or {},
            scale=self.scale,
        )
        if self.left_empty is not None:
            notify(left_empty_sentences([resolved]))
        return resolved


@dataclass(frozen=True)
class ChangesOfRun:
    """Changes to the drive of a single run, whose scale may be chosen."""

    op: Op = None
    settings: Set = None
    scale: ScaleOrAuto = AUTO
    left_empty: LeftEmpty = None

    @property
    def is_scale_chosen(self) -> bool:
        return self.scale == AUTO

    def of(self, drive: str) -> ResolvedDrive:
        """As `Changes.of`; the whole drive if its scale is to be chosen."""
        scale = None if self.is_scale_chosen else self.scale
        return Changes(self.op, self.settings, cast("Fraction | None", scale), self.left_empty).of(drive)


@dataclass(frozen=True)
class Permitted:
    """What a command is allowed to do to a real drive."""

    max_write: MaxWrite = None
    destroy_data_on: DestroyDataOn = None
    discard_signatures: DiscardSignatures = False

    @property
    def permission(self) -> Permission:
        return Permission(self.destroy_data_on, self.discard_signatures, self.max_write)


@dataclass(frozen=True)
class RealDrive(Permitted):
    """Options for a real drive. Each command has its own option for the path."""

    smart: SmartFile = None


def print_notes(notes: Sequence[str]) -> None:
    """Prints notes to stderr, such as options of the job file that a simulated drive ignores."""
    for note in notes:
        typer.echo(for_reader(f"note: {note}"), err=True)
