"""PNY's study on drives small enough for a test: the figures that it must show."""

import pytest

from ssdlab.studies import Context
from ssdlab.studies.contract import Verdict
from ssdlab.studies.pny_over_provisioning import endurance, performance


def test_spare_area_makes_the_steady_state_as_much_faster_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performance, "SCALE", "1/128")
    monkeypatch.setattr(performance, "SEEDS", 1)
    result = performance.run(Context(seed=2, workers=1))
    fresh, gain = result.rows[:2]
    assert gain.simulated == pytest.approx(82, abs=6), "greedy garbage collection gives 1.80 to 1.84 times"
    assert fresh.simulated is not None and gain.simulated is not None and fresh.simulated < gain.simulated
    frame = result.series["random-writes"]
    assert frame["seconds"].max() == pytest.approx(performance.HOURS * 3600, rel=0.02), "times are the full drive's"


def test_one_share_explains_both_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endurance, "SCALE", "1/64")
    monkeypatch.setattr(endurance, "SEEDS", 1)
    monkeypatch.setattr(endurance, "SHARES", (0.55, 0.65))
    result = endurance.run(Context(workers=1))
    both, ratio = result.rows[:2], result.rows[4]
    assert all(row.is_within_tolerance for row in both) and ratio.is_within_tolerance
    assert all(row.verdict is Verdict.SATURATED for row in both), "three choices for two points prove nothing"
    left_out = result.rows[-2:]
    assert all(row.deviation == pytest.approx(0, abs=0.08) for row in left_out)
    one_frontier = result.tables[0].rows[0][1:3]
    assert one_frontier == pytest.approx((4.9, 8.2), rel=0.05)
