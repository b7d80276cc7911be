"""Latencies of requests and of flushes as fio reports them."""

from typing import Any

import pytest

from ssdlab.hardware.device.measured import direction_of, flush_of
from ssdlab.simulator.results.text_rates import direction_lines

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


@pytest.mark.parametrize("kind", ["clat", "lat"])
def test_each_kind_of_latency_has_its_own_figures(kind: str) -> None:
    """A regression: the line of `lat` had the figures of `clat`, without the time of the submission."""
    times = {"slat": 4000, "clat": 90_000, "lat": 94_000}
    raw: dict[str, Any] = {
        f"{name}_ns": {"N": 20, "min": ns - 1000, "max": ns + 1000, "mean": float(ns), "stddev": 9.0}
        for name, ns in times.items()
    }
    raw[f"{kind}_ns"]["bins"] = {str(times[kind]): 20}
    found = direction_of(raw | {"total_ios": 20, "io_bytes": 81_920, "runtime": 2})
    lines = [line.strip() for line in direction_lines("write", found)[1:]]
    assert [line.partition(" (")[0] for line in lines[:3]] == list(times)
    assert [int(line.partition("avg=")[2].partition(".")[0]) for line in lines[:3]] == list(times.values())
    assert lines[3] == f"{kind} percentiles (nsec):"
    assert found.total_latency is not None and found.total_latency.mean_ns == times["lat"]
