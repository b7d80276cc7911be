"""fio's terse output, version 3: one line for each job, separated by semicolons, with the columns of fio 3.33.

The format cannot represent values that were not measured. Processor use, context switches and faults, which a simulated
host does not have, are 0, and so are all values that need a clock in an untimed run. The columns of the disk are left
out, as in fio when it finds no disk.
"""

from collections.abc import Sequence

from ssdlab.simulator.results.fio_schema import FIO_VERSION
from ssdlab.simulator.results.job_result import DirectionResult, JobResult
from ssdlab.simulator.results.latency import NONE, Latency, distribution
from ssdlab.simulator.results.result import Result

_PERCENTILE_COLUMNS = 20
_US = 1000


def terse(result: Result) -> str:
    """The lines of all jobs, with a line break at the end."""
    return "".join(f"{';'.join(_job(job))}\n" for job in result.jobs)


def _job(job: JobResult) -> list[str]:
    latency = job.latency or NONE
    tables = distribution(latency) if latency.count else {}
    microseconds = list(tables.get("latency_us", {}).values()) or 10 * [0.0]
    milliseconds = list(tables.get("latency_ms", {}).values()) or 12 * [0.0]
    # Latencies below 2 us have no column; fio counts them in the first.
    microseconds[0] += sum(tables.get("latency_ns", {}).values())
    depths = 7 * ["0.0%"]
    return [
        "3", FIO_VERSION, job.name, str(job.group), str(job.error),
        *_direction(job.read),
        *_direction(job.write),
        "0.000000%", "0.000000%", "0", "0", "0",
        *depths,
        *(f"{share:.2f}%" for share in (*microseconds, *milliseconds)),
    ]  # fmt: skip


def _direction(direction: DirectionResult) -> list[str]:
    latency = direction.latency or NONE
    rate = (direction.samples.bytes_per_second if direction.samples else None) or None
    spread = (rate.min, rate.max, rate.mean, rate.stddev) if rate else (0.0, 0.0, 0.0, 0.0)
    least, most, mean, stddev = (value / 1024 for value in spread)
    return [
        str(direction.io_bytes // 1024),
        str(int(direction.bw_bytes or 0) // 1024),
        str(int(direction.iops or 0)),
        str(round((direction.seconds or 0) * 1000)),
        "0", "0", "0.000000", "0.000000",
        *_moments(latency),
        *_percentiles(latency, direction.percentiles.ranks),
        *_moments(latency),
        str(int(least)), str(int(most)), f"{100 * (direction.group_share or 0):.6f}%", f"{mean:.6f}", f"{stddev:.6f}",
    ]  # fmt: skip


def _moments(latency: Latency) -> list[str]:
    """Minimum, maximum, mean and standard deviation in microseconds."""
    whole = [str((value or 0) // _US) for value in (latency.min_ns, latency.max_ns)]
    return [*whole, *(f"{(value or 0.0) / _US:.6f}" for value in (latency.mean_ns, latency.stddev_ns))]


def _percentiles(latency: Latency, ranks: Sequence[float]) -> list[str]:
    values = latency.percentiles_ns(ranks) if latency.count else [0] * len(ranks)
    columns = [f"{rank:.6f}%={(value or 0) // _US}" for rank, value in zip(ranks, values, strict=True)]
    return [*columns, *["0%=0"] * (_PERCENTILE_COLUMNS - len(columns))]
