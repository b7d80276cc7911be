"""The options that `mount` and `serve` share: which drive, and where its contents lie."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.cli import options
from ssdlab.drives import load, resolve
from ssdlab.errors import InputError, near
from ssdlab.quantities import parse_share
from ssdlab.results.files import check_writable, write_text
from ssdlab.serving.drive import ServedDrive

if TYPE_CHECKING:
    from ssdlab.drives import ResolvedDrive

Drive = Annotated[
    str,
    typer.Option("--drive", metavar="NAME|FILE", help="A drive of the catalogue (ssdlab drives) or a .toml file."),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="FILE", help="Store the contents in a sparse file and reuse them.  [default: memory]"
    ),
]
QueueDepth = Annotated[
    int | None,
    typer.Option(
        "--queue-depth",
        min=1,
        metavar="N",
        help="Queue depth in simulated time.  [default: the observed number of waiting requests]",
    ),
]
DoesNothing = Annotated[
    bool,
    typer.Option("--null", help="A device of the same size that does nothing, to measure the cost of the front end."),
]
Pace = Annotated[
    str,
    typer.Option(
        "--pace",
        metavar="PACE",
        help="virtual: answer as fast as this machine can; real: at the speed of the simulated drive.",
    ),
]
PACES = ("virtual", "real")
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--faults",
        metavar="KIND=SHARE",
        help="Share of flash operations that fail, such as uncorrectable_reads=0.01%; also program_failures, "
        "erase_failures. "
        "Repeatable.",
    ),
]
FAULTS = ("uncorrectable_reads", "program_failures", "erase_failures")
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="FILE", help="File for the statistics at the end, as JSON."),
]


def resolved(drive: str, op: str | None, settings: list[str] | None, scale: str | None) -> "ResolvedDrive":
    """The drive that the options name. Raises InputError."""
    return resolve(
        load(drive),
        over_provisioning=options.op_of(op),
        settings=options.settings_of(settings),
        scale=options.scale_of(scale),
    )


def served(
    drive: "ResolvedDrive",
    *,
    seed: int,
    store: str | None,
    queue_depth: int | None,
    does_nothing: bool,
    pace: str,
    faults: list[str] | None,
) -> ServedDrive:
    """The drive opened as the options say. Raises InputError."""
    return ServedDrive(
        drive,
        seed=seed,
        store=Path(store) if store else None,
        queue_depth=queue_depth,
        does_nothing=does_nothing,
        real_pace=_is_real(pace),
        faults=_faults(faults),
    )


def _is_real(pace: str) -> bool:
    """`--pace`. Raises InputError when it is none."""
    if pace not in PACES:
        raise InputError(f"--pace is {pace!r}{near(pace, PACES)}; allowed: {', '.join(PACES)}")
    return pace == "real"


def _faults(texts: list[str] | None) -> dict[str, float]:
    """`--faults`: shares of operations by kind. Raises InputError when one is no kind or no share."""
    found = {}
    for text in texts or []:
        kind, equals, share = text.partition("=")
        if kind not in FAULTS or not equals:
            allowed = ", ".join(f"{kind}=SHARE" for kind in FAULTS)
            raise InputError(f"--faults is {text!r}{near(kind, FAULTS)}; allowed: {allowed}")
        found[kind] = parse_share(share)
        if found[kind] > 1:
            raise InputError(f"--faults is {text!r}; a share of operations is at most 100%")
    return found


def writer_of(output: str | None) -> Callable[[str], None]:
    """What writes the statistics to `--output`, if anything. Raises InputError when that cannot be."""
    if not output:
        return lambda _text: None
    file = Path(output)
    check_writable(file.parent)
    return lambda text: write_text(file, text)
