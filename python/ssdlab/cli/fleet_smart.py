"""`ssdlab fleet --smart`: the effect of more spare area on real drives, inferred from their SMART reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.table import Table

from ssdlab.cli.console import Console
from ssdlab.cli.form import Printing, Rows
from ssdlab.cli.progress import counting
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes, format_share
from ssdlab.presentation.terminal import show
from ssdlab.simulator.results.files import data_file
from ssdlab.theory import endurance_class

if TYPE_CHECKING:
    from ssdlab.experiments.fleet.reported import ReportedFleet

_HEAVIEST_SHOWN = 8


def from_reports(
    places: Sequence[str], left_empty: Sequence[float], years: float, output: Path | None, form: Printing
) -> None:
    """Prints figures of the fleet as it is and with parts of its drives left empty. Writes `data/fleet.parquet` in
    `output`, if given."""
    from ssdlab.experiments.fleet import reported
    from ssdlab.field.health.survey import surveyed

    with counting("files") as tell, surveyed(places, tell=tell) as spool:
        rows = spool.drives().collect().to_dicts()
    fleet = reported.fleet_of(rows, left_empty)
    form.give(lambda: Rows(fleet.frame().to_dicts()), lambda: _print(fleet, rows, years))
    if output:
        output.mkdir(parents=True, exist_ok=True)
        path = data_file(output, "fleet")
        fleet.frame().write_parquet(path)
        form.say(f"files: {path}")


def _print(fleet: "ReportedFleet", rows: Sequence[TableRow], years: float) -> None:
    typer.echo(
        f"{len(rows):,} drives, {len(fleet.drives):,} of them with known write amplification and write rate; "
        f"{format_bytes(round(fleet.nand_bytes_per_day))} per day to flash."
    )
    table = Table(box=box.SIMPLE_HEAD)
    for index, name in enumerate(("left empty", "WAF of all", "flash a day", f"wear out within {years:g} years")):
        table.add_column(name, justify="right" if index else "left")
    for each in fleet.wholes(years):
        table.add_row(
            format_share(each.left_empty) if each.left_empty else "as they are",
            _range(each.waf_low, each.waf_high),
            f"{format_bytes(round(each.nand_low))} to {format_bytes(round(each.nand_high))}"
            if each.left_empty
            else format_bytes(round(each.nand_low)),
            f"{each.short_lived_low:,} to {each.short_lived_high:,}"
            if each.short_lived_low != each.short_lived_high
            else f"{each.short_lived_low:,}",
        )
    show(table, Console())
    classes = _classes(rows)
    if classes:
        typer.echo(classes)
    _heaviest(fleet.heaviest(_HEAVIEST_SHOWN))
    typer.echo(
        "An inference: counters do not show why a drive amplifies. Ranges cover the models of ssdlab advise --smart; "
        "spare area assumes flash of the next power of two GiB."
    )


def _classes(rows: Sequence[TableRow]) -> str:
    """How many of the drives a drive of each class would be enough for; empty if no rate is known."""
    rates = [rate for row in rows if (rate := row["drive_writes_per_day"]) is not None]
    return endurance_class.sentence_of_drives(rates)


def _heaviest(drives: Sequence[Any]) -> None:
    for drive in drives:
        words = drive.what_ifs[-1].sentence() if drive.what_ifs else "nothing to infer."
        typer.echo(f"{drive.name}: {format_bytes(round(drive.nand_bytes_per_day))} per day to flash; {words}")


def _range(low: float, high: float) -> str:
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
