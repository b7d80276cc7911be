"""A sweep that runs elsewhere: its progress, and pictures of the results stored so far.

It reads each finished file of the sweep's data set once, and does not access the processes that write them. They can
run anywhere, or not at all.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ssdlab.errors import InputError
from ssdlab.experiments.sweeps.dataset import Dataset
from ssdlab.experiments.sweeps.file import load
from ssdlab.experiments.sweeps.pictures import Roles, roles
from ssdlab.experiments.sweeps.plan import plan
from ssdlab.experiments.sweeps.points import Point
from ssdlab.experiments.sweeps.rows import column
from ssdlab.live.messages import Sweep, SweepAxis, SweepFigure, SweepLine, SweepPanel

# Column, title, and the function in `page/words.js` that formats its values.
_FIGURES = (
    ("waf", "Write amplification", "waf"),
    ("write_iops", "Writes per second", "count"),
    ("read_iops", "Reads per second", "count"),
    ("write_latency_us_p999", "Write latency, 99.9 %, \N{MICRO SIGN}s", "plain"),
)
# The limit keeps each pass short; the next ones read the other files.
_FILES_PER_LOOK = 200
# The rate is that of the latest results, because runs of a sweep differ in duration.
_RATE_SECONDS = 120.0
_DAMAGED_SHOWN_MAX = 3


@dataclass(frozen=True)
class WatchedSweep:
    """A sweep without its results."""

    name: str
    description: str
    axes: tuple[str, ...]
    points: dict[str, Point]
    """The points by the keys under which their results are stored."""
    dataset: Dataset


def watched_sweep(file: str, place: str | None) -> WatchedSweep:
    """The sweep of a file, with results stored at `place`, or at the default of `ssdlab sweep`. Raises InputError."""
    path = Path(file)
    content = load(path)
    points = {planned.key: planned.point for planned in plan(content, path)}
    dataset = Dataset(place or str(Path("out") / f"sweep-{content.name}"))
    return WatchedSweep(content.name, content.description, tuple(content.axes), points, dataset)


class SweepState:
    """The stored results of a sweep at the latest call of `look`. Not thread-safe."""

    def __init__(self, sweep: WatchedSweep, clock: Callable[[], float] = time.monotonic) -> None:
        self._sweep = sweep
        self._clock = clock
        self._columns = [column(axis) for axis in sweep.axes]
        self._planned = pl.DataFrame(
            [{column(axis): value for axis, value in point.items()} for point in sweep.points.values()],
            infer_schema_length=None,
            strict=False,
        )
        self._roles = roles(self._planned, self._columns)
        self._kept: set[str] = set()
        self._read: dict[str, pl.DataFrame] = {}
        self._damaged: dict[str, str] = {}
        # Pairs: (time, number of results); results stored before the first call do not count for the rate.
        self._counts: deque[tuple[float, int]] = deque()

    def close(self) -> None:
        """Does nothing: no file is open between two calls."""

    def look(self) -> None:
        """Reads the new results. Raises OSError if the folder cannot be listed."""
        self._kept = self._sweep.dataset.keys() & self._sweep.points.keys()
        self._note_count(len(self._kept))
        # Removes results that were deleted, or belong to a data set that was started again.
        for known in (self._read, self._damaged):
            for key in known.keys() - self._kept:
                del known[key]
        unread = sorted(self._kept - self._read.keys() - self._damaged.keys())
        for key in unread[:_FILES_PER_LOOK]:
            try:
                self._read[key] = self._sweep.dataset.frame([key]).drop("result_json", strict=False)
            except InputError as error:
                self._damaged[key] = str(error)
            except FileNotFoundError:
                continue

    def plain(self) -> Sweep:
        """The state for the page; `Sweep` of `page/types.js`."""
        total, kept = len(self._sweep.points), len(self._kept)
        rate = self._runs_per_second()
        rows = pl.concat(self._read.values(), how="diagonal_relaxed") if self._read else None
        return {
            "name": self._sweep.name,
            "description": self._sweep.description,
            "place": self._sweep.dataset.place,
            "axes": list(self._sweep.axes),
            "total": total,
            "kept": kept,
            "read": len(self._read),
            "failed": 0 if rows is None else rows["failure"].drop_nulls().len(),
            "damaged": list(self._damaged.values())[:_DAMAGED_SHOWN_MAX],
            "runs_per_second": rate,
            "seconds_left": 0.0 if kept == total else (total - kept) / rate if rate else None,
            "x": None if self._roles is None else self._axis(self._roles),
            "figures": [] if rows is None or self._roles is None else self._figures(rows, self._roles),
        }

    def _note_count(self, kept: int) -> None:
        now = self._clock()
        if self._counts and kept < self._counts[-1][1]:
            self._counts.clear()
        if not self._counts or kept > self._counts[-1][1]:
            self._counts.append((now, kept))
        while len(self._counts) > 2 and now - self._counts[1][0] > _RATE_SECONDS:
            self._counts.popleft()

    def _runs_per_second(self) -> float | None:
        """The rate of new results; None before the first one."""
        if len(self._counts) < 2:
            return None
        (begun, before), (_, latest) = self._counts[0], self._counts[-1]
        # Up to now, so that the rate falls while there are no new results.
        return (latest - before) / max(self._clock() - begun, 1e-9)

    def _axis(self, found: Roles) -> SweepAxis:
        """The horizontal axis of the whole sweep, so that it does not change as results arrive."""
        values = self._planned[found.x].unique(maintain_order=True)
        if values.dtype.is_numeric():
            numbers = values.sort().to_list()
            return {"name": found.x, "names": None, "low": numbers[0], "high": numbers[-1]}
        return {"name": found.x, "names": [_shown(value) for value in values], "low": 0, "high": len(values) - 1}

    def _figures(self, rows: pl.DataFrame, found: Roles) -> list[SweepFigure]:
        names = [found.x, *filter(None, (found.colour, found.panel))]
        drawn: list[SweepFigure] = []
        for name, title, word in _FIGURES:
            if name not in rows.columns:
                continue
            measured = rows.filter(pl.col(name).is_not_null() & (pl.col(name) > 0))
            if measured.height:
                of_points = measured.group_by(names).agg(
                    pl.col(name).mean().alias("value"),
                    pl.col(name).min().alias("low"),
                    pl.col(name).max().alias("high"),
                )
                panels = [self._panel(of_points, found, panel) for panel in self._values(found.panel)]
                drawn.append({"name": name, "title": title, "word": word, "panels": panels})
        return drawn

    def _panel(self, points: pl.DataFrame, found: Roles, panel: object) -> SweepPanel:
        own = points if found.panel is None else points.filter(pl.col(found.panel) == panel)
        lines: list[SweepLine] = []
        for line in self._values(found.colour):
            of_line = own if found.colour is None else own.filter(pl.col(found.colour) == line)
            lines.append({"name": "" if found.colour is None else _shown(line), "points": self._points(of_line, found)})
        return {"name": "" if found.panel is None else _shown(panel), "lines": lines}

    def _points(self, of_line: pl.DataFrame, found: Roles) -> list[list[float]]:
        """(position on the axis, mean, minimum, maximum), in the order of the axis."""
        places = {value: place for place, value in enumerate(self._values(found.x))}
        is_number = self._planned[found.x].dtype.is_numeric()
        points = [
            [row[found.x] if is_number else places[row[found.x]], row["value"], row["low"], row["high"]]
            for row in of_line.iter_rows(named=True)
        ]
        return sorted(points)

    def _values(self, name: str | None) -> Sequence[Any]:
        """The values of an axis in the whole sweep, in the order of its file; [None] without an axis."""
        return [None] if name is None else self._planned[name].unique(maintain_order=True).to_list()


def _shown(value: object) -> str:
    """The text of a value; job and drive files are shown without folder and suffix."""
    text = str(value)
    return Path(text).stem if text.endswith((".fio", ".toml")) else text
