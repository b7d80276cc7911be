"""Do the parts of latencies add up, for all requests and for the slowest, in results, text and merged clones?"""

import json
from collections.abc import Mapping
from typing import Any

import pytest

import ssdlab
from ssdlab.simulator.results.breakdown import PARTS, Breakdown, merged, shares_text
from ssdlab.simulator.results.text import normal

JOB = "[global]\nbs=4k\nsize=25g\niodepth=16\n[fill]\nrw=write\n[mixed]\nstonewall\nrw=randrw\n"


def test_a_tail_is_the_bin_of_its_percentile_and_those_above() -> None:
    """The slowest four of 4,000 requests are one in a thousand; the fourth slowest is in a bin with three others."""

    def row(ns: int, gc_ns: int) -> list[int]:
        return [0, 0, 0, 0, 0, ns - gc_ns, 0, gc_ns]

    breakdown = Breakdown(((100, 3994, row(399_400, 0)), (200, 4, row(800, 600)), (400, 2, row(800, 780))))
    assert breakdown.mean_ns()["flash"] == pytest.approx((399_400 + 200 + 20) / 4000)
    tail = breakdown.mean_ns(99.9)
    assert (tail["gc"], tail["flash"], tail["link"]) == (1380 / 6, 220 / 6, 0)
    assert shares_text(tail) == "garbage collection 86 %, flash 14 %"
    twice = merged([breakdown, breakdown])
    assert twice is not None
    assert twice.mean_ns(99.9) == tail
    assert merged([]) is None


@pytest.mark.parametrize(("requests", "kinds"), [(10_000, ["mean", "p99_9"]), (9_999, ["mean"])])
def test_a_tail_needs_ten_requests(requests: int, kinds: list[str]) -> None:
    """A regression: of 1,911 reads, the parts of the "99.9th and above" were those of two."""
    breakdown = Breakdown(((100, requests, [0, 0, 0, 0, 0, 100 * requests, 0, 0]),))
    assert list(breakdown.to_dict()) == kinds


def test_parts_of_a_run_add_up_to_its_mean_latency(tmp_path: Any) -> None:
    path = tmp_path / "job.fio"
    path.write_text(JOB)
    result = ssdlab.run(path, ssdlab.drive("generic-tlc-480", op=0.07, scale="1/256"))
    jobs = json.loads(result.to_json(bins=False))["jobs"]
    assert jobs[0]["ssdlab"]["latency_breakdown"]["read"] is None
    for job in jobs:
        for name in ("read", "write"):
            _check(job["ssdlab"]["latency_breakdown"][name], job[name])
    text = normal(result)
    assert "    breakdown: mean: " in text
    assert "99.9th and above: " in text


def _check(breakdown: Mapping[str, Mapping[str, float]] | None, direction: Mapping[str, Any]) -> None:
    if breakdown is None:
        assert direction["total_ios"] == 0
        return
    assert list(breakdown["mean"]) == list(PARTS)
    assert sum(breakdown["mean"].values()) == pytest.approx(direction["lat_ns"]["mean"], rel=1e-12)
    assert ("p99_9" in breakdown) == (direction["total_ios"] >= 10_000)
    slowest_ns = sum(breakdown.get("p99_9", breakdown["mean"]).values())
    if "p99_9" not in breakdown:
        return
    # A percentile is the middle of its bin, whose lower end is at most 1/64 below.
    assert direction["clat_ns"]["percentile"]["99.900000"] * (1 - 1 / 64) <= slowest_ns <= direction["lat_ns"]["max"]


def test_without_a_clock_there_are_none(run: Any) -> None:
    job = run("[a]\nrw=randwrite\nbs=4k\n", timed=False).to_dict()["jobs"][0]
    assert job["ssdlab"]["latency_breakdown"] == {"read": None, "write": None, "trim": None}
