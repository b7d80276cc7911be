"""The options that commands share, each defined once: name, help text, how its value is read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fractions import Fraction

Job = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="A fio job file, a file system's script (NAME.files), or 'sysbench fileio ... run'.",
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
PRECONDITIONS = ("fill", "none", "steady")
PRECONDITION_HELP = (
    "Write the whole drive in sequence first, start it fresh, or put it into the steady state that a smaller drive "
    "reaches under the job."
)
Precondition = Annotated[str, typer.Option(metavar="fill|none|steady", help=PRECONDITION_HELP)]
Dwpd = Annotated[float, typer.Option(metavar="N", help="Drive writes a day, for the years of life.")]
Scale = Annotated[
    str | None,
    typer.Option(
        "--scale", metavar="1/N", help="A smaller drive and workload of the same ratios; every result says so."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=2**64 - 1, metavar="N", help="Same seed, same bytes of result.")
]
Untimed = Annotated[
    bool,
    typer.Option("--untimed", help="No clock: write amplification only, faster; speeds are null."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, metavar="N", help="Processes side by side; as many as processors and memory allow."
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="FILE|DIR",
        help="A FILE (its name has a suffix) gets what would be printed; a DIR result.json and the time series.",
    ),
]
TEXT_OR_JSON = ("text", "json")
TextOrJson = Annotated[str, typer.Option("--output-format", metavar="FORMAT", help="text or json.", show_default=False)]
DestroyDataOn = Annotated[
    str | None,
    typer.Option(
        "--destroy-data-on", metavar="SERIAL", help="The serial number or WWN of the device: all on it is lost."
    ),
]
DiscardSignatures = Annotated[
    bool, typer.Option("--discard-signatures", help="Also where a file system or a partition table is found.")
]


def settings_of(texts: Sequence[str] | None) -> dict[str, str]:
    """`--set` as given, for a command that runs one drive. Raises InputError for a form or a repeated key."""
    from ssdlab.drives.settings import split
    from ssdlab.errors import InputError

    settings: dict[str, str] = {}
    for text in texts or ():
        key, value = split(text)
        if key in settings:
            raise InputError(f"--set {text}: {key} is already set to {settings[key]}")
        settings[key] = value
    return settings


def scale_of(text: str | None) -> "Fraction | None":
    """`--scale`; InputError names the option."""
    from ssdlab.errors import InputError
    from ssdlab.quantities import parse_scale

    try:
        return parse_scale(text) if text else None
    except InputError as error:
        raise InputError(f"--scale: {error}") from None


def op_of(text: str | None) -> float | None:
    """`--op` with one share; InputError names the option."""
    from ssdlab.errors import InputError
    from ssdlab.quantities import parse_share

    try:
        return parse_share(text) if text is not None else None
    except InputError as error:
        hint = "; `ssdlab compare` takes a list" if text and "," in text else ""
        raise InputError(f"--op: {error}{hint}") from None


def bytes_of(option: str, text: str | None) -> int | None:
    """A size that an option says; None without. InputError names the option."""
    return None if text is None else size_of(option, text)


def size_of(option: str, text: str) -> int:
    """The size that an option says, in bytes. InputError names the option."""
    from ssdlab.errors import InputError
    from ssdlab.quantities import parse_bytes

    try:
        return parse_bytes(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from None


def check_word(option: str, value: str, allowed: Sequence[str]) -> None:
    """InputError unless the value is one of the words."""
    from ssdlab.errors import InputError, near

    if value not in allowed:
        raise InputError(f"{option} is {value!r}{near(value, allowed)}; allowed: {', '.join(allowed)}")


def check_dwpd(dwpd: float) -> None:
    """InputError unless it is a rate that life can be counted by."""
    import math

    from ssdlab.errors import InputError

    if not (dwpd > 0 and math.isfinite(dwpd)):
        raise InputError(f"--dwpd is {dwpd:g}; allowed: a number above 0")


def print_notes(notes: Sequence[str]) -> None:
    """What the job file says that a simulated drive does not heed: once, on stderr."""
    for note in notes:
        typer.echo(f"note: {note}", err=True)
