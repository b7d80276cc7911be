"""The SandForce study: its jobs are the published ones, its tables are reproduced, its explanation holds on a small
drive."""

from typing import Any

import pytest

from ssdlab.evidence.estimate import Estimate
from ssdlab.experiments.studies import Context, registry
from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.spare_area_sandforce import replay, synthetic, tables
from ssdlab.experiments.studies.spare_area_sandforce.drives import (
    BAREFOOT,
    C300,
    DRIVES,
    INTEL,
    LARGE_SPARE,
    SMALL_SPARE,
)


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
    assert registry.study("spare-area-sandforce").name == "spare-area-sandforce"
    assert set(synthetic.STATES) == {"new", "dirty"}
    assert len(DRIVES) == 5


def test_random_data_of_the_synthetic_tests_does_not_repeat() -> None:
    """fio repeats its buffers if the compressible share is set to zero; a deduplicating drive would then write
    nothing."""
    for state in synthetic.STATES:
        jobs = synthetic.specify(Context(), LARGE_SPARE, state, "4k", 0).engine["jobs"]
        assert not any(job.get("dedupe_percent") for job in jobs)


def test_a_drive_mapped_by_sector_stays_level_and_one_mapped_by_page_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "SCALE", "1/64")
    context = Context(workers=1)
    aligns = ("4k", "512", synthetic.BY_SECTOR)
    results = context.simulate({align: synthetic.specify(context, INTEL, "new", align, 0) for align in aligns})
    level, slower, by_sector = (synthetic._rate(result, "random") for result in results.values())
    assert by_sector == pytest.approx(level, rel=0.02) and slower < 0.6 * level


def test_each_drive_has_its_kind_of_mapping_with_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    assert synthetic.MAPPINGS.keys() == DRIVES.keys()
    assert {drive for drive, each in synthetic.MAPPINGS.items() if each.is_by_sector} == {INTEL, BAREFOOT}
    monkeypatch.setattr(synthetic, "_rate", lambda aligned, _: {"4k": 200.0, "512": 60.0}.get(aligned, 198.0))
    found: Any = {(drive, "new", align, 0): align for drive in DRIVES for align in ("4k", "512", synthetic.BY_SECTOR)}
    rows = synthetic._mappings(found).rows
    assert [row[2] for row in rows] == ["pages", "pages", "sectors", "sectors", "pages"]
    assert {row[3] for row in rows} == {30.0} and [row[4] for row in rows] == [None, None, 99.0, 99.0, 99.0]
    assert all(row[5] for row in rows)


def test_the_workloads_of_the_c300_run_at_three_gigabits() -> None:
    drive: Any = replay.specify(Context(), C300, "new", "heavy", 1).engine["drive"]
    own: Any = replay.specify(Context(), C300, "new", "heavy", 1, is_own_link=True).engine["drive"]
    synthetics: Any = synthetic.specify(Context(), C300, "new", "4k", 0).engine["drive"]
    links = [each["host_link"]["interface"] for each in (drive, own, synthetics)]
    assert links == ["sata-3g", "sata-6g", "sata-6g"]


def test_the_reduction_is_held_against_a_later_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "SCALE", "1/64")
    context = Context(workers=1)
    keys = [(SMALL_SPARE, "new", "4k", percent) for percent in synthetic._removed_percents()]
    results = context.simulate({str(key): synthetic.specify(context, *key) for key in keys})
    random, reduced = synthetic._held_out(dict(zip(keys, results.values(), strict=True)))
    assert (random.published, reduced.published) == (1.054, 0.716)
    assert random.verdict is Verdict.MET and reduced.verdict is Verdict.MISSED


def test_only_what_idle_time_keeps_erased_makes_the_second_run_of_intel_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "SCALE", "1/64")
    context = Context(workers=1)
    with_pool, without = context.simulate(
        {
            str(choice): replay.specify(context, INTEL, "dirty", "heavy", 1, choice, first_rest_seconds=0)
            for choice in (replay.STATED, replay.WITHOUT_POOL)
        }
    ).values()
    assert replay._second_over_first(with_pool) > 110
    assert replay._second_over_first(without) == pytest.approx(100, abs=5)


def test_the_rows_of_all_drives_are_means_as_the_picture_is() -> None:
    """A regression: they were of one seed, beside a picture of means."""
    context = Context()
    seeds = list(context.seeds(replay.SEEDS["light"]))
    percent = {(LARGE_SPARE, "full", "light", seed): 50.0 + seed for seed in seeds} | {(C300, "full", "light", 1): 51.0}
    row = replay._row_of(context, percent, LARGE_SPARE, "full", "light")
    bar = replay._bar(context, percent, LARGE_SPARE, "full", "light")
    assert (row.simulated, row.spread) == (bar.value, bar.spread)
    assert row.spread is not None and row.spread[0] < (row.simulated or 0) < row.spread[1]
    alone = replay._row_of(context, percent, C300, "full", "light")
    assert (alone.simulated, alone.spread) == (51.0, None)


def test_the_finding_tells_apart_what_the_intervals_do() -> None:
    apart, alike = Estimate(3.41, 2.9, 3.9, 28, "seeds"), Estimate(0.2, -0.1, 0.5, 32, "seeds")
    assert replay._of_dirty_drives({"light": alike, "heavy": apart, "gaming": alike}) == (
        "dirty, 28 % is ahead by 3.4 points (2.9 to 3.9) under the heavy workload, "
        "and no difference is seen under the light and the gaming workload"
    )
    assert replay._of_dirty_drives({"light": alike}) == "dirty, no difference is seen under the light workload"
