"""Do merged latencies equal latencies counted together, and do percentiles follow fio's rule?"""

import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssdlab
from ssdlab.simulator.results.latency import NONE, PERCENTILES, Latency, distribution, merged
from ssdlab.simulator.results.samples import samples

Values = list[int]
values = st.lists(st.integers(1, 127), min_size=1, max_size=60)


def counted(latencies: Values) -> Latency:
    """Bins below 128 ns hold one value each, so that no precision is lost."""
    return Latency(
        len(latencies),
        min(latencies),
        max(latencies),
        statistics.fmean(latencies),
        statistics.pstdev(latencies),
        tuple(sorted({value: latencies.count(value) for value in latencies}.items())),
    )


@given(st.lists(values, min_size=1, max_size=4))
def test_merged_is_counted_together(parts: list[Values]) -> None:
    ours, theirs = merged([counted(part) for part in parts]), counted([value for part in parts for value in part])
    assert (ours.count, ours.min_ns, ours.max_ns, ours.bins) == (
        theirs.count,
        theirs.min_ns,
        theirs.max_ns,
        theirs.bins,
    )
    assert ours.mean_ns == pytest.approx(theirs.mean_ns)
    assert ours.stddev_ns == pytest.approx(theirs.stddev_ns, abs=1e-6)


@given(values)
def test_percentiles_by_the_slow_rule(latencies: Values) -> None:
    ordered = sorted(latencies)
    for rank, value in zip(PERCENTILES, counted(latencies).percentiles_ns(PERCENTILES), strict=True):
        assert value == next(each for n, each in enumerate(ordered, 1) if n >= rank / 100 * len(ordered))


def test_the_coarse_table_has_fio_s_steps() -> None:
    tables = distribution(Latency(8, 1, 5 * 10**9, 1.0, 1.0, ((1, 1), (2, 1), (999, 2), (1000, 1), (5 * 10**9, 3))))
    assert {step: share for step, share in tables["latency_ns"].items() if share} == {"2": 12.5, "4": 12.5, "1000": 25}
    assert {step: share for step, share in tables["latency_us"].items() if share} == {"2": 12.5}
    assert {step: share for step, share in tables["latency_ms"].items() if share} == {">=2000": 37.5}
    assert sum(map(sum, (table.values() for table in tables.values()))) == 100


def test_no_request_no_figure() -> None:
    assert merged([NONE, NONE]) == NONE
    assert NONE.to_dict(percentiles=(50,), bins=True) == {
        "min": None,
        "max": None,
        "mean": None,
        "stddev": None,
        "N": 0,
    }
    assert NONE.percentile_ns(99) is None


def test_samples_are_whole_intervals_of_the_job() -> None:
    second = 10**9
    series: Any = {
        "time_ns": [second, 2 * second, 3 * second, 4 * second],
        "write_ios": [1000, 10, 30, 2000],
        "written_bytes": [1000, 40, 120, 2000],
    }
    found = samples(series, "write", second, 3 * second + 1)
    assert found is not None and found.bytes_per_second is not None
    assert (found.iops.min, found.iops.max, found.iops.mean, found.iops.samples) == (10, 30, 20, 2)
    assert found.iops.stddev == pytest.approx(200**0.5)
    assert found.bytes_per_second.mean == 80
    assert samples(series, "write", 1, second) is None


def test_samples_of_a_group_are_of_the_time_of_its_jobs_with_such_requests(tmp_path: Path) -> None:
    """A regression: the writes of 1.3 s were spread over the 5 s of the reads beside them."""
    job = tmp_path / "mixed.fio"
    job.write_text("[global]\nbs=4k\nsize=8m\ngroup_reporting\n[a]\nrw=write\n[b]\nrw=read\nthinktime=2000\n")
    (both,) = ssdlab.run(job, ssdlab.drive("textbook")).jobs
    write, read = both.write, both.read
    assert write.samples is not None and write.iops is not None and read.seconds and write.seconds
    assert read.seconds > 3 * write.seconds
    assert write.samples.iops.mean == pytest.approx(write.iops, rel=0.2)


def test_there_are_no_samples_beside_the_ramp_time_of_another_job(tmp_path: Path) -> None:
    """A regression: requests that its ramp time leaves out were among the rates of the other job."""
    job = tmp_path / "ramp.fio"
    job.write_text("[global]\nbs=4k\nrw=write\n[a]\nsize=4m\nramp_time=100s\n[b]\nsize=16m\noffset=16m\n")
    ramping, other = ssdlab.run(job, ssdlab.drive("textbook")).jobs
    assert ramping.write.total_ios == 0 and other.write.total_ios and other.write.samples is None
    job.write_text("[b]\nbs=4k\nrw=write\nsize=16m\nramp_time=1s\n")
    (alone,) = ssdlab.run(job, ssdlab.drive("textbook")).jobs
    assert alone.write.samples is not None


def test_the_rest_of_an_interval_is_no_sample() -> None:
    """A regression: one write in the last 19 us was a maximum of 53,373 MiB/s, on a link of 3.6 GB/s."""
    second = 10**9
    series: Any = {
        "time_ns": [second, 2 * second, 2 * second + 19_000],
        "write_ios": [10, 30, 1],
        "written_bytes": [40, 120, 4],
    }
    found = samples(series, "write", 0, 2 * second + 19_000)
    assert found is not None and (found.iops.max, found.iops.mean, found.iops.samples) == (30, 20, 2)
    alone = samples(series, "write", 2 * second, 2 * second + 19_000)
    assert alone is not None and alone.iops.samples == 1, "there is no other"
