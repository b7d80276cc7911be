"""Writes the files of a comparison, all or none: result.json, series in data/, timing.json, report.html, pictures."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypedDict, cast

import polars as pl

from ssdlab.experiments.comparison.variant import Variant
from ssdlab.presentation.report import ComparedVariant
from ssdlab.simulator.results import drive_state
from ssdlab.simulator.results.compared import of_result
from ssdlab.simulator.results.files import data_file, data_name, staged
from ssdlab.simulator.results.fio_schema import HeaderJson
from ssdlab.simulator.results.job_result import JobJson
from ssdlab.simulator.results.result import SsdlabJson


class ComparedSsdlabJson(TypedDict):
    """The key `ssdlab` of a comparison: that of each variant, in the order of the variants."""

    version: str
    variants: list[SsdlabJson]


class ComparedJson(HeaderJson):
    """A comparison in fio's schema."""

    jobs: list[JobJson]
    """The jobs of all variants; `ssdlab.variant` of a job is the label of its variant."""
    ssdlab: ComparedSsdlabJson


def one_object(variants: Sequence[Variant]) -> ComparedJson:
    """All results as one object in fio's schema, which readers of fio's JSON take: its jobs are those of all
    variants."""
    results = [variant.to_dict() for variant in variants]
    for variant, result in zip(variants, results, strict=True):
        for job in result["jobs"]:
            job["ssdlab"]["variant"] = variant.label
    header = {key: value for key, value in results[0].items() if key not in ("jobs", "ssdlab")}
    whole = {
        **header,
        "jobs": [job for result in results for job in result["jobs"]],
        "ssdlab": {
            "version": results[0]["ssdlab"]["version"],
            "variants": [result["ssdlab"] for result in results],
        },
    }
    return cast("ComparedJson", whole)


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

    `result.json` is `one_object`. `data/timeseries.parquet` has all series over host
    bytes, with a column `variant` before those of `ssdlab.simulator.results.series.frame`. With a clock,
    `data/timeseries-time.parquet` has the series over simulated time (`ssdlab.simulator.results.time_series.frame`)
    likewise.
    """
    from ssdlab.presentation.report import write_comparison

    shown = compared(variants, notes)
    with staged(directory) as place:
        results = json.dumps(one_object(variants), indent=2, ensure_ascii=False)
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
            plain := of_result(variant.result, variant.label, [*notes, *_of_drive(variant)]),
            theory=variant.expectation.value,
            theory_formula=variant.expectation.formula,
            theory_curve=variant.theory_curve(min(shares), max(shares)),
            tbw_bytes=variant.tbw_bytes,
            years=variant.years,
            dwpd=variant.drive_writes_per_day,
            co2e_g_per_host_tb=variant.co2e_g_per_host_tb,
            missing={**plain.missing, **_missing(variant)},
        )
        for variant in variants
    ]


def _missing(variant: Variant) -> dict[str, str]:
    """The reasons of missing figures, by field."""
    theory = variant.expectation.reason
    is_too_short = variant.result.settled_waf is not None and not drive_state.tells_life(variant.result)
    life = dict.fromkeys(("tbw_bytes", "years"), drive_state.TELLS_NO_LIFE) if is_too_short else {}
    return life | ({"theory": theory} if theory else {})
