"""The watts of a drive from four constants, and the shape of its speed through the first garbage collection."""

import pytest

from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.power import comparison
from ssdlab.experiments.studies.power.comparison import CONSTANTS, OF_POWER, Point
from ssdlab.simulator.targets import simulated


@pytest.fixture(scope="module")
def points() -> list[Point]:
    return comparison.points_of(simulated.run(comparison.specification(Context(), "1/16", timed=False)))


def test_the_constants_of_the_drive_file_are_those_of_the_fit(points: list[Point]) -> None:
    power, again = comparison.file_power(), comparison.fit(points)
    assert sum(point.is_fitted for point in points) == OF_POWER.points
    for key in CONSTANTS:
        assert power[key] == pytest.approx(again[key], rel=0.05), key


def test_what_was_left_out_is_within_five_percent(points: list[Point]) -> None:
    power = comparison.file_power()
    deviations = {
        (point.kind, point.at): (comparison.watts(power, point).watts_mean or 0) / point.watts - 1
        for point in points
        if not point.is_fitted
    }
    missed = {where for where, deviation in deviations.items() if abs(deviation) > comparison.WATTS_TOLERANCE}
    assert len(deviations) == 125
    # The first 20 s, in which the drive draws less than later at the same speed, and the begin of garbage collection.
    assert missed <= {("write", at) for at in (0, 10, 260, 270, 280, 290, 300)}


def test_the_speed_falls_when_the_spare_area_is_written_and_when_the_fill_is_collected() -> None:
    result = simulated.run(comparison.specification(Context(), "1/64", timed=True))
    first, second = comparison.falls(comparison.speeds_of(result))
    assert first == pytest.approx(290, rel=0.1)
    assert second == pytest.approx(1030, rel=0.1)


def test_two_falls_are_asked_for() -> None:
    with pytest.raises(ValueError, match="does not fall twice"):
        comparison.falls([(at, 340.0 if at < 300 else 200.0) for at in range(0, 1000, 10)])
