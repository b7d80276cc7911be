"""Write amplification in closed form, for an idealized drive in the steady state.

Pure functions of numbers; `expectation` selects the one that applies to a run.

All of them assume single-unit writes at independent random addresses, many erase units, no trim unless said, and a
drive in its steady state. `over_provisioning` is OP = (T - U) / U as a share (0.07 for 7 %), alpha = T / U = 1 + OP,
and `units_per_erase_unit` (Np) is the number of mapping units in an erase unit. T is the flash that garbage collection
can use: without reserve, parity, bad blocks and the unwritten part of open erase units (see docs/theory/theory.md).
Every function raises ValueError if an argument is outside the range in its docstring.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

# Above this number of units per erase unit, the d-choices recursion is interpolated between this number and the limit.
D_CHOICES_EXACT_UNITS_MAX = 2048
# The interpolation is linear in 1 / Np, which requires a spare area of many units in each erase unit.
_SPARE_UNITS_PER_ERASE_UNIT_MIN = 100.0
_SHARE_SUM_TOLERANCE = 1e-6
_ASYMPTOTIC_FROM = 64


def spare_factor(over_provisioning: float) -> float:
    """(T - U) / T from OP = (T - U) / U; defined for OP >= 0."""
    if not over_provisioning >= 0 or math.isinf(over_provisioning):
        raise ValueError(f"over_provisioning is {over_provisioning}; allowed: a finite share of 0 or more")
    return over_provisioning / (1 + over_provisioning)


def fifo(over_provisioning: float) -> float:
    """Write amplification if erase units are collected in the order in which they were written (FIFO, LRU).

    A = alpha / (alpha + W0(-alpha e^-alpha)), for any Np. The equivalent equation A = 1 / (1 - exp(-alpha / A)) is
    solved numerically, because W0 loses half of its digits near its branch point, that is, at small OP.

    Source: Desnoyers 2012; Xiang and Kurkoski 2012. Range: OP > 0.
    """
    return fifo_classes(over_provisioning, (1.0,), (1.0,))


def fifo_classes(over_provisioning: float, write_shares: Sequence[float], space_shares: Sequence[float]) -> float:
    """Write amplification of FIFO if class k gets the share r_k of the writes and fills the share f_k of U.

    All classes are written to one open erase unit; writes are uniform within a class.
    A = sum of r_k / (1 - exp(-(r_k / f_k) alpha / A)). A class without writes (r_k = 0) is copied once per cycle.

    Source: Desnoyers 2012, 2014. Range: OP > 0; r_k >= 0; f_k > 0; each list adds up to 1.
    """
    _check_over_provisioning(over_provisioning)
    _check_classes(write_shares, space_shares)
    rates = [r / f for r, f in zip(write_shares, space_shares, strict=True)]

    # With x = alpha / A the equation is: sum of f_k y_k / (1 - e^-y_k) = alpha, y_k = x r_k / f_k. The left side
    # increases with x, is between 1 + x / 2 and 1 + x, and above x, which gives the bracket.
    def excess(x: float) -> float:
        grown = sum(f * _growth(rate * x) for f, rate in zip(space_shares, rates, strict=True))
        return grown - over_provisioning

    upper = 1.01 * min(2 * over_provisioning, 1 + over_provisioning)
    from scipy.optimize import brentq

    root = brentq(excess, 0.5 * over_provisioning, upper, xtol=1e-15 * over_provisioning, rtol=1e-14)
    return max(1.0, (1 + over_provisioning) / float(root))


def greedy(over_provisioning: float, units_per_erase_unit: int) -> float:
    """Write amplification if the erase unit with the fewest live units is always collected.

    Find the integer m and 0 < theta <= 1 with alpha = Np (H_Np - H_m + theta / m) / (Np - m + theta); then
    A = Np / (Np - m + theta): victims hold m - theta live units on average. From alpha = H_Np on, victims are empty and
    A is 1. As Np grows A rises towards `fifo`; it stays below Np.

    Source: balance of occupancies; within 0.13 % of Desnoyers' closed form (2012). Range: OP > 0, Np >= 1.
    """
    _check_over_provisioning(over_provisioning)
    units = _checked_units(units_per_erase_unit)
    alpha = 1 + over_provisioning
    if alpha >= _harmonic_difference(units, 0):
        return 1.0
    # alpha decreases with m: this finds the largest m whose alpha at theta = 1 is at least the given one.
    low, high = 1, units
    while high - low > 1:
        middle = (low + high) // 2
        if units * _harmonic_difference(units, middle - 1) >= alpha * (units - middle + 1):
            low = middle
        else:
            high = middle
    m = low
    theta = (alpha * (units - m) - units * _harmonic_difference(units, m)) / (units / m - alpha)
    return units / (units - m + min(max(theta, 0.0), 1.0))


def random_victim(over_provisioning: float) -> float:
    """Write amplification if the victim is drawn at random: A = alpha / (alpha - 1), for any Np.

    Source: the d-choices recursion with d = 1, which has an exact sum. Range: OP > 0.
    """
    _check_over_provisioning(over_provisioning)
    return (1 + over_provisioning) / over_provisioning


@lru_cache(maxsize=1024)
def d_choices(over_provisioning: float, units_per_erase_unit: int, d: int) -> float:
    """Write amplification if the emptiest of d erase units, drawn at random with replacement, is collected.

    With S_j the share of erase units with at least j live units: j (S_j - S_{j+1}) = K (1 - S_j^d), K such that the sum
    of S_j over j = 1..Np is Np / alpha; A = Np / (Np - sum of S_j^d), which by the sum of the balances is K alpha.
    The recursion is solved exactly up to Np = 2048, and at very small OP for any Np. Otherwise A(Np) is taken as linear
    in 1 / Np between Np = 2048 and infinite Np, where x = j / Np satisfies x dS/dx = -K (1 - S^d).

    Source: Van Houdt 2013. Range: OP > 0, Np >= 1, d >= 1 (d = 1: `random_victim`; infinite d: `greedy`).
    """
    _check_over_provisioning(over_provisioning)
    units = _checked_units(units_per_erase_unit)
    if isinstance(d, bool) or d != int(d) or d < 1:
        raise ValueError(f"d is {d}; allowed: a whole number of 1 or more")
    if d == 1:
        return random_victim(over_provisioning)
    anchor = D_CHOICES_EXACT_UNITS_MAX
    if units <= anchor or over_provisioning * anchor < _SPARE_UNITS_PER_ERASE_UNIT_MIN:
        return _solve_d_choices(over_provisioning, lambda k: _share_live(k, units, d))
    limit = _solve_d_choices(over_provisioning, lambda k: _share_live_limit(k, d))
    return limit + (d_choices(over_provisioning, anchor, d) - limit) * anchor / units


def square_root_split(write_shares: Sequence[float], space_shares: Sequence[float]) -> tuple[float, ...]:
    """The optimal split of the spare area between separated pools: that of pool k is proportional to sqrt(r_k f_k).

    Exact for random victims and in the limit of small spare areas, within about 1 % in A otherwise.
    Source: Desnoyers 2014; Stoica and Ailamaki 2013. Range as `fifo_classes`. Returns shares that add up to 1.
    """
    _check_classes(write_shares, space_shares)
    weights = [math.sqrt(r * f) for r, f in zip(write_shares, space_shares, strict=True)]
    return tuple(weight / sum(weights) for weight in weights)


def separated_pools(
    over_provisioning: float,
    write_shares: Sequence[float],
    space_shares: Sequence[float],
    spare_shares: Sequence[float] | None = None,
    pool: Callable[[float], float] = fifo,
) -> float:
    """Write amplification if every class has its own erase units, collected within the class.

    Pool k serves the share r_k of the writes on the share f_k of U with the share s_k of the spare area T - U, so its
    own OP is s_k OP / f_k. A = sum of r_k A_pool(OP_k). Without `spare_shares` the split is `square_root_split`.
    `pool` gives a pool's write amplification from its OP (`fifo`, or `greedy` for a given Np).

    Source: Desnoyers 2014; Stoica and Ailamaki 2013. Range: as `fifo_classes`; s_k > 0 where r_k > 0, adding up to 1.
    """
    _check_over_provisioning(over_provisioning)
    _check_classes(write_shares, space_shares)
    if spare_shares is None:
        spare_shares = square_root_split(write_shares, space_shares)
    if len(spare_shares) != len(space_shares):
        raise ValueError(f"{len(spare_shares)} spare shares for {len(space_shares)} classes")
    _check_shares("spare_shares", spare_shares)
    total = 0.0
    for r, f, s in zip(write_shares, space_shares, spare_shares, strict=True):
        if r == 0:
            continue
        if s <= 0:
            raise ValueError(f"spare_shares has {s} for a class that is written; allowed: above 0")
        total += r * pool(s * over_provisioning / f)
    return total


def live_share(trim_share: float) -> float:
    """The share x of U that is live if each request is, with probability q, the trim of a live unit, and else a write.

    x = (1 - 2q) / (1 - q); trims fall on live units only, writes on all of U, both uniformly.
    Source: Frankie et al. 2012. Range: 0 <= q < 1/2 (at 1/2 nothing stays live).
    """
    if not 0 <= trim_share < 0.5:
        raise ValueError(f"trim_share is {trim_share}; allowed: 0 to below 0.5")
    return (1 - 2 * trim_share) / (1 - trim_share)


def live_share_of_blind_trims(trim_share: float) -> float:
    """As `live_share`, but trims fall on all of U, live or not, as in a job of random trims: x = 1 - q.

    A unit's last request decides whether it is live, and that was a trim with probability q. Range: 0 <= q < 1.
    """
    if not 0 <= trim_share < 1:
        raise ValueError(f"trim_share is {trim_share}; allowed: 0 to below 1")
    return 1 - trim_share


def with_live_share(over_provisioning: float, live: float) -> float:
    """The OP relative to the live data: alpha / x - 1. Use it as OP in any formula for uniform writes.

    Exact for memoryless trims: a live unit then dies at the rate 1 / (x U) per write. Source: Frankie et al. 2012.
    Range: OP >= 0 and 0 < x <= 1.
    """
    if not 0 < live <= 1:
        raise ValueError(f"live is {live}; allowed: above 0, to 1")
    if not over_provisioning >= 0:
        raise ValueError(f"over_provisioning is {over_provisioning}; allowed: 0 or more")
    return (1 + over_provisioning) / live - 1


def _check_over_provisioning(over_provisioning: float) -> None:
    if not over_provisioning > 0 or math.isinf(over_provisioning):
        raise ValueError(
            f"over_provisioning is {over_provisioning}; allowed: a finite share above 0 (gc needs spare area)"
        )


def _checked_units(units_per_erase_unit: int) -> int:
    if isinstance(units_per_erase_unit, bool) or units_per_erase_unit != int(units_per_erase_unit):
        raise ValueError(f"units_per_erase_unit is {units_per_erase_unit}; allowed: a whole number")
    if units_per_erase_unit < 1:
        raise ValueError(f"units_per_erase_unit is {units_per_erase_unit}; allowed: 1 or more")
    return int(units_per_erase_unit)


def _check_shares(name: str, shares: Sequence[float]) -> None:
    if not shares or any(not 0 <= share <= 1 for share in shares):
        raise ValueError(f"{name} is {list(shares)}; allowed: shares of 0 to 1")
    if abs(math.fsum(shares) - 1) > _SHARE_SUM_TOLERANCE:
        raise ValueError(f"{name} is {list(shares)}, which adds up to {math.fsum(shares):g}; allowed: 1")


def _check_classes(write_shares: Sequence[float], space_shares: Sequence[float]) -> None:
    if len(write_shares) != len(space_shares):
        raise ValueError(f"{len(write_shares)} write shares for {len(space_shares)} space shares")
    _check_shares("write_shares", write_shares)
    _check_shares("space_shares", space_shares)
    if min(space_shares) <= 0:
        raise ValueError(f"space_shares is {list(space_shares)}; allowed: above 0")


def _growth(y: float) -> float:
    """y / (1 - e^-y) - 1, precise for small y."""
    if y < 1e-4:
        return y / 2 + y * y / 12
    return y / -math.expm1(-y) - 1


def _harmonic_difference(n: int, m: int) -> float:
    """H_n - H_m for n >= m >= 0. Few terms are summed, because the difference of two large sums would lose digits."""
    if n - m <= 64:
        return math.fsum(1 / j for j in range(m + 1, n + 1))
    if m < _ASYMPTOTIC_FROM:
        return math.fsum(1 / j for j in range(m + 1, _ASYMPTOTIC_FROM + 1)) + _harmonic_difference(n, _ASYMPTOTIC_FROM)
    return math.log1p((n - m) / m) + _harmonic_rest(n) - _harmonic_rest(m)


def _harmonic_rest(n: int) -> float:
    """H_n - ln n - Euler's constant, by its asymptotic series (Euler and Maclaurin). The next term is 1 / (240 n^8):
    below 1e-16 from `_ASYMPTOTIC_FROM` on."""
    square = 1 / (n * n)
    return 1 / (2 * n) - square * (1 / 12 - square * (1 / 120 - square / 252))


def _solve_d_choices(over_provisioning: float, share_live: Callable[[float], float]) -> float:
    """A = K alpha for the K at which the live share of all units is 1 / alpha. A is between 1 and a random victim's."""
    from scipy.optimize import brentq

    alpha = 1 + over_provisioning
    low, high = 0.999 / alpha, 1.001 / over_provisioning
    root = brentq(lambda log_k: share_live(math.exp(log_k)) - 1 / alpha, math.log(low), math.log(high), xtol=1e-13)
    return max(1.0, math.exp(float(root)) * alpha)


def _share_live(k: float, units: int, d: int) -> float:
    """Sum of S_j / Np. From j = Np down, S_j is the only root of j s + K s^d = K + j S_{j+1} between S_{j+1} and 1."""
    s = 0.0
    total = 0.0
    for j in range(units, 0, -1):
        target = k + j * s
        # The left side is convex and the start is above the root, so Newton's method converges from above.
        s = min(1.0, s + k / j * (1 - s**d))
        while True:
            power = s ** (d - 1)
            step = (j * s + k * s * power - target) / (j + k * d * power)
            s -= step
            if step < 1e-15:
                break
        total += s
    return total / units


def _share_live_limit(k: float, d: int) -> float:
    """The same for infinite Np: the integral over s of exp(-G(s) / K), G(s) = integral of dt / (1 - t^d) up to s."""
    from scipy.integrate import quad
    from scipy.special import hyp2f1

    def reach(s: float) -> float:
        return math.exp(-s * float(hyp2f1(1, 1 / d, 1 + 1 / d, s**d)) / k)

    value, _ = quad(reach, 0, 1, epsabs=1e-12, epsrel=1e-12, limit=200)
    return float(value)
