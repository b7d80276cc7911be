"""The drive with placement handles: do two sequential streams behave as in theory and on the real drive?"""

import pytest

import ssdlab
from ssdlab.experiments.studies.fdp_streams import comparison
from ssdlab.experiments.studies.fdp_streams.comparison import DRIVE, FIGURES, FOLDER, Course
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.specifying import specify

# Small enough for a test: the reclaim unit has fewer pages; the number of reclaim units is unchanged.
SCALE = "1/1408"
STRIPE = 64 / 63


def streams(slow_handle: str) -> Course:
    drive = ssdlab.drive(DRIVE, scale=SCALE)
    job = jobs.load(FOLDER / "two-streams.fio", environment={"SLOW_HANDLE": slow_handle})
    return Course.of(simulated.run(specify(job, drive, interval_ns=10 * 60 * 10**9)))


def test_streams_with_a_handle_each_write_parity_alone_and_through_one_a_third_more() -> None:
    assert streams("1").between(90, 300) == pytest.approx(STRIPE, rel=0.001)
    # The drive is so small that its intervals are a few reclaim units each.
    assert streams("0").between(120, 300) == pytest.approx(4 / 3 * STRIPE, rel=0.02)


def test_figures_are_of_the_runs_and_each_has_a_tolerance() -> None:
    keys = {(figure["load"], figure["handles"]) for figure in FIGURES}
    assert keys == set(comparison._JOBS)
    assert len(FIGURES) == 4 + 2 * 18 and all(float(figure["tolerance"]) > 0 for figure in FIGURES)


def test_a_course_weighs_its_intervals_by_what_was_written() -> None:
    course = Course([10, 20, 30], [1.0, 2.0, 4.0], [100, 300, 100])
    assert course.between(0, 20) == pytest.approx(1.75)
    assert course.between(10, 30) == pytest.approx(2.5)
