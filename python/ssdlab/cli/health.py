"""`ssdlab health`: the health of drives by their SMART reports, as a table, a page, data or metrics."""

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ssdlab.cli import options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.console import Console
from ssdlab.cli.destination import check_folder
from ssdlab.cli.form import FormOrJson
from ssdlab.cli.progress import counting
from ssdlab.field.health import metrics, table
from ssdlab.field.health.models import by_model
from ssdlab.simulator.results.files import check_writable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.field.health.summary import Summary
    from ssdlab.field.health.surveying import Health

_SHOWN = 40
_UNREAD_SHOWN = 3
# Of more drives there are also the figures of each model.
_SINGLY_MAX = 5


def health(
    context: typer.Context,
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="PLACE...",
            help="Reports: files, folders, archives (tar, zip; gz, zst, bz2, xz), - for standard input; or devices.",
            show_default=False,
        ),
    ],
    *,
    form: FormOrJson,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            metavar="DIR",
            help="Write report.html, drives.parquet, drives.csv, result.json; resumes where it stopped.",
        ),
    ] = None,
    prometheus: Annotated[
        str | None,
        typer.Option("--prometheus", metavar="FILE", help="Write metrics for node-exporter's textfile collector."),
    ] = None,
    fail_on: Annotated[
        Literal["failing", "attention", "note", "never"],
        typer.Option(metavar="LEVEL", help="failing, attention, note or never: exit with 1 from this state on."),
    ] = "attention",
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Omit serial numbers and file names from all output.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help=f"With text: show all drives, not only the {_SHOWN} most important ones.")
    ] = False,
    workers: options.Workers = None,
) -> None:
    """Report the health of drives from their SMART reports: wear, write amplification, years left, recommended action.

    Reads what smartctl, nvme-cli, smartd, scrutiny, exporters, Windows, CrystalDiskInfo, ESXi, storcli, mmc and
    Backblaze print, also as pasted from a mail, and detects the format (docs/real-drives/health.md). Two reports of
    one drive give its write rate between them. No data leaves this machine. Exits with 1 if a drive needs attention,
    for use in cron jobs.
    """
    from ssdlab.field.health.surveying import observed

    folder = Path(output) if output else None
    if folder is not None:
        check_folder(folder, "health")
    if prometheus:
        check_writable(Path(prometheus).parent)
    with (
        _interruptible(folder / "parts" if folder and not anonymous else None),
        counting("files") as tell,
        observed(places, anonymous=anonymous, workers=workers, folder=folder, tell=tell) as found,
    ):
        if folder:
            # Names of files can be serial numbers.
            hidden = {"places"} if anonymous else ()
            found.write(folder, command_line=command_line(context, without=hidden))
        if prometheus:
            metrics.write(Path(prometheus), found.drives)
        form.give(found, lambda: _print(found, every=every))
        if not form.is_data:
            _say_unread(found)
    if folder:
        form.say(f"report: {folder / 'report.html'}")
    if fail_on != "never" and _is_bad(found.summary, fail_on):
        raise typer.Exit(1)


@contextmanager
def _interruptible(kept: Path | None) -> "Iterator[None]":
    """Adds to KeyboardInterrupt where the reports read so far are stored."""
    try:
        yield
    except KeyboardInterrupt:
        if kept is None:
            raise
        raise KeyboardInterrupt(f"reports read so far are stored in {kept}; the same command resumes") from None


def _print(found: "Health", *, every: bool) -> None:
    count = found.summary.drives
    shown = found.gravest(count if every else _SHOWN)
    console = Console()
    table.printed(shown, console)
    if count > len(shown):
        console.print(f"{count - len(shown):,} more drives; --all shows them", highlight=False)
    if count > _SINGLY_MAX:
        table.printed_by_model(by_model(found.drives, _SHOWN), console)
    console.print(found.summary.sentence(), highlight=False)
    sys.stdout.flush()


def _say_unread(found: "Health") -> None:
    for source, reason in found.unread.head(_UNREAD_SHOWN).iter_rows():
        # A folder has other files, too: what would be read is not listed again for each of them.
        typer.echo(f"note: {source}: {reason.partition('; allowed: ')[0]}", err=True)
    if (unread := found.summary.unread) > _UNREAD_SHOWN:
        typer.echo(f"note: {unread - _UNREAD_SHOWN:,} more were not read; --format json names them", err=True)


def _is_bad(found: "Summary", fail_on: str) -> bool:
    levels = list(found.by_level)
    return any(found.by_level[level] for level in levels[levels.index(fail_on) :])
