"""The options that commands share, each defined once: name, help text, how its value is read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.drives.settings import split
from ssdlab.errors import InputError, near
from ssdlab.quantities import parse_bytes, parse_duration_ns, parse_scale, parse_spare_area, parse_spare_areas

if TYPE_CHECKING:
    from fractions import Fraction

Job = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="A fio job file, a file-system script (NAME.files), or 'sysbench fileio ... run'.",
        show_default=False,
    ),
]
Op = Annotated[
    str | None,
    typer.Option("--op", metavar="SHARE", help="Over-provisioning, (T - U) / U, such as 7%; sets U from T."),
]
OpList = Annotated[
    str | None,
    typer.Option("--op", metavar="LIST", help="Spare areas, such as 7%,28%.  [default: each drive's own]"),
]
LeftEmpty = Annotated[
    str, typer.Option("--left-empty", metavar="LIST", help="With --smart: shares of a drive to leave unpartitioned.")
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any key of the drive file, such as ftl.victim=fifo. Repeatable."),
]
SetLists = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=LIST", help="A key of the drive file; several values with commas vary it. Repeatable."
    ),
]
PRECONDITIONS = ("none", "fill", "steady")
PRECONDITION_HELP = (
    "State of the drive at the start: none: fresh; fill: written once sequentially; steady: the steady state that a "
    "smaller drive reaches under the job."
)
Precondition = Annotated[str, typer.Option(metavar="|".join(PRECONDITIONS), help=PRECONDITION_HELP)]
Dwpd = Annotated[float, typer.Option(metavar="N", help="Drive writes per day, for the life in years.")]
Scale = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="1/N",
        help="Simulate a smaller drive and workload with the same ratios; stated in every result.",
    ),
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
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="FILE|DIR",
        help="A FILE (a name with a suffix) for the printed output; a DIR for result.json, data/ and the report.",
    ),
]
TEXT_OR_JSON = ("text", "json")
TextOrJson = Annotated[str, typer.Option("--output-format", metavar="FORMAT", help="text or json.", show_default=False)]
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
    str | None,
    typer.Option(
        "--smart", metavar="FILE", help="Read SMART data from FILE (smartctl -j, or a served drive's stats.json)."
    ),
]
MaxWrite = Annotated[
    str | None, typer.Option("--max-write", metavar="SIZE", help="Maximum amount to write, such as 100GB.")
]


def settings_of(texts: Sequence[str] | None) -> dict[str, str]:
    """`--set` as given, for a command that runs one drive. Raises InputError for a form or a repeated key."""
    settings: dict[str, str] = {}
    for text in texts or ():
        key, value = split(text)
        if key in settings:
            raise InputError(f"--set {text}: {key} is already set to {settings[key]}")
        settings[key] = value
    return settings


def scale_of(text: str | None) -> "Fraction | None":
    """`--scale`; InputError names the option."""
    try:
        return parse_scale(text) if text else None
    except InputError as error:
        raise InputError(f"--scale: {error}") from None


def interval_of(text: str | None, untimed: bool) -> int | None:
    """`--interval` in nanoseconds; InputError names the option."""
    if text is None:
        return None
    if untimed:
        raise InputError("--interval needs the clock, which --untimed leaves out; give one of them")
    try:
        return parse_duration_ns(text)
    except InputError as error:
        raise InputError(f"--interval: {error}") from None


def op_of(text: str | None) -> float | None:
    """`--op` with one share; InputError names the option."""
    try:
        return parse_spare_area(text) if text is not None else None
    except InputError as error:
        hint = "; `ssdlab compare` accepts a list" if text and "," in text else ""
        raise InputError(f"--op: {error}{hint}") from None


def left_empty_of(text: str) -> list[float]:
    """The shares of `--left-empty`; InputError names the option."""
    try:
        shares = parse_spare_areas(text)
    except InputError as error:
        raise InputError(f"--left-empty: {error}") from None
    if not all(0 < share < 1 for share in shares):
        raise InputError(f"--left-empty is {text!r}; allowed: shares above 0 % and below 100 %")
    return shares


def bytes_of(option: str, text: str | None) -> int | None:
    """A size that an option says; None without. InputError names the option."""
    return None if text is None else size_of(option, text)


def size_of(option: str, text: str) -> int:
    """The size that an option says, in bytes. InputError names the option."""
    try:
        return parse_bytes(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from None


def place_of(option: str, text: str | None) -> Path | None:
    """The path that an option names; None without. An empty one would be the working folder; InputError names it."""
    if text is None:
        return None
    if not text.strip():
        raise InputError(
            f"{option} is empty; allowed: a folder, the name of a file that does not exist yet, or a device"
        )
    return Path(text)


def check_word(option: str, value: str, allowed: Sequence[str]) -> None:
    """InputError unless the value is one of the words."""
    if value not in allowed:
        raise InputError(f"{option} is {value!r}{near(value, allowed)}; allowed: {', '.join(allowed)}")


def print_notes(notes: Sequence[str]) -> None:
    """Options of the job file that a simulated drive ignores: once, on stderr."""
    for note in notes:
        typer.echo(f"note: {note}", err=True)
