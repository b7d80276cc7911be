"""Does the page of a measurement say only what its readings carry?"""

import polars as pl
import pytest

from ssdlab.hardware.device import page
from ssdlab.hardware.device.measured import Measured


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
