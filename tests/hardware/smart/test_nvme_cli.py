"""nvme-cli's logs, in the forms of its versions: one drive or several in one file, as text and JSON."""

import json
import re
from typing import Any

import pytest

from ssdlab.field.health.drive import row_of
from ssdlab.hardware.smart import formats, reading


def rows(text: str) -> list[dict[str, Any]]:
    return [row_of(reading.parse(report, "x"), "x") for report in formats.recognised(text.encode(), "x")]


def smart_log(device: str, written: str = "2,000,000 (1.02 TB)", temperature: str = "38 °C (311 K)") -> str:
    """A health log as nvme-cli 2.x prints it."""
    return f"""Smart Log for NVME device:{device} namespace-id:ffffffff
critical_warning\t\t\t: 0x4
temperature\t\t\t\t: {temperature}
available_spare\t\t\t\t: 97%
available_spare_threshold\t\t: 10%
percentage_used\t\t\t\t: 9%
endurance group critical warning summary: 0
Data Units Read\t\t\t\t: 70810925 (36.26 TB)
Data Units Written\t\t\t: {written}
host_read_commands\t\t\t: 455052962
power_on_hours\t\t\t\t: 39603
media_errors\t\t\t\t: 1
"""


OCP = """SMART Cloud Attributes :-
  Physical media units written -\t\t2048000000000
  Physical media units read    -\t\t5
"""
WDC = "SMART Cloud Attributes :-\n  Physical media units written -   \t        1 5\n"
MICRON = "Physical Media Units Written             : 0xd848690000\n"
SK_HYNIX = "SMART Cloud Attributes:\n  Physical media units written:           2048000000000\n"
GROUP = """Endurance Group Log for NVME device:nvme0 Group ID:1
critical_warning : 0
avl_spare : 97
avl_spare_threshold : 5
percent_used : 12%
data_units_written : 1,000
media_units_written : 2,500
"""


@pytest.mark.parametrize(
    ("said", "celsius"),
    [
        ("38 °C (311 K)", 38),
        ("100 °F (311 K)", 38),
        ("-18 C (255 Kelvin)", -18),
        ("38 C", 38),
        ("-5 C", -5),
        ("38°C", 38),
        ("101 °F", 38),
    ],
)
def test_a_temperature_in_any_countrys_unit(said: str, celsius: int) -> None:
    (row,) = rows(smart_log("nvme0", temperature=said))
    assert row["temperature_c"] == celsius


def test_a_health_log_with_ocps() -> None:
    (row,) = rows(smart_log("nvme0") + OCP)
    assert (row["waf"], row["used_percent"], row["spare_percent"], row["critical_warning"]) == (2.0, 9, 97, 4)
    assert (row["power_on_hours"], row["media_errors"]) == (39603, 1)


@pytest.mark.parametrize(
    ("log", "written"),
    [(OCP, 2048 * 10**9), (SK_HYNIX, 2048 * 10**9), (MICRON, 0xD848690000), (WDC, None)],
)
def test_an_ocp_log_alone_has_no_host_writes(log: str, written: int | None) -> None:
    (row,) = rows(log)
    assert row["nand_bytes"] == written and row["waf"] is None
    assert "health log was not given in the same file" in row["waf_reason"]


def test_logs_of_several_drives_in_a_file() -> None:
    """A regression: two consecutive health logs as JSON became one drive with the second's figures."""
    health = [{"critical_warning": 0, "avail_spare": 99, "percent_used": n, "data_units_written": n} for n in (1, 2, 3)]
    assert [row["used_percent"] for row in rows("\n".join(json.dumps(log) for log in health))] == [1, 2, 3]
    by_device = json.dumps({f"nvme{number}": log for number, log in enumerate(health)})
    assert [row["used_percent"] for row in rows(by_device)] == [1, 2, 3]
    text = smart_log("nvme0") + OCP + smart_log("nvme1") + smart_log("nvme2n1") + OCP
    assert [row["waf"] for row in rows(text)] == [2.0, None, 2.0]
    assert [row["waf"] for row in rows(smart_log("nvme1") + GROUP)] == [None, 2.5], "another controller's group"


def test_smartctls_report_followed_by_ocps_log() -> None:
    smartctl = {
        "smartctl": {"version": [7, 4]},
        "device": {"name": "/dev/nvme0", "protocol": "NVMe"},
        "model_name": "X",
        "nvme_smart_health_information_log": {"data_units_written": 2_000_000, "percentage_used": 9},
    }
    ocp = {"Physical media units written": {"hi": 0, "lo": 2048 * 10**9}}
    (row,) = rows(json.dumps(smartctl) + json.dumps(ocp))
    assert (row["model"], row["waf"]) == ("X", 2.0)
    disk = {"smartctl": {}, "model_name": "D", "device": {"protocol": "ATA"}, "ata_smart_attributes": {"table": []}}
    assert [row["model"] for row in rows(json.dumps(disk) + json.dumps(ocp))] == ["D", ""]


def test_a_verbose_health_log() -> None:
    log = {"critical_warning": {"value": 8, "ro": 1}, "avail_spare": 9, "percent_used": 100, "data_units_written": "7"}
    (row,) = rows(json.dumps(log))
    assert (row["critical_warning"], row["used_percent"], row["level"]) == (8, 100, "failing")


def test_an_endurance_groups_log_counts_gigabytes() -> None:
    """A regression: it has the health log's key `data_units_written`, in another unit, and was taken for a health
    log."""
    log = {"percent_used": 12, "avl_spare": 97, "avl_spare_threshold": 5, "data_units_written": 1000}
    for text in (GROUP, json.dumps(log | {"media_units_written": 2500})):
        (row,) = rows(text)
        assert (row["host_bytes"], row["nand_bytes"], row["waf"]) == (10**12, 25 * 10**11, 2.5)
        assert (row["used_percent"], row["spare_percent"], row["spare_threshold_percent"]) == (12, 97, 5)
    (row,) = rows(smart_log("nvme0n1") + GROUP)
    assert (row["waf"], row["used_percent"]) == (2.5, 9)


def test_a_log_of_nothing_but_zeroes_is_no_failing_drive() -> None:
    """A regression: a cloud's volume, whose log is empty, was failing: "Its spare blocks are at or below their limit: 0
    % are left, the limit is 0 %". An empty log of a drive that did not answer was the same."""
    empty = re.sub(r"(?<=: )(?!/)[^\n]+", "0", smart_log("nvme0n1").partition("\n")[2])
    for text in (empty, empty.replace("temperature\t\t\t\t: 0", "temperature\t\t\t\t: -273 °C (0 K)")):
        (row,) = rows(text)
        assert (row["level"], row["used_percent"], row["spare_percent"], row["host_bytes"]) == (
            *("unknown", None, None),
            None,
        )
        assert "Every value of its health log is 0" in row["concern"]
    (new,) = rows(empty.replace("available_spare\t\t\t\t: 0", "available_spare\t\t\t\t: 100%"))
    assert (new["level"], new["used_percent"], new["remark"]) == ("fine", 0, None)


@pytest.mark.parametrize("written", ["23889120", "23,889,120", "23.889.120", "23\u202f889\u202f120"])
def test_counters_that_json_has_as_text(written: str) -> None:
    """A regression: a counter with thousands separators was left out without a word."""
    log = {"avail_spare": "100", "percent_used": "3", "data_units_written": written, "power_on_hours": "8,760"}
    (row,) = rows(json.dumps(log))
    assert (row["host_bytes"], row["power_on_hours"], row["used_percent"]) == (23_889_120 * 512_000, 8760, 3)


@pytest.mark.parametrize(
    ("spare", "threshold", "level"),
    [
        (98, 99, "failing"),
        (99, 99, "attention"),
        (100, 99, "note"),
        (0, 0, "attention"),
        (100, 100, "note"),
        (9, 10, "failing"),
    ],
)
def test_spare_blocks_at_the_threshold_are_not_below_it(spare: int, threshold: int, level: str) -> None:
    """A regression: of drives that warn below 99 %, those at 99 % were failing, without a warning of their own."""
    log = {
        "avail_spare": spare,
        "spare_thresh": threshold,
        "percent_used": 3,
        "data_units_written": 5,
        "temperature": 400,
    }
    (row,) = rows(json.dumps(log))
    assert row["level"] == level
