"""smartctl's JSON in its other spellings: `--json=g`, `--json=y`, `--json=c`."""

import json
from typing import Any

import pytest

from pasted import case, rows

REPORT: dict[str, Any] = {
    "json_format_version": [1, 0],
    "smartctl": {"version": [7, 4], "argv": ["smartctl", "-a", "--json=y", "/dev/sda"], "exit_status": 0},
    "device": {"name": "/dev/sda", "protocol": "ATA"},
    "model_family": "Crucial/Micron Client SSDs",
    "model_name": "CT500MX500SSD1",
    "serial_number": "SN: '1'",
    "user_capacity": {"bytes": 500107862016},
    "rotation_rate": 0,
    "trim": {"supported": True, "deterministic": False},
    "smart_status": {"passed": True},
    "ata_smart_attributes": {
        "revision": 16,
        "table": [
            {"id": 202, "name": "Percent_Lifetime_Remain", "value": 81, "raw": {"value": 19, "string": "19"}},
            {"id": 247, "name": "Host_Program_Page_Count", "value": 100, "raw": {"value": 100, "string": "100"}},
            {"id": 248, "name": "FTL_Program_Page_Count", "value": 100, "raw": {"value": 50, "string": "50"}},
        ],
    },
    "power_on_time": {"hours": 21000},
}


def gron(value: Any, path: str = "json") -> str:
    if isinstance(value, dict):
        return f"{path} = {{}};\n" + "".join(gron(entry, f"{path}.{key}") for key, entry in value.items())
    if isinstance(value, list):
        return f"{path} = [];\n" + "".join(gron(entry, f"{path}[{at}]") for at, entry in enumerate(value))
    return f"{path} = {json.dumps(value)};\n"


def yaml(value: Any, depth: int = 0, *, compact: bool = False) -> str:
    """As smartctl prints it; with `compact` the first key of a list's entry stands behind the dash."""
    space = "  " * depth
    if isinstance(value, dict):
        return "".join(
            f"{space}{key}:\n{yaml(entry, depth + 1, compact=compact)}"
            if isinstance(entry, dict | list)
            else f"{space}{key}: {plain(entry)}\n"
            for key, entry in value.items()
        )
    lines = ""
    for entry in value:
        if not isinstance(entry, dict):
            lines += f"{space}- {plain(entry)}\n"
        elif compact:
            lines += f"{space}- {yaml(entry, depth + 1, compact=True).lstrip()}"
        else:
            lines += f"{space}-\n{yaml(entry, depth + 1)}"
    return lines


def plain(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value)


SPELLINGS = {
    "g": gron(REPORT),
    "y": "---\n" + yaml(REPORT),
    "y, compact": "---\n" + yaml(REPORT, compact=True),
    "c": json.dumps(REPORT, separators=(",", ":")),
    "two of g": gron(REPORT) * 2,
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_other_spellings_say_the_same(name: str) -> None:
    (expected,) = rows(json.dumps(REPORT, indent=2))
    assert expected["waf"] == 1.5 and expected["used_percent"] == 19
    found = rows(SPELLINGS[name])
    assert found == [expected] * len(found) and len(found) == (2 if name == "two of g" else 1)


def test_a_report_of_an_nvme_drive() -> None:
    (row,) = rows(case("s25"))
    assert (row["model"], row["used_percent"], row["power_on_hours"]) == ("WD_BLACK SN770 500GB", 4, 669)
    assert row["host_bytes"] == 3820044 * 512_000


def test_lines_of_gron_that_were_filtered_by_grep() -> None:
    (row,) = rows(
        "".join(line + "\n" for line in gron(REPORT).splitlines() if " = {}" not in line and "[];" not in line)
    )
    assert (row["model"], row["used_percent"]) == ("CT500MX500SSD1", 19)


def test_a_log_below_another_spelling() -> None:
    below = "SMART Cloud Attributes :-\n  Physical media units written -   0 3911725056000\n"
    (row,) = rows(case("s25").decode() + "\n" + below)
    assert row["waf"] == pytest.approx(2.0)
