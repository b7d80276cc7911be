"""The Fusion-io study: its three points, with the catalogue's drive file, and the cost of a copy at each."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ssdlab.experiments.advice import fit_drive
from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.free_space_fusionio import curve
from ssdlab.simulator.drives import load


def _inverse_to_the_read_time(read_us: Sequence[float]) -> Callable[..., Any]:
    """In place of simulations, which take minutes: each point's speed is the published one at its own read time."""

    def model(drive: object, free: object, points: Sequence[fit_drive.Point], runs: object) -> Any:
        return lambda values: [point.value * own / values[0] for point, own in zip(points, read_us, strict=True)]

    return model


def test_each_point_is_predicted_from_a_fit_to_the_other_two(monkeypatch: pytest.MonkeyPatch) -> None:
    published = [float(row["throughput_mib_s"]) for row in curve.FIGURES]
    monkeypatch.setattr(fit_drive, "simulated_model", _inverse_to_the_read_time([100, 200, 400]))
    first, second, third = (
        predicted / value for predicted, value in zip(curve._left_out(Context()), published, strict=True)
    )
    # A fit's read time is between those of its two points.
    assert 100 / 400 < first < 100 / 200
    assert 200 / 400 < second < 200 / 100
    assert 400 / 200 < third < 400 / 100


def test_one_drive_file_repeats_the_published_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve, "SCALE", "1/64")
    published = {int(row["file_size_gib"]): float(row["throughput_mib_s"]) for row in curve.FIGURES}
    speeds = curve._simulated(Context(workers=1), [(curve.FORMATTED, space, 1) for space in published])
    simulated = {space: speed for (_, space, _), (speed, _) in speeds.items()}
    assert simulated == pytest.approx(published, rel=curve.TOLERANCE)


def test_the_share_in_use_and_the_cost_of_a_copy_make_a_card_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve, "CURVE_GIB", (100, 150, 200))
    monkeypatch.setattr(curve, "SEEDS", 1)
    # The smallest drive with all blocks; its writes are up to a tenth faster than those of the full one.
    monkeypatch.setattr(curve, "SCALE", "1/256")
    monkeypatch.setattr(fit_drive, "simulated_model", _inverse_to_the_read_time([100, 100, 100]))
    result = curve.run(Context(workers=1))
    assert [row.deviation for row in result.rows[:3]] == pytest.approx([0.0] * 3, abs=0.11)
    left_out = [row for row in result.rows if row.is_left_out]
    assert [row.simulated for row in left_out] == pytest.approx([row.published for row in left_out], rel=1e-3)
    assert len(left_out) == 3
    assert all(abs(row.simulated or 0.0) < 1 for row in result.rows if "reserved over" in row.what)
    half, whole = (row.simulated or 0.0 for row in result.rows if row.group == "One card against two")
    assert half == pytest.approx(0.5, abs=0.02), "the share of the space in use counts"
    assert whole < 0.25, "100 GiB on 160 GB are not 100 GiB on 320 GB"
    costs = {str(row[0]): row[-1] for row in result.tables[0].rows}
    assert costs[curve.VARIANTS[curve.BUS_BOUND].what] == pytest.approx(2.0, abs=0.1), "out of one die, into another"
    assert costs[curve.VARIANTS[curve.FORMATTED].what] == pytest.approx(3.1, abs=0.2)
    least, *others = ([float(str(each).replace(",", "")) for each in row[1:]] for row in result.tables[1].rows)
    for other in others:
        assert all(mine > theirs for mine, theirs in zip(least[1:], other[1:], strict=True)), (
            "it depends on the collector"
        )


def test_what_was_fitted_is_said_with_its_points() -> None:
    drive = load(curve.DRIVE)
    fitted = {key for key, source in drive.sources.items() if source.kind == "fitted"}
    assert fitted - {key for row in drive.data_sheet for key in row.fitted} == {curve.FITTED_KEY}
    assert drive.stripe.devices == 2
    assert "75GiB: write_mib_s 306.74" in drive.sources[curve.FITTED_KEY].source
