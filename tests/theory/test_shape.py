"""Does write amplification develop, and does skew have the effect, as theory predicts?"""

import pytest

from engine_runs import UNIT_BYTES, run, steady_waf, textbook_drive, write_job, zones
from ssdlab.theory import closed_forms

HOT_COLD = zones((0.8, 0.2), (0.2, 0.8))
COLD_START = (40, 15)


@pytest.fixture(scope="module")
def uniform_greedy() -> float:
    return steady_waf(0.127, 128, {"name": "greedy"})


def test_waf_is_one_until_the_spare_area_is_written_then_overshoots_then_settles() -> None:
    drive, user_units = textbook_drive(0.127, 128, {"name": "greedy"}, {"name": "single"})
    fill = {**write_job(user_units, 1, {"name": "random"}, 0, 1), "sequential": True}
    series = run(drive, [fill, write_job(user_units, 20, {"name": "random"}, 1, 2)])["series"]
    drive_writes = [written / (user_units * UNIT_BYTES) - 1 for written in series["host_written_bytes"]]
    moved = series["programmed_units_gc"]
    erase_units = drive["nand"]["blocks_per_plane"]
    untouched = (erase_units - 1) * 128 / user_units - 1
    assert all(units == 0 for at, units in zip(drive_writes, moved, strict=True) if at < untouched - 0.005)
    assert all(units > 0 for at, units in zip(drive_writes, moved, strict=True) if at > untouched + 0.02)

    def waf(start: float, end: float) -> float:
        first, last = (min(range(len(moved)), key=lambda at: abs(drive_writes[at] - x)) for x in (start, end))
        host = (series["host_written_bytes"][last] - series["host_written_bytes"][first]) / UNIT_BYTES
        return 1 + (moved[last] - moved[first]) / host

    expected = closed_forms.greedy(0.127, 128)
    # All erase units are of the same age when garbage collection begins, so none has lost much more data than the
    # others.
    assert waf(untouched, untouched + 0.1) > 1.1 * expected, "no overshoot"
    assert waf(15, 20) == pytest.approx(expected, rel=0.01)


def test_skew_through_one_frontier_is_worse_than_uniform(uniform_greedy: float) -> None:
    skewed = steady_waf(0.127, 128, {"name": "greedy"}, distribution=HOT_COLD, drive_writes=COLD_START)
    assert skewed > 1.05 * uniform_greedy


def test_separation_alone_gains_nothing_under_greedy(uniform_greedy: float) -> None:
    placement = {"name": "frequency-frontiers", "frontiers": 2}
    separated = steady_waf(0.127, 128, {"name": "greedy"}, placement, HOT_COLD, COLD_START)
    assert separated == pytest.approx(uniform_greedy, rel=0.1)


def test_separation_gains_with_an_age_term(uniform_greedy: float) -> None:
    placement = {"name": "frequency-frontiers", "frontiers": 4}
    assert steady_waf(0.127, 128, {"name": "cost-benefit"}, placement, HOT_COLD, COLD_START) < 0.85 * uniform_greedy


def test_separation_gains_with_spare_area_for_each_learned_class(uniform_greedy: float) -> None:
    placement = {"name": "class-spare", "classes": 2}
    learned = steady_waf(0.127, 128, {"name": "greedy"}, placement, HOT_COLD, COLD_START)
    assert learned < 0.85 * uniform_greedy
    told = steady_waf(0.127, 128, {"name": "greedy"}, {**placement, "borders": [0.2]}, HOT_COLD, COLD_START)
    assert told < learned, "a learned class cannot beat one that the host tells"


def test_space_that_is_held_back_costs_like_spare_area_that_is_not_there() -> None:
    """A reserve of 40 erase units of 2048 compared with the same drive without them."""
    drive, user_units = textbook_drive(0.127, 128, {"name": "greedy"}, {"name": "single"})
    jobs = [write_job(user_units, 30, {"name": "random"}, 0, 1), write_job(user_units, 10, {"name": "random"}, 1, 2)]
    held_back = {**drive, "ftl": {**drive["ftl"], "reserve_erase_units": 41}}
    smaller = {**drive, "nand": {**drive["nand"], "blocks_per_plane": 2048 - 40}}
    programmed = [run(each, jobs)["jobs"][-1]["ledger"]["programmed_units"] for each in (held_back, smaller)]
    assert programmed[0]["gc"] == pytest.approx(programmed[1]["gc"], rel=0.005)


def test_a_static_spare_area_does_not_clean_with_free_space() -> None:
    """Writes to the first half of an empty drive: the other half serves as spare area if it is dynamic, and not if
    static."""
    drive, user_units = textbook_drive(0.127, 128, {"name": "greedy"}, {"name": "single"})
    job = write_job(user_units, 15, {"name": "random"}, 0, 1)
    half = {**job, "size_bytes": user_units // 2 * UNIT_BYTES}
    measure = {**half, "stage": 1, "io_bytes": 5 * user_units * UNIT_BYTES, "seed": 2}
    static = {**drive, "ftl": {**drive["ftl"], "spare_area": "static"}}
    waf = {}
    for name, each in (("dynamic", drive), ("static", static)):
        programmed = run(each, [half, measure])["jobs"][-1]["ledger"]["programmed_units"]
        waf[name] = 1 + programmed["gc"] / programmed["host"]
    # Half of U is live. Dynamic: T against U / 2. Static: the spare area alone, T - U, against U / 2.
    assert waf["dynamic"] == pytest.approx(closed_forms.greedy(2 * 1.127 - 1, 128), rel=0.01)
    assert waf["static"] == pytest.approx(closed_forms.greedy(2 * 0.127, 128), rel=0.015)
