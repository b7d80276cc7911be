"""The table of phases that a served drive prints at its end: what was asked, write amplification, mean latencies."""

from collections.abc import Sequence

from ssdlab.cli.fleet_table import print_rows
from ssdlab.foundation.quantities import format_bytes, format_count
from ssdlab.simulator.results.job_result import JobJson


def show_phases(jobs: Sequence[JobJson]) -> None:
    """Prints a row for each phase; a phase begins with a `mark`."""
    rows = [("phase", "reads", "writes", "written", "WAF", "read latency", "write latency")]
    for job in jobs:
        read, write = job["read"], job["write"]
        waf = job["ssdlab"]["waf"]
        rows.append(
            (
                job["jobname"],
                format_count(read["total_ios"] or 0),
                format_count(write["total_ios"] or 0),
                format_bytes(write["io_bytes"] or 0),
                "-" if waf is None else f"{waf:.3f}",
                _microseconds(read["lat_ns"]["mean"]),
                _microseconds(write["lat_ns"]["mean"]),
            )
        )
    print_rows(rows)


def _microseconds(latency_ns: float | None) -> str:
    return f"{latency_ns / 1000:.1f} us" if latency_ns else "-"
