"""Distributions of what drives report: by model and capacity, by maker, and of all; built, kept, looked up.

A distribution is kept as quantiles: the order statistics themselves for few drives, evenly spaced ones of many. Serial
numbers, file names and dates are not in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import polars as pl

from ssdlab.atlas.makers import maker_of
from ssdlab.errors import InputError

QUANTILES_MAX = 41
QUANTILES_OF_ALL = 401
DRIVES_MIN = 3
"""A model of which fewer are known has no row of its own."""
DRIVE_WRITES_MIN = 5.0
"""Before so many writes of the whole drive, write amplification is that of its beginnings."""
_HOURS_MIN = 30 * 24
_USED_PERCENT_MIN = 2
"""A percent is a step of this counter: of less, wear a terabyte would be mostly rounding."""

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
"""`maker` and `model` are empty for all drives, `model` alone for all of a maker."""
_SHIPPED = "field.parquet"
SOURCE = "https://github.com/linuxhw/EnterpriseDrive"
LICENSE = "CC BY 4.0"


@dataclass(frozen=True)
class Distribution:
    """How a quantity spreads over `n` drives; ascending quantiles at even shares from 0 to 1."""

    n: int
    quantiles: tuple[float, ...]

    def at(self, share: float) -> float:
        """The value that so large a share of the drives does not pass."""
        shares = np.linspace(0, 1, len(self.quantiles))
        return float(np.interp(share, shares, self.quantiles))

    def share_below(self, value: float) -> float:
        """The share of drives with less."""
        shares = np.linspace(0, 1, len(self.quantiles))
        at = int(np.searchsorted(self.quantiles, value, side="left"))
        if at == 0:
            return 0.0
        if at == len(self.quantiles):
            return 1.0
        return float(np.interp(value, self.quantiles[at - 1 : at + 1], shares[at - 1 : at + 1]))


class Atlas:
    """Distributions by quantity and who they are of."""

    def __init__(self, frame: pl.DataFrame) -> None:
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
        """Of drives of one model and size; the size as they are sold, in GB."""
        return self._rows.get((quantity, maker_of(model), model, _gb(capacity_bytes or 0)))

    def makers(self, quantity: str) -> list[str]:
        """Those of whom there are most drives first."""
        known = {key[1]: found.n for key, found in self._rows.items() if key[0] == quantity and key[1] and not key[2]}
        return sorted(known, key=lambda maker: (-known[maker], maker))

    def models(self, quantity: str) -> Iterator[tuple[str, int, Distribution]]:
        """Model, capacity in GB and distribution."""
        return ((key[2], key[3], found) for key, found in self._rows.items() if key[0] == quantity and key[2])


@cache
def shipped() -> Atlas:
    """The one that comes with the package."""
    with as_file(files("ssdlab.atlas").joinpath(_SHIPPED)) as path:
        return load(path)


def load(path: Path) -> Atlas:
    """Raises InputError for a file that is no atlas."""
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{path}: is not an atlas: {error}") from None
    missing = [name for name in SCHEMA if name not in frame.columns]
    if missing:
        raise InputError(f"{path}: is not an atlas: it has no column {missing[0]!r}")
    return Atlas(frame)


def build(drives: pl.LazyFrame) -> pl.DataFrame:
    """From the drives of a survey, by the columns of `ssdlab.health`."""
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
    """`about` goes into the file's metadata: whose reports, under which licence."""
    partial = path.with_name(f".{path.name}.partial")
    frame.write_parquet(partial, compression="zstd", compression_level=19, metadata=about)
    partial.replace(path)


def _values(drives: pl.LazyFrame) -> pl.LazyFrame:
    """A row a drive and quantity: `quantity`, `model`, `capacity_gb`, `value`."""
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
