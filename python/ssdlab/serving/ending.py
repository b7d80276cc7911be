"""What a served drive did until it ended: its phases with write amplification and latency, as text.

Not for the statistics themselves, which `ServedDrive.statistics` gives as a result in fio's schema.
"""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ssdlab.foundation.quantities import format_bytes
from ssdlab.presentation.terminal import show
from ssdlab.serving.drive import ServedDrive
from ssdlab.simulator.results.job_result import JobResult

_HEADS = ("phase", "read", "written", "trimmed", "WAF", "read p99", "write p99")
_NS_PER_US = 1000


def print_end(drive: ServedDrive, state: str, console: Console) -> None:
    """Prints a row for each phase in the native module's `state`, and what the whole served time wrote to flash.

    A phase begins with the drive, with `mark NAME` or with `reset`. Latencies are in simulated time; a percentile needs
    ten requests above it.
    """
    result = drive.result_of(state)
    phases = [job for job in result.jobs if was_asked(job)]
    if not phases:
        console.print("no requests")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for head in _HEADS:
        table.add_column(head, justify="left" if head == "phase" else "right", no_wrap=head != "phase")
    for job in phases:
        table.add_row(
            job.name,
            *(format_bytes(getattr(job, name).io_bytes) for name in ("read", "write", "trim")),
            waf_text(job.waf),
            *(p99_text(job, name) for name in ("read", "write")),
        )
    show(table, console, ("trimmed", "read"))
    ledger = result.ledger
    console.print(
        f"{format_bytes(ledger.host_written_bytes)} from the host, {format_bytes(ledger.programmed_bytes)} to flash: "
        f"WAF {waf_text(result.waf)}"
    )


def rows(drive: ServedDrive, state: str) -> list[dict[str, float | str | None]]:
    """The same phases as figures: bytes, and latencies in nanoseconds."""
    return [
        {
            "phase": job.name,
            **{f"{name}_bytes": getattr(job, name).io_bytes for name in ("read", "write", "trim")},
            "waf": job.waf,
            **{f"{name}_p99_ns": _p99_ns(job, name) for name in ("read", "write")},
        }
        for job in drive.result_of(state).jobs
        if was_asked(job)
    ]


def was_asked(phase: JobResult) -> bool:
    return bool(phase.read.total_ios or phase.write.total_ios or phase.trim.total_ios)


def waf_text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def p99_text(job: JobResult, name: str) -> str:
    value = _p99_ns(job, name)
    return "-" if value is None else f"{value / _NS_PER_US:,.1f} us"


def _p99_ns(job: JobResult, name: str) -> float | None:
    latency = getattr(job, name).latency
    return latency.percentile_ns(99) if latency else None
