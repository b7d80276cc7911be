"""Converts a result into the types of the report: a variant of a comparison, with what one result contains.

Not for theory, endurance and lifetime; a comparison adds them.
"""

from collections.abc import Sequence

import polars as pl

from ssdlab.presentation.report import ComparedVariant, VariantSpeed, WearStatistics, wording
from ssdlab.presentation.report.headlines import Outcome
from ssdlab.simulator.drives import standing
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results import chosen_scale, drive_state
from ssdlab.simulator.results.breakdown import merged
from ssdlab.simulator.results.energy import FIGURES
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.results.speed import Speed, speed


def of_result(result: Result, label: str, notes: Sequence[str] = ()) -> ComparedVariant:
    """The result as a variant with this label; `notes` are those of the workload."""
    steady, wear, how = result.steady_state, result.wear, result.specification.chosen_scale
    found, moved, waf = _speed(result), result.specification.moved_as_sold, result.waf_estimate
    own_notes = [*notes, *([f"{result.failure_kind}: {result.failure}"] if result.failure else [])]
    if steady and not steady.reached:
        shown = "that of the last rounds" if steady.round_waf else "of the whole last stage"
        own_notes.append(f"the steady state was not reached in {len(steady.round_waf)} rounds; WAF is {shown}")
    if steady and steady.reached and not steady.is_precise and waf:
        within = wording.share(waf.share, 2)
        own_notes.append(f"the steady state was reached, but WAF is only known within {within}")
    energy = result.last_stage_energy
    return ComparedVariant(
        label=label,
        drive=str(result.specification.drive["name"]),
        over_provisioning=result.capacity.over_provisioning,
        # Converted as what is written, so that drive writes are those of the drive that was simulated.
        user_bytes=moved(result.capacity.user_bytes),
        host_written_bytes=moved(result.ledger.host_written_bytes),
        nand_programmed_bytes=moved(result.ledger.programmed_bytes),
        series=_series_as_sold(result),
        timing_series=result.timing_series,
        speed=found,
        latency_parts=_latency_parts(result, found.direction) if found else {},
        effective_over_provisioning=result.capacity.effective_over_provisioning,
        waf=result.settled_waf,
        waf_estimate=waf,
        waf_parts=result.settled_waf_parts or {},
        watts_mean=energy.watts_mean if energy else None,
        joules_per_host_gib={figure: energy.per_host_gib(figure) for figure in FIGURES} if energy else {},
        steady_reached=steady.reached if steady else None,
        steady_at_host_bytes=moved(steady.at_host_bytes) if steady and steady.at_host_bytes else None,
        stages=_stages(result),
        wear_histogram=[
            (entry["erase_count_min"], entry["erase_count_max"], entry["blocks"]) for entry in wear["histogram"]
        ],
        wear=_statistics(wear["erase_count"]),
        slc_mode_wear=_statistics(wear["slc_mode"]["erase_count"]) if wear["slc_mode"] else None,
        notes=own_notes,
        is_untimed=result.timing_series is None,
        standing=standing.behind(result.specification.drive, result.specification.scale),
        scale=None if result.specification.scale == "1" else result.specification.scale,
        is_workload_scaled=result.specification.moved_times != 1,
        scale_chosen=chosen_scale.sentence(result.specification.scale, how) if how else None,
        specification=result.specification.to_dict(),
        missing={"waf_parts": drive_state.PARTS_UNDETERMINED} if waf and waf.has_only_ends else {},
    )


def outcome(label: str, result: Result, found: Speed | None) -> Outcome:
    """The result as input for a page's headline."""
    failed = {"read-only": "became read-only", "failed": "failed"}[result.failure_kind] if result.failure else None
    # The rate of a trace at its recorded times is the host's, which says nothing of the drive.
    rate = found.estimate if found and not _is_as_recorded(result) else None
    return Outcome(label, result.waf_estimate, rate, failed)


def _speed(result: Result) -> VariantSpeed | None:
    found = speed(result)
    if found is None:
        return None
    name = "write" if found.write.iops else "read"
    direction = found.write if found.write.iops else found.read
    return VariantSpeed(
        name,
        found.estimate,
        direction.iops,
        direction.latency.mean_estimate,
        direction.latency.estimate(99),
        direction.latency.estimate(99.9),
        _is_as_recorded(result),
    )


def _is_as_recorded(result: Result) -> bool:
    trace = result.specification.to_dict().get("trace")
    return trace is not None and trace.get("arrival") == "trace"


def _latency_parts(result: Result, shown_direction: str) -> dict[str, dict[str, float]]:
    """The breakdown over all jobs of the last stage; empty if there is none."""
    last = result.specification.jobs[-1]["stage"]
    directions = [getattr(job, shown_direction) for job in result.jobs if job.stage == last]
    breakdown = merged([each.breakdown for each in directions if each.breakdown is not None])
    return breakdown.to_dict() if breakdown is not None else {}


def _series_as_sold(result: Result) -> pl.DataFrame:
    """The series, with the host's bytes converted to the full-size drive."""
    times = float(result.specification.moved_times)
    if times == 1:
        return result.timeseries
    return result.timeseries.with_columns((pl.col("host_written_bytes") * times).round().cast(pl.UInt64))


def _stages(result: Result) -> list[tuple[int | str, int, int]]:
    """Each stage with the names of its jobs: (names, host bytes at its start, host bytes at its end)."""
    names: dict[int, dict[str, None]] = {}
    for job in result.specification.jobs:
        names.setdefault(job["stage"], {})[job["name"]] = None
    return [
        (
            ", ".join(names[stage["stage"]]),
            result.specification.moved_as_sold(stage["host_written_bytes_start"]),
            result.specification.moved_as_sold(stage["host_written_bytes_end"]),
        )
        for stage in result.stages
    ]


def _statistics(counts: plain.Spread) -> WearStatistics:
    return WearStatistics(counts["min"], counts["mean"], counts["max"], counts["stddev"])
