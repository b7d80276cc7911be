"""Does the engine agree with the closed forms of write amplification? Failure messages contain the deviation."""

import pytest

from engine_runs import run, steady_waf, textbook_drive, write_amplification, write_job, zones
from ssdlab.theory import closed_forms

OVER_PROVISIONING = (0.07, 0.127, 0.28, 0.50)
UNITS = (64, 128, 256)


def check(simulated: float, expected: float, allowed: float) -> None:
    deviation = simulated / expected - 1
    assert abs(deviation) <= allowed, f"simulated {simulated:.4f}, theory {expected:.4f}: {deviation:+.2%}"


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("over_provisioning", OVER_PROVISIONING)
class TestUniform:
    def test_greedy(self, over_provisioning: float, units: int) -> None:
        simulated = steady_waf(over_provisioning, units, {"name": "greedy"})
        check(simulated, closed_forms.greedy(over_provisioning, units), 0.01)

    def test_fifo(self, over_provisioning: float, units: int) -> None:
        simulated = steady_waf(over_provisioning, units, {"name": "fifo"})
        check(simulated, closed_forms.fifo(over_provisioning), 0.01)

    def test_d_choices(self, over_provisioning: float, units: int) -> None:
        simulated = steady_waf(over_provisioning, units, {"name": "d-choices", "d": 4})
        check(simulated, closed_forms.d_choices(over_provisioning, units, 4), 0.015)


@pytest.mark.parametrize("over_provisioning", OVER_PROVISIONING)
def test_random_victims(over_provisioning: float) -> None:
    simulated = steady_waf(over_provisioning, 64, {"name": "random"})
    check(simulated, closed_forms.random_victim(over_provisioning), 0.015)


@pytest.mark.parametrize("over_provisioning", OVER_PROVISIONING)
def test_greedy_with_a_frontier_for_gc(over_provisioning: float) -> None:
    simulated = steady_waf(over_provisioning, 128, {"name": "greedy"}, {"name": "host-gc-split"})
    check(simulated, closed_forms.greedy(over_provisioning, 128), 0.01)


@pytest.mark.parametrize("over_provisioning", OVER_PROVISIONING)
@pytest.mark.parametrize(("writes", "space"), [(0.8, 0.2), (0.9, 0.1), (0.5, 0.05)])
class TestHotAndCold:
    def test_fifo_through_one_frontier(self, over_provisioning: float, writes: float, space: float) -> None:
        distribution = zones((writes, space), (1 - writes, 1 - space))
        simulated = steady_waf(over_provisioning, 128, {"name": "fifo"}, distribution=distribution)
        expected = closed_forms.fifo_classes(over_provisioning, (writes, 1 - writes), (space, 1 - space))
        check(simulated, expected, 0.015)

    def test_spare_area_for_each_class(self, over_provisioning: float, writes: float, space: float) -> None:
        distribution = zones((writes, space), (1 - writes, 1 - space))
        placement = {"name": "class-spare", "borders": [space]}
        simulated = steady_waf(over_provisioning, 128, {"name": "greedy"}, placement, distribution)
        expected = closed_forms.separated_pools(
            over_provisioning,
            (writes, 1 - writes),
            (space, 1 - space),
            pool=lambda own: closed_forms.greedy(own, 128),
        )
        check(simulated, expected, 0.015)


@pytest.mark.parametrize("trim_share", [0.1, 0.3])
@pytest.mark.parametrize("over_provisioning", [0.07, 0.28])
def test_trim(over_provisioning: float, trim_share: float) -> None:
    """A job of random trims in parallel with one of random writes, in proportion to their depths."""
    drive, user_units = textbook_drive(over_provisioning, 128, {"name": "greedy"}, {"name": "single"})

    def both(stage: int, drive_writes: float) -> list[dict]:
        write = write_job(user_units, drive_writes, {"name": "random"}, stage, 10 + stage)
        trim = write_job(
            user_units, drive_writes * trim_share / (1 - trim_share), {"name": "random"}, stage, 20 + stage
        )
        depths = (round(10 * (1 - trim_share)), round(10 * trim_share))
        return [{**write, "iodepth": depths[0]}, {**trim, "direction": "trim", "iodepth": depths[1]}]

    outcome = run(drive, [*both(0, 25), *both(1, 15)])
    live = closed_forms.live_share_of_blind_trims(trim_share)
    assert outcome["capacity"]["live_units"] / user_units == pytest.approx(live, rel=0.01)
    expected = closed_forms.greedy(closed_forms.with_live_share(over_provisioning, live), 128)
    programmed = [job["ledger"]["programmed_units"] for job in outcome["jobs"][-2:]]
    total = {cause: sum(part[cause] for part in programmed) for cause in programmed[0]}
    check(write_amplification({"programmed_units": total}), expected, 0.015)
