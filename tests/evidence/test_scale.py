"""Is what is said of percentiles and scale what was measured for the drive?"""

from pathlib import Path

import pytest

from ssdlab.evidence import scale
from ssdlab.simulator.drives import names

PAGE = Path(__file__).parents[2] / "docs/simulate/scale.md"

TABLE: dict[str, scale.Entry] = {
    name: {
        "scale": "1/64",
        "larger": "1/16",
        "uniform": {"p50": 1.0, "p99": 1.1, "p99.9": high},
        "zipf": {"p50": 0.8, "p99": 1.5, "p99.9": 0.5},
        "mixed reads": {"p50": 1.0, "p99": 1.04, "p99.9": 0.95},
        "mixed writes": {"p50": 1.0, "p99": 3.0},
        "reads": {"p50": 1.0, "p99": 1.01, "p99.9": 0.99},
    }
    for name, high in (("one", 1.25), ("two", 2.0))
}


@pytest.fixture
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measured", lambda: TABLE)


@pytest.mark.usefixtures("_measured")
def test_a_measured_drive_has_its_own_changes() -> None:
    assert scale.tails_said(["one", "one"]) == (
        "Percentiles depend on the scale. From 1/64 to 1/16 of one median, 99 % and 99.9 % of the latency of 4 KiB "
        "requests, as many as the drive takes, change by +0 / +10 / +25 % (uniform writes), "
        "-20 / +50 / -50 % (writes under zipf 1.1)."
    )


@pytest.mark.usefixtures("_measured")
def test_reads_have_the_changes_of_reads() -> None:
    """A regression: beside the latencies of a job that only reads, the changes of writes were named."""
    assert scale.tails_said(["one"], [["read"]]).endswith("+0 / +1 / -1 % (reads alone): they hardly depend on it.")
    mixed = scale.tails_said(["one"], [["write", "read"]])
    assert "+0 / +4 / -5 % (reads beside 30 % writes), +0 / +200 / - % (writes beside 70 % reads)." in mixed
    # A regression: of a stage that writes and one that reads, the changes of reads beside writes.
    apart = scale.tails_said(["one"], [["write"], ["read"]])
    assert "(writes under zipf 1.1), +0 / +1 / -1 % (reads alone)." in apart


@pytest.mark.usefixtures("_measured")
@pytest.mark.parametrize(
    ("drive", "direction", "rank", "ratio"),
    [("one", "write", 99, 3.0), ("one", "write", 99.9, 1.25), ("one", "read", 95, 1.04), ("mine", "read", 99, None)],
)
def test_the_largest_change_of_a_percentile(drive: str, direction: scale.Direction, rank: float, ratio: float) -> None:
    assert scale.longest(drive, direction, rank) == ratio


@pytest.mark.usefixtures("_measured")
def test_another_drive_is_said_not_to_be_measured() -> None:
    assert scale.tails_said(["one", "mine"]).endswith(
        " For mine this was not measured; of 2 drives the 99th and 99.9th changed by -50 to +100 % at a scale four "
        "times larger."
    )


def test_the_shipped_table_is_of_drives_of_the_catalogue() -> None:
    """A renamed drive would lose its row without a word."""
    table = scale.measured()
    assert table.keys() <= set(names()) and "generic-tlc-480" in table
    for entry in table.values():
        assert set(entry) == {"scale", "larger", *scale.WORDS}
        ratios = [ratio for load in scale.WORDS for ratio in dict(entry[load]).values()]  # type: ignore[arg-type]
        assert all(float(ratio) >= 0 for ratio in ratios)


def test_the_page_says_what_the_table_has() -> None:
    """docs/simulate/scale.md sums the table up."""
    table = scale.measured()
    changes: dict[str, dict[tuple[str, str], float]] = {name: {} for name in table}
    for name, entry in table.items():
        for load in scale.WORDS:
            ratios = dict[str, float](entry[load])  # type: ignore[arg-type]
            changes[name] |= {(load, rank): ratio - 1 for rank, ratio in ratios.items()}
    alike = sum(all(abs(change) < 0.0995 for change in each.values()) for each in changes.values())
    reads = max(abs(each["mixed reads", "p99"]) for each in changes.values())
    longest = max(
        (change, name) for name, each in changes.items() for (_, rank), change in each.items() if rank == "p99.9"
    )
    said = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"On {alike} of the {len(table)} drives no percentile changes by 10 % or more." in said
    assert f"their 99th percentile by {reads * 100:.0f} % at most" in said
    assert f"the 99.9th percentile of {longest[1]} beside reads becomes {longest[0] + 1:.0f} times as long" in said
