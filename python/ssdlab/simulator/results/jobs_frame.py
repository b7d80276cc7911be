"""The jobs of a simulated or measured result as a frame, one row for each job."""

from collections.abc import Sequence
from typing import Any, Protocol

import polars as pl

from ssdlab.simulator.results.job_result import DirectionResult


class Job(Protocol):
    """The attributes that simulated and measured jobs have in common."""

    @property
    def name(self) -> str: ...

    @property
    def stage(self) -> int: ...

    @property
    def waf(self) -> float | None: ...

    @property
    def read(self) -> DirectionResult: ...

    @property
    def write(self) -> DirectionResult: ...


def frame(jobs: Sequence[Job]) -> pl.DataFrame:
    """A frame with one row for each job.

    Columns: job, stage (from 0), waf, and for both reads and writes: ios and bytes (counts), iops (1/s), mb_s (10^6
    bytes per second), latency_us_mean and latency_us_p999 (microseconds). Null: no requests of this direction, or no
    clock.
    """
    figures = {f"{side}_{name}": kind for side in ("read", "write") for name, kind in _DIRECTION.items()}
    schema = {"job": pl.String, "stage": pl.Int64, "waf": pl.Float64, **figures}
    return pl.DataFrame([_row(job) for job in jobs], schema=schema, orient="row")


_DIRECTION = {
    "ios": pl.Int64,
    "bytes": pl.Int64,
    "iops": pl.Float64,
    "mb_s": pl.Float64,
    "latency_us_mean": pl.Float64,
    "latency_us_p999": pl.Float64,
}


def _row(job: Job) -> list[Any]:
    return [job.name, job.stage, job.waf, *_direction(job.read), *_direction(job.write)]


def _direction(direction: DirectionResult) -> list[float | None]:
    if not direction.total_ios:
        return [0, 0, None, None, None, None]
    rate, latency = direction.bw_bytes, direction.latency
    return [
        direction.total_ios,
        direction.io_bytes,
        direction.iops,
        None if rate is None else rate / 1e6,
        _us(latency.mean_ns) if latency else None,
        _us(latency.percentile_ns(99.9)) if latency else None,
    ]


def _us(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1000
