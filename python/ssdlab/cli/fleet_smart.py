"""`ssdlab fleet --smart`: the effect of more spare area on real drives, inferred from their SMART reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ssdlab.cli.fleet_table import print_rows
from ssdlab.cli.form import Printing, Rows
from ssdlab.cli.progress import counting
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes
from ssdlab.theory import endurance_class

if TYPE_CHECKING:
    from ssdlab.experiments.fleet.reported import ReportedFleet

_HEAVIEST_SHOWN = 8


def from_reports(
    places: Sequence[str], left_empty: Sequence[float], years: float, output: Path | None, form: Printing, line: str
) -> None:
    """Prints figures of the fleet as it is and with parts of its drives left empty. Writes the page and
    `data/fleet.parquet` in `output`, if given."""
    from ssdlab.experiments.fleet import reported, reported_page
    from ssdlab.field.health.survey import surveyed

    with counting("files") as tell, surveyed(places, tell=tell) as spool:
        rows = spool.drives().collect().to_dicts()
    fleet = reported.fleet_of(rows, left_empty)
    form.give(lambda: Rows(fleet.frame().to_dicts()), lambda: _print(fleet, rows, years))
    if output:
        names = reported_page.write(fleet, output, years=years, line=line)
        form.say()
        form.say(f"report: {output / names[-1]}\nfiles:  {len(names)} in {output}")


def _print(fleet: "ReportedFleet", rows: Sequence[TableRow], years: float) -> None:
    from ssdlab.experiments.fleet import reported_page

    typer.echo(
        f"{len(rows):,} drives, {len(fleet.drives):,} of them with known write amplification and write rate; "
        f"{format_bytes(round(fleet.nand_bytes_per_day))} per day to flash."
    )
    print_rows(reported_page.rows(fleet, years))
    classes = _classes(rows)
    if classes:
        typer.echo(classes)
    _heaviest(fleet.heaviest(_HEAVIEST_SHOWN))
    typer.echo(reported_page.INFERENCE)


def _classes(rows: Sequence[TableRow]) -> str:
    """How many of the drives a drive of each class would be enough for; empty if no rate is known."""
    rates = [rate for row in rows if (rate := row["drive_writes_per_day"]) is not None]
    return endurance_class.sentence_of_drives(rates)


def _heaviest(drives: Sequence[Any]) -> None:
    for drive in drives:
        words = drive.what_ifs[-1].sentence() if drive.what_ifs else "nothing to infer."
        typer.echo(f"{drive.name}: {format_bytes(round(drive.nand_bytes_per_day))} per day to flash; {words}")
