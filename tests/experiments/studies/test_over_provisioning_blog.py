"""The study of the blog's drive: on a small drive the three accounts behave as its page states."""

from fractions import Fraction

import pytest

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.over_provisioning_blog import runs, weeks
from ssdlab.experiments.studies.over_provisioning_blog.runs import (
    CACHE,
    NAIVE,
    OWN_COPIES,
    PARTITIONED,
    POOL,
    RESERVE,
    SHRUNK,
    TRIMMED,
    WHOLE,
    Key,
    Runs,
)

pytest.importorskip("ssdlab._engine", reason="the native module is not built")


def test_what_the_files_leave_free() -> None:
    assert runs.free_gb(256_060_514_304) == pytest.approx(101, abs=1)
    assert runs.free_gb(runs.SHRUNK_BYTES) == pytest.approx(45, abs=1)


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
    assert found[Key(RESERVE, WHOLE)].last() < 0.5
    assert found[Key(RESERVE, PARTITIONED)].last() > 0.98
    assert found[Key(RESERVE, TRIMMED)].last() > 0.98
    # The naive account does not fall at all, the pool falls little, and the cache falls with any free space.
    assert found[Key(NAIVE, WHOLE)].fall_gb() is None
    assert found[Key(NAIVE, WHOLE)].written_gb()[-1] > 18
    assert found[Key(POOL, WHOLE)].last() > 0.85
    assert found[Key(CACHE, WHOLE)].last() < 0.6
    assert found[Key(CACHE, PARTITIONED)].last() < 0.7


def test_the_blog_s_own_copies_leave_more_and_the_shrunk_file_system_keeps_its_speed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "keys", lambda context: [Key(RESERVE, SHRUNK)])
    monkeypatch.setattr(Context, "scale", lambda self, text: Fraction(1, 48))
    found = runs.simulate(Context(workers=1))
    own, shrunk = found[Key(RESERVE, OWN_COPIES)], found[Key(RESERVE, SHRUNK)]
    assert own.left_bytes / 1e9 == pytest.approx(6.7, abs=0.3), "about 5 GB were printed"
    assert own.fall_gb() == pytest.approx(own.left_bytes / 1e9, abs=1)
    assert len(own.written_bytes) == len(shrunk.written_bytes) == runs.RUNS
    assert shrunk.last() > 0.98


def test_a_weekly_trim_keeps_the_fall_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Context, "scale", lambda self, text: Fraction(1, 48))
    monkeypatch.setattr(weeks, "FILE_SYSTEMS", {"whole drive": "100%"})
    shown = {row.what: row.simulated or 0.0 for row in weeks.run(Context(workers=1)).rows}
    written = [shown[f"whole drive, {trim}: written in the runs"] for trim in weeks.TRIMS]
    assert written[0] < 0.3 * written[1] and written[1] == pytest.approx(written[2], rel=0.05)
    assert shown["whole drive, no trim: WAF of the weeks"] > 3 > 1.1 > shown["whole drive, discard: WAF of the weeks"]
