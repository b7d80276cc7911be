"""The Fusion-io study: its three points, with the catalogue's drive file, and the cost of a copy at each."""

import pytest

from ssdlab.drives import load
from ssdlab.studies import Context
from ssdlab.studies.contract import Verdict
from ssdlab.studies.free_space_fusionio import curve


def test_one_drive_file_repeats_the_published_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve, "CURVE_GIB", (60, 100, 150, 200))
    monkeypatch.setattr(curve, "SEEDS", 1)
    monkeypatch.setattr(curve, "SCALE", "1/64")
    monkeypatch.setattr(curve, "_left_out", lambda context: [1.0, 1.0, 1.0])
    result = curve.run(Context(workers=1))
    assert [row.verdict for row in result.rows[:3]] == [Verdict.MET] * 3
    assert all(abs(row.simulated or 0.0) < 1 for row in result.rows if "reserved over" in row.what)
    costs = {str(row[0]): row[-1] for row in result.tables[0].rows}
    assert costs[curve.VARIANTS[curve.BUS_BOUND].what] == pytest.approx(2.0, abs=0.1), "out of one die, into another"
    assert costs[curve.VARIANTS[curve.FORMATTED].what] == pytest.approx(3.1, abs=0.2)


def test_what_was_fitted_is_said_with_its_points() -> None:
    drive = load(curve.DRIVE)
    fitted = [key for key, source in drive.sources.items() if source.kind == "fitted"]
    assert fitted == [curve.FITTED_KEY]
    assert drive.stripe.devices == 2
    assert "75GiB: write_mib_s 306.74" in drive.sources[curve.FITTED_KEY].source
