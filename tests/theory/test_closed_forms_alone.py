"""The closed forms compared with a slow direct simulation, with their limits and with each other."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import lambertw

from ssdlab.theory import closed_forms
from textbook_drive import TextbookDrive, effective_over_provisioning

ERASE_UNITS = 256
SPARE_AREAS = (0.02, 0.07, 0.127, 0.28, 0.5, 2.0)
HOT_COLD = ((0.8, 0.2), (0.2, 0.8))


def write_uniformly(drive: TextbookDrive) -> None:
    drive.write(int(drive.random.random() * drive.user_units))


def check(simulated: float, expected: float, tolerance: float) -> None:
    assert abs(simulated / expected - 1) < tolerance, f"simulated {simulated:.4f}, closed form {expected:.4f}"


# The rest is due to the finite drive: greedy compares victims among 256, and a random victim's live units vary.
@pytest.mark.parametrize("over_provisioning", [0.07, 0.28])
@pytest.mark.parametrize(
    ("victim", "d", "tolerance"),
    [("fifo", 1, 0.01), ("greedy", 1, 0.015), ("d-choices", 4, 0.012), ("random", 1, 0.03)],
)
def test_uniform_writes_agree_with_a_direct_simulation(
    victim: str, d: int, tolerance: float, over_provisioning: float
) -> None:
    units = 32
    user_units = int(ERASE_UNITS * units / (1 + over_provisioning))
    drive = TextbookDrive([ERASE_UNITS], units, user_units, victim, seed=1, d=d)
    simulated = drive.run(write_uniformly, settle_drive_writes=4, drive_writes=8)
    effective = effective_over_provisioning(ERASE_UNITS, units, user_units, simulated)
    expected = {
        "fifo": lambda: closed_forms.fifo(effective),
        "greedy": lambda: closed_forms.greedy(effective, units),
        "d-choices": lambda: closed_forms.d_choices(effective, units, d),
        "random": lambda: closed_forms.random_victim(effective),
    }[victim]()
    check(simulated, expected, tolerance)


def hot_cold_writes(user_units: int, hot_units: int) -> Any:
    def write(drive: TextbookDrive) -> None:
        if drive.random.random() < 0.8:
            drive.write(int(drive.random.random() * hot_units))
        else:
            drive.write(hot_units + int(drive.random.random() * (user_units - hot_units)))

    return write


def test_hot_and_cold_through_one_fifo_frontier_agree_with_a_direct_simulation() -> None:
    units, over_provisioning = 32, 0.15
    user_units = int(ERASE_UNITS * units / (1 + over_provisioning))
    drive = TextbookDrive([ERASE_UNITS], units, user_units, "fifo", seed=2)
    simulated = drive.run(hot_cold_writes(user_units, user_units // 5), settle_drive_writes=5, drive_writes=8)
    effective = effective_over_provisioning(ERASE_UNITS, units, user_units, simulated)
    check(simulated, closed_forms.fifo_classes(effective, *HOT_COLD), 0.012)
    uniform = closed_forms.fifo(effective)
    assert simulated > 1.03 * uniform, "skew through one frontier is worse than uniform writes"


def test_hot_and_cold_under_greedy_through_one_frontier_are_worse_than_uniform_too() -> None:
    units, over_provisioning = 32, 0.15
    user_units = int(ERASE_UNITS * units / (1 + over_provisioning))
    drive = TextbookDrive([ERASE_UNITS], units, user_units, "greedy", seed=2)
    simulated = drive.run(hot_cold_writes(user_units, user_units // 5), settle_drive_writes=4, drive_writes=5)
    effective = effective_over_provisioning(ERASE_UNITS, units, user_units, simulated)
    assert simulated > 1.05 * closed_forms.greedy(effective, units)


def test_separated_pools_agree_with_a_direct_simulation() -> None:
    units, pools = 32, [80, 240]
    user_units = int(sum(pools) * units / 1.2)
    hot_units = user_units // 5
    drive = TextbookDrive(pools, units, user_units, "fifo", seed=3, pool_of=lambda address: int(address >= hot_units))
    simulated = drive.run(hot_cold_writes(user_units, hot_units), settle_drive_writes=4, drive_writes=8)
    sizes = np.array(pools, dtype=float) * units
    live = np.array([hot_units, user_units - hot_units])

    # Each pool has one open erase unit, of which Np / (2 A of the pool) is unwritten.
    def pool_waf(pool: int) -> float:
        waf = closed_forms.fifo(sizes[pool] / live[pool] - 1)
        return closed_forms.fifo(effective_over_provisioning(pools[pool], units, live[pool], waf))

    check(simulated, 0.8 * pool_waf(0) + 0.2 * pool_waf(1), 0.012)
    spare = (sizes - live) / (sizes.sum() - live.sum())
    ideal = closed_forms.separated_pools(sizes.sum() / live.sum() - 1, *HOT_COLD, tuple(spare))
    check(simulated, ideal, 0.04)


@pytest.mark.parametrize("blind", [False, True])
def test_trims_agree_with_a_direct_simulation(blind: bool) -> None:
    units, over_provisioning, trim_share = 32, 0.07, 0.1
    user_units = int(ERASE_UNITS * units / (1 + over_provisioning))
    live_counts = []

    def request(drive: TextbookDrive) -> None:
        address = int(drive.random.random() * user_units)
        if drive.random.random() < trim_share:
            while not blind and drive.place[address] < 0:
                address = int(drive.random.random() * user_units)
            drive.trim(address)
        else:
            drive.write(address)
        if drive.host_written % 1000 == 0:
            live_counts.append(sum(drive.live))

    drive = TextbookDrive([ERASE_UNITS], units, user_units, "greedy", seed=4)
    simulated = drive.run(request, settle_drive_writes=6, drive_writes=8)
    live = closed_forms.live_share_of_blind_trims(trim_share) if blind else closed_forms.live_share(trim_share)
    assert np.mean(live_counts[len(live_counts) // 2 :]) / user_units == pytest.approx(live, rel=0.005)
    effective = effective_over_provisioning(ERASE_UNITS, units, live * user_units, simulated)
    full = effective_over_provisioning(ERASE_UNITS, units, user_units, simulated)
    assert closed_forms.with_live_share(full, live) == pytest.approx(effective)
    check(simulated, closed_forms.greedy(effective, units), 0.015)


@pytest.mark.parametrize("over_provisioning", SPARE_AREAS)
def test_fifo_is_the_published_lambert_form(over_provisioning: float) -> None:
    alpha = 1 + over_provisioning
    lambert = float(lambertw(-alpha * math.exp(-alpha)).real)
    assert closed_forms.fifo(over_provisioning) == pytest.approx(alpha / (alpha + lambert), rel=1e-11)


def test_fifo_keeps_its_digits_at_tiny_spare_areas() -> None:
    # The series at OP = e: A = 1 / (2e) + 2/3 + O(e).
    assert closed_forms.fifo(1e-7) == pytest.approx(1 / 2e-7 + 2 / 3, rel=1e-13)


@pytest.mark.parametrize("units", [1, 2, 5, 64, 256])
def test_greedy_inverts_the_balance_of_occupancies(units: int) -> None:
    for m in range(1, units):
        for theta in (0.2, 0.7, 1.0):
            harmonic = math.fsum(1 / j for j in range(m + 1, units + 1))
            alpha = units * (harmonic + theta / m) / (units - m + theta)
            expected = units / (units - m + theta)
            assert closed_forms.greedy(alpha - 1, units) == pytest.approx(expected, rel=1e-9), (m, theta)


@pytest.mark.parametrize(("units", "m"), [(200, 3), (768, 700), (5000, 63), (5000, 64), (100_000, 99_000)])
def test_greedy_of_many_units_keeps_its_digits(units: int, m: int) -> None:
    """Above 64 terms the harmonic numbers come from their asymptotic series."""
    harmonic = math.fsum(1 / j for j in range(m + 1, units + 1))
    alpha = units * (harmonic + 0.5 / m) / (units - m + 0.5)
    assert closed_forms.greedy(alpha - 1, units) == pytest.approx(units / (units - m + 0.5), rel=1e-8)


def test_greedy_of_one_unit_an_erase_unit_copies_nothing() -> None:
    assert closed_forms.greedy(0.001, 1) == 1.0


def test_greedy_of_two_units_by_hand() -> None:
    # m = 1: alpha = 2 (1/2 + theta) / (1 + theta); alpha = 1.2 gives theta = 1/4, A = 2 / 1.25.
    assert closed_forms.greedy(0.2, 2) == pytest.approx(1.6)


@pytest.mark.parametrize("over_provisioning", SPARE_AREAS)
def test_order_of_the_policies_and_their_limits(over_provisioning: float) -> None:
    fifo = closed_forms.fifo(over_provisioning)
    by_units = [closed_forms.greedy(over_provisioning, units) for units in (16, 64, 256, 4096, 4_000_000)]
    assert all(fewer <= more for fewer, more in pairwise(by_units)), "larger erase units cost more under greedy"
    assert by_units[-1] == pytest.approx(fifo, rel=1e-4), "greedy of endless erase units is FIFO"
    assert all(1 <= value <= fifo for value in by_units)
    by_d = [closed_forms.d_choices(over_provisioning, 128, d) for d in (1, 2, 3, 10, 100, 5000)]
    assert all(more < fewer or fewer == pytest.approx(1) for fewer, more in pairwise(by_d)), "more choices are better"
    assert by_d[0] == pytest.approx((1 + over_provisioning) / over_provisioning)
    greedy = closed_forms.greedy(over_provisioning, 128)
    # For large d the emptiest unit is always among those drawn; greedy's mix of two occupancies is met within 0.1 %.
    assert by_d[-1] == pytest.approx(greedy, rel=2e-3)


@pytest.mark.parametrize("form", [closed_forms.fifo, lambda op: closed_forms.greedy(op, 256)])
def test_much_spare_area_leaves_nothing_to_copy(form: Any) -> None:
    assert form(100.0) == pytest.approx(1.0, abs=1e-12)
    assert closed_forms.d_choices(1000.0, 64, 10) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("d", [2, 10, 200])
@pytest.mark.parametrize("over_provisioning", [0.03, 0.28])
def test_d_choices_of_large_erase_units_are_extrapolated_rightly(d: int, over_provisioning: float) -> None:
    units = 8 * closed_forms.D_CHOICES_EXACT_UNITS_MAX
    exact = closed_forms._solve_d_choices(over_provisioning, lambda k: closed_forms._share_live(k, units, d))
    assert closed_forms.d_choices(over_provisioning, units, d) == pytest.approx(exact, rel=3e-5)


@pytest.mark.parametrize("d", [2, 7, 40])
def test_d_choices_satisfies_its_recursion(d: int) -> None:
    units, alpha = 50, 1.1
    waf = closed_forms.d_choices(alpha - 1, units, d)
    k = waf / alpha
    at_least = np.zeros(units + 2)
    for j in range(units, 0, -1):  # the slow way: bisection of each balance
        low, high = 0.0, 1.0
        for _ in range(60):
            s = (low + high) / 2
            low, high = (s, high) if j * (s - at_least[j + 1]) < k * (1 - s**d) else (low, s)
        at_least[j] = low
    assert at_least[1:].sum() == pytest.approx(units / alpha, rel=1e-9)
    assert units / (units - (at_least[1:] ** d).sum()) == pytest.approx(waf, rel=1e-9)


def test_equal_classes_are_one_class() -> None:
    uniform = closed_forms.fifo(0.07)
    assert closed_forms.fifo_classes(0.07, (0.3, 0.7), (0.3, 0.7)) == pytest.approx(uniform)
    # Pools in proportion to their space have the OP of the whole.
    assert closed_forms.separated_pools(0.07, (0.3, 0.7), (0.3, 0.7)) == pytest.approx(uniform)


def test_a_class_that_is_never_written_is_copied_once_a_turn() -> None:
    # alpha = 1.5, half of the space static: each turn of T writes copies U / 2, the rest is a FIFO drive of T - U / 2 =
    # U on U / 2, so alpha 2; of its A' host-caused writes a turn holds T - U / 2 of T.
    rest = closed_forms.fifo(1.0)
    assert closed_forms.fifo_classes(0.5, (1.0, 0.0), (0.5, 0.5)) == pytest.approx(rest * 1.5)


@pytest.mark.parametrize("over_provisioning", [0.03, 0.07, 0.28, 0.5])
@pytest.mark.parametrize(("hot_writes", "hot_space"), [(0.8, 0.2), (0.9, 0.1), (0.5, 0.05)])
def test_the_square_root_split_is_the_best(over_provisioning: float, hot_writes: float, hot_space: float) -> None:
    writes, space = (hot_writes, 1 - hot_writes), (hot_space, 1 - hot_space)

    def of_split(hot: float) -> float:
        return closed_forms.separated_pools(over_provisioning, writes, space, (hot, 1 - hot))

    best = minimize_scalar(of_split, bounds=(0.01, 0.99), method="bounded")
    by_rule = closed_forms.separated_pools(over_provisioning, writes, space)
    assert best.fun <= by_rule * (1 + 1e-9)
    assert by_rule == pytest.approx(best.fun, rel=0.006)
    assert by_rule < closed_forms.fifo(over_provisioning), "separation with its own spare area gains"


def test_live_shares() -> None:
    assert closed_forms.live_share(0) == 1
    assert closed_forms.live_share(0.25) == pytest.approx(2 / 3)
    assert closed_forms.with_live_share(0.07, 1) == pytest.approx(0.07)
    assert closed_forms.with_live_share(0.0, 0.5) == pytest.approx(1.0)
    assert closed_forms.spare_factor(0.25) == pytest.approx(0.2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: closed_forms.fifo(0.0),
        lambda: closed_forms.fifo(-0.1),
        lambda: closed_forms.fifo(math.nan),
        lambda: closed_forms.fifo(math.inf),
        lambda: closed_forms.greedy(0.07, 0),
        lambda: closed_forms.greedy(0.07, 2.5),  # type: ignore[arg-type]
        lambda: closed_forms.d_choices(0.07, 64, 0),
        lambda: closed_forms.d_choices(0.0, 64, 2),
        lambda: closed_forms.random_victim(0.0),
        lambda: closed_forms.fifo_classes(0.07, (0.8, 0.3), (0.2, 0.8)),
        lambda: closed_forms.fifo_classes(0.07, (1.0,), (0.2, 0.8)),
        lambda: closed_forms.fifo_classes(0.07, (1.0, 0.0), (1.0, 0.0)),
        lambda: closed_forms.separated_pools(0.07, *HOT_COLD, (0.5, 0.6)),
        lambda: closed_forms.separated_pools(0.07, *HOT_COLD, (1.0, 0.0)),
        lambda: closed_forms.live_share(0.5),
        lambda: closed_forms.with_live_share(0.07, 0.0),
        lambda: closed_forms.spare_factor(-0.1),
    ],
)
def test_arguments_out_of_range_are_refused(call: Any) -> None:
    with pytest.raises(ValueError, match=r"allowed|for"):
        call()
