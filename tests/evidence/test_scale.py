"""Is what is said of percentiles and scale what was measured for the drive?"""

import pytest

from ssdlab.evidence import scale
from ssdlab.simulator.drives import names

TABLE: dict[str, scale.TailsJson] = {
    name: {
        "scale": "1/64",
        "larger": "1/16",
        "uniform": {"p50": 1.0, "p99": 1.1, "p99.9": high},
        "zipf": {"p50": 0.8, "p99": 1.5, "p99.9": 0.5},
    }
    for name, high in (("one", 1.25), ("two", 2.0))
}


@pytest.fixture
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measured", lambda: TABLE)


@pytest.mark.usefixtures("_measured")
def test_a_measured_drive_has_its_own_changes() -> None:
    assert scale.tails_said(["one", "one"]) == (
        "Percentiles depend on the scale. From 1/64 to 1/16 of one the 50 / 99 / 99.9 % of saturated 4 KiB writes "
        "change by +0 / +10 / +25 % if uniform, -20 / +50 / -50 % under zipf 1.1."
    )


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
    assert all(ratio > 0 for entry in table.values() for law in ("uniform", "zipf") for ratio in entry[law].values())
