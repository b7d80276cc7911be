"""The series of seconds from logs in fio's format; tests with the real fio are elsewhere."""

import pytest

from ssdlab.hardware.device import health, series
from ssdlab.hardware.device.measured import MeasuredStage

Lines = list[tuple[int, int, int]]
READ, WRITE = 0, 1


def stage(**logs: Lines) -> MeasuredStage:
    """A stage of three seconds; `bw_1` is the log `bw.1`."""
    nothing = health.between(health.ReadOut(None, "no drive"), health.ReadOut(None, "no drive"))
    return MeasuredStage(
        "a", [], None, 3.0, nothing, logs={name.replace("_", "."): lines for name, lines in logs.items()}
    )


def test_jobs_side_by_side_are_added_up_and_stages_follow_each_other() -> None:
    first = stage(
        bw_1=[(1000, 500, WRITE), (2001, 700, WRITE)],
        bw_2=[(999, 100, READ), (1000, 300, WRITE)],
        lat_1=[(1000, 80, WRITE), (2001, 90, WRITE)],
        lat_2=[(1000, 120, WRITE)],
    )
    frame = series.frame([first, stage(bw_1=[(1000, 50, WRITE)])])
    assert frame is not None
    assert frame["seconds"].to_list() == [1.0, 2.0, 4.0]
    assert frame["stage"].to_list() == [0, 0, 1]
    assert frame["write_mb_s"].to_list() == pytest.approx([800 * 1.024e-3, 700 * 1.024e-3, 50 * 1.024e-3])
    assert frame["read_mb_s"].to_list() == pytest.approx([100 * 1.024e-3, 0, 0])
    assert frame["write_latency_ns_mean"].to_list() == [100, 90, None]


def test_a_job_that_logs_twice_in_a_second_is_not_twice_as_fast() -> None:
    frame = series.frame([stage(bw_1=[(1000, 400, WRITE), (1600, 380, WRITE), (2400, 420, WRITE)])])
    assert frame is not None
    assert frame["seconds"].to_list() == [1.0, 2.0]
    assert frame["write_mb_s"].to_list() == pytest.approx([400 * 1.024e-3, 400 * 1.024e-3])


def test_without_logs_there_is_no_series() -> None:
    assert series.frame([stage()]) is None
