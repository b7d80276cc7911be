"""Flushes as fio reports them."""

from typing import Any

import pytest

from ssdlab.hardware.device.measured import flush_of

LATENCY = {"min": 100, "max": 900, "mean": 300.0, "stddev": 50.0, "N": 3, "bins": {"100": 1, "300": 1, "900": 1}}


@pytest.mark.parametrize("total", [0, 3])
def test_flushes_that_fio_measures_are_counted(total: int) -> None:
    """With ioengine=sync fio 3.33 says `total_ios: 0` beside the latencies of its flushes, and they were lost."""
    found = flush_of({"total_ios": total, "lat_ns": LATENCY})
    assert found.total_ios == 3 and found.latency is not None and found.latency.percentiles_ns([50.0]) == [300]


@pytest.mark.parametrize("raw", [{}, {"total_ios": 0, "lat_ns": {"N": 0}}, {"total_ios": 0}])
def test_no_flushes(raw: dict[str, Any]) -> None:
    found = flush_of(raw)
    assert found.total_ios == 0 and found.latency is not None and found.latency.count == 0
