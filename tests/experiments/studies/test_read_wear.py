"""The writes of drives that are only read, with one number for each."""

import math

import pytest

from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.read_wear import comparison, slow_reads
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


def test_the_law_of_slow_reads_meets_the_rows_that_it_was_fitted_to() -> None:
    for name in slow_reads.ROUNDS_IN_ONE:
        law = slow_reads.law(name)
        for figure in (each for each in slow_reads.FIGURES if each["drive"] == name and each["use"] == "fit"):
            severity = (int(figure["round"]) / law.rounds) ** slow_reads.EXPONENT
            needed = law.severities[int(figure["retries"]) - 1]
            share = 1 - math.exp(-((severity / needed) ** law.spread))
            published = slow_reads.share_of_retries(name, int(figure["retries"]), int(figure["round"]))
            assert share == pytest.approx(published, rel=1e-6), figure


def test_reads_beyond_a_millisecond_are_within_the_factor_on_a_simulated_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drive that needs fewer rounds, with a fifth of the study's blocks and a quarter of its rounds."""
    name = "Crucial BX500 120GB"
    monkeypatch.setattr(slow_reads, "BLOCKS", 128)
    monkeypatch.setattr(slow_reads, "ROUNDS_IN_ONE", {name: 20})
    result = simulated.run(slow_reads.specification(Context(), name))
    figures = [each for each in slow_reads.FIGURES if each["drive"] == name and each["use"] != "input"]
    rows = [slow_reads._row(each, result) for each in figures if each["retries"] == str(slow_reads.MAIN)]
    assert len(rows) == 5
    assert all(slow_reads.within_factor(row) for row in rows[1:]), [(row.what, row.simulated) for row in rows]
    shares = [row.simulated for row in rows]
    assert None not in shares and shares == sorted(shares)  # type: ignore[type-var]
