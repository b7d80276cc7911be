"""The writes of drives that are only read, with one number for each."""

import pytest

from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.read_wear import comparison
from ssdlab.simulator.targets import simulated


def test_a_simulated_drive_writes_the_share_that_was_fitted() -> None:
    name = "ADATA SU800 128GB"
    share = comparison.programmed_share(simulated.run(comparison.specification(Context(), name)))
    assert share == pytest.approx(comparison.fitted_share(name), rel=0.03)


def test_the_days_after_are_within_their_tolerance() -> None:
    shares = {name: comparison.fitted_share(name) for name in comparison.READ_GIB_A_DAY}
    rows = [comparison._row(figure, shares) for figure in comparison.FIGURES]
    predicted = [row for row in rows if row.is_left_out]
    assert len(predicted) == 6
    assert all(row.is_within_tolerance for row in predicted), [(row.group, row.deviation) for row in predicted]
