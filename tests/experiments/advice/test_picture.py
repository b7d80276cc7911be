"""The straight lines of an advice's chart do not mislead: it has runs where the curve bends."""

import math
from itertools import pairwise
from pathlib import Path

import pytest

from small_drives import drive_file
from ssdlab.experiments.advice.described import of_numbers
from ssdlab.experiments.advice.limits import write_amplification
from ssdlab.experiments.advice.search import chord_error, interpolated, least, rounded_out
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.trials import Demand, Trials, mean
from ssdlab.simulator.drives import load


@pytest.mark.parametrize("power", [-2.0, -1.0, -0.5, 1.0])
def test_the_error_of_a_line_is_that_against_a_power(power: float) -> None:
    left, right = 0.07, 0.28
    middle = math.sqrt(left * right)
    line = interpolated([(left, left**power), (right, right**power)], middle)
    assert chord_error(left, right, left**power, right**power) == pytest.approx(abs(line / middle**power - 1))


def test_runs_between_are_near_the_line(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(drive_file("small", blocks=256, pages=256, user_bytes=2**28 * 94 // 100 // 4096 * 4096))
    workload = of_numbers(None, 4096, "uniform", 0)
    trials = Trials(workload, Setting(load(str(path)), {}), Demand(None, None), [write_amplification(2.0)], workers=1)
    searched = least(trials, None)
    curve = [(share, mean(runs, "waf")) for share, runs in rounded_out(trials, searched, None).curve]
    assert len(curve) > len(searched.curve), "a curve that needs no more runs shows nothing"
    for (left, high), (right, low) in pairwise(curve):
        assert high and low
        middle = math.sqrt(left * right)
        (between,) = trials.at([middle], None, trials.seeds(1))
        waf = between.figure("waf")
        assert waf and abs(interpolated([(left, high), (right, low)], middle) / waf - 1) < 0.15
