"""Reads the output of `sysbench fileio ... run`."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class SysbenchReport:
    """Rates of a run. The latency is the mean over all requests, including fsyncs."""

    reads_per_second: float
    writes_per_second: float
    read_mib_s: float
    write_mib_s: float
    seconds: float
    mean_ms: float | None


def sysbench_report(text: str) -> SysbenchReport | None:
    """The figures in sysbench's output; None unless it is that of a run. Checked with sysbench 1.0.20."""
    if "File operations:" not in text:
        return None
    mean = re.search(r"^\s*avg:\s+([0-9.]+)", text, re.MULTILINE)
    return SysbenchReport(
        _number(text, r"reads/s:"),
        _number(text, r"writes/s:"),
        _number(text, r"read, MiB/s:"),
        _number(text, r"written, MiB/s:"),
        _number(text, r"total time:"),
        float(mean[1]) if mean else None,
    )


def _number(text: str, name: str) -> float:
    found = re.search(rf"^\s*{name}\s+([0-9.]+)", text, re.MULTILINE)
    return float(found[1]) if found else 0.0
