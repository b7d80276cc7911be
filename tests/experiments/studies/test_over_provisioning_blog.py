"""The study of the blog's drive: on a small drive the three accounts behave as its page states."""

from fractions import Fraction

import pytest

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.over_provisioning_blog import runs
from ssdlab.experiments.studies.over_provisioning_blog.runs import (
    CACHE,
    NAIVE,
    PARTITIONED,
    POOL,
    RESERVE,
    TRIMMED,
    WHOLE,
    Key,
    Runs,
)

pytest.importorskip("ssdlab._engine", reason="the native module is not built")


def test_a_fall_is_the_first_run_that_is_much_slower() -> None:
    steady = Runs([5e9, 5e9, 5e9, 4e9, 5e9])
    assert steady.fall_gb() is None
    assert steady.first() == pytest.approx(500.0)
    assert Runs([5e9, 5e9, 5e9, 4e9, 2e9, 5e9]).fall_gb() == pytest.approx(19.0)
    assert steady.written_gb()[-1] == pytest.approx(24.0)


def test_the_accounts_part_at_five_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [Key(account, WHOLE) for account in (NAIVE, RESERVE, POOL, CACHE)]
    wanted += [Key(account, PARTITIONED) for account in (RESERVE, CACHE)] + [Key(RESERVE, TRIMMED)]
    monkeypatch.setattr(runs, "keys", lambda context: wanted)
    monkeypatch.setattr(Context, "scale", lambda self, text: Fraction(1, 48))
    found = runs.simulate(Context(workers=2))
    assert 4 < (found[Key(RESERVE, WHOLE)].fall_gb() or 0) < 6
    assert found[Key(RESERVE, WHOLE)].last() < 0.45
    assert found[Key(RESERVE, PARTITIONED)].last() > 0.98
    assert found[Key(RESERVE, TRIMMED)].last() > 0.98
    # The naive account does not fall within 20 GB, the pool falls little, and the cache falls with any free space.
    assert found[Key(NAIVE, WHOLE)].fall_gb() is None
    assert found[Key(NAIVE, WHOLE)].written_gb()[-1] > 20
    assert found[Key(POOL, WHOLE)].last() > 0.85
    assert found[Key(CACHE, WHOLE)].last() < 0.6
    assert found[Key(CACHE, PARTITIONED)].last() < 0.6
