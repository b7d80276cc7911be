"""Are drives with many reports drawn over time, with the rates between the reports and without their serial numbers?"""

from pathlib import Path

import polars as pl
import pytest

from program import program_in
from ssdlab.field.health import history
from ssdlab.field.health.spool import frame_of

DAY_S = 86_400


def rows(identity: str, host: list[int | None], used: list[int | None], *, model: str = "A 1TB") -> pl.LazyFrame:
    """A report a day."""
    return frame_of(
        [
            {"model": model, "identity": identity, "time_s": day * DAY_S, "host_bytes": bytes_, "used_percent": percent}
            for day, (bytes_, percent) in enumerate(zip(host, used, strict=True))
        ]
    ).lazy()


def test_rates_between_reports_and_the_wear() -> None:
    gb = 10**9
    host = [0, 10 * gb, 30 * gb, 30 * gb, 60 * gb, 70 * gb]
    readings = [(float(day), each, None) for day, each in enumerate(host)]
    assert history._rates([*readings]) == [(0.5, 10.0), (1.5, 20.0), (2.5, 0.0), (3.5, 30.0), (4.5, 10.0)]
    written, used = history.figures(history.timed(rows("SN1", [*host], [3, 3, 4, 4, 5, 6])))
    assert (written.name, used.name) == ("written-over-time", "used-over-time")
    assert written.title == "A 1TB wrote 0\u00a0GB to 30.0\u00a0GB a day"
    assert used.title.replace("\N{NO-BREAK SPACE}", " ") == "A 1TB used 3 % of its rated life in 5.00 days"


def test_a_counter_that_begins_anew_is_no_rate() -> None:
    readings: history.Readings = [
        (0.0, 100, None),
        (1.0, 200, None),
        (2.0, 50, None),
        (3.0, 150, None),
        (4.0, 250, None),
    ]
    assert [day for day, _ in history._rates(readings)] == [0.5, 2.5, 3.5]


@pytest.mark.parametrize(
    ("used", "said"),
    [
        ([12, 13, 15, 0, 1, 3], "A 1TB used 3 % of its rated life in 2.00 days"),
        ([12, 13, 15, 16, 18, 0], "A 1TB: the used share of its rated life fell to 0 %"),
    ],
)
def test_a_percentage_that_begins_anew_is_no_negative_wear(used: list[int | None], said: str) -> None:
    """A regression: "used -12 % of its rated life in 182 days"."""
    (figure,) = history.figures(history.timed(rows("SN1", [None] * 6, used)))
    assert figure.title.replace("\N{NO-BREAK SPACE}", " ") == said


def test_many_reports_are_drawn_as_few_points() -> None:
    readings: history.Readings = [(minute / 1440, minute * 10**6, minute // 1000) for minute in range(10_000)]
    rates = history._rates(readings)
    assert 60 < len(rates) <= 121
    assert [rate for _, rate in rates] == pytest.approx([1.44] * len(rates))
    used = history._used(readings)
    assert len(used) < 130 and used[-1] == (9999 / 1440, 9.0)


def test_few_reports_are_no_history_and_serial_numbers_are_not_shown() -> None:
    four: list[int | None] = [1, 2, 3, 4]
    assert history.figures(history.timed(rows("SN1", four, four))) == []
    five: list[int | None] = [0, 10**9, 2 * 10**9, 3 * 10**9, 4 * 10**9]
    unchanged: list[int | None] = [7] * 5
    both = pl.concat([rows("SN1", five, unchanged), rows("SN2", five, unchanged), rows("SN3", [None] * 5, unchanged)])
    (written,) = history.figures(history.timed(both))
    text = str(written.specification())
    assert "A 1TB (2)" in text and "SN1" not in text
    assert written.title == "2 drives wrote 1.00\u00a0GB a day"
    assert "1 of 3 drives do not report the writes" in written.caption


def test_a_log_of_smartd_is_drawn(tmp_path: Path) -> None:
    log = "".join(
        f"2024-01-{day:02} 00:00:12;\t9;95;{20000 + 24 * day};\t177;{90 - day};1;\t241;99;{2 * 10**9 + day * 10**8};\n"
        for day in range(1, 9)
    )
    (tmp_path / "attrlog.Samsung_SSD_860_EVO_1TB-SN00001.ata.csv").write_text(log)
    done = program_in(tmp_path)("health", "attrlog.Samsung_SSD_860_EVO_1TB-SN00001.ata.csv", "--output", "out")
    page = (tmp_path / "out/report.html").read_text()
    assert 'data-figure="written-over-time"' in page and 'data-figure="used-over-time"' in page, done.stderr
    assert "Samsung SSD 860 EVO 1TB wrote 51.2\u00a0GB a day" in page
