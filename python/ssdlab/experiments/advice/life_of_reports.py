"""The life of a real drive from its reports: `ssdlab.lifetime` with `smart`, or with `before` and `after`."""

import math
from collections.abc import Sequence

from ssdlab.experiments.advice.living import Life, Lifetime, Readings
from ssdlab.field.health import one_drive, what_if
from ssdlab.field.health.concerns import contradiction, used_share
from ssdlab.field.health.one_drive import Report
from ssdlab.field.health.table import name_of, pace_text
from ssdlab.field.wear_rate import outlooks
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes, rounded
from ssdlab.hardware.smart.change import Change, Interval, change
from ssdlab.hardware.smart.reading import Reading
from ssdlab.simulator.drives import load, resolve
from ssdlab.theory.endurance import BYTES_PER_TB, DAYS_PER_YEAR

_DAYS_SHOWN_MIN = 0.1
_SECONDS_PER_DAY = 86400


def of_reports(readings: Readings, drive: str | None, rated_tbw: float | None) -> Lifetime:
    """What was written between the first and the last report, and how long the drive lasts."""
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
        return _of_one(last, rated_tbw)
    seen = change(first.reading, last.reading)
    row = one_drive.row_of([first.row, last.row], where, "ssdlab health")
    used, others = _of_used(row), _outlooks(last.reading, seen, drive, rated_tbw)
    lines = [
        *_change_lines(_named(row), seen),
        *_life_lines(row),
        *(f"  by {each.by}: {_years(each)}" for each in others),
    ]
    if not used and not others:
        lines.append("  years left: give --rated-tbw, or --drive for its flash and cycles")
    lines += _state_lines(last.reading)
    if row["recent_waf"]:
        lines += _more_spare_area_lines(row)
    return Lifetime(_named(row), [*used, *others], lines)


def _pair(before: list[Report], after: list[Report]) -> tuple[Report, Report]:
    """The first and the last report of the drive that both files have; of files with other drives too, that in both."""
    both = {_key(report) for report in before} & {_key(report) for report in after}
    if len(both) == 1:
        before, after = ([each for each in reports if _key(each) in both] for reports in (before, after))
    return before[0], after[-1]


def _key(report: Report) -> tuple[str, str]:
    return report.row["model"], report.row["serial"]


def _of_used(row: TableRow) -> list[Life]:
    """The life by the used percentage, as `ssdlab health` gives it; empty if it is not known. Without an upper bound it
    is infinite."""
    value, low, high = (row[key] for key in _ends("years_left"))
    if low is None or (high is None and low < 1):
        return []
    return [
        Life(row["years_by"], years=(math.inf if value is None else value, low, math.inf if high is None else high))
    ]


def _of_one(report: Report, rated_tbw: float | None) -> Lifetime:
    """One report: the mean since the drive was new."""
    row = report.row
    name = _named(row)
    lives = _of_used(row)
    lines = [f"{name}, one report: its mean rate since it was new", *_life_lines(row)]
    if rated_tbw and row["host_bytes"] is not None and row["host_bytes_per_day"]:
        left_bytes = max(rated_tbw * BYTES_PER_TB - row["host_bytes"], 0.0)
        years = left_bytes / row["host_bytes_per_day"] / DAYS_PER_YEAR
        lives.append(Life("the rated TBW", years=(years, years, years)))
        lines.append(f"  by the rated TBW: {rounded(years)} years left")
    elif not lives and row["drive_writes_too_few"] is None:
        lines.append(f"  {'life':12} not known; give a second report of some days later")
    return Lifetime(name, lives, [*lines, *_state_lines(report.reading)])


def _outlooks(reading: Reading, seen: Change, drive: str | None, rated_tbw: float | None) -> list[Life]:
    """The life by the flash's cycles and by the rating, as far as they are given."""
    endurance_bytes = None
    if drive:
        resolved = resolve(load(drive), over_provisioning=None, settings={}, scale=None)
        endurance_bytes = resolved.endurance_cycles * resolved.capacity.physical_bytes
    rated_bytes = rated_tbw and rated_tbw * BYTES_PER_TB
    return [
        Life(
            each.by,
            years=(each.years.value, each.years.low, each.years.high) if each.years else None,
            reason=each.reason,
        )
        for each in outlooks(reading, seen, endurance_bytes=endurance_bytes, rated_tbw_bytes=rated_bytes)
    ]


def _named(row: TableRow) -> str:
    return f"{name_of(row)} {row['serial']}".strip()


def _change_lines(name: str, seen: Change) -> Sequence[str]:
    days = "time unknown" if seen.days is None else _span(seen.days)
    waf = f"{_interval(seen.waf)} (counter steps: {seen.resolution})" if seen.waf else f"not known: {seen.reason}"
    return [
        f"{name}, {days}",
        *(
            f"  {name + ' writes':12} {'not available' if value is None else format_bytes(value)}"
            for name, value in (("host", seen.host_bytes), ("NAND", seen.nand_bytes))
        ),
        f"  {'WAF':12} {waf}",
        *(f"  assumed      {assumption}" for assumption in seen.assumed),
    ]


def _span(days: float) -> str:
    return f"{days:.1f} days" if days >= _DAYS_SHOWN_MIN else f"{round(days * _SECONDS_PER_DAY):,} s"


def _life_lines(row: TableRow) -> Sequence[str]:
    """What was written since the drive was new, and the life by the used percentage."""
    lines = []
    if row["host_bytes"] is not None:
        left = f"; {_sizes(row, 'left_bytes')} left at the same wear per byte" if row["left_bytes"] else ""
        lines.append(f"  {'written':12} {format_bytes(row['host_bytes'])} since it was new{left}")
    if row["used_percent"] is not None:
        lines.append(f"  {'used':12} {used_share(row)} ({row['used_source']})")
    if row["host_bytes_per_day"] is not None:
        lines.append(f"  {'rate':12} {pace_text(row)}")
    if row["drive_writes_too_few"] is not None:
        lines.append(f"  {'life':12} not known: {contradiction(row)}")
    return [*lines, *(f"  by {each.by}: {_years(each)}" for each in _of_used(row))]


def _state_lines(reading: Reading) -> Sequence[str]:
    lines = []
    if reading.spare_percent is not None:
        lines.append(f"  spare blocks left: {reading.spare_percent} %")
    if reading.critical_warning:
        lines.append("  SMART reports a critical warning; copy the data to another drive")
    return lines


def _more_spare_area_lines(row: TableRow) -> Sequence[str]:
    """The effect of more spare area, as `ssdlab advise smart` gives it."""
    found = what_if.of(row)
    return [f"  {said}" for said in (*(each.sentence() for each in found), what_if.basis(row, found))]


def _years(life: Life) -> str:
    if life.years is None:
        return f"not known: {life.reason}"
    _, low, high = life.years
    if math.isinf(high) and not math.isinf(low):
        return f"more than {rounded(low)} years left"
    if low == 0 < high:
        return f"at most {rounded(high)} years left"
    return f"{_interval(Interval(*life.years))} years left"


def _sizes(row: TableRow, name: str) -> str:
    """A size with its bounds; the lower one if there is no upper one, and the upper one if it may be nothing."""
    text, low, high = (format_bytes(round(row[key])) if row[key] is not None else None for key in _ends(name))
    if row[f"{name}_low"] == 0 and high:
        return f"at most {high}"
    return f"{text} ({low} to {high})" if high else f"more than {low}"


def _ends(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _interval(interval: Interval) -> str:
    low, high = rounded(interval.low), rounded(interval.high)
    return rounded(interval.value) + ("" if low == high else f" ({low} to {high})")
