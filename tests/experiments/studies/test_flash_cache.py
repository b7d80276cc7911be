"""A flash cache on a drive with placement handles: the savings, the cases without savings, and the theory."""

import pytest

from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.flash_cache import comparison
from ssdlab.experiments.studies.flash_cache.comparison import (
    CORNERS,
    FIGURES,
    Cache,
    closed_form,
    drive_of,
    specification,
)
from ssdlab.simulator.targets import simulated


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reclaim unit has fewer pages; the number of reclaim units is unchanged."""
    monkeypatch.setattr(comparison, "SCALE", "1/1024")


def waf(cache: Cache) -> float:
    result = simulated.run(specification(Context(), cache))
    assert result.settled_waf is not None
    return result.settled_waf


def test_handles_save_what_the_log_would_be_moved_for() -> None:
    none, two = waf(Cache()), waf(Cache(has_handles=True))
    assert two == pytest.approx(1.0, abs=0.05)
    assert none > 3 * two


def test_the_less_the_log_is_written_the_nearer_is_the_closed_form() -> None:
    """The closed form ignores the log, whose reclaim units garbage collection takes before all their data is dead."""

    def above(written: float) -> float:
        cache = Cache(small=0.64, has_handles=True, written=written)
        return waf(cache) / closed_form(drive_of(Context(), cache), cache)

    assert above(0.9) == pytest.approx(1.0, abs=0.12)
    assert above(2 / 3) > above(0.9)


def test_a_jobs_depth_is_its_share_of_the_writes() -> None:
    cache = Cache(written=0.8)
    written = {job.name: job.ledger.host_written_bytes for job in simulated.run(specification(Context(), cache)).jobs}
    assert written["small"] / (written["small"] + written["large"]) == pytest.approx(0.8, abs=0.01)


def test_figures_are_of_the_runs_and_each_has_a_tolerance() -> None:
    caches = {Cache(float(each["utilization"]), float(each["small"]), each["handles"] != "none") for each in FIGURES}
    assert caches <= set(comparison._caches()) and set(CORNERS) <= caches
    assert {float(each["tolerance"]) for each in FIGURES} == {0.1}
    assert sum(each["fitted"] == "1" for each in FIGURES) == comparison.FITTED.points
