"""The SandForce study: its jobs are the published ones, its tables are reproduced, its explanation holds on a small
drive."""

from typing import Any

import pytest

from ssdlab.experiments.studies import Context, registry
from ssdlab.experiments.studies.spare_area_sandforce import replay, synthetic, tables
from ssdlab.experiments.studies.spare_area_sandforce.drives import DRIVES, LARGE_SPARE, SMALL_SPARE


def test_every_printed_digit_of_both_tables_but_one_cut_off() -> None:
    rows = tables.run(Context()).rows
    assert len(rows) == 8 + 10 + 1
    wrong = [row.what for row in rows if row.simulated != row.published and row.tolerance == 0.0]
    assert wrong == []
    (cut_off,) = (row for row in rows if row.note)
    assert (cut_off.published, cut_off.simulated) == (2.882, 2.883)


@pytest.mark.parametrize("workload", replay.WORKLOADS)
def test_the_job_is_the_published_workload(workload: str) -> None:
    told = replay.WORKLOADS[workload]
    context = Context(full=True)
    job: Any = replay.specify(context, LARGE_SPARE, "new", workload, 1).engine["jobs"][-1]
    assert job["number_ios"] == told.reads + told.writes
    assert job["read_percent"] == pytest.approx(100 * told.reads / (told.reads + told.writes), abs=0.5)
    pauses = (told.reads + told.writes) / job["think_time_blocks"]
    assert pauses * job["think_time_ns"] / 1e9 == pytest.approx(told.seconds, rel=0.001)


def test_pauses_bursts_and_pool_shrink_together() -> None:
    def burst_per_pool(context: Context) -> tuple[float, float]:
        engine: Any = replay.specify(context, SMALL_SPARE, "new", "heavy", 1).engine
        job, pool = engine["jobs"][-1], engine["drive"]["background"]["erased_pool_bytes"]
        return job["think_time_blocks"] / pool, job["think_time_ns"] / pool

    assert burst_per_pool(Context()) == pytest.approx(burst_per_pool(Context(full=True)), rel=0.01)


def test_without_an_erased_pool_the_smaller_spare_area_loses_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "SCALE", "1/64")
    context = Context(workers=1)
    results = context.simulate(
        {
            drive: replay.specify(context, drive, "dirty", "heavy", 1, replay.WITHOUT_POOL)
            for drive in (LARGE_SPARE, SMALL_SPARE)
        }
    )
    speeds = {drive: replay.speed(replay.job_of(result, "replay")) for drive, result in results.items()}
    assert speeds[LARGE_SPARE] > 1.15 * speeds[SMALL_SPARE]


def test_the_synthetic_files_and_the_study_are_there() -> None:
    assert registry.study("spare-area-sandforce").run
    assert set(synthetic.STATES) == {"new", "dirty"}
    assert len(DRIVES) == 5


def test_random_data_of_the_synthetic_tests_does_not_repeat() -> None:
    """fio repeats its buffers if the compressible share is set to zero; a deduplicating drive would then write
    nothing."""
    for state in synthetic.STATES:
        jobs = synthetic.specify(Context(), LARGE_SPARE, state, "4k", 0).engine["jobs"]
        assert not any(job.get("dedupe_percent") for job in jobs)
