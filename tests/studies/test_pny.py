"""PNY's study on drives small enough for a test: the figures that it must show."""

import pytest

from ssdlab.studies import Context
from ssdlab.studies.pny_over_provisioning import endurance, performance


def test_spare_area_makes_the_steady_state_as_much_faster_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performance, "SCALE", "1/128")
    monkeypatch.setattr(performance, "SEEDS", 1)
    result = performance.run(Context(seed=2, workers=1))
    gain = result.rows[0]
    assert gain.simulated == pytest.approx(82, abs=6), "greedy cleaning gives 1.80 to 1.84 times"
    fresh = result.rows[1]
    assert fresh.simulated is not None and gain.simulated is not None and fresh.simulated < gain.simulated
    frame = result.series["random-writes"]
    assert frame["seconds"].max() == pytest.approx(performance.HOURS * 3600, rel=0.02), "times are the full drive's"


def test_one_set_of_assumptions_comes_within_a_tenth_of_both_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endurance, "SCALE", "1/64")
    monkeypatch.setattr(endurance, "SEEDS", 1)
    monkeypatch.setattr(endurance, "LADDER", (endurance.LADDER[0], endurance.UNFITTED, endurance.STATED))
    rows = endurance.run(Context(workers=1)).rows
    assert [row.holds for row in rows[:2]] == [True, True]
    one_frontier = [row.simulated for row in rows if row.what.startswith("1. ")]
    assert one_frontier == pytest.approx([4.9, 8.2], rel=0.05)
