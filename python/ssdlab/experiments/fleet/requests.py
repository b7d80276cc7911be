"""Converts a Parquet data set of requests, partitioned by volume, to one trace file per volume.

Columns: `volume` (text or number, or a hive partition `volume=NAME/`), `timestamp` (a date and time, or seconds as a
number), `offset` and `length` (bytes), `operation` (`read`, `write`, `trim`, `flush`, or a first letter; any case).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.errors import InputError

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("volume", "timestamp", "offset", "length", "operation")
# fio's words for operations, by first letter.
_ACTIONS = {"r": "read", "w": "write", "t": "trim", "d": "trim", "f": "sync", "s": "sync"}
_UNFIT = "/\\ \t\n"


def is_data_set(path: Path) -> bool:
    """Whether the path is a Parquet file, or a folder that contains at least one."""
    return path.suffix == ".parquet" or (path.is_dir() and next(path.rglob("*.parquet"), None) is not None)


def traces_of(path: Path, folder: Path) -> list[Path]:
    """Writes a fio iolog (version 3) for each volume to `folder`. Returns their paths, ordered by volume. Raises
    InputError if the data cannot be read or is incomplete."""
    import polars as pl

    pattern = str(path / "**" / "*.parquet") if path.is_dir() else str(path)
    try:
        frame = pl.scan_parquet(pattern, hive_partitioning=path.is_dir())
        known = frame.collect_schema()
        missing = [name for name in COLUMNS if name not in known]
        if missing:
            raise InputError(f"{path}: has no column {', '.join(missing)}; needed are {', '.join(COLUMNS)}")
        volumes = frame.select(pl.col("volume").cast(pl.String).unique().sort()).collect()["volume"].to_list()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}") from None
    folder.mkdir(parents=True, exist_ok=True)
    return [_written(frame, known["timestamp"], str(volume), path, folder) for volume in volumes]


def _written(frame: "pl.LazyFrame", kind: "pl.DataType", volume: str, path: Path, folder: Path) -> Path:
    import polars as pl

    if not volume or any(letter in volume for letter in _UNFIT):
        raise InputError(f"{path}: volume {volume!r}; allowed: names without spaces and slashes")
    time = pl.col("timestamp")
    micros = time.dt.epoch("us") if kind.is_temporal() else (time.cast(pl.Float64) * 1e6).round().cast(pl.Int64)
    letter = pl.col("operation").cast(pl.String).str.to_lowercase().str.head(1)
    rows = (
        frame.filter(pl.col("volume").cast(pl.String) == volume)
        .select(
            micros.alias("at"),
            letter.replace_strict(_ACTIONS, default=None).alias("action"),
            pl.col("offset").cast(pl.Int64),
            pl.col("length").cast(pl.Int64),
        )
        .sort("at", maintain_order=True)
        .collect()
    )
    if rows["action"].null_count():
        raise InputError(f"{path}: volume {volume}: an operation is not read, write, trim or flush")
    if rows.null_count().sum_horizontal()[0]:
        raise InputError(f"{path}: volume {volume}: a timestamp, offset or length is missing")
    started = rows["at"][0]
    lines = rows.select(
        pl.format("{} {} {} {} {}", pl.col("at") - started, pl.lit(volume), "action", "offset", "length")
    ).to_series()
    target = folder / f"{volume}.iolog"
    head = f"fio version 3 iolog\n0 {volume} add\n0 {volume} open\n"
    target.write_text(head + "\n".join(lines.to_list()) + "\n", encoding="utf-8")
    return target
