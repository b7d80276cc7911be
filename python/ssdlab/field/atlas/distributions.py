"""Distributions of values that drives report, by model and capacity, by maker, and of all: built, stored, looked up.

A distribution is stored as quantiles: all values of few drives, evenly spaced quantiles of many. It contains no serial
numbers, file names or dates.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import polars as pl

from ssdlab.errors import InputError
from ssdlab.field.atlas.makers import maker_of

QUANTILES_MAX = 41
QUANTILES_OF_ALL = 401
DRIVES_MIN = 3
"""The least number of drives for a model to have a row."""
DRIVE_WRITES_MIN = 5.0
"""With fewer full drive writes, write amplification reflects only the start of a drive's life."""
_HOURS_MIN = 30 * 24
_USED_PERCENT_MIN = 2
"""This counter has steps of one percent: below this, wear per terabyte would be mostly rounding error."""

QUANTITIES = {
    "waf": "write amplification since new",
    "drive_writes_per_day": "host writes a day over the capacity, since new",
    "used_percent_per_tb": "percent of the rated life used a TB (10^12 bytes) that the host wrote",
}
SCHEMA = {
    "maker": pl.String(),
    "model": pl.String(),
    "capacity_gb": pl.Int64(),
    "quantity": pl.String(),
    "n": pl.Int64(),
    "quantiles": pl.List(pl.Float32()),
}
"""`maker` and `model` are empty for all drives, only `model` for all drives of a maker."""
_SHIPPED = "field.parquet"
SOURCE = "https://github.com/linuxhw/EnterpriseDrive"
LICENSE = "CC BY 4.0"


@dataclass(frozen=True)
class Distribution:
    """The distribution of a quantity over `n` drives: ascending quantiles at evenly spaced shares from 0 to 1."""

    n: int
    quantiles: tuple[float, ...]

    def at(self, share: float) -> float:
        """The quantile at a share from 0 to 1."""
        shares = np.linspace(0, 1, len(self.quantiles))
        return float(np.interp(share, shares, self.quantiles))

    def share_below(self, value: float) -> float:
        """The share of drives with a lower value."""
        shares = np.linspace(0, 1, len(self.quantiles))
        at = int(np.searchsorted(self.quantiles, value, side="left"))
        if at == 0:
            return 0.0
        if at == len(self.quantiles):
            return 1.0
        return float(np.interp(value, self.quantiles[at - 1 : at + 1], shares[at - 1 : at + 1]))


class Atlas:
    """Distributions by quantity, maker, model and capacity."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self._rows: dict[tuple[str, str, str, int], Distribution] = {
            (row["quantity"], row["maker"], row["model"], row["capacity_gb"]): Distribution(
                row["n"], tuple(row["quantiles"])
            )
            for row in frame.iter_rows(named=True)
        }

    def of_all(self, quantity: str) -> Distribution | None:
        return self._rows.get((quantity, "", "", 0))

    def of_maker(self, quantity: str, maker: str) -> Distribution | None:
        return self._rows.get((quantity, maker, "", 0))

    def of_model(self, quantity: str, model: str, capacity_bytes: int | None) -> Distribution | None:
        """The distribution of one model and capacity, rounded to GB as sold, or None."""
        return self._rows.get((quantity, maker_of(model), model, _gb(capacity_bytes or 0)))

    def makers(self, quantity: str) -> list[str]:
        """Makers in descending order of their number of drives."""
        known = {key[1]: found.n for key, found in self._rows.items() if key[0] == quantity and key[1] and not key[2]}
        return sorted(known, key=lambda maker: (-known[maker], maker))

    def models(self, quantity: str) -> Iterator[tuple[str, int, Distribution]]:
        """Model, capacity in GB and distribution of all models."""
        return ((key[2], key[3], found) for key, found in self._rows.items() if key[0] == quantity and key[2])


@cache
def shipped() -> Atlas:
    """The atlas included in the package."""
    with as_file(files("ssdlab.field.atlas").joinpath(_SHIPPED)) as path:
        return load(path)


def load(path: Path) -> Atlas:
    """Reads an atlas. Raises InputError for a file that is not an atlas."""
    try:
        frame = pl.read_parquet(path)
    except FileNotFoundError:
        raise InputError(f"{path}: No such file or directory") from None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path}: is not an atlas: {error}") from None
    missing = [name for name in SCHEMA if name not in frame.columns]
    if missing:
        raise InputError(f"{path}: is not an atlas: it has no column {missing[0]!r}")
    return Atlas(frame)


def build(drives: pl.LazyFrame) -> pl.DataFrame:
    """Builds the distributions from the drives of a survey, with the columns of `ssdlab.field.health`."""
    values = _values(drives).collect()
    makers = {model: maker_of(model) for model in values["model"].unique()}
    values = values.with_columns(maker=pl.col("model").replace_strict(makers, return_dtype=pl.String))
    rows = []
    for keys, least in ((["maker", "model", "capacity_gb"], DRIVES_MIN), (["maker"], DRIVES_MIN), ([], 1)):
        for group, frame in values.group_by(["quantity", *keys], maintain_order=True):
            named = dict(zip(["quantity", *keys], group, strict=True))
            if len(frame) >= least:
                whole = {"maker": "", "model": "", "capacity_gb": 0} | named
                most = QUANTILES_MAX if keys else QUANTILES_OF_ALL
                rows.append(whole | {"n": len(frame), "quantiles": _quantiles(frame["value"].to_numpy(), most)})
    return pl.DataFrame(rows, schema=SCHEMA).sort("quantity", "maker", "model", "capacity_gb")


def write(frame: pl.DataFrame, path: Path, about: dict[str, str]) -> None:
    """Writes the file atomically. `about` is stored in its metadata: the source and licence of the reports."""
    partial = path.with_name(f".{path.name}.partial")
    frame.write_parquet(partial, compression="zstd", compression_level=19, metadata=about)
    partial.replace(path)


def _values(drives: pl.LazyFrame) -> pl.LazyFrame:
    """One row per drive and quantity: `quantity`, `model`, `capacity_gb`, `value`."""
    host, capacity = pl.col("host_bytes"), pl.col("capacity_bytes")
    flash = drives.filter(~pl.col("is_disk") & (pl.col("model") != "") & (capacity > 0)).with_columns(
        capacity_gb=(capacity / 1e9).round().cast(pl.Int64)
    )
    waf = pl.col("waf").is_not_null() & (host >= DRIVE_WRITES_MIN * capacity)
    daily = (host > 0) & (pl.col("power_on_hours") >= _HOURS_MIN)
    used = (host > 0) & (pl.col("used_percent") >= _USED_PERCENT_MIN)
    of = {
        "waf": (waf, pl.col("waf")),
        "drive_writes_per_day": (daily, host * 24 / pl.col("power_on_hours") / capacity),
        "used_percent_per_tb": (used, pl.col("used_percent") / (host / 1e12)),
    }
    return pl.concat(
        flash.filter(which).select(
            pl.lit(quantity).alias("quantity"), "model", "capacity_gb", value.cast(pl.Float64).alias("value")
        )
        for quantity, (which, value) in of.items()
    )


def _quantiles(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", most: int) -> list[float]:
    count = min(len(values), most)
    return [float(value) for value in np.quantile(values, np.linspace(0, 1, count))]


def _gb(capacity_bytes: int) -> int:
    return round(capacity_bytes / 1e9)
