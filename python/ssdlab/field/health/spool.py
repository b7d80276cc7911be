"""The rows of a survey on disk, one Parquet file per part, and queries over all of them.

Queries read rows from the parts as needed: memory use does not grow with the number of reports, except for drives that
have several reports.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import polars as pl

from ssdlab.field.health import drive
from ssdlab.field.health.drive import Row
from ssdlab.field.health.scanning import Part, Unread

_TEXTS = (
    *("source", "model", "serial", "family", "protocol", "waf_source", "waf_reason", "waf_doubt", "used_source"),
    *(
        "attributes_read_as",
        "attributes_doubt",
        "years_by",
        "attributes_unknown",
        "reported",
        "remark",
        "identity",
        "failing",
        "level",
        "concern",
        "concerns",
        "unread",
    ),
)
_FLAGS = (
    "is_disk",
    "waf_is_implausible",
    "waf_is_early",
    "reduces_data",
    "is_urgent",
    "passed",
    "pace_between_reports",
)
_COUNTS = (
    *("reports", "capacity_bytes", "time_s", "power_on_hours", "host_bytes", "host_step_bytes", "nand_bytes"),
    *(
        "nand_step_bytes",
        "host_pages",
        "background_pages",
        "used_percent",
        "used_percent_max",
        "spare_percent",
        "spare_threshold_percent",
    ),
    *("temperature_c", "temperature_max_c", "critical_warning", "media_errors"),
)
_INTERVALS = ("waf", "recent_waf", "years_left", "life_bytes", "left_bytes")
_FIGURES = (
    *(f"{name}{end}" for name in _INTERVALS for end in ("", "_low", "_high")),
    *("host_bytes_per_day", "pace_days", "pace_low", "pace_high", "drive_writes_per_day", "endurance_class"),
    "drive_writes_too_few",
)
SCHEMA: dict[str, pl.DataType] = {
    **dict.fromkeys(_TEXTS, pl.String()),
    **dict.fromkeys(_FLAGS, pl.Boolean()),
    **dict.fromkeys(_COUNTS, pl.Int64()),
    **dict.fromkeys(_FIGURES, pl.Float64()),
}
"""The columns of a survey. `unread` is the reason why a report could not be read, and null for drives."""
_BATCH = 10_000


class Spool:
    """Parts in a folder. Only parts that were used in this survey are queried."""

    def __init__(self, folder: Path) -> None:
        """Creates the folder if needed."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._used: list[Path] = []

    def has(self, name: str) -> bool:
        """Whether an earlier survey stored the part. If so, the part is included in this survey."""
        path = self._path(name)
        if not path.exists():
            return False
        self._used.append(path)
        return True

    def put(self, part: Part) -> None:
        """Stores a part atomically."""
        path = self._path(part.name)
        unread = [{"source": each.source, "unread": each.reason} for each in part.unread]
        partial = path.with_suffix(".partial")
        frame_of([*part.rows, *unread]).write_parquet(partial)
        partial.replace(path)
        self._used.append(path)

    def rows(self) -> pl.LazyFrame:
        """All rows, one per report."""
        if not self._used:
            return frame_of([]).lazy()
        return pl.scan_parquet(sorted(self._used), schema=SCHEMA)

    def unread(self) -> pl.LazyFrame:
        """Files and reports that could not be read: `source` and `unread`."""
        return self.rows().filter(pl.col("unread").is_not_null()).select("source", "unread")

    def unnamed(self) -> int:
        """The number of reports that name no drive, of models with two or more of them."""
        named_no_drive = pl.col("unread").is_null() & (pl.col("identity") == "") & (pl.col("model") != "")
        of_models = self.rows().filter(named_no_drive).group_by("model").len().filter(pl.col("len") > 1)
        return int(of_models.select(pl.col("len").sum()).collect().item())

    def drives(self) -> pl.LazyFrame:
        """One row per drive. Reports with equal model and serial number are combined, with the pace between them; so
        are those of a history without a serial number."""
        return self._combined(["model", "identity"]).drop("identity")

    def _combined(self, keys: list[str]) -> pl.LazyFrame:
        rows = self.rows().filter(pl.col("unread").is_null()).drop("unread")
        several = (
            rows.filter(pl.col("identity") != "").group_by(keys).len().filter(pl.col("len") > 1).select(keys).collect()
        )
        if several.is_empty():
            return rows
        paired = list(_paired(rows.join(several.lazy(), on=keys, how="semi").sort(keys).collect()))
        single = rows.join(several.lazy(), on=keys, how="anti")
        return pl.concat([single, frame_of(paired).drop("unread").lazy()], how="vertical")

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.parquet"


def frame_of(rows: list[Row]) -> pl.DataFrame:
    """A frame with all columns; missing values are null."""
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in SCHEMA}, schema=SCHEMA)


def unread_of(frame: pl.DataFrame) -> list[Unread]:
    """Converts a frame with `source` and `unread` to `Unread` entries."""
    return [Unread(source, reason) for source, reason in frame.select("source", "unread").iter_rows()]


def _paired(frame: pl.DataFrame) -> Iterator[Row]:
    def key(row: Row) -> tuple[str, str]:
        return row["model"], row["identity"]

    for _, group in groupby(frame.iter_rows(named=True, buffer_size=_BATCH), key):
        yield drive.combined(group)
