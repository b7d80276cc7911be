"""`ssdlab lifetime --smart`, `--before` and `--after`: the life of a real drive from its reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ssdlab.errors import InputError
from ssdlab.field.wear_rate import more_spare_area, outlooks
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes, format_share
from ssdlab.hardware.smart.change import Change, Interval, change
from ssdlab.simulator.drives import load, resolve
from ssdlab.theory import endurance_class

if TYPE_CHECKING:
    from ssdlab.field.health.one_drive import Report
    from ssdlab.hardware.smart.reading import Reading


@dataclass(frozen=True)
class Readings:
    """Reports of a real drive, in any form that `ssdlab health` reads."""

    before: Annotated[
        str | None, typer.Option(metavar="FILE", help="A real drive's first report, as for ssdlab health.")
    ] = None
    after: Annotated[str | None, typer.Option(metavar="FILE", help="The second, days later.")] = None
    ocp_before: Annotated[str | None, typer.Option(metavar="FILE", help="Its nvme ocp smart-add-log.")] = None
    ocp_after: Annotated[str | None, typer.Option(metavar="FILE", help="The same for the second report.")] = None
    smart: Annotated[
        Sequence[str], typer.Option(metavar="PLACE", help="Any number of reports of a drive instead. Repeatable.")
    ] = ()

    def __post_init__(self) -> None:
        if (self.before is None) != (self.after is None):
            raise InputError("--before and --after go together: two readings of one drive")
        if self.before and (self.ocp_before is None) != (self.ocp_after is None):
            raise InputError("--ocp-before and --ocp-after go together")
        if self.smart and self.before:
            raise InputError("--smart takes all reports of a drive: leave out --before and --after")

    @property
    def given(self) -> bool:
        return bool(self.before or self.smart)


def from_readings(readings: Readings, drive: str | None, rated_tbw: float | None) -> None:
    """Prints what was written between the first and the last report, and how long the drive lasts."""
    from ssdlab.field.health import one_drive

    if readings.before and readings.after:
        where = f"--before {readings.before} --after {readings.after}"
        first, last = _pair(
            one_drive.reports_of([readings.before], readings.ocp_before),
            one_drive.reports_of([readings.after], readings.ocp_after),
        )
    else:
        where = f"--smart {' '.join(readings.smart)}"
        reports = one_drive.reports_of(readings.smart)
        one_drive.row_of([report.row for report in reports], where, "ssdlab health")
        first, last = reports[0], reports[-1]
    if first is last:
        _said_alone(last.row, rated_tbw)
        return
    seen = change(first.reading, last.reading)
    row = one_drive.row_of([first.row, last.row], where, "ssdlab health")
    _said_change(last.reading, seen)
    _said_life(row)
    _said_outlooks(last.reading, seen, drive, rated_tbw, is_known=row["years_left"] is not None)


def _pair(before: "list[Report]", after: "list[Report]") -> "tuple[Report, Report]":
    """The first and the last report of the drive that both files have; of files with other drives too, that in both."""
    both = {_key(report) for report in before} & {_key(report) for report in after}
    if len(both) == 1:
        before, after = ([each for each in reports if _key(each) in both] for reports in (before, after))
    return before[0], after[-1]


def _key(report: "Report") -> tuple[str, str]:
    return report.row["model"], report.row["serial"]


def _said_change(reading: "Reading", seen: Change) -> None:
    typer.echo(
        f"{reading.model} {reading.serial}, {f'{seen.days:.1f} days' if seen.days is not None else 'time unknown'}"
    )
    for name, value in (("host", seen.host_bytes), ("NAND", seen.nand_bytes)):
        typer.echo(f"  {name + ' writes':12} {'not available' if value is None else format_bytes(value)}")
    waf = f"{_interval(seen.waf)} (counter steps: {seen.resolution})" if seen.waf else f"not known: {seen.reason}"
    typer.echo(f"  {'WAF':12} {waf}")
    for assumption in seen.assumed:
        typer.echo(f"  assumed      {assumption}")


def _said_life(row: TableRow) -> None:
    """The life by the used percentage, as `ssdlab health` gives it."""
    if row["host_bytes"] is not None:
        left = f"; {_sizes(row, 'left_bytes')} left at the same wear per byte" if row["left_bytes"] else ""
        typer.echo(f"  {'written':12} {format_bytes(row['host_bytes'])} since it was new{left}")
    if row["used_percent"] is not None:
        typer.echo(f"  {'used':12} {row['used_percent']} % ({row['used_source']})")
    if row["drive_writes_per_day"] is not None:
        pace = format_bytes(round(row["host_bytes_per_day"]))
        typer.echo(f"  {'rate':12} {pace} a day, {endurance_class.sentence(row['drive_writes_per_day'])}")
    if row["years_left"] is not None:
        years = Interval(row["years_left"], row["years_left_low"] or 0.0, row["years_left_high"] or float("inf"))
        typer.echo(f"  by {row['years_by']}: {_interval(years)} years left")


def _said_alone(row: TableRow, rated_tbw: float | None) -> None:
    """One report: the mean since the drive was new."""
    typer.echo(f"{row['model']} {row['serial']}, one report: its mean rate since it was new")
    _said_life(row)
    if rated_tbw and row["host_bytes"] is not None and row["host_bytes_per_day"]:
        left = max(rated_tbw * 1e12 - row["host_bytes"], 0.0) / row["host_bytes_per_day"] / 365
        typer.echo(f"  by the rated TBW: {left:.3g} years left")
    elif row["years_left"] is None:
        typer.echo("  years left: not known; give a second report of some days later")


def _said_outlooks(
    reading: "Reading", seen: Change, drive: str | None, rated_tbw: float | None, *, is_known: bool
) -> None:
    endurance_bytes = None
    if drive:
        resolved = resolve(load(drive), over_provisioning=None, settings={}, scale=None)
        endurance_bytes = resolved.endurance_cycles * resolved.capacity.physical_bytes
    found = outlooks(reading, seen, endurance_bytes=endurance_bytes, rated_tbw_bytes=rated_tbw and rated_tbw * 1e12)
    for outlook in found:
        years = f"{_interval(outlook.years)} years left" if outlook.years else f"not known: {outlook.reason}"
        typer.echo(f"  by {outlook.by}: {years}")
    if not found and not is_known:
        typer.echo("  years left: give --rated-tbw, or --drive for its flash and cycles")
    if reading.spare_percent is not None:
        typer.echo(f"  spare blocks left: {reading.spare_percent} %")
    if reading.critical_warning:
        typer.echo("  SMART reports a critical warning; copy the data to another drive")
    for more in more_spare_area(seen.waf.value) if seen.waf else ():
        typer.echo(
            f"  with {format_share(more.over_provisioning_added)} more over-provisioning, kept trimmed: WAF about "
            f"{more.waf:.2f}, life multiplied by {more.life_factor:.2f} (closed form, as if writes were uniform)"
        )


def _sizes(row: TableRow, name: str) -> str:
    """A size with its bounds, where they are finite."""
    text = format_bytes(round(row[name]))
    low, high = (row[f"{name}_{end}"] for end in ("low", "high"))
    if low is None or high is None:
        return text
    return f"{text} ({format_bytes(round(low))} to {format_bytes(round(high))})"


def _interval(interval: Interval) -> str:
    low, high = f"{interval.low:.3g}", f"{interval.high:.3g}"
    return f"{interval.value:.3g}" if low == high else f"{interval.value:.3g} ({low} to {high})"
