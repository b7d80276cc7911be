"""The study of SLC caches: the law by hand, and the simulated drives beside it."""

import pytest

from ssdlab.experiments.studies.slc_caches import comparison
from ssdlab.experiments.studies.studying import study
from ssdlab.theory.slc_cache import fill_rate, phases_of, second_drop_bytes


@pytest.mark.parametrize(
    ("capacity", "cache", "bits", "drop"),
    [(2000, 200, 3, 1600), (1000, 150, 3, 700), (1000, 100, 4, 700), (1000, 334, 3, None)],
)
def test_the_second_drop_by_hand(capacity: float, cache: float, bits: int, drop: float | None) -> None:
    assert second_drop_bytes(capacity, cache, bits) == drop


def test_the_mean_of_a_fill_is_by_time() -> None:
    assert fill_rate([(100.0, 1000.0), (100.0, 100.0)]) == pytest.approx(200 / (0.1 + 1.0))


def test_phases_that_are_hardly_apart_are_one() -> None:
    found = phases_of([1000.0] * 10 + [500.0] * 30 + [470.0] * 10)
    assert [phase.end for phase in found] == [10, 50]
    assert found[1].rate == pytest.approx(fill_rate([(30.0, 500.0), (10.0, 470.0)]))


def test_the_study_shows_law_and_simulation() -> None:
    result = study("slc-caches", workers=1).result
    rows = result.rows
    by_law = [row for row in rows if row.group == comparison.LAW]
    simulated = [row for row in rows if row.group == comparison.DROP]
    assert len(by_law) == len(simulated) == 3
    assert all(row.fitted is None for row in by_law) and all(row.fitted and not row.is_left_out for row in simulated)
    # What the drives of the simulation keep erased moves the drop by less than a tenth of the capacity.
    for law, own in zip(by_law, simulated, strict=True):
        assert own.simulated == pytest.approx(law.simulated, rel=0.1)
    (qlc,) = (row for row in rows if row.what == comparison.QLC)
    assert qlc.is_within_tolerance and qlc.simulated is not None and 150 < qlc.simulated < 262
    # The rates of the generic TLC drive are in the middle of the reviewed ones; its cache is smaller, its drop later.
    of_tlc = [row for row in rows if row.what.startswith(comparison.TLC)]
    missed = {row.what.partition(": ")[2] for row in of_tlc if not row.is_within_tolerance}
    assert len(of_tlc) == 6 and missed == {comparison.CACHE_SHARE, comparison.DROP_SHARE}
    # The PM981 is slower past its cache of 50 GB.
    (table,) = result.tables
    (pm981,) = (cells for cells in table.rows if cells[0] == "samsung-pm981-1tb")
    first, until_gb, second = (float(cell) for cell in pm981[1:4] if cell is not None)
    assert until_gb == pytest.approx(50, abs=5) and second < 0.6 * first
