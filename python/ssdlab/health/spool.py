"""The rows of a survey on disk, a Parquet file a part, and what is asked of all of them together.

Rows come from the parts as they are asked for: a survey of a million reports takes no more memory than one of a
thousand, but for the drives that have several reports.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import polars as pl

from ssdlab.health import drive
from ssdlab.health.drive import Row
from ssdlab.health.scanning import Part, Unread

_TEXTS = (
    *("source", "model", "serial", "family", "protocol", "waf_source", "waf_reason", "waf_doubt", "used_source"),
    *("failing", "level", "concern", "concerns", "unread"),
)
_FLAGS = ("is_disk", "waf_is_implausible", "waf_is_early", "reduces_data", "passed", "pace_between_reports")
_COUNTS = (
    *("reports", "capacity_bytes", "time_s", "power_on_hours", "host_bytes", "host_step_bytes", "nand_bytes"),
    *("nand_step_bytes", "host_pages", "background_pages", "used_percent", "spare_percent", "spare_threshold_percent"),
    *("temperature_c", "temperature_max_c", "critical_warning", "media_errors"),
)
_INTERVALS = ("waf", "recent_waf", "years_left", "life_bytes", "left_bytes")
_FIGURES = (
    *(f"{name}{end}" for name in _INTERVALS for end in ("", "_low", "_high")),
    *("host_bytes_per_day", "pace_days"),
)
SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(_TEXTS, pl.String()),
    **dict.fromkeys(_FLAGS, pl.Boolean()),
    **dict.fromkeys(_COUNTS, pl.Int64()),
    **dict.fromkeys(_FIGURES, pl.Float64()),
}
"""The columns of a survey. `unread` is the reason of what could not be read, and null for drives."""
_BATCH = 10_000


class Spool:
    """Parts in a folder; those that were used in this survey count."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._used: list[Path] = []

    def has(self, name: str) -> bool:
        """Whether the part was kept by an earlier survey; it then counts in this one."""
        path = self._path(name)
        if not path.exists():
            return False
        self._used.append(path)
        return True

    def put(self, part: Part) -> None:
        """Keeps a part, whole or not at all."""
        path = self._path(part.name)
        unread = [{"source": each.source, "unread": each.reason} for each in part.unread]
        partial = path.with_suffix(".partial")
        frame_of([*part.rows, *unread]).write_parquet(partial)
        partial.replace(path)
        self._used.append(path)

    def rows(self) -> pl.LazyFrame:
        """All of them, a report each."""
        if not self._used:
            return frame_of([]).lazy()
        return pl.scan_parquet(sorted(self._used), schema=SCHEMA)

    def unread(self) -> pl.LazyFrame:
        """What could not be read: `source` and `unread`."""
        return self.rows().filter(pl.col("unread").is_not_null()).select("source", "unread")

    def drives(self) -> pl.LazyFrame:
        """A row a drive. Reports of one model and serial number are of one drive, at the pace between them."""
        rows = self.rows().filter(pl.col("unread").is_null()).drop("unread")
        keys = ["model", "serial"]
        several = (
            rows.filter(pl.col("serial") != "").group_by(keys).len().filter(pl.col("len") > 1).select(keys).collect()
        )
        if several.is_empty():
            return rows
        paired = list(_paired(rows.join(several.lazy(), on=keys, how="semi").sort(keys).collect()))
        single = rows.join(several.lazy(), on=keys, how="anti")
        return pl.concat([single, frame_of(paired).drop("unread").lazy()], how="vertical")

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.parquet"


def frame_of(rows: list[Row]) -> pl.DataFrame:
    """Rows as a frame with all columns; what a row lacks is null."""
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in SCHEMA}, schema=SCHEMA)


def unread_of(frame: pl.DataFrame) -> list[Unread]:
    """The unread files of a frame with `source` and `unread`."""
    return [Unread(source, reason) for source, reason in frame.select("source", "unread").iter_rows()]


def _paired(frame: pl.DataFrame) -> Iterator[Row]:
    def key(row: Row) -> tuple[str, str]:
        return row["model"], row["serial"]

    for _, group in groupby(frame.iter_rows(named=True, buffer_size=_BATCH), key):
        reports = sorted(group, key=drive.order)
        yield drive.between(reports[0], reports[-1]) | {"reports": len(reports)}
