"""fio's log files: names, columns and units as in fio 3.33 (`write_bw_log` and similar options).

A line is time in ms, value, direction, length, the offset if `log_offset` is set, and priority (0). Values: bandwidth
in KiB/s over a window and in 1000 bytes/s for a single request, latencies in ns. Submission takes no simulated time, so
the `slat` logs contain zeroes.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.files import staged
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.specification import LogsJson

_BINS = 1856
_MS_NS = 10**6
FILES = {"bw": ("bw",), "iops": ("iops",), "lat": ("slat", "clat", "lat"), "hist": ("clat_hist",)}
"""The suffixes of the file names of each kind of log, before the number of the job."""

Row = tuple[int, str]
"""The time in ns, and the line."""


def files(result: Result) -> dict[str, str]:
    """The texts of all logs that the jobs request, by file name. Empty without a clock."""
    rows: dict[str, list[Row]] = {}
    for said, log in result.job_logs:
        for kind, prefix in said["names"].items():
            for file in FILES[kind]:
                number = "" if said["number"] is None else f".{said['number']}"
                rows.setdefault(f"{prefix}_{file}{number}.log", []).extend(_rows(file, log, said))
    # Lines of jobs that share a file are sorted by time.
    return {name: "".join(line for _, line in sorted(each, key=lambda row: row[0])) for name, each in rows.items()}


def write(result: Result, directory: Path) -> list[str]:
    """Writes the logs into a folder, all or none, and returns their names. Raises InputError if it is not writable."""
    texts = files(result)
    if texts:
        with staged(directory) as place:
            for name, text in texts.items():
                path = place / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return list(texts)


def _rows(file: str, log: plain.LogColumns, said: LogsJson) -> Iterator[Row]:
    if file == "clat_hist":
        yield from _histograms(log["histograms"], 1 << said["coarseness"])
        return
    window_ns = said["average_ms"] * _MS_NS
    rows = zip(
        log["time_ns"],
        log["direction"],
        log["ios"],
        log["bytes"],
        log["latency_ns"],
        log["offset_bytes"],
        strict=True,
    )
    for time_ns, direction, ios, size_bytes, latency_ns, offset_bytes in rows:
        length_ns = (time_ns % window_ns or window_ns) if window_ns else latency_ns
        if file in ("bw", "iops") and window_ns and length_ns < window_ns < log["time_ns"][-1]:
            # fio logs rates of complete windows only, because those of a short rest are not meaningful.
            continue
        match file:
            case "bw" if window_ns:
                value = size_bytes * 10**9 // length_ns // 1024
            case "bw":
                value = size_bytes * 10**6 // max(1, length_ns)
            case "slat":
                value = 0
            case "iops":
                value = ios * 10**9 // length_ns if window_ns else 1
            case _:
                value = latency_ns
        length = 0 if window_ns else size_bytes
        offset = f" {offset_bytes}," if said["offset"] else ""
        yield time_ns, f"{time_ns // _MS_NS}, {value}, {direction}, {length},{offset} 0\n"


def _histograms(histograms: Sequence[plain.HistogramRow], stride: int) -> Iterator[Row]:
    for row in histograms:
        counts = [0] * (_BINS // stride)
        for place, count in row["bins"]:
            counts[place // stride] += count
        bins = ", ".join(map(str, counts))
        yield row["time_ns"], f"{row['time_ns'] // _MS_NS}, {row['direction']}, {row['length_bytes']}, {bins}\n"
