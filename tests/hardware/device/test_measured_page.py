"""Does the page of a measurement say only what its readings carry?"""

import polars as pl
import pytest

from ssdlab.evidence.estimate import of_one_run
from ssdlab.hardware.device import page
from ssdlab.hardware.device.measured import Measured, direction_of


class Read:
    """Two seconds of reads, as a measurement has them."""

    timing_series = pl.DataFrame({"seconds": [1.0, 2.0, 3.0], "read_mb_s": [310.0, 500.0, 375.0], "write_mb_s": 0.0})


def test_the_bandwidth_is_a_range_of_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: "At the end: 375 MB/s" was the reading of one second."""
    titles: list[str] = []
    monkeypatch.setattr(page, "published_lines", lambda **given: titles.append(given["title"]))
    found: Measured = Read()  # type: ignore[assignment]
    page.over_time(found)
    assert titles == ["Reads at 310 to 500 MB/s"]


def test_laying_out_is_no_job_of_the_user() -> None:
    assert page.lays_out("lay out") and page.lays_out("lay out2")
    assert not page.lays_out("lay out the table") and not page.lays_out("read")


def test_jobs_of_different_depth_are_not_compared_and_have_the_digits_of_their_requests() -> None:
    """A regression: "database is 30 times as fast as log", of depth 32 against depth 1, each measured once for a tenth
    of a second."""
    rates = [("database", of_one_run(13_885.2, 16_384)), ("log", of_one_run(4_939.4, 163))]
    assert page.headline("db.fio", rates) == (
        "Requests per second: 13,900 with database and 4,900 \N{PLUS-MINUS SIGN}800 with log"
    )


def test_jobs_of_a_moment_are_no_finding() -> None:
    """A regression: "5,800 \N{PLUS-MINUS SIGN}500 with fill" of 0.1 s, which 2,500 followed."""
    assert page.headline("db.fio", [], are_short=True) == "db.fio: each job took less than 5 s"
    assert page.headline("db.fio", []) == "db.fio: nothing was measured"
    assert page.headline("db.fio", [("log", of_one_run(100.0, 163))], are_short=True).startswith("Requests per second")


def test_a_percentile_is_not_below_the_minimum() -> None:
    """A regression: fio has bins of the time from submission to completion, and the minimum was that of the whole
    latency: 67 us, beside a first percentile of 48 us."""
    whole = {"min": 67_000, "max": 900_000, "mean": 300_000.0, "stddev": 9.0, "N": 300}
    bins = {"48000": 100, "70000": 100, "880000": 100}
    raw = {"total_ios": 300, "io_bytes": 4096, "runtime": 10, "lat_ns": whole}
    raw["clat_ns"] = whole | {"min": 42_000, "max": 890_000, "bins": bins}
    latency = direction_of(raw).latency
    assert latency is not None and latency.min_ns == 42_000
    first, last = latency.percentiles_ns([1.0, 90.0])
    assert first is not None and last is not None
    assert 42_000 <= first <= last <= (latency.max_ns or 0)
