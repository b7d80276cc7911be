"""The rows of `--interval`: do they add up to the run, and are they those of the full drive?"""

import pytest

import ssdlab
from in_process import call
from ssdlab.errors import InputError
from ssdlab.foundation.quantities import parse_duration_ns
from ssdlab.simulator.results import Result
from ssdlab.simulator.results.text import normal
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse

JOB = "[a]\nrw=randwrite\nbs=16k\nnorandommap\ntime_based\nruntime=80\nrate=4m\n"


def run(scale: str | None, interval: str | None) -> Result:
    drive = ssdlab.drive("textbook", op="28%", scale=scale)
    interval_ns = parse_duration_ns(interval) if interval else None
    return simulated.run(specifying.specify(parse(JOB), drive, interval_ns=interval_ns))


def test_rows_add_up_and_are_those_of_the_full_drive() -> None:
    """A regression: beside the time of the full drive stood the bytes of the scaled one, 1.7 GB in 30 s at 3.5 GB/s."""
    result = run("1/4", "30s")
    rows = result.to_dict()["ssdlab"].get("intervals", [])
    assert [row["end_minutes"] for row in rows] == pytest.approx([0.5, 1.0, 80 / 60], abs=0.02)
    assert sum(row["host_written_bytes"] for row in rows) == 4 * result.ledger.host_written_bytes
    programmed = sum(row["host_written_bytes"] * (row["waf"] or 0) for row in rows)
    assert programmed == pytest.approx(4 * result.ledger.programmed_bytes)
    # 4 MiB/s for half a minute: the scaled drive is as fast as the full one.
    assert rows[0]["host_written_bytes"] == 4 * 2**20 * 30
    assert f"{rows[1]['waf']:.4f}" in normal(result)


def test_each_request_is_in_the_interval_in_which_the_drive_executed_it() -> None:
    """A regression: 100 requests a second were 164, 164 and 0 in turn in intervals of a second."""
    rows = run("1/4", "2s").intervals
    assert rows is not None
    assert {row.host_written_bytes for row in rows} == {2 * 4 * 2**20}


def test_without_the_option_nothing_is_said() -> None:
    result = run("1/4", None)
    assert "intervals" not in result.to_dict()["ssdlab"] and "Intervals" not in normal(result)
    assert result.intervals is None


def test_what_the_option_refuses() -> None:
    with pytest.raises(InputError, match="--interval needs the clock"):
        call("run", *["none.fio", "--drive", "tiny", "--interval", "1min", "--untimed"])
    with pytest.raises(InputError, match="--interval: '10'"):
        call("run", *["none.fio", "--drive", "tiny", "--interval", "10"])


@pytest.mark.parametrize(("text", "seconds"), [("10min", 600), ("1.5h", 5400), ("250ms", 0.25), ("30s", 30)])
def test_times_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration_ns(text) == seconds * 10**9


@pytest.mark.parametrize("text", ["10", "10m", "0s", "-1s", "min", "1 day", "10001h"])
def test_times_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="10min"):
        parse_duration_ns(text)
