"""The study of durable writes: what it compares, and that a missed figure is not called met."""

import pytest

from ssdlab.experiments.studies.contract import Row
from ssdlab.experiments.studies.durable_writes import comparison
from ssdlab.experiments.studies.studying import study


def row(value: float) -> Row:
    figure = {"drive": "d", "measured": "m", "test": "sync", "jobs": "1", "quantity": "IOPS", "value": "1000"}
    return comparison._row(figure | {"unit": "IOPS", "printed": "figure", "source": "s"}, value)


@pytest.mark.parametrize(("value", "is_met"), [(1499.0, True), (1501.0, False), (667.0, True), (666.0, False)])
def test_a_figure_is_met_within_the_factor_both_ways(value: float, is_met: bool) -> None:
    assert row(value).is_within_tolerance is is_met


@pytest.mark.parametrize(("second", "is_in_order"), [((5.0, 3.0), True), ((5.0, 0.5), False)])
def test_drives_are_compared_by_their_order(second: tuple[float, float], is_in_order: bool) -> None:
    assert comparison.in_order({"a": (1.0, 1.0), "b": second}) is is_in_order


def test_the_study_predicts_every_figure() -> None:
    studied = study("durable-writes", workers=1)
    rows = studied.result.rows
    assert len(rows) == len(comparison.FIGURES) and all(each.fitted is None for each in rows)
    simulated = {(each.group, each.what): each.simulated for each in rows}
    assert None not in simulated.values()
    protected = [each.simulated or 0.0 for each in rows if "PM863a" in each.group]
    # A drive with capacitors is limited by its commands, and a drive without by its flash.
    assert protected == sorted(protected) and protected[0] > 10_000
    (etcd,) = (each for each in rows if "2,300" in each.what and each.unit == "IOPS")
    assert (etcd.simulated or 0.0) < 3_000
