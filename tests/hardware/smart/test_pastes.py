"""Pastes: several programs' reports of one drive, in any order, and reports with what mails and forums add to them.

Of a report of smartctl and a log as text below it, the log had been lost, with the untrue remark that it was not given.
"""

import json
import re

import pytest

from pasted import HEAD, attribute_lines, case, rows, unknown_drive

UNITS = 120_000_000
SMARTCTL = """smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)

=== START OF INFORMATION SECTION ===
Model Number:                       SOME NVME 1T9
Serial Number:                      SN00001
Total NVM Capacity:                 1,920,383,410,176 [1.92 TB]

=== START OF SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

SMART/Health Information (NVMe Log 0x02)
Critical Warning:                   0x00
Temperature:                        34 Celsius
Available Spare:                    100%
Available Spare Threshold:          10%
Percentage Used:                    4%
Data Units Written:                 120,000,000 [61.4 TB]
Power Cycles:                       9
Power On Hours:                     9,742
Unsafe Shutdowns:                   5
Media and Data Integrity Errors:    0
"""
SMART_LOG = f"""Smart Log for NVME device:nvme0 namespace-id:ffffffff
critical_warning\t\t\t: 0
temperature\t\t\t\t: 34 C
available_spare\t\t\t\t: 100%
available_spare_threshold\t\t: 10%
percentage_used\t\t\t\t: 4%
data_units_written\t\t\t: {UNITS}
power_cycles\t\t\t\t: 9
power_on_hours\t\t\t\t: 9742
unsafe_shutdowns\t\t\t: 5
media_errors\t\t\t\t: 0
"""
ID_CTRL = """NVME Identify Controller:
vid       : 0x144d
sn        : SN00001
mn        : SOME NVME 1T9
fr        : F1
tnvmcap   : 1920383410176
"""
HOST_32MIB, NAND_32MIB = 1_831_054, 3_277_587
OCP = """SMART Cloud Attributes :-
  Physical media units written -   \t        \t0 110000000000000
  Physical media units read    -   \t        \t0 98000000000000
"""

# What each plugin prints, of 110 TB programmed for 61.44 TB from the host.
LOGS = {
    "OCP": OCP,
    "OCP, newer": "SMART Cloud Attributes :-\n  Physical media units written -\t\t110000000000000\n",
    "OCP as JSON": json.dumps({"Physical media units written": {"hi": 0, "lo": 110 * 10**12}}, indent=2) + "\n",
    "OCP of WDC as JSON": '{"Physical media units written_hi":0,"Physical media units written_lo":110000000000000}\n',
    "OCP of SanDisk": "SMART Cloud Attributes for NVMe device       : nvme0\n"
    "Physical Media Units Written                 : 110,000,000,000,000\n",
    "Micron's C0h without a heading": "Physical Media Units Written             : 0x640b5ee00000\n",
    "Micron's D0h as JSON": '{"Extended Smart Log Page : 0xD0":[{"NAND Writes (Bytes Written)":"0x640b5ee00000"}]}\n',
    "Micron's, by kind of cells": "Physical Media Units Written - TLC       : 0x5af3107a4000\n"
    "Physical Media Units Written - SLC       : 0x9184e72a000\n",
    "Intel's": f"""Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff
key                               normalized raw
program_fail_count              : 100%       0
nand_bytes_written              : 100%       sectors: {NAND_32MIB}
host_bytes_written              : 100%       sectors: {HOST_32MIB}
""",
    "Solidigm's": f"""Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff
ID             KEY                                 Normalized     Raw
0xf4    nand_bytes_written                             100         {NAND_32MIB}
0xf5    host_bytes_written                             100         {HOST_32MIB}
""",
    "Solidigm's as JSON": json.dumps(
        {
            "Solidigm Smart log": "nvme0",
            "Device stats": {
                "nand_bytes_written": {"normalized": 100, "raw": NAND_32MIB},
                "host_bytes_written": {"normalized": 100, "raw": HOST_32MIB},
            },
        }
    ),
    "DapuStor's": f"nand_bytes_written              : 244  100%       sectors: {NAND_32MIB}\n"
    f"host_bytes_written              : 245  100%       sectors: {HOST_32MIB}\n",
    "WDC's CAh": "  CA Log Page Performance Statistics :- \n"
    "  NAND Bytes Written                                        0     110000000000000\n",
    "WDC's CAh as JSON": '{"NAND Bytes Written Hi":0,"NAND Bytes Written Lo":110000000000000}',
    "WDC's D0h": "  D0 Smart Log Page Statistics :- \n"
    "  Lifetime NAND Writes\t                         102445\n  Lifetime User Writes\t                         57220\n",
}


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("order", ["below", "above", "after nvme-cli's", "after the identity", "after both"])
def test_a_log_belongs_to_the_drive_above_it(name: str, order: str) -> None:
    log = LOGS[name] if LOGS[name].endswith("\n") else f"{LOGS[name]}\n"
    text = {
        "below": SMARTCTL + log,
        "above": log + SMARTCTL,
        "after nvme-cli's": SMART_LOG + log,
        "after the identity": ID_CTRL + SMART_LOG + log,
        "after both": SMARTCTL + SMART_LOG + log,
    }[order]
    (row,) = rows(text)
    assert row["waf"] == pytest.approx(110e12 / 61.44e12, rel=1e-3)
    assert row["model"] == ("" if order == "after nvme-cli's" else "SOME NVME 1T9")
    assert (row["used_percent"], row["waf_reason"]) == (4, None)


@pytest.mark.parametrize(("name", "waf"), [("s04", 1.79), ("s06", 1.29), ("s07", 1.79), ("s09", 1.79), ("s10", 1.799)])
def test_pastes_of_two_programs(name: str, waf: float) -> None:
    (row,) = rows(case(name))
    assert row["waf"] == pytest.approx(waf, abs=5e-4)


def test_a_drive_in_json_and_its_log_as_text() -> None:
    report = {
        "smartctl": {"version": [7, 4]},
        "device": {"name": "/dev/nvme0", "protocol": "NVMe"},
        "model_name": "X",
        "nvme_smart_health_information_log": {"data_units_written": UNITS, "percentage_used": 4},
    }
    (row,) = rows(json.dumps(report, indent=1) + "\n" + LOGS["Intel's"])
    assert row["waf"] == pytest.approx(110e12 / 61.44e12, rel=1e-3)


def test_each_drive_has_its_own_log() -> None:
    other = SMARTCTL.replace("SN00001", "SN00002").replace("120,000,000", "60,000,000")
    found = rows(SMARTCTL + OCP + other + LOGS["WDC's CAh"])
    assert [row["serial"] for row in found] == ["SN00001", "SN00002"]
    assert [round(row["waf"], 2) for row in found] == [1.79, 3.58]


def test_mirrored_drives_without_names_stay_two() -> None:
    log = json.dumps({"avail_spare": 99, "percent_used": 1, "data_units_written": 5000, "power_on_hours": 9})
    assert len(rows(f"{log}\n{log}\n")) == 2


@pytest.mark.parametrize("heading", ["", "=== START OF INFORMATION SECTION ===\n"])
@pytest.mark.parametrize("label", ["Model Number", "Device Model"])
def test_two_drives_without_smartctls_first_line_stay_two(heading: str, label: str) -> None:
    table = "  9 Power_On_Hours          0x0032   100   100   000    Old_age   Always       -       {}\n"
    text = "".join(
        f"{heading}{label}:     {model}\nSerial Number:    {serial}\n{table.format(hours)}"
        for model, serial, hours in (("A", "S1", 100), ("B", "S2", 200))
    )
    assert [(row["model"], row["serial"]) for row in rows(text)] == [("A", "S1"), ("B", "S2")]


def test_a_makers_log_alone_has_a_ratio() -> None:
    (row,) = rows(LOGS["Intel's"])
    assert row["waf"] == pytest.approx(NAND_32MIB / HOST_32MIB) and "32 MiB" in row["waf_doubt"]
    assert row["level"] == "unknown"


def test_what_is_missing_is_said_as_it_is() -> None:
    (row,) = rows(SMARTCTL)
    assert "no log beside it" in row["waf_reason"]
    (row,) = rows(LOGS["WDC's CAh"])
    assert "health log was not given" in row["waf_reason"]
    (row,) = rows(SMARTCTL + LOGS["Intel's"].replace(str(HOST_32MIB), str(3 * HOST_32MIB)))
    assert "its unit on this model is unknown" in row["waf_reason"]


def test_a_log_that_is_cut_off_is_said_to_be(tmp_path: object) -> None:
    from ssdlab.field.health import scanning
    from ssdlab.field.health.contents import Content

    cut = LOGS["OCP as JSON"][:-8]
    found = list(scanning.rows_of(Content("paste", data=(SMARTCTL + cut).encode())))
    assert isinstance(found[0], dict) and found[0]["model"] == "SOME NVME 1T9"
    assert isinstance(found[1], scanning.Unread) and re.search(r"not complete JSON \((?!.* at\)).*\)$", found[1].reason)


def test_halves_of_a_report() -> None:
    """`smartctl -i`, `-H` and `-A`, each with smartctl's first line."""
    start = "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n"
    whole = unknown_drive("Samsung SSD 860 EVO 500GB", "R1", [(177, "Wear_Leveling_Count", 81, "400")])
    identity, rest = whole.split("=== START OF READ SMART DATA SECTION ===\n")
    verdict, table = rest.split(HEAD)
    data = "=== START OF READ SMART DATA SECTION ===\n"
    (row,) = rows(f"{identity}{start}{data}{verdict}{start}{data}{HEAD}{table}")
    assert (row["model"], row["used_percent"], row["passed"]) == ("Samsung SSD 860 EVO 500GB", 19, True)
    (row,) = rows(f"{start}{data}{HEAD}{table}{identity}")
    assert (row["model"], row["used_percent"]) == ("Samsung SSD 860 EVO 500GB", 19)


def test_a_table_without_its_head() -> None:
    (row,) = rows(case("s11"))
    assert (row["used_percent"], row["model"], round(row["waf"], 2)) == (19, "", 8.02)
    assert (row["host_bytes"], row["power_on_hours"]) == (384578442888 * 512, 21000)
    assert row["attributes_read_as"] is None


def test_nvmes_lines_without_their_head() -> None:
    lines = SMARTCTL[SMARTCTL.index("Critical Warning") :]
    (row,) = rows(lines)
    assert (row["used_percent"], row["host_bytes"], row["power_on_hours"]) == (4, UNITS * 512_000, 9742)
    (row,) = rows(lines[lines.index("Percentage Used") :] + OCP)
    assert round(row["waf"], 2) == 1.79


def as_read(text: str) -> list[object]:
    (row,) = rows(text)
    keys = ("model", "serial", "capacity_bytes", "power_on_hours", "used_percent", "host_bytes", "nand_bytes", "passed")
    return [row[key] for key in keys]


SATA = case("s13").decode().replace("> ", "").replace(">", "")
AROUND = {
    "a quote": lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
    "a quote of a quote": lambda text: "Jo wrote:\n" + "".join(f"> >{line}\n" for line in text.splitlines()),
    "quote marks without blanks": lambda text: "".join(f">{line}\n" for line in text.splitlines()),
    "indentation": lambda text: "Here it is:\n\n" + "".join(f"    {line}\n" for line in text.splitlines()),
    "a tab": lambda text: "".join(f"\t{line}\n" for line in text.splitlines()),
    "a fence": lambda text: f"My drive:\n\n```text\n{text}```\nWhat now?\n",
    "a prompt": lambda text: f"[root@host ~]# smartctl -a /dev/sda\n{text}[root@host ~]#\n",
    "colours": lambda text: text.replace("PASSED", "\x1b[1;32mPASSED\x1b[0m"),
    "an arrow before": lambda text: text.replace("\n  9 Power", "\n--> 9 Power").replace("\n230 ", "\n=>  230 "),
    "an arrow behind": lambda text: text.replace("- 1512", "- 1512   <-- 63 days").replace(
        "1512\n", "1512 <== 2 months\n"
    ),
    "a remark": lambda text: text.replace("1512\n", "1512   # 63 days of 24 hours\n"),
    "stars": lambda text: text.replace("Power_On_Hours", "**Power_On_Hours**").replace("1512\n", "1512 ***\n"),
    "HTML": lambda text: "<pre>" + text.replace(">", "&gt;").replace("  ", " &nbsp;") + "</pre>",
    "HTML without entities": lambda text: f"<pre>{text.replace('>', '').replace(chr(10), '<br/>' + chr(10))}</pre>",
    "line feeds of Windows": lambda text: text.replace("\n", "\r\n"),
    "single blanks": lambda text: "\n".join(" ".join(line.split()) for line in text.splitlines()) + "\n",
    "tabs between columns": lambda text: text.replace("   ", "\t"),
    "lines that a mail broke": lambda text: text.replace("  Always       -  ", "  Always\n       -  "),
    "types that a mail broke": lambda text: text.replace("Old_age   Always", "Old_age\nAlways"),
    "values that a mail broke": lambda text: text.replace("Always       -       ", "Always       -\n"),
}


@pytest.mark.parametrize("name", AROUND)
def test_what_is_around_a_report_changes_nothing(name: str) -> None:
    changed = AROUND[name](SATA)
    assert changed != SATA
    assert as_read(changed) == as_read(SATA)


@pytest.mark.parametrize("name", ["a quote", "indentation", "a fence", "HTML", "line feeds of Windows", "a tab"])
def test_what_is_around_nvmes_report_changes_nothing(name: str) -> None:
    assert as_read(AROUND[name](SMARTCTL + OCP)) == as_read(SMARTCTL + OCP)
    assert as_read(AROUND[name](SMART_LOG + OCP)) == as_read(SMART_LOG + OCP)


def test_remarks_are_no_digits() -> None:
    """9742 hours with the remark that they are 406 days were 9,742,406 hours."""
    for remark in ("<-- 406 days", "<= 406", "# 406 days", "(406 days)", "= 406 days", "~ 406 d", "- 406 days"):
        (row,) = rows(SMARTCTL.replace("9,742", f"9742 {remark}"))
        assert row["power_on_hours"] == 9742, remark


def test_a_table_of_markdown() -> None:
    line = "| 9 | Power_On_Hours | 0x0032 | 100 | 100 | 000 | Old_age | Always | - | 9000 |\n"
    worn = "| 202 | Percent_Lifetime_Remain | 0x0030 | 081 | 081 | 001 | Old_age | Offline | - | 19 |\n"
    (row,) = rows("| ID# | ATTRIBUTE_NAME |\n|---|---|\n" + line + worn)
    assert (row["power_on_hours"], row["used_percent"]) == (9000, 19)


def test_a_single_line_is_enough() -> None:
    (row,) = rows(attribute_lines([(202, "Percent_Lifetime_Remain", 10, "90")]))
    assert (row["used_percent"], row["level"]) == (90, "attention")


def test_tables_one_below_the_other_are_of_a_drive_each() -> None:
    """Of two tables of attributes without the identities above them, the second was left out without a word."""
    little, much = (attribute_lines([(202, "Percent_Lifetime_Remain", left, str(100 - left))]) for left in (93, 40))
    assert sorted(row["used_percent"] for row in rows(f"sda:\n{little}\nsdb:\n{much}")) == [7, 60]
    named = f"{little}Device Model:     SOME SSD 500GB\nSerial Number:    S1\n{much}"
    assert [(row["model"], row["used_percent"]) for row in rows(named)] == [("", 7), ("SOME SSD 500GB", 60)]


@pytest.mark.parametrize("cut", ["120,000,0", "120,000,", "1.20", "120 000 00"])
def test_a_number_that_is_cut_off_is_none(cut: str) -> None:
    """A counter cut off within its last group was read as a smaller one: `2,912,7` as 29,127 data units."""
    (row,) = rows(f"{SMARTCTL.split('Data Units Written')[0]}Data Units Written:                 {cut}\n")
    assert (row["used_percent"], row["host_bytes"]) == (4, None)
    (row,) = rows(f"{SMART_LOG.split('data_units_written')[0]}data_units_written\t\t\t: {cut}\n")
    assert (row["used_percent"], row["host_bytes"]) == (4, None)


@pytest.mark.parametrize("behind", [" ", "\t", "\r", " \r"])
def test_a_blank_behind_a_number_is_no_separator(behind: str) -> None:
    (row,) = rows(f"{SMART_LOG.split('data_units_written')[0]}data_units_written\t\t\t: 120,000{behind}\n")
    assert row["host_bytes"] == 120_000 * 512_000
