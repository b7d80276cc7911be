"""What `sysbench fileio ... run` prints, as figures."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class SysbenchReport:
    """Rates of a run; the latency is the mean of all its requests, fsyncs among them."""

    reads_per_second: float
    writes_per_second: float
    read_mib_s: float
    write_mib_s: float
    seconds: float
    mean_ms: float | None


def sysbench_report(text: str) -> SysbenchReport | None:
    """None where the text is no report of a run, as that of `prepare`. Checked with sysbench 1.0.20."""
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
