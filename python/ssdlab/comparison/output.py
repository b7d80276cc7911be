"""The files of a comparison, all or none: result.json, timeseries.parquet, timing.json, report.html, its pictures."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import polars as pl

from ssdlab.comparison.variant import Variant
from ssdlab.report import ComparedVariant, VariantSpeed, WearStatistics, write_comparison
from ssdlab.results.breakdown import merged
from ssdlab.results.files import staged


def write(
    variants: Sequence[Variant], directory: Path, *, title: str, subtitle: str, command_line: str, notes: Sequence[str]
) -> list[str]:
    """Writes all files into `directory` and returns their names, the page last.

    `result.json` is a list with the full result of each variant; `timeseries.parquet` holds all series over host
    bytes, with a column `variant` before those of `ssdlab.results.series.frame`; `timeseries-time.parquet`, where there
    was a clock, those over simulated time (`ssdlab.results.time_series.frame`) in the same way.
    """
    series = [variant.result.timeseries for variant in variants]
    with staged(directory) as place:
        results = json.dumps([variant.to_dict() for variant in variants], indent=2, ensure_ascii=False)
        (place / "result.json").write_text(results + "\n", encoding="utf-8")
        _labelled(variants, series).write_parquet(place / "timeseries.parquet")
        over_time = [frame for variant in variants if (frame := variant.result.timing_series) is not None]
        if over_time:
            _labelled(variants, over_time).write_parquet(place / "timeseries-time.parquet")
        (place / "timing.json").write_text(_timing(variants), encoding="utf-8")
        pages = write_comparison(
            [_compared(variant, variants, frame, notes) for variant, frame in zip(variants, series, strict=True)],
            place,
            title=title,
            subtitle=subtitle,
            command_line=command_line,
        )
        names = [
            "result.json",
            "timeseries.parquet",
            *(["timeseries-time.parquet"] if over_time else []),
            "timing.json",
        ]
        return names + [str(page.relative_to(place)) for page in pages]


def _labelled(variants: Sequence[Variant], series: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(
        frame.select(pl.lit(variant.label).alias("variant"), pl.all())
        for variant, frame in zip(variants, series, strict=True)
    )


def _speed(variant: Variant) -> VariantSpeed | None:
    speed = variant.speed
    if speed is None:
        return None
    name = "write" if speed.write.iops else "read"
    direction = speed.write if speed.write.iops else speed.read
    return VariantSpeed(name, speed.iops, direction.iops, direction.latency_ns_mean, direction.latency_ns_p999)


def _latency_parts(variant: Variant) -> dict[str, dict[str, float]]:
    """Of the jobs of the last stage together."""
    result, shown = variant.result, _speed(variant)
    if shown is None:
        return {}
    last = result.specification.jobs[-1]["stage"]
    directions = [getattr(job, shown.direction) for job in result.jobs if job.stage == last]
    breakdown = merged([each.breakdown for each in directions if each.breakdown is not None])
    return breakdown.to_dict() if breakdown is not None else {}


def _timing(variants: Sequence[Variant]) -> str:
    timings = {variant.label: variant.result.timing and asdict(variant.result.timing) for variant in variants}
    return json.dumps(timings, indent=2, ensure_ascii=False) + "\n"


def _compared(
    variant: Variant, variants: Sequence[Variant], series: pl.DataFrame, notes: Sequence[str]
) -> ComparedVariant:
    """The variant in the words of the report."""
    result, steady, wear = variant.result, variant.result.steady_state, variant.result.wear
    shares = [each.result.capacity.over_provisioning for each in variants]
    own_notes = [*notes, *([f"{result.failure_kind}: {result.failure}"] if result.failure else [])]
    if steady and not steady.reached:
        own_notes.append(
            f"the steady state was not reached in {len(steady.round_waf)} rounds; WAF is that of the last ones"
        )
    missing = {"theory": variant.expectation.reason} if variant.expectation.reason else {}
    return ComparedVariant(
        label=variant.label,
        drive=str(result.specification.drive["name"]),
        over_provisioning=result.capacity.over_provisioning,
        user_bytes=result.capacity.user_bytes,
        host_written_bytes=result.ledger.host_written_bytes,
        nand_programmed_bytes=result.ledger.programmed_bytes,
        series=series,
        timing_series=result.timing_series,
        speed=_speed(variant),
        latency_parts=_latency_parts(variant),
        effective_over_provisioning=result.capacity.effective_over_provisioning,
        waf=result.settled_waf,
        waf_parts=result.settled_waf_parts or {},
        theory=variant.expectation.value,
        theory_formula=variant.expectation.formula,
        theory_curve=variant.theory_curve(min(shares), max(shares)),
        tbw_bytes=variant.tbw_bytes,
        years=variant.years,
        dwpd=variant.drive_writes_per_day,
        steady_reached=steady.reached if steady else None,
        steady_at_host_bytes=steady.at_host_bytes if steady else None,
        stages=_stages(variant),
        wear_histogram=[
            (entry["erase_count_min"], entry["erase_count_max"], entry["blocks"]) for entry in wear["histogram"]
        ],
        wear=WearStatistics(**{f"erase_count_{name}": value for name, value in wear["erase_count"].items()}),
        notes=own_notes,
        scale=None if result.specification.scale == "1" else result.specification.scale,
        specification=result.specification.to_dict(),
        missing=missing,
    )


def _stages(variant: Variant) -> list[tuple[int | str, int, int]]:
    """Each stage under the names of its jobs."""
    names: dict[int, dict[str, None]] = {}
    for job in variant.result.specification.jobs:
        names.setdefault(job["stage"], {})[job["name"]] = None
    return [
        (", ".join(names[stage["stage"]]), stage["host_written_bytes_start"], stage["host_written_bytes_end"])
        for stage in variant.result.stages
    ]
