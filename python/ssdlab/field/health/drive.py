"""One drive as a flat row of plain values: its counters, its expected life, and its concerns."""

import math
from collections.abc import Callable, Iterable

from ssdlab.field.health import concerns, life
from ssdlab.field.health.life import Life, Pace
from ssdlab.field.wear_rate import DAYS_MIN
from ssdlab.foundation.foreign import TableRow
from ssdlab.foundation.quantities import format_bytes
from ssdlab.hardware.smart import lifetime_waf
from ssdlab.hardware.smart.change import Interval, ratio_of_steps
from ssdlab.hardware.smart.reading import Reading
from ssdlab.theory import endurance_class

Row = TableRow

_FAILING_NAMED = 3
_STEPS_MIN = 100
"""The least number of steps of a counter that gives a share."""
_DRIVE_WRITES_RATED_MIN = 200
"""Drive writes that any drive is rated for: Intel's 660p of 1 TB, with QLC, for 200 TB (its data sheet)."""


def row_of(reading: Reading, source: str) -> Row:
    """The row of a drive from one report. `source` is the origin of the report."""
    waf = lifetime_waf.of(reading)
    host_bytes = _fits(reading.host.bytes) if reading.host else None
    row = {
        "source": source,
        "model": reading.model,
        "serial": reading.serial,
        "family": reading.family,
        "attributes_read_as": reading.attributes_read_as,
        "attributes_doubt": reading.attributes_doubt,
        "attributes_unknown": ", ".join(map(str, reading.attributes_unknown)) or None,
        "protocol": reading.protocol,
        "is_disk": reading.is_disk,
        "reports": 1,
        "capacity_bytes": reading.capacity_bytes,
        "time_s": reading.time_s,
        "power_on_hours": reading.power_on_hours,
        "host_bytes": host_bytes,
        "host_step_bytes": reading.host.unit_bytes if reading.host else None,
        "nand_bytes": _fits(sum(count.bytes for count in reading.nand)) if reading.nand else None,
        # Each of the summed counters can be off by its own step.
        "nand_step_bytes": sum(count.unit_bytes for count in reading.nand) if reading.nand else None,
        "host_pages": _fits(reading.pages[0].ticks) if reading.pages else None,
        "background_pages": _fits(reading.pages[1].ticks) if reading.pages else None,
        **_interval("waf", waf.waf),
        "waf_source": waf.source,
        "waf_reason": waf.reason,
        "waf_is_implausible": waf.is_implausible,
        "waf_is_early": waf.is_early,
        "waf_doubt": waf.doubt,
        **_interval("recent_waf", None),
        "reduces_data": reading.reduces_data,
        "used_percent": reading.used_percent,
        "used_percent_max": reading.wear.used_percent_max,
        "used_source": reading.wear.source,
        "spare_percent": reading.wear.spare_percent,
        "spare_threshold_percent": reading.wear.spare_threshold_percent,
        "temperature_c": reading.temperature_c,
        "temperature_max_c": reading.temperature_max_c,
        "passed": reading.signs.passed,
        "critical_warning": reading.signs.critical_warning,
        "failing": ", ".join(reading.signs.failing[:_FAILING_NAMED]) or None,
        "media_errors": _fits(reading.signs.media_errors),
        "reported": reading.signs.reported,
        "is_urgent": reading.signs.is_urgent,
        "remark": reading.remark,
        "identity": reading.identity,
    }
    pace = life.pace_of(host_bytes, reading.power_on_hours)
    return _judged(row, pace)


def combined(rows: Iterable[Row]) -> Row:
    """The row of a drive with any number of reports, in any order: the latest, with the rate since the first, or since
    its counters last began anew."""
    reports = in_order(rows)
    if len(reports) == 1:
        return reports[0]
    fallen_at, fallen = _last_fall(reports)
    since = reports[fallen_at:]
    rates = _rates(since)
    bounds = {"pace_low": min(rates), "pace_high": max(rates)} if len(rates) > 1 else {}
    row = between(since[0], since[-1]) if len(since) > 1 else since[0]
    return (_with_concerns(row | {"fallen": fallen}) if fallen else row) | {"reports": len(reports)} | bounds


def fall_of(rows: Iterable[Row]) -> str | None:
    """Which counters fell between two reports of a drive, in words; None if none did."""
    return _last_fall(in_order(rows))[1]


def _last_fall(reports: list[Row]) -> tuple[int, str | None]:
    """The first report after the last fall of a counter, and the fall in words; 0 and None without one."""
    for at in range(len(reports) - 1, 0, -1):
        before, after = reports[at - 1 : at + 1]
        said = []
        for name, words, text in _NEVER_FALL:
            if before[name] is not None and after[name] is not None:
                # A count that is rounded, or of another program, can be one step less.
                least = before[name] - max(before["host_step_bytes"] or 1, after["host_step_bytes"] or 1)
                if after[name] < (least if name == "host_bytes" else before[name] - 1):
                    said.append(f"{words} from {text(before[name])} to {text(after[name])}")
        if said:
            return at, ", ".join(said)
    return 0, None


_NEVER_FALL: tuple[tuple[str, str, Callable[[int], str]], ...] = (
    ("host_bytes", "what the host wrote", format_bytes),
    ("power_on_hours", "the hours with power", "{:,}".format),
)


def _rates(reports: list[Row]) -> list[float]:
    """The host's bytes per day between reports at least a day apart, in order."""
    found = []
    before = reports[0]
    for after in reports[1:]:
        days, written = _days(before, after), _risen(before, after, "host_bytes")
        if days is not None and days >= 1:
            if written is not None:
                found.append(written / days)
            before = after
    return found


def between(before: Row, after: Row) -> Row:
    """The row of a drive with two reports: the later row, with the write rate between the reports if it is known."""
    days = _days(before, after)
    written = _risen(before, after, "host_bytes")
    row = after | {"reports": before["reports"] + after["reports"]}
    if days is None or written is None or days < DAYS_MIN:
        return row
    row |= _interval("recent_waf", _recent_waf(before, after, written))
    flash = _flash_share(before, after)
    pace = Pace(
        written / days,
        days,
        between_reports=True,
        flash_share_per_day=None if flash is None else flash / days,
        used_percent_risen=_risen(before, after, "used_percent"),
    )
    return _judged(row, pace)


def in_order(rows: Iterable[Row]) -> list[Row]:
    """A drive's reports in chronological order: by their times, or by the hours with power if not all have a time."""
    found = list(rows)
    # Of reports within one second, or one hour, the host's bytes tell the order.
    keys = ["time_s", "power_on_hours", "host_bytes"]
    if any(row["time_s"] is None for row in found) and all(row["power_on_hours"] is not None for row in found):
        keys = ["power_on_hours", "host_bytes"]
    return sorted(found, key=lambda row: tuple(row[key] or 0 for key in keys))


def _judged(row: Row, pace: Pace | None) -> Row:
    few = _too_few_drive_writes(row)
    expected = life.of(
        None if few else row["used_percent"], row["host_bytes"], row["power_on_hours"], pace, row["used_percent_max"]
    )
    row = row | {"drive_writes_too_few": few}
    row |= {
        "host_bytes_per_day": pace.host_bytes_per_day if pace else None,
        "pace_days": pace.days if pace else None,
        "pace_low": None,
        "pace_high": None,
        **_drive_writes(row, pace),
        "pace_between_reports": pace.between_reports if pace else None,
        **_life(expected),
    }
    return _with_concerns(row)


def _with_concerns(row: Row) -> Row:
    found = concerns.of(row)
    level = found[0].level if found else concerns.Level.FINE
    texts = [concern.text for concern in found]
    return row | {"level": level.name.lower(), "concern": texts[0] if texts else "", "concerns": " ".join(texts)}


def _too_few_drive_writes(row: Row) -> float | None:
    """The host's drive writes, if they cannot have used the share of the rated life that is used: then one of the
    counters was reset or counts something else. None if they can, or too little is known."""
    if not row["used_percent"] or not row["host_bytes"] or not row["capacity_bytes"]:
        return None
    drive_writes = float(row["host_bytes"] / row["capacity_bytes"])
    # The percentage can be one too high.
    needed = _DRIVE_WRITES_RATED_MIN * (row["used_percent"] - 1) / 100
    return drive_writes if drive_writes * max(row["waf"] or 0, concerns.WAF_HIGH) < needed else None


def _drive_writes(row: Row, pace: Pace | None) -> Row:
    """The rate in drive writes per day and the class of endurance that allows it; for a drive with a capacity."""
    rate = pace.host_bytes_per_day / row["capacity_bytes"] if pace and row["capacity_bytes"] else None
    return {
        "drive_writes_per_day": rate,
        "endurance_class": None
        if rate is None or row["drive_writes_too_few"]
        else endurance_class.class_of(rate, row["recent_waf"] or row["waf"]),
    }


def _life(expected: Life) -> Row:
    return {
        **_interval("years_left", expected.years_left),
        **_interval("life_bytes", expected.total_bytes),
        **_interval("left_bytes", expected.left_bytes),
        "years_by": expected.by,
    }


def _days(before: Row, after: Row) -> float | None:
    """Days between two reports, by their timestamps or else by power-on hours; None if neither is later."""
    for name, seconds in (("time_s", 1), ("power_on_hours", 3600)):
        if before[name] is not None and after[name] is not None and after[name] > before[name]:
            return float((after[name] - before[name]) * seconds / 86400)
    return None


def _recent_waf(before: Row, after: Row, written: int) -> Interval | None:
    host_pages, background = (_risen(before, after, name) for name in ("host_pages", "background_pages"))
    if host_pages and background is not None:
        return ratio_of_steps(host_pages + background, 1, host_pages, 1, steps=2)
    programmed = _risen(before, after, "nand_bytes")
    if not programmed or not written or before["nand_step_bytes"] != after["nand_step_bytes"]:
        return None
    nand_step, host_step = after["nand_step_bytes"], after["host_step_bytes"]
    return ratio_of_steps(programmed / nand_step, nand_step, written / host_step, host_step, steps=1)


def _flash_share(before: Row, after: Row) -> float | None:
    """What was programmed between two reports as a share of all that was, or None if it is not known or too little to
    tell."""
    pages, more = (_risen(before, after, name) for name in ("host_pages", "background_pages"))
    if pages is not None and more is not None:
        whole = after["host_pages"] + after["background_pages"]
        return (pages + more) / whole if pages + more >= _STEPS_MIN else None
    programmed, step = _risen(before, after, "nand_bytes"), after["nand_step_bytes"]
    if programmed is None or before["nand_step_bytes"] != step or programmed < _STEPS_MIN * step:
        return None
    return programmed / float(after["nand_bytes"])


def _risen(before: Row, after: Row, name: str) -> int | None:
    """The increase of a column, or None if it is not known or negative, as after a reset."""
    if before[name] is None or after[name] is None or after[name] < before[name]:
        return None
    return int(after[name] - before[name])


def _interval(name: str, interval: Interval | None) -> Row:
    """Columns of an interval. An infinite bound becomes None."""
    ends = (interval.value, interval.low, interval.high) if interval else (None, None, None)
    value, low, high = (end if end is not None and math.isfinite(end) else None for end in ends)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _fits(value: int | None) -> int | None:
    """The value if it is from 0 to 2^63, otherwise None. NVMe's counters have 128 bits, but a larger value is not a
    real count."""
    return value if value is not None and 0 <= value < 1 << 63 else None
