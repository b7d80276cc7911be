"""A result as text in fio's layout, with a block of flash counters after each job's requests.

Sizes are printed as in fio: in binary units, followed by decimal units in parentheses.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from ssdlab.evidence.clock import UNTIMED
from ssdlab.evidence.scale import tails_said
from ssdlab.foundation.quantities import (
    format_bytes,
    format_bytes_binary,
    format_count,
    format_effective,
    format_share,
    is_nearly_empty,
)
from ssdlab.simulator.drives import standing
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.energy import CAUSES, Energy
from ssdlab.simulator.results.fio_schema import DIRECTIONS
from ssdlab.simulator.results.intervals import Interval
from ssdlab.simulator.results.job_result import DirectionResult, JobResult, LatencyTargetJson
from ssdlab.simulator.results.ledger import PARTS, Ledger
from ssdlab.simulator.results.namespaces_text import namespace_lines
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.results.store import store_lines
from ssdlab.simulator.results.sysbench_text import sysbench
from ssdlab.simulator.results.terse import terse
from ssdlab.simulator.results.text_rates import (
    BINARY,
    DECIMAL,
    bandwidth,
    direction_lines,
    distribution_lines,
    flush_lines,
    short,
)


def normal(result: Result) -> str:
    """The text output of `ssdlab run`, with a line break at its end."""
    lines = [f"ssdlab-{result.version}"]
    for job in result.jobs:
        lines += ["", *_job(job, result.specification.drive)]
    lines += ["", *_groups(result)]
    lines += ["", *_drive(result)]
    if result.namespaces:
        lines += ["", *namespace_lines(result.namespaces)]
    if result.intervals is not None:
        lines += ["", *_intervals(result.intervals)]
    return "\n".join(lines) + "\n"


def _job(job: JobResult, drive: plain.Drive) -> list[str]:
    error = f"err={job.failure.error:2} ({job.failure.place})" if job.failure else "err= 0"
    lines = [f"{job.name}: (groupid={job.group}, jobs={job.clones}): {error}"]
    for name in DIRECTIONS:
        direction = getattr(job, name)
        if direction.total_ios and direction.latency is not None:
            lines += direction_lines(name, direction)
        elif direction.total_ios:
            lines.append(
                f"  {name}: io={fio_size(direction.io_bytes)}, ios={format_count(direction.total_ios)}; "
                "IOPS, BW, latency: not measured (no clock)"
            )
    if job.latency is not None:
        lines += distribution_lines(job.latency)
    if job.flush.total_ios and job.flush.latency is not None:
        lines += flush_lines(job.flush.latency)
    if durably := job.durability(drive):
        lines.append(f"  durability: {durably['said']}")
    lines += _flash(job.ledger)
    if job.store:
        lines += store_lines(job.store, job.waf)
    totals = ",".join(str(getattr(job, name).total_ios) for name in DIRECTIONS)
    lines.append(f"     issued rwts: total={totals},{job.flush.total_ios} short=0,0,0,0 dropped=0,0,0,0")
    if job.latency_target:
        lines.append(_latency_target(job.latency_target))
    return lines


def _latency_target(found: LatencyTargetJson) -> str:
    """The line in fio's format, with the target in ns and the window in microseconds."""
    return (
        f"     latency   : target={found['latency_target']}, window={found['latency_window']}, "
        f"percentile={found['latency_percentile']:.2f}%, depth={found['latency_depth']}"
    )


def _flash(ledger: Ledger, of: str = "") -> list[str]:
    programmed = (
        f"  flash: programmed={fio_size(ledger.programmed_bytes)}, "
        f"erased={format_count(ledger.erased_erase_units)} erase units"
    )
    if ledger.waf is None or ledger.waf_parts is None:
        return [programmed, "    waf: not measured (the host wrote nothing)"]
    return [programmed, f"    waf{of}: {ledger.waf:.4f} = {parts_text(ledger.waf_parts)}"]


def parts_text(parts: Mapping[str, float], digits: int = 4) -> str:
    """`host 1.0000 + gc 3.1200`: the parts that are not zero."""
    return " + ".join(f"{part} {parts[part]:.{digits}f}" for part in PARTS if parts[part]) or "0"


def _groups(result: Result) -> list[str]:
    lines: list[str] = []
    for group in sorted({job.group for job in result.jobs}):
        jobs = [job for job in result.jobs if job.group == group]
        lines.append(f"Run status group {group} (all jobs):")
        for name in DIRECTIONS:
            directions = [getattr(job, name) for job in jobs if getattr(job, name).total_ios]
            if directions:
                lines.append(f"  {name.upper():>5}: {_group(directions)}")
    return lines


def _group(directions: Sequence[DirectionResult]) -> str:
    """The line of one direction of a group: total bandwidth, that of the slowest and fastest job, bytes, run times."""
    moved = sum(direction.io_bytes for direction in directions)
    rates = [rate for direction in directions if (rate := direction.bw_bytes) is not None]
    runs = [seconds for direction in directions if (seconds := direction.seconds) is not None]
    if len(rates) < len(directions) or not max(runs):
        return f"io={fio_size(moved)}"
    ranges = (
        "-".join(f"{short(rate, base, units)}/s" for rate in (min(rates), max(rates)))
        for base, units in ((1024, BINARY), (1000, DECIMAL))
    )
    return (
        f"bw={bandwidth(moved / max(runs))}, {next(ranges)} ({next(ranges)}), io={fio_size(moved)}, "
        f"run={min(runs) * 1000:.0f}-{max(runs) * 1000:.0f}msec"
    )


def _drive(result: Result) -> list[str]:
    capacity, wear = result.capacity, result.wear
    scale = result.specification.scale
    scaled = "" if scale == "1" else f", scaled to {scale} of the full drive, sizes and times of its jobs too"
    effective = capacity.effective_over_provisioning
    effective_text = "-" if effective is None else format_effective(effective)
    if effective is not None and is_nearly_empty(effective):
        effective_text += " (the drive holds nearly no data)"
    ledger = result.ledger
    lines = [
        f"Drive {result.specification.drive['name']}{scaled}:",
        f"  behind its name: {standing.behind(result.specification.drive, scale)}",
        f"  capacity: flash={format_bytes_binary(capacity.physical_bytes)}, host={format_bytes(capacity.user_bytes)}, "
        f"OP={format_share(capacity.over_provisioning)}, effective OP={effective_text}",
        f"  host: written={fio_size(ledger.host_written_bytes)}, read={fio_size(ledger.host_read_bytes)}, "
        f"trimmed={fio_size(ledger.host_trimmed_bytes)}",
        *_flash(ledger, " of the whole run" if len(result.stages) > 1 else ""),
        f"  wear: erase count min={wear['erase_count']['min']}, avg={wear['erase_count']['mean']:.2f}, "
        f"max={wear['erase_count']['max']}, stdev={wear['erase_count']['stddev']:.2f}, bad blocks={wear['bad_blocks']}",
    ]
    if in_slc_mode := wear["slc_mode"]:
        counts = in_slc_mode["erase_count"]
        lines.append(
            f"  wear in SLC mode: erase count min={counts['min']}, avg={counts['mean']:.2f}, max={counts['max']}, "
            f"stdev={counts['stddev']:.2f}, blocks={in_slc_mode['blocks']}"
        )
    if scale != "1":
        sold, moved = result.specification.as_sold, result.specification.moved_as_sold
        lines.insert(
            3,
            f"  as sold: flash={format_bytes_binary(sold(capacity.physical_bytes))}, "
            f"host={format_bytes(sold(capacity.user_bytes))}, "
            f"written={format_bytes(moved(ledger.host_written_bytes))}, "
            f"programmed={format_bytes(moved(ledger.programmed_bytes))}",
        )
        if said := _tails(result):
            lines.insert(4, f"  {said}")
    if result.die_utilization is not None:
        lines.append(f"  dies: busy {format_share(result.die_utilization)} of the time")
    elif result.ledger.waf is not None:
        lines.append(f"  {UNTIMED}")
    if result.energy:
        lines.append(f"  energy: {_energy(result.energy)}")
    if result.steady_state:
        lines.append(f"  steady state: {steady_text(result)}")
    if result.failure:
        lines.append(f"  {result.failure_kind.upper()}: {result.failure}")
    if timing := result.timing:
        rates = (("programs/s", timing.programs_per_wall_second), ("ios/s", timing.ios_per_wall_second))
        simulated = "" if result.simulated_seconds is None else f" {result.simulated_seconds:,.3f} s"
        lines.append(
            f"  simulated{simulated} in {timing.wall_seconds:.2f} s"
            + "".join(f", {rate / 1e6:.2f} M {unit}" for unit, rate in rates if rate is not None)
        )
    return lines


def _tails(result: Result) -> str:
    """How the percentiles of a scaled run depend on the scale; empty without latencies."""
    names: tuple[Literal["read", "write"], ...] = ("read", "write")
    found: dict[int, set[Literal["read", "write"]]] = {}
    for job in result.jobs:
        found.setdefault(job.stage, set()).update(
            name for name in names if (latency := job.direction(name).latency) and latency.count
        )
    stages = [directions for directions in found.values() if directions]
    return tails_said([result.specification.drive["name"]], stages) if stages else ""


def _energy(found: Energy) -> str:
    """`3.19 W on average, 12.1 J per GiB of the host = host 5.00 + gc 4.10 + idle 3.00`; causes without energy are
    missing."""
    watts, total = found.watts_mean, found.per_host_gib("total")
    said = [f"{watts:.3g} W on average"] if watts is not None else []
    parts = {cause: joules for cause in CAUSES if (joules := found.per_host_gib(cause))}
    if parts:
        whole = (
            f"{total:.4g} J per GiB of the host = " if total is not None else "J per GiB of the host, without idle: "
        )
        said.append(whole + " + ".join(f"{cause} {joules:.4g}" for cause, joules in parts.items()))
    return ", ".join(said) or "not measured (no clock, and the host moved nothing)"


def _intervals(intervals: Sequence[Interval]) -> list[str]:
    """A table, in the time and the bytes of the full-size drive."""
    lines = ["Intervals (time and bytes of the full drive):", "  end min        written       waf"]
    for row in intervals:
        waf = "-" if row.ledger.waf is None else f"{row.ledger.waf:.4f}"
        lines.append(f"  {row.end_minutes:7.2f}  {format_bytes(row.host_written_bytes):>13}  {waf:>8}")
    return lines


def steady_text(result: Result) -> str:
    """When write amplification became steady, as part of a sentence."""
    steady = result.steady_state
    if steady is None:
        return "not searched for"
    if not steady.reached or steady.at_host_bytes is None:
        return f"not reached in {len(steady.round_waf)} rounds"
    writes = steady.at_host_bytes / result.capacity.user_bytes
    return f"reached at {format_bytes(steady.at_host_bytes)} ({writes:.1f} drive writes), WAF {steady.window_waf:.4f}"


def fio_size(count_bytes: int) -> str:
    """`4096KiB (4194kB)`: four characters for each number, as fio prints sizes."""
    return f"{short(count_bytes, 1024, BINARY)} ({short(count_bytes, 1000, DECIMAL)})"


def json_of(result: Result, output_format: str) -> str:
    """The JSON text for `--output-format` `json` or `json+`."""
    return result.to_json(bins=output_format == "json+")


FORMATS: Mapping[str, Callable[[Result], str]] = {
    "normal": normal,
    "json": lambda result: json_of(result, "json"),
    "json+": lambda result: json_of(result, "json+"),
    "terse": terse,
    "sysbench": sysbench,
}
"""The output formats by fio's names; `sysbench` is for workloads that run sysbench."""
