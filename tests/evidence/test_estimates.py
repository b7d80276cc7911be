"""Intervals, the digits that they allow, and what may be said of two figures."""

import math
import random
import statistics

import pytest

from ssdlab.evidence import Estimate, estimate
from ssdlab.evidence.comparing import differ, ratio, visible_share
from ssdlab.simulator.results.latency import Latency


def test_samples_have_students_interval() -> None:
    found = estimate.of_samples([9.0, 10.0, 10.0, 10.0, 11.0], "readings")
    half_width = 2.776 * math.sqrt(0.5 / 5)
    assert (found.value, found.n, found.how) == (10.0, 5, "5 readings")
    assert (found.low, found.high) == pytest.approx((10 - half_width, 10 + half_width), rel=1e-3)


def test_a_run_of_few_requests_is_known_little() -> None:
    assert estimate.of_one_run(1000.0, 22).share == pytest.approx(1.96 / math.sqrt(22), rel=1e-3)
    assert estimate.of_one_run(1000.0, 10**7).share == pytest.approx(estimate.SEEDS_DIFFER)
    # What the host wrote itself has no chance in it.
    assert estimate.of_one_run(1.0, 22, certain=1.0).share == pytest.approx(estimate.SEEDS_DIFFER)
    assert estimate.of_one_run(1.0, 0).low == 0


@pytest.mark.parametrize(
    ("value", "half_width", "expected"),
    [
        (34_166.0, 342.0, "34,200"),
        (34_166.0, 12.0, "34,200"),
        (1349.0, 564.0, "1,300 \N{PLUS-MINUS SIGN}600"),
        (1350.0, 2000.0, "0 to 3,400"),
        (312.5, 307.5, "5.0 to 620"),
        (0.0157, 0.0004, "0.0157 \N{PLUS-MINUS SIGN}0.0004"),
        (2.59, 0.1, "2.6 \N{PLUS-MINUS SIGN}0.1"),
        (0.0, 0.0, "0.00"),
    ],
)
def test_a_rate_of_few_requests_has_few_digits(value: float, half_width: float, expected: str) -> None:
    """Regressions: 22 requests had "1,350" per second and "2.59 ms", others "0.016 ±0.000" and "5 ±307"."""
    found = Estimate(value, value - half_width, value + half_width, 22, "made up")
    assert estimate.text(found, digits_max=3) == expected


def test_the_mean_of_few_latencies_is_known_little() -> None:
    few = Latency(22, 1, 10, 5.0, 2.0, ((5, 22),)).mean_estimate
    many = Latency(10**6, 1, 10, 5.0, 2.0, ((5, 10**6),)).mean_estimate
    assert few and many and many.share == pytest.approx(estimate.SEEDS_DIFFER)
    assert few.share == pytest.approx(1.96 * 2 / 5 * math.sqrt(10 / 22), rel=1e-3)
    # A regression: a job that its scale left one request of took "15.0 us" in the mean, within 1 %.
    assert Latency(9, 5, 5, 5.0, 0.0, ((5, 9),)).mean_estimate is None


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(2.5335, 2.5345, "2.534"), (8.52, 8.62, "8.57"), (8.3, 8.9, "8.6 \N{PLUS-MINUS SIGN}0.3"), (2.0, 2.0, "2.000")],
)
def test_as_many_digits_as_the_interval_allows(low: float, high: float, expected: str) -> None:
    assert estimate.text(Estimate((low + high) / 2, low, high, 5, "made up")) == expected


def test_a_difference_needs_intervals_that_are_apart() -> None:
    one, other = Estimate(2.0, 1.98, 2.02, 5, "made up"), Estimate(2.05, 2.03, 2.07, 5, "made up")
    assert differ(one, other) and differ(other, one)
    assert not differ(one, Estimate(2.03, 2.01, 2.05, 5, "made up"))
    assert visible_share(one, other) == pytest.approx(0.02)
    quotient = ratio(other, one)
    assert quotient.value == pytest.approx(1.025) and quotient.low < 1.025 < quotient.high


def test_a_percentile_needs_ten_requests_above_it() -> None:
    latency = Latency(1000, 1, 1000, 500.0, 1.0, tuple((ns, 1) for ns in range(1, 1001)))
    assert latency.percentile_ns(99) == 990 and latency.percentile_ns(99.1) is None
    assert latency.estimate(99.9) is None
    found = latency.estimate(50)
    assert found is not None and found.low < 500 < found.high
    assert latency.percentiles_ns((99.9,)) != [None], "fio's own have no such rule"


def test_percentiles_of_millions_differ_no_less_than_seeds_do() -> None:
    """A regression: all ranks of a percentile of five million requests were in one bin, those of another seed in the
    next."""
    one, next_bin = (Latency(5 * 10**6, ns, ns, ns, 0.0, ((ns, 5 * 10**6),)) for ns in (505_856, 514_048))
    found, other = one.estimate(99), next_bin.estimate(99)
    assert found and other and not differ(found, other)
    far = Latency(5 * 10**6, 540_000, 540_000, 540_000, 0.0, ((540_000, 5 * 10**6),)).estimate(99)
    assert far and differ(found, far)


def test_the_interval_of_a_percentile_covers_it() -> None:
    """Of 200 samples of independent latencies, whose median is 69.3; the interval is for clusters, so wider."""
    draw = random.Random(34)
    covered = []
    for _ in range(200):
        values = sorted(round(100 * draw.expovariate(1.0)) for _ in range(400))
        latency = Latency(400, values[0], values[-1], statistics.fmean(values), 1.0, tuple((ns, 1) for ns in values))
        found = latency.estimate(50)
        assert found is not None
        covered.append(found.low <= 69.3 <= found.high)
    assert sum(covered) >= 190
