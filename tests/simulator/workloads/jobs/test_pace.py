"""Does the engine's job have the times at which fio would send its requests?"""

from fractions import Fraction
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import parse

GIB = 1 << 30


def one(options: str, seed: int = 1) -> Any:
    return parse(f"[a]\nrw=randrw\n{options}\n", "x.fio").resolve(GIB, seed=seed)[-1]


PACES = {
    "thinktime=250": {"think_time_ns": 250_000, "think_time_blocks": 1},
    "thinktime=2ms\nthinktime_blocks=4\nthinktime_spin=5": {
        "think_time_ns": 2_000_000,
        "think_time_blocks": 4,
        "think_time_spin_ns": 5000,
    },
    # fio spins no longer than it pauses.
    "thinktime=5\nthinktime_spin=10": {"think_time_ns": 5000, "think_time_blocks": 1, "think_time_spin_ns": 5000},
    "thinktime=1ms\nthinktime_blocks=8\nthinktime_blocks_type=issue": {
        "think_time_ns": 1_000_000,
        "think_time_blocks": 8,
        "think_time_counts_issued": True,
    },
    # Without a number of requests only the time of work counts, as observed in fio 3.33.
    "thinktime=1ms\nthinktime_iotime=2": {
        "think_time_ns": 1_000_000,
        "think_time_blocks": 2**32 - 1,
        "think_time_after_ns": 2 * 10**9,
    },
    "thinktime=1\nrate_iops=5\nrate_ignore_thinktime=1": {
        "think_time_ns": 1000,
        "think_time_blocks": 1,
        "rate_iops": {"read": 5, "write": 5, "trim": 5},
        "rate_leaves_think_time": True,
    },
    "iodepth_low=1": {},
    "rate=1m,": {"rate_bytes_per_second": {"read": 1 << 20, "write": None, "trim": None}},
    "rate=,2m": {"rate_bytes_per_second": {"read": None, "write": 2 << 20, "trim": 2 << 20}},
    "rate=1m\nkb_base=1000": {"rate_bytes_per_second": {"read": 10**6, "write": 10**6, "trim": 10**6}},
    "rate_iops=500,,3\nrate_process=poisson": {
        "rate_iops": {"read": 500, "write": None, "trim": 3},
        "rate_process": "poisson",
    },
    "rate=0\nrate_process=poisson\nthinktime=0\nthinktime_blocks=9\nramp_time=0\nsync=none\nfsync=0": {},
    "startdelay=5\nramp_time=10": {"start_delay_ns": 5 * 10**9, "ramp_ns": 10**10},
    "fsync=32": {"flush_every_writes": 32},
    "fdatasync=1": {"flush_every_writes": 1},
    "sync=1": {"sync_writes": True},
    "sync=dsync": {"sync_writes": True},
    "end_fsync=1": {"flush_at_end": True},
    "fsync_on_close=1": {"flush_at_end": True},
    "end_fsync=0\nfsync_on_close=0": {},
}


@pytest.mark.parametrize("options", PACES)
def test_the_keys_that_are_not_off(options: str) -> None:
    plain, paced = one(""), one(options)
    assert {key: value for key, value in paced.items() if key not in plain} == PACES[options]
    assert {key: paced[key] for key in plain} == plain, "nothing else changes"


def test_a_delay_within_a_range_is_drawn_for_each_clone_from_the_seed() -> None:
    job_file = parse("[a]\nnumjobs=50\nstartdelay=5-10\n")
    delays = [[job.get("start_delay_ns", 0) for job in job_file.resolve(GIB, seed=seed)] for seed in (1, 1, 2)]
    assert delays[0] == delays[1] != delays[2]
    assert 5e9 <= min(delays[0]) < 6e9 and 9e9 < max(delays[0]) <= 10e9


def test_times_are_scaled_with_the_drive() -> None:
    """A regression: a job of five hours on a drive of 1/128 took five hours of the small drive's time."""
    text = "[a]\nruntime=5h\ntime_based\nramp_time=64\nstartdelay=32s\nthinktime=128ms\nrate=1m\n"
    whole: Any
    small: Any
    (whole,) = parse(text).resolve(GIB, seed=1)
    (small,) = parse(text).resolve(GIB, seed=1, scale=Fraction(1, 128))
    times = {key for key in whole if whole[key] != small[key]}
    assert times == {"runtime_ns", "ramp_ns", "start_delay_ns"}
    assert {key: small[key] * 128 for key in times} == {key: whole[key] for key in times}
    assert (small["runtime_ns"], small["ramp_ns"]) == (140_625_000_000, 500_000_000)


def test_waiting_for_a_job_that_does_not_stand_before() -> None:
    text = "[a]\nrw=write\n[b]\nwait_for=a\n"
    assert [job.get("wait_for") for job in parse(text).resolve(GIB, seed=1)] == [None, "a"]
    with pytest.raises(InputError, match=r"line 4: wait_for=b names no job that stands before this one .* stand a$"):
        parse("[a]\nrw=write\n[b]\nwait_for=b\n").resolve(GIB, seed=1)
    with pytest.raises(InputError, match=r"line 2: wait_for=c names no job that stands before this one in the file$"):
        parse("[a]\nwait_for=c\n").resolve(GIB, seed=1)


@pytest.mark.parametrize(
    ("rw", "flushes"), [("randread", False), ("trim", False), ("randrw", True), ("trimwrite", True)]
)
def test_only_a_job_that_writes_ends_with_a_flush(rw: str, flushes: bool) -> None:
    """As in fio, whose backend.c asks `td_write` before it syncs a job's files at its end."""
    (job,) = parse(f"[a]\nrw={rw}\nend_fsync=1\n").resolve(GIB, seed=1)
    assert job.get("flush_at_end", False) is flushes


def test_two_kinds_of_flush_are_one_to_a_drive() -> None:
    assert one("fsync=2\nfdatasync=2")["flush_every_writes"] == 2
    with pytest.raises(InputError, match="line 4: fdatasync=3 cannot be combined with fsync=2"):
        one("fsync=2\nfdatasync=3")


def test_a_note_says_what_takes_a_clock_and_only_where_something_is_asked_for() -> None:
    """Regression: a run with a clock, such as those of an advice on tenants, printed it too."""
    assert parse("[a]\ndirect=1\nrate=0\nthinktime=0\n").notes(timed=False) == ()
    file = parse("[a]\nrate=1m\nthinktime=5\ndirect=1\nruntime=3\nmax_latency=3s\n")
    assert file.notes(timed=True) == ()
    note, *_ = file.notes(timed=False)
    assert note.startswith("acts with a clock only") and "rate (line 2), thinktime (line 3)" in note


@pytest.mark.parametrize(
    ("options", "refill_at"),
    [
        ("iodepth_low=3", 3),
        ("iodepth_low=9", None),
        ("iodepth_batch_complete_min=4", 4),
        ("iodepth_batch_complete=8\niodepth_low=3", 0),
        ("iodepth_low=2\niodepth_batch_complete_min=4", 2),
        ("iodepth_batch_complete_min=0", None),
    ],
)
def test_when_a_full_queue_is_filled_up(options: str, refill_at: int | None) -> None:
    assert one(f"iodepth=8\n{options}").get("refill_at") == refill_at


def test_the_first_that_ends_ends_others_whichever_job_says_so() -> None:
    def ends(first: str, second: str) -> list[str | None]:
        jobs = parse(f"[a]\n{first}\n[b]\n{second}\n").resolve(GIB, seed=1)
        return [job.get("ends_others") for job in jobs]

    assert ends("rw=read", "rw=write") == ends("rw=read\nexit_what=all", "rw=write") == [None, None]
    assert ends("rw=read", "exitall") == ends("exitall", "exit_what=stonewall") == ["stage", "stage"]
    assert ends("exitall\nexit_what=all", "rw=write") == ["all", "stage"]


def test_a_write_with_fua_is_a_synchronous_one() -> None:
    assert one("ioengine=io_uring_cmd\nwritefua=1")["sync_writes"]
    assert "sync_writes" not in one("writefua=0")
