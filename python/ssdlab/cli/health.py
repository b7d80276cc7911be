"""`ssdlab health`: the health of drives by their SMART reports, as a table, a page, data or metrics."""

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ssdlab.cli import options
from ssdlab.cli.console import Console
from ssdlab.cli.progress import counting
from ssdlab.field.health import table
from ssdlab.foundation.foreign import TableRow
from ssdlab.simulator.results.files import check_writable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.field.health.spool import Spool
    from ssdlab.field.health.summary import Summary

_SHOWN = 40
_UNREAD_SHOWN = 3


def health(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="PLACE...",
            help="Reports: files, folders, archives (tar, zip; gz, zst, bz2, xz), - for standard input; or devices.",
            show_default=False,
        ),
    ],
    json_wanted: Annotated[
        bool, typer.Option("--json", help="Print JSON: a summary, and one object per drive.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", metavar="DIR", help="Write report.html, drives.parquet, summary.json; resumes where it stopped."
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
        bool, typer.Option("--all", help=f"Show all drives, not only the {_SHOWN} most important ones.")
    ] = False,
    workers: options.Workers = None,
) -> None:
    """Report the health of drives from their SMART reports: wear, write amplification, years left, recommended action.

    Reads what smartctl, nvme-cli, smartd, scrutiny, exporters, Windows, CrystalDiskInfo, ESXi, storcli, mmc and
    Backblaze print, also as pasted from a mail, and detects the format (docs/health.md). Two reports of one drive
    give its write rate between them. No data leaves this machine. Exits with 1 if a drive needs attention, for use in
    cron jobs.
    """
    from ssdlab.field.health import summary
    from ssdlab.field.health.privacy import without_identities
    from ssdlab.field.health.standing import with_standing
    from ssdlab.field.health.survey import surveyed

    folder = Path(output) if output else None
    for place in (folder, Path(prometheus).parent if prometheus else None):
        if place is not None:
            check_writable(place)
    kept = folder / "parts" if folder and not anonymous else None
    with (
        _interruptible(kept),
        counting("files") as tell,
        surveyed(places, workers=workers, kept=kept, tell=tell) as spool,
    ):
        drives = with_standing(spool.drives())
        if anonymous:
            drives = without_identities(drives)
        # Collected once: otherwise each query below would join the reports of a drive again.
        drives = drives.collect().lazy() if not folder else drives
        if folder:
            drives = _written(drives, folder)
        unread = spool.unread().collect()
        found = summary.summed_up(drives, len(unread))
        shown = summary.gravest(drives, found.drives if every or json_wanted else _SHOWN)
        if folder:
            from ssdlab.field.health import page

            page.write(folder, drives, spool.rows(), found, summary.gravest(drives, page.SHOWN))
        if prometheus:
            from ssdlab.field.health.metrics import write

            write(Path(prometheus), drives)
        _print(shown, found, spool, json_wanted, anonymous)
    if folder:
        typer.echo(f"report: {folder / 'report.html'}", err=json_wanted)
    if fail_on != "never" and _is_bad(found, fail_on):
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


def _written(drives: Any, folder: Path) -> Any:
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "drives.parquet"
    partial = folder / "drives.parquet.partial"
    drives.sink_parquet(partial)
    partial.replace(path)
    return pl.scan_parquet(path)


def _print(shown: list[TableRow], found: "Summary", spool: "Spool", json_wanted: bool, anonymous: bool) -> None:
    if json_wanted:
        unread = [] if anonymous else spool.unread().collect().to_dicts()
        said = {"summary": found.to_dict(), "drives": shown, "unread": unread}
        typer.echo(json.dumps(said, indent=2, ensure_ascii=False))
        return

    console = Console()
    table.printed(shown, console)
    if found.drives > len(shown):
        console.print(f"{found.drives - len(shown):,} more drives; --all shows them", highlight=False)
    console.print(found.sentence(), highlight=False)
    for source, reason in spool.unread().head(_UNREAD_SHOWN).collect().iter_rows():
        typer.echo(f"note: {'a file' if anonymous else source}: {reason}", err=True)
    if found.unread > _UNREAD_SHOWN:
        typer.echo(f"note: {found.unread - _UNREAD_SHOWN:,} more were not read; --json names them", err=True)
    sys.stdout.flush()


def _is_bad(found: "Summary", fail_on: str) -> bool:
    levels = list(found.by_level)
    return any(found.by_level[level] for level in levels[levels.index(fail_on) :])
