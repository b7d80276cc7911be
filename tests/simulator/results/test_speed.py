"""The speed of a last stage: the counts of its own jobs.

The table once took it from the series over time, whose first interval after the fill has requests of the fill too: a
stage that only read had a write latency, and the rates differed from those of the JSON beside it.
"""

from pathlib import Path

import pytest

import ssdlab
from ssdlab.simulator.results.speed import speed

FILL_AND_READ = """
[fill]
rw=write
bs=128k
iodepth=32
[read]
stonewall
rw=randread
bs=4k
iodepth=8
size=5%
"""


def test_a_last_stage_has_no_requests_of_the_fill(tmp_path: Path) -> None:
    job = tmp_path / "fill-and-read.fio"
    job.write_text(FILL_AND_READ)
    result = ssdlab.run(job, ssdlab.drive("generic-tlc-480", scale="1/512"))
    read = result.jobs[-1].read
    found = speed(result)
    assert found is not None
    assert found.write.iops == found.write.mb_s == 0
    assert found.write.latency_ns_mean is None
    assert read.iops is not None and read.latency is not None
    assert found.read.iops == pytest.approx(read.iops, rel=1e-9)
    assert found.read.latency_ns_mean == read.latency.mean_ns
    assert found.read.latency_ns_p999 == read.latency.percentile_ns(99.9)
