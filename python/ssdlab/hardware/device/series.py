"""Rates and latencies over time from fio's logs, as the polars frame of `timeseries-time.parquet`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ssdlab.hardware.device.joblogs import SERIES_WINDOW_MS
from ssdlab.hardware.device.measured import MeasuredStage

if TYPE_CHECKING:
    import polars

_DIRECTIONS = ("read", "write", "trim")
_INTERVAL_MS = 1000
_KIB = 1024

Line = tuple[int, int, int]


def read_logs(folder: Path, windows_ms: Sequence[int] = ()) -> dict[str, list[Line]]:
    """The logs of a stage in its folder, by kind and job (`bw.1`): milliseconds, value (KiB/s or ns), direction.

    `windows_ms` has the averaging window of each job's logs; 0 for logs with one line per request, which are combined
    to one line per second.
    """
    found: dict[str, list[Line]] = {}
    for kind in ("bw", "lat"):
        for path in sorted(folder.glob(f"*_{kind}.*.log")):
            job = path.name.split(".")[-2]
            place = int(job) - 1
            window_ms = windows_ms[place] if place < len(windows_ms) else SERIES_WINDOW_MS
            with path.open(encoding="ascii", errors="replace") as stream:
                fields = (line.split(",") for line in stream)
                numbers = (
                    (int(each[0]), int(each[1]), int(each[2]), int(each[3]))
                    for each in fields
                    if len(each) >= 4 and all(field.strip().isdigit() for field in each[:4])
                )
                found[f"{kind}.{job}"] = _windows(numbers, window_ms) if window_ms else _seconds(numbers, kind)
    return found


def _windows(lines: Iterable[tuple[int, int, int, int]], window_ms: int) -> list[Line]:
    """The lines with their times moved so that a window within a second gets the end of that second."""
    late_ms = (_INTERVAL_MS - window_ms) // 2
    return [(max(0, at_ms + late_ms), value, direction) for at_ms, value, direction, _ in lines]


def _seconds(lines: Iterable[tuple[int, int, int, int]], kind: str) -> list[Line]:
    """Combines requests by second and direction: KiB/s in total, or the mean latency."""
    sums: dict[tuple[int, int], list[int]] = {}
    for at_ms, value, direction, size_bytes in lines:
        entry = sums.setdefault((at_ms // _INTERVAL_MS + 1, direction), [0, 0, 0])
        entry[0] += 1
        entry[1] += value
        entry[2] += size_bytes
    return [
        (second * _INTERVAL_MS, size_bytes // _KIB if kind == "bw" else total // count, direction)
        for (second, direction), (count, total, size_bytes) in sums.items()
    ]


def frame(stages: Sequence[MeasuredStage]) -> "polars.DataFrame | None":
    """A frame with one row per second of each stage; None if fio logged nothing.

    Columns: `seconds` (since the start of the first stage, without the time between stages), `stage`, `read_mb_s` and
    `write_mb_s` (10^6 bytes per second of all jobs together), `read_latency_ns_mean` and `write_latency_ns_mean` (the
    mean of the jobs' means; null without requests).
    """
    rows: list[dict[str, float | int | None]] = []
    before_s = 0.0
    for number, stage in enumerate(stages):
        rates, latencies = _gathered(stage)
        for second in sorted(rates):
            row: dict[str, float | int | None] = {"seconds": before_s + second, "stage": number}
            for index, name in enumerate(_DIRECTIONS[:2]):
                row[f"{name}_mb_s"] = rates[second][index] * 1024 / 1e6
            for index, name in enumerate(_DIRECTIONS[:2]):
                values = latencies.get((second, index))
                row[f"{name}_latency_ns_mean"] = sum(values) / len(values) if values else None
            rows.append(row)
        before_s += stage.seconds
    if not rows:
        return None
    kinds = dict.fromkeys(rows[0], pl.Float64) | {"stage": pl.UInt32}
    return pl.DataFrame(rows, schema=kinds)


def _gathered(stage: MeasuredStage) -> tuple[dict[int, list[float]], dict[tuple[int, int], list[int]]]:
    """KiB/s by second, one value per direction, summed over the jobs; and the jobs' mean latencies by second and
    direction."""
    rates: dict[int, list[float]] = {}
    latencies: dict[tuple[int, int], list[int]] = {}
    for name, lines in stage.logs.items():
        of_job: dict[tuple[int, int], list[int]] = {}
        for at_ms, value, direction in lines:
            second = max(1, round(at_ms / _INTERVAL_MS))
            if direction < len(_DIRECTIONS):
                (of_job if name.startswith("bw.") else latencies).setdefault((second, direction), []).append(value)
        # A delayed job can log twice in one second; the values are averaged, because the rate has not doubled.
        for (second, direction), values in of_job.items():
            rates.setdefault(second, [0.0] * len(_DIRECTIONS))[direction] += sum(values) / len(values)
    return rates, latencies
