"""The predictions of closed forms for a trace, from the number of writes of its units; or why none of them applies.

The forms are those of `theory.closed_forms`: steady state, independent writes of one unit. The drive is assumed to hold
only the units that the trace writes, so that OP is spare area relative to these. Units with the same number of writes
form a class, whose share of the writes is known. For a trace without independent writes there are no values, but the
reasons.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.workloads.traces.profile import Profile
from ssdlab.theory import closed_forms

UNITS_PER_ERASE_UNIT = 256
"""For the forms that depend on it; FIFO does not."""

# A deviation from independent writes of at most this share of the writes is tolerated.
_TOLERATED_SHARE = 0.05
# With fewer writes per unit, the scatter of counts hides the differences in rates: a mean of m has a standard deviation
# of sqrt(m) by chance.
_WRITES_PER_UNIT_MIN = 5.0
# Variance divided by mean of the counts: 1 for uniform independent writes (Poisson), 0 if each pass writes every unit
# once.
_EVEN_BELOW = 0.5
_UNIFORM_BELOW = 1.3


@dataclass(frozen=True)
class Form:
    """One closed form."""

    name: str
    values: Sequence[float]
    """Write amplification for each OP; empty if the form does not apply."""
    reason: str | None = None
    """Why it does not apply."""


def expectations(profile: Profile, over_provisionings: Sequence[float]) -> list[Form]:
    """The applicable forms with their values for each OP (a share above 0), and the others with the reason."""
    reasons = departures(profile)
    if reasons:
        whole = "; ".join(reasons)
        return [Form(name, (), whole) for name in ("FIFO", "greedy", "one pool per class")]
    spread = dispersion(profile.updates)
    if spread < _UNIFORM_BELOW:
        return [
            _form("FIFO", closed_forms.fifo, over_provisionings),
            _form(f"greedy, {UNITS_PER_ERASE_UNIT} units per erase unit", _greedy, over_provisionings),
            Form("one pool per class", (), "all units have the same write frequency: there is one class"),
        ]
    write_shares, space_shares = shares(profile.updates)

    def fifo(op: float) -> float:
        return closed_forms.fifo_classes(op, write_shares, space_shares)

    def pools(op: float) -> float:
        return closed_forms.separated_pools(op, write_shares, space_shares)

    return [
        _form(f"FIFO, one open erase unit, {len(write_shares)} classes", fifo, over_provisionings),
        Form("greedy", (), "its closed form requires equal write frequencies"),
        _form("one pool per class, best split, FIFO", pools, over_provisionings),
    ]


def departures(profile: Profile) -> list[str]:
    """The reasons why the trace is not a series of independent writes of one unit; empty if it is."""
    write = profile.write
    if write.requests == 0:
        return ["the trace writes nothing"]
    found = []
    if profile.single_unit_writes < (1 - _TOLERATED_SHARE) * write.requests:
        share = format_share(profile.single_unit_writes / write.requests)
        found.append(
            f"{share} of the writes are one aligned unit of {profile.unit_bytes} B; at least 95 % are required"
        )
    if write.sequential_requests > _TOLERATED_SHARE * write.requests:
        share = format_share(write.sequential_requests / write.requests)
        found.append(f"{share} of the writes continue where the previous one ended, so they are not independent")
    if profile.units.trimmed_of_written > _TOLERATED_SHARE * profile.units.written:
        share = format_share(profile.units.trimmed_of_written / profile.units.written)
        found.append(f"{share} of the written data is trimmed again, which no formula for classes covers")
    mean = profile.units.written / max(1, profile.units.unique_written)
    if mean < _WRITES_PER_UNIT_MIN:
        found.append(
            f"a unit is written {mean:.2f} times on average; frequencies show from {_WRITES_PER_UNIT_MIN:g} times on"
        )
    elif dispersion(profile.updates) < _EVEN_BELOW:
        found.append("the units are written more evenly than by random writes, as by passes in random order")
    return found


def dispersion(updates: Sequence[tuple[int, int]]) -> float:
    """Variance divided by mean of the writes of a unit. `updates` are (writes of a unit, number of units with them)."""
    units = sum(count for _, count in updates)
    mean = sum(writes * count for writes, count in updates) / units
    return sum((writes - mean) ** 2 * count for writes, count in updates) / units / mean


def shares(updates: Sequence[tuple[int, int]]) -> tuple[list[float], list[float]]:
    """Each class's share of the writes and of the written units; a class is a number of writes."""
    units = sum(count for _, count in updates)
    writes = sum(times * count for times, count in updates)
    return [times * count / writes for times, count in updates], [count / units for _, count in updates]


def _greedy(over_provisioning: float) -> float:
    return closed_forms.greedy(over_provisioning, UNITS_PER_ERASE_UNIT)


def _form(name: str, formula: Callable[[float], float], over_provisionings: Sequence[float]) -> Form:
    return Form(name, [formula(op) for op in over_provisionings])
