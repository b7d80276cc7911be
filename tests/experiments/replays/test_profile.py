"""Does the profile count correctly, and does theory agree with a replay where it claims to apply?"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ssdlab.experiments.replays.theory import departures, expectations
from ssdlab.simulator.workloads.traces.profile import Profile, profile_of
from ssdlab.simulator.workloads.traces.recording import opened
from ssdlab.theory import closed_forms

UNIT = 4096
# A drive of this many units is `small.toml`.
SMALL_UNITS = 4096
OPS = (0.07, 0.14, 0.28)


def profiled(path: Path) -> Profile:
    with opened([str(path)], None, 0) as recording:
        return profile_of(recording, None)


def writes(units: Sequence[int]) -> list[tuple[str, int, int]]:
    return [("write", unit * UNIT, UNIT) for unit in units]


def uniform(count: int, units: int = SMALL_UNITS, seed: int = 1) -> list[tuple[str, int, int]]:
    chosen = random.Random(seed)
    return writes([chosen.randrange(units) for _ in range(count)])


def hot_and_cold(count: int) -> list[tuple[str, int, int]]:
    """80 % of the writes to the first 20 % of the drive."""
    chosen, hot = random.Random(2), SMALL_UNITS // 5
    pick = lambda: chosen.randrange(hot) if chosen.random() < 0.8 else chosen.randrange(hot, SMALL_UNITS)  # noqa: E731
    return writes([pick() for _ in range(count)])


def test_counts_by_hand(write_trace: Any) -> None:
    requests = [("write", 0, 8192), ("write", 8192, 4096), ("read", 4096, 8192), ("trim", 0, 4096), ("write", 512, 512)]
    profile = profiled(write_trace("few.log", requests))
    assert (profile.read.requests, profile.write.requests, profile.trim.requests) == (1, 3, 1)
    assert (profile.write.bytes, profile.write.sequential_requests, profile.write.aligned_requests) == (12800, 1, 2)
    assert (profile.units.unique, profile.units.written, profile.units.overwritten) == (3, 4, 0)
    assert (profile.units.read_of_written, profile.units.trimmed_of_written) == (2, 1)
    assert profile.updates == [(1, 2), (2, 1)]
    assert profile.write.sizes == [(512, 1), (4096, 1), (8192, 1)]


def test_uniform_writes_get_the_uniform_forms(write_trace: Any) -> None:
    forms = expectations(profiled(write_trace("uniform.log", uniform(60_000))), OPS)
    assert [form.name for form in forms if form.values] == ["FIFO", "greedy, 256 units per erase unit"]
    assert forms[0].values == [closed_forms.fifo(op) for op in OPS]


def test_classes_learned_from_the_counts_are_those_of_the_law(write_trace: Any) -> None:
    """Counts scatter, which looks like slightly more skew than there is."""
    forms = expectations(profiled(write_trace("skewed.log", hot_and_cold(200_000))), OPS)
    one_frontier, _, pools = forms
    law = [closed_forms.fifo_classes(op, (0.8, 0.2), (0.2, 0.8)) for op in OPS]
    assert one_frontier.values == pytest.approx(law, rel=0.02)
    assert all(split < whole for split, whole in zip(pools.values, one_frontier.values, strict=True))
    assert forms[1].reason is not None


def test_theory_agrees_with_the_replay(replayed: Any, write_trace: Any) -> None:
    """FIFO with one frontier, at the drive's effective OP, to the steady state of a repeated trace."""
    path = write_trace("skewed.log", hot_and_cold(200_000))
    result = replayed("skewed.log", on="small.toml", settings={"ftl.victim": "fifo"}, until_steady=True)
    expected = expectations(profiled(path), [result.capacity.effective_over_provisioning])[0].values[0]
    assert result.settled_waf == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(
    ("requests", "reason"),
    [
        ([("read", 0, UNIT)], "writes nothing"),
        (
            [("write", at * 2 * UNIT, 2 * UNIT) for at in random.Random(1).choices(range(50), k=1000)],
            "one aligned unit",
        ),
        (
            [("write", unit * UNIT, UNIT) for _ in range(6) for unit in range(500)],
            "continue where the previous one ended",
        ),
        (uniform(3000, 2000), "frequencies show from 5 times on"),
        (writes([unit for seed in range(8) for unit in random.Random(seed).sample(range(500), 500)]), "more evenly"),
        ([r for w in uniform(3000, 100) for r in (w, ("trim", w[1], UNIT))], "trimmed again"),
    ],
    ids=["reads", "two-units", "sequential", "too-few", "passes", "trims"],
)
def test_what_is_no_such_stream_gets_the_reason(write_trace: Any, requests: Any, reason: str) -> None:
    profile = profiled(write_trace("other.log", requests))
    assert any(reason in departure for departure in departures(profile)), departures(profile)
    assert not any(form.values for form in expectations(profile, OPS))
