"""The table of a sweep's page: one row for each point of the axes, with all of its seeds."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from markupsafe import Markup

from ssdlab.presentation.report import parts, wording

_ROWS_MAX = 500
_FIGURES = (
    ("waf", "WAF", 1.0),
    ("write_iops", "writes per second", 1.0),
    ("read_iops", "reads per second", 1.0),
    ("write_latency_us_p999", "write latency, 99.9 %, \N{MICRO SIGN}s", 1.0),
    ("read_latency_us_p999", "read latency, 99.9 %, \N{MICRO SIGN}s", 1.0),
    ("tbw_bytes", "TBW, TB", 1e12),
)


_AXES = {
    "job": "workload",
    "op": "over-provisioning",
    "ftl_victim": "victim policy",
    "ftl_placement": "placement policy",
    "wear_levelling_policy": "wear levelling",
}


def axis(name: str) -> str:
    """The display name of an axis, which is a column of the rows."""
    return _AXES.get(name) or name.replace("_", " ")


def of_rows(rows: pl.DataFrame, axes: Sequence[str]) -> Markup:
    """HTML: the axes that vary, the number of runs, and the mean of each figure with its range over seeds."""
    varying = [name for name in axes if name != "seed" and rows[name].n_unique() > 1]
    figures = [each for each in _FIGURES if rows[each[0]].null_count() < rows.height]
    groups = rows.group_by(varying, maintain_order=True) if varying else [((), rows)]
    lines = []
    for values, group in groups:
        settings = [shown_value(name, value) for name, value in zip(varying, values, strict=True)] or ["all"]
        lines.append([*settings, str(group.height), *(_spread(group[column], unit) for column, _, unit in figures)])
    names = [*(axis(name) for name in varying or ["point"]), "runs", *(heading for _, heading, _ in figures)]
    table = parts.table("All runs", names, lines[:_ROWS_MAX])
    more = len(lines) - _ROWS_MAX
    return table + (parts.paragraphs(f"{more:,} more rows are in this folder's Parquet files.") if more > 0 else "")


def shown_value(name: str, value: object) -> str:
    """The display text of an axis value: job and drive files without folder and suffix, shares in percent."""
    text = str(value)
    if isinstance(value, float):
        text = wording.share(value) if name == "op" else f"{value:.6g}"
    elif text.endswith((".fio", ".toml")):
        return Path(text).stem
    return text if name == "op" or not text[-1:].isdigit() or isinstance(value, str) else f"{axis(name)} {text}"


def _spread(values: pl.Series, unit: float) -> str:
    known = [value / unit for value in values.drop_nulls().to_list()]
    if not known:
        return wording.EM_DASH
    mean, low, high = (wording.significant(each) for each in (sum(known) / len(known), min(known), max(known)))
    return mean if low == high else f"{mean} ({low} to {high})"
