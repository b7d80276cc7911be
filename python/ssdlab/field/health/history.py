"""Charts of drives with many reports in time, such as a log of smartd: what was written a day, and the wear.

Not for two reports of a drive, whose rate is a figure of the table.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import polars as pl

from ssdlab.presentation.report import wording
from ssdlab.presentation.report.charts.published import Line, published_lines
from ssdlab.presentation.report.figure import Figure

READINGS_MIN = 5
_DRIVES_SHOWN = 6
# A screen does not resolve more; between readings that are closer, the step of a counter is most of the difference.
_INTERVALS_MAX = 120
_SECONDS_PER_DAY = 86_400.0
_KEYS = ["model", "identity"]

Readings = list[tuple[float, int | None, int | None]]
"""Of one drive in the order of time: days since the first reading of all, bytes written, percent used."""


def timed(rows: pl.LazyFrame) -> pl.LazyFrame:
    """What the charts need of `rows`, which has a row for each report: of identified drives at known times."""
    is_known = pl.col("unread").is_null() & (pl.col("identity") != "") & pl.col("time_s").is_not_null()
    return rows.filter(is_known).select(*_KEYS, "time_s", "host_bytes", "used_percent")


def figures(reports: pl.LazyFrame) -> list[Figure]:
    """The charts of the drives with the most readings in `timed`; empty if none has enough."""
    drives = _readings(reports)
    rates = [Line(label, _rates(each)) for label, each in drives]
    written = [line for line in rates if len(line.points) > 1]
    wear = [Line(label, _used(each)) for label, each in drives]
    used = [line for line in wear if len({percent for _, percent in line.points}) > 1]
    found = []
    if written:
        found.append(
            published_lines(
                name="written-over-time",
                title=_rates_sentence(written),
                caption=f"Host writes between the reports, as GB a day{_left_out(drives, written, 'the writes')}",
                lines=written,
                x_title="days since the first report",
                y_title="GB a day",
            )
        )
    if used:
        found.append(
            published_lines(
                name="used-over-time",
                title=_wear_sentence(used),
                caption="What the drives themselves report; drives on which it did not change are left out.",
                lines=used,
                x_title="days since the first report",
                y_title="% of the rated life used",
            )
        )
    return found


def _readings(reports: pl.LazyFrame) -> list[tuple[str, Readings]]:
    """The readings of the drives with the most, each with a label that has no serial number."""
    most = (
        reports.group_by(_KEYS)
        .agg(pl.col("time_s").n_unique().alias("readings"))
        .filter(pl.col("readings") >= READINGS_MIN)
        .sort("readings", *_KEYS, descending=[True, False, False])
        .head(_DRIVES_SHOWN)
        .collect()
    )
    if most.is_empty():
        return []
    chosen = reports.join(most.lazy(), on=_KEYS, how="semi").unique([*_KEYS, "time_s"], keep="last").collect()
    first_s = chosen["time_s"].min()
    assert isinstance(first_s, int)
    seen: Counter[str] = Counter()
    drives = []
    for model, identity in most.select(_KEYS).iter_rows():
        seen[model] += 1
        own = chosen.filter((pl.col("model") == model) & (pl.col("identity") == identity)).sort("time_s")
        readings = [
            ((time_s - first_s) / _SECONDS_PER_DAY, host_bytes, used)
            for time_s, host_bytes, used in own.select("time_s", "host_bytes", "used_percent").iter_rows()
        ]
        drives.append((model or "unknown model", seen[model], readings))
    return [(label if seen[label] < 2 else f"{label} ({number})", each) for label, number, each in drives]


def _rates(readings: Readings) -> list[tuple[float, float]]:
    """(days, GB a day) in the middle of each interval; a counter that went back begins anew."""
    known = [(day, host) for day, host, _ in readings if host is not None]
    if len(known) < READINGS_MIN:
        return []
    least = (known[-1][0] - known[0][0]) / _INTERVALS_MAX
    points = []
    began, before = known[0]
    for number, (day, host) in enumerate(known[1:], start=2):
        if host < before:
            began, before = day, host
        elif day > began and (day - began >= least * 0.999 or number == len(known)):
            points.append(((began + day) / 2, (host - before) / 1e9 / (day - began)))
            began, before = day, host
    return points


def _used(readings: Readings) -> list[tuple[float, float]]:
    known = [(day, float(used)) for day, _, used in readings if used is not None]
    if len(known) < READINGS_MIN:
        return []
    return [*known[: -1 : max(1, len(known) // _INTERVALS_MAX)], known[-1]]


def _rates_sentence(lines: Sequence[Line]) -> str:
    rates = [rate for line in lines for _, rate in line.points]
    least, most = (f"{wording.significant(each)} GB" for each in (min(rates), max(rates)))
    who = lines[0].label if len(lines) == 1 else f"{len(lines)} drives"
    return f"{who} wrote {least} to {most} a day" if least != most else f"{who} wrote {most} a day"


def _wear_sentence(lines: Sequence[Line]) -> str:
    rises = [(line.label, _since_fall(line.points)) for line in lines]
    label, points = max(rises, key=lambda each: each[1][-1][1] - each[1][0][1])
    (first, began), (last, ended) = points[0], points[-1]
    if ended == began:
        return f"{label}: the used share of its rated life fell to {ended:g} %"
    return f"{label} used {ended - began:g} % of its rated life in {wording.significant(last - first)} days"


def _since_fall(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """The points since the percentage last fell, as after a counter that began anew."""
    falls = [at for at, (before, after) in enumerate(pairwise(points), start=1) if after[1] < before[1]]
    return points[falls[-1] :] if falls else points


def _left_out(drives: Sequence[object], lines: Sequence[object], what: str) -> str:
    less = len(drives) - len(lines)
    return f"; {less} of {len(drives)} drives do not report {what}." if less else "."
