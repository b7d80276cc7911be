"""`ssdlab fleet smart`: the effect of more spare area on real drives, inferred from their SMART reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssdlab.cli import fleet, options
from ssdlab.cli.command_line import command_line
from ssdlab.cli.destination import check_folder
from ssdlab.cli.fleet import print_rows
from ssdlab.cli.form import Form, Rows
from ssdlab.cli.progress import counting
from ssdlab.errors import notify
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes
from ssdlab.presentation.terminal import wrapped
from ssdlab.theory import endurance_class

if TYPE_CHECKING:
    from ssdlab.experiments.fleet.reported import ReportedFleet

_HEAVIEST_SHOWN = 8


def fleet_smart(
    context: typer.Context,
    places: options.Reports,
    left_empty: options.LeftEmptyOfReports,
    life: fleet.Years,
    form: Form,
    workers: options.Workers = None,
    output: Annotated[str | None, options.folder("print only")] = None,
) -> None:
    """Infer what leaving a part of each drive unpartitioned does to its wear, from SMART reports, as a range.

    The drives' own write amplification and write rate are used; nothing is simulated.
    """
    from ssdlab.experiments.fleet import reported, reported_page
    from ssdlab.field.health.summary import of_unnamed
    from ssdlab.field.health.survey import surveyed

    if output:
        check_folder(Path(output), "fleet")
    with counting("files") as tell, surveyed(places, workers=workers, tell=tell) as spool:
        rows = spool.drives().collect().to_dicts()
        unnamed = spool.unnamed()
    notices = [of_unnamed(unnamed)] if unnamed else []
    notify(notices)
    found = reported.fleet_of(rows, left_empty)
    form.give(lambda: Rows(found.frame().to_dicts()), lambda: _print(found, rows, life))
    if output:
        names = reported_page.write(found, Path(output), years=life, notices=notices, line=command_line(context))
        form.say_files(output, names)


def _print(fleet: "ReportedFleet", rows: Sequence[TableRow], years: float) -> None:
    from ssdlab.experiments.fleet import reported_page

    typer.echo(
        wrapped(
            f"{len(rows):,} drive{'s' * (len(rows) != 1)}, {len(fleet.drives):,} with known write amplification and "
            f"write rate; {format_bytes(round(fleet.nand_bytes_per_day))} per day to flash."
        )
    )
    print_rows(reported_page.rows(fleet, years))
    classes = _classes(rows)
    if classes:
        typer.echo(wrapped(classes))
    _heaviest(fleet.heaviest(_HEAVIEST_SHOWN))
    typer.echo(wrapped(reported_page.INFERENCE))


def _classes(rows: Sequence[TableRow]) -> str:
    """How many of the drives a drive of each class would be enough for; empty if no rate is known."""
    known = [row for row in rows if row["drive_writes_per_day"] is not None]
    wafs = [row["recent_waf"] or row["waf"] for row in known]
    return endurance_class.sentence_of_drives([row["drive_writes_per_day"] or 0.0 for row in known], wafs)


def _heaviest(drives: Sequence[Any]) -> None:
    for drive in drives:
        words = drive.what_ifs[-1].sentence() if drive.what_ifs else "nothing to infer."
        typer.echo(wrapped(f"{drive.name}: {format_bytes(round(drive.nand_bytes_per_day))} per day to flash; {words}"))
