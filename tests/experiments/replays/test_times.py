"""Do a trace's requests reach a drive with a clock at their recorded times?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from program import Program
from ssdlab import InputError

UNIT = 4096
GAP_US = 10_000


@pytest.fixture
def spaced(folder: Path) -> str:
    """A read of filled data every 10 ms."""
    lines = [f"{number * GAP_US} /dev/sdb read {number * UNIT} {UNIT}" for number in range(100)]
    (folder / "spaced.log").write_text("\n".join(["fio version 3 iolog", "0 /dev/sdb add", *lines, ""]))
    return "spaced.log"


def test_recorded_times_are_kept_and_scaled(spaced: str, replayed: Callable[..., Any]) -> None:
    whole, twice_as_fast = (replayed(spaced, timed=True, time_scale=scale).jobs[-1].read for scale in (1.0, 0.5))
    assert whole.seconds == pytest.approx(99 * GAP_US / 1e6, rel=0.01)
    assert twice_as_fast.seconds == pytest.approx(whole.seconds / 2, rel=0.01)
    # No request waits: each takes as long as one read.
    assert whole.latency.max_ns == whole.latency.min_ns == twice_as_fast.latency.max_ns


def test_a_closed_loop_is_as_fast_as_the_drive(spaced: str, replayed: Callable[..., Any]) -> None:
    unloaded = replayed(spaced, timed=True).jobs[-1].read.latency.min_ns
    closed = replayed(spaced, timed=True, arrival="closed", iodepth=1).jobs[-1].read
    assert closed.seconds == pytest.approx(100 * unloaded / 1e9, rel=1e-6)


def test_passes_follow_each_other_at_the_recorded_distance(
    write_trace: Callable[..., Path], replayed: Callable[..., Any]
) -> None:
    # A write every microsecond: ten passes of 100 are a thousand writes, 1 us apart.
    from ssdlab.simulator.workloads.traces.specification import DriveWrites

    write_trace("once.log", [("write", number * UNIT, UNIT) for number in range(100)])
    result = replayed("once.log", timed=True, time_scale=10_000.0, loop_until=DriveWrites(None, 1000 * UNIT))
    write = result.jobs[-1].write
    assert write.total_ios == 1000
    assert write.seconds == pytest.approx(999 * 0.01, rel=0.01)


def test_the_same_trace_gives_the_same_bytes_and_tells_when(spaced: str, replayed: Callable[..., Any]) -> None:
    first, second = (replayed(spaced, timed=True) for _ in range(2))
    assert first.to_json() == second.to_json()
    told = first.to_dict()["jobs"][-1]["ssdlab"]["specification"]["job"][0]["trace"]
    assert (told["arrival"], told["time_scale"], told["iodepth"]) == ("trace", 1.0, 256)


def test_the_command_takes_its_options_and_refuses_what_cannot_be(spaced: str, ssdlab: Program) -> None:
    done = ssdlab("replay", spaced, "--drive", "tiny.toml", "--time-scale", "2", "--iodepth", "4")
    assert done.returncode == 0, done.stderr
    for options in (
        ["--time-scale", "0"],
        ["--arrival", "open"],
        ["--untimed", "--iodepth", "4"],
        ["--arrival", "closed", "--time-scale", "2"],
    ):
        refused = ssdlab("replay", spaced, "--drive", "tiny.toml", *options)
        assert refused.returncode == 2, options
        assert options[0] in refused.stderr + InputError.__name__


@pytest.mark.parametrize(
    ("times_ms", "of_drive", "of_profile"),
    [
        ((1000, 4000, 2000, 3500), "2 requests have an earlier time than one before them, by 2 s at most", None),
        (
            (3000, 1000, 2000),
            "the first request of the trace has the latest time, so that its times do not say when",
            "2 requests have an earlier time than one before them, by 2 s at most",
        ),
        ((0, 1000, 2000), "", ""),
    ],
)
def test_times_out_of_order_are_said(
    folder: Path, ssdlab: Program, times_ms: tuple[int, ...], of_drive: str, of_profile: str | None
) -> None:
    """A regression: three requests within two seconds, the last one first, were said to have no times."""
    lines = [f"8,0 1 {place} {ms / 1000:.9f} 9 Q W {8 * place} + 8 [a]" for place, ms in enumerate(times_ms)]
    (folder / "mixed.txt").write_text("\n".join([*lines, ""]))
    run = ("--drive", "tiny.toml", "--output", "out")
    for options, said in ((run, of_drive), (("--profile",), of_drive if of_profile is None else of_profile)):
        done = ssdlab("replay", "mixed.txt", *options)
        assert done.returncode == 0, done.stderr
        printed = " ".join(f"{done.stdout} {done.stderr}".split())
        assert said in printed and bool(said) == ("earlier time" in printed or "latest time" in printed)
    untimed = ssdlab("replay", "mixed.txt", *run, "--untimed")
    assert untimed.returncode == 0 and "time than" not in untimed.stderr
