"""Do the series and the steady state's parts follow from cumulative counters? Compared with sums computed by hand."""

from typing import Any

import pytest

from ssdlab.simulator.results import series, steady_state
from ssdlab.simulator.results.ledger import PARTS

COUNTERS: Any = {
    **{f"programmed_units_{part}": [0, 0, 0, 0] for part in PARTS},
    "host_written_bytes": [100, 200, 200, 300],
    "stage": [0, 0, 1, 1],
    "programmed_units_host": [10, 20, 20, 30],
    "programmed_units_gc": [0, 5, 6, 26],
    "free_erase_units": [9, 8, 7, 6],
    "effective_over_provisioning": [None, 0.5, 0.5, 0.25],
}


def test_windows_from_cumulative_counters() -> None:
    frame = series.frame(COUNTERS, counted_unit_bytes=10)
    assert frame["waf"].to_list() == [1.0, 1.5, None, 3.0], "no host write in a window: no ratio"
    assert frame["waf_gc"].to_list() == [0.0, 0.5, None, 2.0]
    assert frame["programmed_bytes_gc"].to_list() == [0, 50, 60, 260]
    assert frame["effective_over_provisioning"].to_list() == [None, 0.5, 0.5, 0.25]


def outcome(round_waf: list[float], *, reached: bool, host_units: int = 0, gc_units: int = 0) -> Any:
    window = {
        "host_written_bytes": host_units * 10,
        "host_read_bytes": 0,
        "host_trimmed_bytes": 0,
        "programmed_units": {**dict.fromkeys(PARTS, 0), "host": host_units, "gc": gc_units},
        "read_units": {
            "host": 0,
            "gc": gc_units,
            "wear_leveling": 0,
            "slc_fold": 0,
            "read_modify_write": 0,
            "metadata": 0,
        },
        "read_modify_write_units": 0,
        "erased_erase_units": 0,
        "trimmed_units": 0,
        "map_page_lookups": 0,
        "deduplicated_units": 0,
    }
    return {
        "capacity": {"mapping_unit_bytes": 10, "counted_unit_bytes": 10},
        "steady_state": {
            "reached": reached,
            "at_host_bytes": 300 if reached else None,
            "round_bytes": 30,
            "range_share": 0.1,
            "slope_share": 0.1,
            "round_waf": round_waf,
            "window": window,
            "timing": None,
        },
    }


def test_parts_of_the_window_add_up_to_its_waf() -> None:
    rounds = [9.0, 2.0, 2.0, 2.0, 2.0, 2.5]
    state = steady_state.steady_state(outcome(rounds, reached=True, host_units=100, gc_units=110))
    assert state is not None and state.window_waf == pytest.approx(2.1)
    assert state.window_waf_parts is not None
    assert state.window_waf_parts["gc"] == pytest.approx(1.1)
    assert sum(state.window_waf_parts.values()) == pytest.approx(2.1)


def test_not_reached_gives_no_steady_waf_but_a_last_one() -> None:
    state = steady_state.steady_state(outcome([4.0, 3.0], reached=False, host_units=10, gc_units=25))
    assert state is not None
    assert state.window_waf == 3.5
    assert state.to_dict()["waf"] is None
    assert state.to_dict()["reached"] is False


def test_not_one_round() -> None:
    state = steady_state.steady_state(outcome([], reached=False))
    assert state is not None
    assert (state.window_waf, state.window_waf_parts) == (None, None)
