"""A KV cache on a drive with placement handles: the order of eviction determines the savings."""

import pytest

from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.kv_cache import comparison
from ssdlab.experiments.studies.kv_cache.comparison import (
    ALL,
    FIGURES,
    KINDS,
    USER_BYTES,
    WRITTEN_BYTES,
    Cache,
    specification,
)
from ssdlab.simulator.targets import simulated

STRIPE = 64 / 63


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reclaim unit has fewer pages; the number of reclaim units is unchanged."""
    monkeypatch.setattr(comparison, "SCALE", "1/352")


def waf(cache: Cache) -> float:
    result = simulated.run(specification(Context(), cache))
    assert result.settled_waf is not None
    return result.settled_waf


def test_objects_that_die_in_order_leave_a_handle_nothing_to_move() -> None:
    assert waf(Cache(has_handles=True, random=frozenset())) == pytest.approx(STRIPE, rel=0.01)


def test_objects_that_die_at_random_make_handles_a_cost() -> None:
    assert waf(Cache(has_handles=True, random=ALL)) > 1.1 * waf(Cache(random=ALL)) > 2


@pytest.mark.parametrize("shares", ["space", "bytes", "objects"])
def test_the_workers_fill_855_gib_and_write_four_times_the_drive(shares: comparison.Shares) -> None:
    assert sum(kind.workers * kind.space_gib for kind in KINDS) == 855
    result = simulated.run(specification(Context(), Cache(shares=shares)))
    of_full = result.last_stage_ledger.host_written_bytes / result.capacity.user_bytes
    assert of_full == pytest.approx(WRITTEN_BYTES / USER_BYTES, rel=0.001)


def test_figures_have_one_tolerance() -> None:
    assert [float(each["value"]) for each in FIGURES] == [2.6, 1.425]
    assert {float(each["tolerance"]) for each in FIGURES} == {0.1}
