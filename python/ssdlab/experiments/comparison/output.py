"""Writes the files of a comparison, all or none: result.json, series in data/, timing.json, report.html, pictures."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl

from ssdlab.experiments.comparison.variant import Variant
from ssdlab.presentation.report import ComparedVariant, write_comparison
from ssdlab.simulator.results.compared import of_result
from ssdlab.simulator.results.files import data_file, data_name, staged


def write(
    variants: Sequence[Variant],
    directory: Path,
    *,
    title: str,
    subtitle: str,
    command_line: str | None,
    notes: Sequence[str],
) -> list[str]:
    """Writes all files into `directory` and returns their names, the page last.

    `result.json` is a list with the full result of each variant. `data/timeseries.parquet` has all series over host
    bytes, with a column `variant` before those of `ssdlab.simulator.results.series.frame`. With a clock,
    `data/timeseries-time.parquet` has the series over simulated time (`ssdlab.simulator.results.time_series.frame`)
    likewise.
    """
    shown = compared(variants, notes)
    with staged(directory) as place:
        results = json.dumps([variant.to_dict() for variant in variants], indent=2, ensure_ascii=False)
        (place / "result.json").write_text(results + "\n", encoding="utf-8")
        labelled(variants, [variant.result.timeseries for variant in variants]).write_parquet(
            data_file(place, "timeseries")
        )
        over_time = [each.timing_series for each in shown if each.timing_series is not None]
        if over_time:
            labelled(variants, over_time).write_parquet(data_file(place, "timeseries-time"))
        (place / "timing.json").write_text(_timing(variants), encoding="utf-8")
        pages = write_comparison(
            shown,
            place,
            title=title,
            subtitle=subtitle,
            command_line=command_line,
        )
        names = [
            "result.json",
            data_name("timeseries"),
            *([data_name("timeseries-time")] if over_time else []),
            "timing.json",
        ]
        return names + [str(page.relative_to(place)) for page in pages]


def labelled(variants: Sequence[Variant], series: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The rows of all variants' frames, with a first column `variant`."""
    return pl.concat(
        frame.select(pl.lit(variant.label).alias("variant"), pl.all())
        for variant, frame in zip(variants, series, strict=True)
    )


def _timing(variants: Sequence[Variant]) -> str:
    timings = {variant.label: variant.result.timing and asdict(variant.result.timing) for variant in variants}
    return json.dumps(timings, indent=2, ensure_ascii=False) + "\n"


def _of_drive(variant: Variant) -> list[str]:
    unsourced = variant.planned.drive.file.unsourced()
    return [f"drive file: {unsourced}"] if unsourced else []


def compared(variants: Sequence[Variant], notes: Sequence[str] = ()) -> list[ComparedVariant]:
    """The variants in the form of the report."""
    shares = [each.result.capacity.over_provisioning for each in variants]
    return [
        replace(
            of_result(variant.result, variant.label, [*notes, *_of_drive(variant)]),
            theory=variant.expectation.value,
            theory_formula=variant.expectation.formula,
            theory_curve=variant.theory_curve(min(shares), max(shares)),
            tbw_bytes=variant.tbw_bytes,
            years=variant.years,
            dwpd=variant.drive_writes_per_day,
            missing={"theory": variant.expectation.reason} if variant.expectation.reason else {},
        )
        for variant in variants
    ]
