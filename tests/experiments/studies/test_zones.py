"""Zones: a zoned drive costs only parity, and a host's garbage collection agrees with the closed forms."""

import pytest

from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.zones import commands, comparison
from ssdlab.experiments.studies.zones.comparison import CAPACITY_MIB, SHORT_CAPACITY_MIB, STRIPE
from ssdlab.simulator.targets import simulated


@pytest.mark.parametrize(("rw", "open_zones"), [("write", 1), ("randwrite", 14)])
def test_a_zoned_drive_costs_parity_alone(rw: str, open_zones: int) -> None:
    result = simulated.run(comparison.zoned(Context(), rw, open_zones, CAPACITY_MIB))
    assert result.settled_waf == pytest.approx(STRIPE / (STRIPE - 1), rel=1e-4)
    assert result.zones is not None and result.zones["refused"] == 0 and result.zones["resets"] > 300


def test_a_zone_that_ends_inside_an_erase_unit_is_padded() -> None:
    result = simulated.run(comparison.zoned(Context(), "randwrite", 14, SHORT_CAPACITY_MIB))
    by_hand = STRIPE / (STRIPE - 1) * CAPACITY_MIB / SHORT_CAPACITY_MIB
    assert result.settled_waf == pytest.approx(by_hand, rel=0.01)


@pytest.mark.parametrize("victim", ["greedy", "fifo"])
def test_the_hosts_gc_comes_to_its_closed_form(victim: str) -> None:
    result = simulated.run(comparison.host_log(Context(), victim, 0.28))
    assert result.settled_waf == pytest.approx(comparison.closed_form(victim, 0.28), rel=0.03)


@pytest.mark.parametrize(
    ("measured", "beside", "depth", "costs"),
    [
        ("read", "-", "8", None),
        ("read", "finishes", "8", 0.7),
        ("write", "resets", "4", 0.7),
        ("read", "resets", "8", 1.0),
    ],
)
def test_resets_and_finishes_of_a_real_drive_cost_time(
    measured: str, beside: str, depth: str, costs: float | None
) -> None:
    """What a finish leaves to program, and what a reset erases, keep the dies from other commands, as measured."""
    (figure,) = (
        each
        for each in commands.FIGURES
        if (each["measured"], each["beside"], each["depth"]) == (measured, beside, depth)
    )
    results = {commands.label(figure): simulated.run(commands.specify_commands(Context(), figure))}
    value = commands._iops(results[commands.label(figure)], measured)
    assert figure["fitted"] == "no" and value == pytest.approx(float(figure["iops"]), rel=0.15)
    if costs is not None:
        (alone,) = (
            each
            for each in commands.FIGURES
            if (each["measured"], each["beside"], each["depth"]) == (measured, "-", depth)
        )
        assert value < costs * float(alone["iops"])
