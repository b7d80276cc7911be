"""What the tests of drives share: a list of policies that does not need the native module."""

from collections.abc import Iterator

import pytest

from ssdlab.drives import policies
from ssdlab.drives.policies import Known, Policy

POLICIES: Known = {
    "victim": {
        "greedy": Policy("victim", "greedy", "fewest live units", "a paper"),
        "fifo": Policy("victim", "fifo", "oldest", "a paper"),
        "d-choices": Policy("victim", "d-choices", "best of d", "a paper", {"d": 10}),
        "windowed-greedy": Policy("victim", "windowed-greedy", "best of the oldest", "a paper", {"window": 0.25}),
    },
    "placement": {
        "single": Policy("placement", "single", "one", "a paper"),
        "host-gc-split": Policy("placement", "host-gc-split", "two", "a paper"),
        "frequency-frontiers": Policy("placement", "frequency-frontiers", "several", "a paper", {"frontiers": 4}),
        "class-spare": Policy("placement", "class-spare", "own spare", "a paper", {"classes": 2, "borders": []}),
    },
    "wear_leveling": {"none": Policy("wear_leveling", "none", "nothing", "")},
    "pacing": {"proportional": Policy("pacing", "proportional", "evenly", "", {"catch_up": 0.25})},
    "die_choice": {
        "round-robin": Policy("die_choice", "round-robin", "in turn", ""),
        "one-block": Policy("die_choice", "one-block", "one at a time", ""),
    },
}


_known_to_engine = policies.known


@pytest.fixture
def known_to_engine() -> Known:
    """The engine's own list; only where the native module is built."""
    known = _known_to_engine()
    assert known is not None
    return known


@pytest.fixture
def known_to_tests() -> Known:
    return POLICIES


@pytest.fixture(autouse=True)
def _a_fixed_list_of_policies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(policies, "known", lambda: POLICIES)
    yield
