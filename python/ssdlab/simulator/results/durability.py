"""Which writes of a job survive a loss of power, and when, and what its flushes and its writes with FUA took."""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.latency import Latency
from ssdlab.simulator.specification import ReportedJob

RANKS = (50.0, 99.0, 99.9)


class DurabilityJson(TypedDict):
    """The key `durability` of a job."""

    said: str
    flushes: int
    flush_us: dict[str, float | None] | None
    """`mean`, `p50`, `p99`, `p99.9`; None without flushes or without a clock."""
    through: NotRequired[int]
    """Writes of a recording that complete when they are durable (FUA)."""
    through_us: NotRequired[dict[str, float | None] | None]
    """As `flush_us`."""


def to_dict(
    jobs: Sequence[ReportedJob], drive: plain.Drive, flushes: Latency | None, through: Latency | None
) -> DurabilityJson | None:
    """The key of the clones of a job; None for a job that asks for nothing durable. `through` are the writes of a
    recording that complete when they are durable."""
    said = [text for text in (sentence(jobs, drive, flushes), through_sentence(drive, through)) if text is not None]
    if not said:
        return None
    found: DurabilityJson = {
        "said": "; ".join(said),
        "flushes": flushes.count if flushes else 0,
        "flush_us": took_us(flushes),
    }
    if through is not None:
        found["through"], found["through_us"] = through.count, took_us(through)
    return found


def durable(job: ReportedJob, drive: plain.Drive) -> str | None:
    """Which writes were durable, and when; None for a job that asks for nothing."""
    behind = []
    if every := job.get("flush_every_writes"):
        behind.append("behind each of them" if every == 1 else f"behind every {every:,} of them")
    if job.get("flush_at_end"):
        behind.append("at the end of the job")
    keeps = keeps_memory(drive)
    if job.get("sync_writes"):
        return f"every write was durable when it completed ({_through_by(drive)})"
    if behind:
        when = "when they completed" if keeps else f"when the flush {' and '.join(behind)} completed"
        return f"writes were durable {when}{_protection(keeps) if keeps else ''}"
    return None


def is_sata(drive: plain.Drive) -> bool:
    """Whether a drive is on SATA."""
    return str(drive["host_link"]["interface"]).startswith("sata")


def keeps_memory(drive: plain.Drive) -> bool:
    """Whether what a drive has completed is in flash or in memory that survives a loss of power."""
    buffer = drive["write_buffer"]
    return buffer["power_loss_protection"] or not buffer["bytes"]


def _through_by(drive: plain.Drive) -> str:
    """By which commands a write is durable when it completes."""
    how = "a write and a flush, as Linux does on SATA" if is_sata(drive) else "NVMe's forced unit access"
    return f"{how}{_protection(keeps_memory(drive))}"


def _protection(keeps: bool) -> str:
    return "; the drive's memory survives a loss of power" if keeps else ""


def _took_text(latency: Latency, one: str, many: str) -> str:
    """`19 flushes took 1,446.0 us in the mean, p50 1,446.0, p99 -, p99.9 -`: a dash where too few are above a rank."""
    took = took_us(latency)
    assert took is not None, "the job has such requests, and a clock"
    ranks = ", ".join(f"p{rank:g} {_us(took[f'p{rank:g}'])}" for rank in RANKS)
    count = f"1 {one}" if latency.count == 1 else f"{latency.count:,} {many}"
    return f"{count} took {_us(took['mean'])} us in the mean, {ranks}"


def _us(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def took_us(latency: Latency | None) -> dict[str, float | None] | None:
    """Mean and percentiles in microseconds; None without requests or without a clock."""
    if latency is None or latency.mean_ns is None:
        return None
    found = {f"p{rank:g}": latency.percentile_ns(rank) for rank in RANKS}
    return {"mean": latency.mean_ns / 1000} | {name: None if ns is None else ns / 1000 for name, ns in found.items()}


def sentence(jobs: Sequence[ReportedJob], drive: plain.Drive, flushes: Latency | None) -> str | None:
    """All of it for the clones of a job, as a sentence; None for a job that asks for nothing durable."""
    durably = durable(jobs[0], drive)
    if durably is None:
        return None
    host_ns = jobs[0].get("host_ns", 0)
    took = f"; {_took_text(flushes, 'flush', 'flushes')}" if flushes is not None and flushes.count else ""
    if host_ns:
        host = f"; latencies include {host_ns / 1000:g} us of the host itself for each command"
    elif took or jobs[0].get("sync_writes"):
        host = "; latencies are without the host's own time (--host linux adds it, for one request at a time)"
    else:
        host = ""
    return f"{durably}{took}{host}"


def through_sentence(drive: plain.Drive, through: Latency | None) -> str | None:
    """What the writes of a recording took that complete when they are durable; None without any, or a clock."""
    if through is None or not through.count:
        return None
    took = _took_text(through, "write with FUA", "writes with FUA")
    return f"{took}: each was durable when it completed ({_through_by(drive)})"
