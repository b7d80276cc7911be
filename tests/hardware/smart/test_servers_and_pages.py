"""Reports of servers' management, of openSeaChest and of web pages, and what a shell's prompt before a report does.

Each had been refused, or had lost what it says. Layouts are the programs' own; all values are made up.
"""

import json
import re

import pytest

from pasted import HEAD, attribute_lines, rows
from ssdlab.errors import InputError

SEACHEST = """==========================================
 openSeaChest_SMART - openSeaChest drive utilities - NVMe Enabled
==========================================

/dev/sg1 - XA960ME10063 - SN00001 - SF44011J - ATA
\tModel Number: XA960ME10063
\tSerial Number: SN00001
\tDrive Capacity (TB/TiB): 0.96/0.87
\tTemperature Data:
\t\tCurrent Temperature (C): 31
\tPower On Hours: 11644.00
\tRotation Rate (RPM): SSD
\tAnnualized Workload Rate (TB/yr): 88.12
\tTotal Bytes Read (TB): 33.10
\tTotal Bytes Written ({unit}): 84.03
\tPercentage Used Endurance Indicator (%): 17.00000
\tWrite Amplification (%): 1.42
\tSMART Status: {status}
"""


def test_openseachest_says_wear_writes_and_their_ratio() -> None:
    (row,) = rows(SEACHEST.format(unit="TB", status="Good"))
    assert (row["model"], row["serial"], row["power_on_hours"]) == ("XA960ME10063", "SN00001", 11644)
    assert (row["host_bytes"], row["used_percent"], row["passed"]) == (84_030_000_000_000, 17, True)
    assert row["waf"] == pytest.approx(1.42)
    two = SEACHEST.format(unit="GB", status="Tripped") + SEACHEST.replace("SN00001", "SN00002").format(
        unit="PB", status="Good"
    )
    assert [(row["serial"], row["host_bytes"], row["passed"]) for row in rows(two)] == [
        ("SN00001", 84_030_000_000, False),
        ("SN00002", 84_030_000_000_000_000, True),
    ]


SSACLI = """
   Array A

      physicaldrive 1I:1:1
         Status: OK
         Interface Type: Solid State SATA
         Size: 960 GB
         Serial Number: SN00001
         Model: ATA     MK000960GWSSD
         Current Temperature (C): 30
         Usage remaining: {left}
         Power On Hours: 22033
         SSD Smart Trip Wearout: {tripped}

      physicaldrive 1I:1:2
         Interface Type: SATA
         Size: 4 TB
         Serial Number: SN00002
         Model: ATA     MB004000GWWQH
"""


@pytest.mark.parametrize(
    ("left", "tripped", "used", "level"),
    [("93.20%", "False", 7, "fine"), ("-49.95%", "False", 150, "attention"), ("1.00%", "True", 99, "failing")],
)
def test_ssacli_says_what_is_left_also_below_0(left: str, tripped: str, used: int, level: str) -> None:
    flash, disk = rows(SSACLI.format(left=left, tripped=tripped))
    assert (flash["model"], flash["serial"], flash["capacity_bytes"]) == ("ATA MK000960GWSSD", "SN00001", 960 * 10**9)
    assert (flash["used_percent"], flash["power_on_hours"], flash["level"]) == (used, 22033, level)
    assert (disk["serial"], disk["used_percent"]) == ("SN00002", None)


def test_dells_two_programs_and_redfish_agree() -> None:
    racadm = """Disk.Bay.0:Enclosure.Internal.0-1:RAID.Integrated.1-1
   Size                             = 893.750 GB
   FailurePredicted                 = NO
   RemainingRatedWriteEndurance     = {left}
   MediaType                        = SSD
   ProductId                        = SSDSC2KB960G8R
   SerialNumber                     = SN00001
"""
    omreport = """ID                              : 0:1:0
Media                           : SSD
Remaining Rated Write Endurance : 97%
Failure Predicted               : No
Product ID                      : SSDSC2KB960G8R
Serial No.                      : SN00001
"""
    drive = {"CapacityBytes": 959656755200, "FailurePredicted": False, "MediaType": "SSD", "Model": "SSDSC2KB960G8R"}
    drive |= {"PredictedMediaLifeLeftPercent": 97, "SerialNumber": "SN00001"}
    found = [rows(text)[0] for text in (racadm.format(left="97 %"), omreport, json.dumps({"Members": [drive]}))]
    assert {(row["model"], row["serial"], row["used_percent"]) for row in found} == {("SSDSC2KB960G8R", "SN00001", 3)}
    assert found[0]["capacity_bytes"] == found[2]["capacity_bytes"] == 959656755200
    for unknown in ("255 %", "Not Available"):
        (row,) = rows(racadm.format(left=unknown))
        assert (row["used_percent"], row["level"]) == (None, "unknown")
    (failing,) = rows(json.dumps(drive | {"FailurePredicted": True}))
    assert failing["level"] == "failing"


def test_proxmox_list_of_disks_has_the_share_left() -> None:
    entry = {"devpath": "/dev/sda", "health": "PASSED", "model": "SOME_SSD_1TB", "serial": "SN00001", "size": 10**12}
    entries = [entry | {"wearout": 98}, entry | {"serial": "SN00002", "wearout": "N/A"}]
    known, unknown = rows(json.dumps(entries))
    assert (known["model"], known["used_percent"], known["level"]) == ("SOME SSD 1TB", 2, "fine")
    assert (unknown["used_percent"], unknown["level"]) == (None, "unknown")


def test_the_summary_of_scrutiny_says_where_the_wear_is() -> None:
    device = {"wwn": "0x5", "model_name": "SOME_SSD", "serial_number": "SN00001", "device_protocol": "ATA"}
    summary = {"0x5": {"device": device, "smart": {"temp": 31, "power_on_hours": 9001}}}
    (row,) = rows(json.dumps({"success": True, "data": {"summary": summary}}))
    assert (row["power_on_hours"], row["temperature_c"], row["level"]) == (9001, 31, "unknown")
    assert "/api/device/WWN/details" in row["remark"]


UNRAID = (
    "#\tAttribute Name\tFlag\tValue\tWorst\tThreshold\tType\tUpdated\tFailed\tRaw Value\n"
    "5\tReallocated sector count\t0x0032\t100\t100\t010\tOld age\tAlways\tNever\t0\n"
    "9\tPower on hours\t0x0032\t100\t100\t000\tOld age\tAlways\tNever\t22031 (2y, 6m, 6d, 23h)\n"
    "202\tPercent lifetime remain\t0x0030\t071\t071\t001\tOld age\tOffline\t{failed}\t29\n"
)


def test_rows_of_unraids_page_are_attributes() -> None:
    (row,) = rows(UNRAID.format(failed="Never"))
    assert (row["power_on_hours"], row["used_percent"]) == (22031, 29)
    (row,) = rows(UNRAID.format(failed="Failing now"))
    assert row["level"] == "failing"


def test_labels_of_unraids_page_are_the_health_log() -> None:
    page = (
        "-\tCritical warning\t0x00\n-\tTemperature\t41 Celsius\n-\tAvailable spare\t100%\n"
        "-\tPercentage used\t8%\n-\tData units written\t90,112,003 [46.1 TB]\n"
        "-\tPower on hours\t19,003 (2y, 2m, 1d, 19h)\n-\tMedia and data integrity errors\t3\n"
    )
    (row,) = rows(page)
    assert (row["used_percent"], row["host_bytes"], row["media_errors"]) == (8, 90_112_003 * 512_000, 3)


ESXCLI = """Parameter                     Value  Threshold  Worst  Raw
----------------------------  -----  ---------  -----  ---
Health Status                 OK     N/A        N/A    N/A
Media Wearout Indicator       98     0          98     0
Reallocated Sector Count      100    0          100    0
"""


@pytest.mark.parametrize("prompt", ["[root@esx:~] ", "[~] # ", "[admin@NAS ~]$ ", "{~} "])
def test_a_prompt_with_a_bracket_is_no_json(prompt: str) -> None:
    """A regression: a paste that began with the prompt of a shell was refused as JSON of an unknown program."""
    (row,) = rows(f"{prompt}esxcli storage core device smart get -d t10.ATA_____SOME_SSD\n{ESXCLI}")
    assert row["used_percent"] == 2


@pytest.mark.parametrize("text", ["{}", "[]", '{"a": 1}', "[[]]", "{\n"])
def test_json_without_a_report_is_called_json_and_told_what_is_allowed(text: str) -> None:
    with pytest.raises(InputError, match=r"JSON.*|not a known report.*allowed: smartctl -a"):
        rows(text)


def test_vendor_and_product_lines_of_a_nas_do_not_hide_the_attributes() -> None:
    """A regression: such a report was read as a SCSI drive's, and nothing was known of it."""
    level = attribute_lines([(9, "Power_On_Hours", 100, "17021"), (202, "Percent_Lifetime_Remain", 71, "29")])
    (row,) = rows(
        f"Vendor:               ATA\nProduct:              SOME SSD\nDevice Model:     SOME SSD\n{HEAD}{level}"
    )
    assert (row["protocol"], row["used_percent"]) == ("ATA", 29)


def test_the_kernels_files_of_an_emmc_without_names() -> None:
    command = "pi@pi:~ $ cat /sys/block/mmcblk0/device/life_time /sys/block/mmcblk0/device/pre_eol_info\n"
    (row,) = rows(f"{command}0x02 0x03\n0x01\n")
    assert (row["model"], row["used_percent"], row["used_percent_max"]) == ("mmcblk0", 20, 30)
    (urgent,) = rows(f"{command}0x0b 0x0b\n0x03\n")
    assert (urgent["used_percent"], urgent["level"]) == (100, "failing")
    with pytest.raises(InputError, match="not a known report"):
        rows("0x02 0x03\n0x01\n")


HEALTH = """Smart Log for NVME device:nvme0 namespace-id:ffffffff
percentage_used\t\t\t\t: 2%
data_units_written\t\t\t: 120,000,000
"""
NAND_MIB, HOST_MIB = 104_904, 58_594


@pytest.mark.parametrize(
    "log",
    [
        "Physical Media Units Written            0x0000000000000000" + f"{NAND_MIB << 20:016x}\n",
        json.dumps(
            {
                "Seagate SMART Health Attributes": [
                    {"attribute_name": "Physical Media Units Written", "attribute_value": f"0x{NAND_MIB << 20:032x}"}
                ]
            }
        ),
        f"Physical (NAND) bytes written           59881           0x{NAND_MIB:032x}\n"
        f"Physical (HOST) bytes written           61937           0x{HOST_MIB:032x}\n",
        json.dumps(
            {
                "Extended-SMART-Attributes": [
                    {"attribute_name": "Power on hours", "attribute_id": 9, "attribute_value": 2103},
                    {"attribute_name": "Physical (NAND) bytes written", "attribute_value": f"0x{NAND_MIB:032x}"},
                    {"attribute_name": "Physical (HOST) bytes written", "attribute_value": f"0x{HOST_MIB:032x}"},
                ]
            }
        ),
    ],
)
def test_seagates_logs(log: str) -> None:
    """The unit of the extended log is not published; that of NVMe's own count of the host's writes proves it."""
    units = (HOST_MIB << 20) // 512_000
    (row,) = rows(re.sub("120,000,000", str(units), HEALTH) + log)
    assert row["waf"] == pytest.approx(NAND_MIB / HOST_MIB, rel=1e-4)


def test_attribute_log_of_smartd_with_another_prefix() -> None:
    """`--attributelog=/path/dir/` gives files without `attrlog.`; the model in the name is all that gives meaning."""
    line = "2024-01-01 00:00:00;\t9;100;9000;\t202;71;29;\n"
    for name in ("attrlog.CT500MX500SSD1-SN00001.ata.csv", "CT500MX500SSD1-SN00001.ata.csv"):
        (row,) = rows(line, name)
        assert (row["model"], row["serial"], row["used_percent"]) == ("CT500MX500SSD1", "SN00001", 29)


SG_LOGS = """    HGST      HUSMM1680ASS200   A360

Supported log pages  [0x0]:
    0x00        Supported log pages
    0x02        Write error counters

Write error counter page  [0x2]
  Errors corrected without substantial delay = 3
  Total bytes processed = 123456789000000
  Total uncorrected errors = 0

Read error counter page  [0x3]
  Total bytes processed = 1
  Total uncorrected errors = 9

Temperature page  [0xd]
  Current temperature = 31 C
  Reference temperature = 70 C

Solid State Media page  [0x11]
  Percentage used endurance indicator: 12%

Background scan results page  [0x15]
  Status parameters:
    Accumulated power on minutes: 1234567 [h:m  20576:7]
"""


def test_log_pages_of_a_sas_drive() -> None:
    """A regression: sg_logs, which reads SAS drives where smartctl is missing, was no known report."""
    (row,) = rows(SG_LOGS)
    assert (row["model"], row["used_percent"], row["host_bytes"]) == ("HGST HUSMM1680ASS200", 12, 123_456_789_000_000)
    assert (row["temperature_c"], row["power_on_hours"]) == (31, 20_576)
    (one_page,) = rows("Write error counter page  [0x2]\n  Total bytes processed = 5000000\n")
    assert (one_page["host_bytes"], one_page["model"], one_page["media_errors"]) == (5_000_000, "", None)
    (one_page,) = rows("Solid State Media page  [0x11]\n  Percentage used endurance indicator: 3%\n")
    assert (one_page["used_percent"], one_page["model"], one_page["host_bytes"]) == (3, "", None)


SG_LOGS_TESTS = """    HGST      HUSMM1680ASS200   A360

Self-test results page  [0x10]
  Parameter code = 1, accumulated power-on hours = 20570
    self-test code: background short [1]
    self-test result: self test in progress [15]

  Parameter code = 2, accumulated power-on hours = 20500
    self-test code: background extended [2]
    self-test result: second segment in self test failed [6]
    self-test number = 3
    address of first error = 0x1a2b3c
    sense key = 0x3 [Medium Error] , asc = 0x11, ascq = 0x0      [Unrecovered read error]

  Parameter code = 3, accumulated power-on hours = 20000
    self-test code: background short [1]
    self-test result: completed without error [0]

"""


@pytest.mark.parametrize("spelled", ["self-test result:", "Self-test result:", "self test result:"])
@pytest.mark.parametrize("page", ["Self-test results page  [0x10]", "Self-test results log page  [0x10]"])
def test_self_tests_of_a_sas_drive(spelled: str, page: str) -> None:
    """A regression: a failed self-test in sg_logs's pages was left out, and its drive was fine; the page alone was no
    known report."""
    tests = SG_LOGS_TESTS.replace("self-test result:", spelled).replace("Self-test results page  [0x10]", page)
    no_errors = SG_LOGS.replace("errors = 9", "errors = 0")
    whole = no_errors.replace("Solid State Media page", tests.partition("\n\n")[2] + "Solid State Media page")
    for text in (tests, whole):
        (row,) = rows(text)
        assert (row["model"], row["level"]) == ("HGST HUSMM1680ASS200", "attention")
        assert row["reported"] == "Its last self-test failed (second segment in self test failed)."
    (passed,) = rows(whole.replace("second segment in self test failed [6]", "completed without error [0]"))
    assert (passed["reported"], passed["level"]) == (None, "fine")
    (unnamed,) = rows(tests.partition("\n\n")[2])
    assert (unnamed["model"], unnamed["level"]) == ("", "attention")


def test_uncorrected_errors_and_the_verdict_of_a_sas_drive() -> None:
    """A regression: the errors of reads in sg_logs's pages were left out, those of a page without such a line were 0,
    and a drive that predicts its failure was fine."""
    (row,) = rows(SG_LOGS)
    assert (row["media_errors"], row["passed"]) == (9, None)
    (without,) = rows(SG_LOGS.replace("Total uncorrected errors", "Total errors corrected"))
    assert without["media_errors"] is None

    def verdict(codes: str) -> tuple[bool | None, str]:
        (row,) = rows(f"{SG_LOGS}\nInformational Exceptions page  [0x2f]\n  IE {codes}\n  Current temperature = 31 C\n")
        return row["passed"], row["level"]

    assert verdict("asc = 0x5d, ascq = 0x10") == (False, "failing")
    assert verdict("asc = 0x0, ascq = 0x0")[0] is True
    # A drive sends the first on request, as a test; the second is a temperature.
    assert verdict("asc = 0x5d, ascq = 0xff")[0] is None
    assert verdict("asc = 0xb, ascq = 0x1")[0] is None


WMIC_TABLE = (
    "Model                    SerialNumber   Size           Status\n"
    "Samsung SSD 870 EVO 1TB  SN00001        1000202273280  OK\n"
    "KINGSTON SA400S37480G    SN00002        480101368320   Pred Fail\n"
)


@pytest.mark.parametrize(
    "text",
    [
        WMIC_TABLE,
        WMIC_TABLE.replace("\n", "  \r\r\n"),
        "\n\nModel=Samsung SSD 870 EVO 1TB\nSerialNumber=SN00001\nSize=1000202273280\nStatus=OK\n\n\n"
        "Model=KINGSTON SA400S37480G\nSerialNumber=SN00002\nSize=480101368320\nStatus=Pred Fail\n",
    ],
)
def test_what_windows_says_of_a_failure(text: str) -> None:
    """A regression: wmic's answer was no known report. It says nothing of wear, so that OK is not fine."""
    good, failing = rows(text)
    assert (good["model"], good["capacity_bytes"], good["passed"]) == (
        "Samsung SSD 870 EVO 1TB",
        1_000_202_273_280,
        True,
    )
    assert (good["level"], good["used_percent"]) == ("unknown", None)
    assert (failing["serial"], failing["passed"], failing["level"]) == ("SN00002", False, "failing")


@pytest.mark.parametrize(
    ("lines", "host_bytes", "waf"),
    [
        (
            [
                (246, "Total lbas written", 1000),
                (247, "Host program page count", 100),
                (248, "Ftl program page count", 300),
            ],
            1000 * 512,
            4.0,
        ),
        ([(241, "Host writes 32mib", 1000), (243, "NAND writes 32mib", 1700)], 1000 * 2**25, 1.7),
        ([(241, "Lifetime writes gib", 1000), (233, "Flash writes gib", 2100)], 1000 * 2**30, 2.1),
    ],
)
def test_counters_of_unraids_page_have_smartctls_names(
    lines: list[tuple[int, str, int]], host_bytes: int, waf: float
) -> None:
    """A regression: the page writes `Total lbas written`, and what was written was left out without a word."""
    page = "9\tPower on hours\t0x0032\t100\t100\t000\tOld age\tAlways\tNever\t31234 (3y, 6m, 24d, 10h)\n" + "".join(
        f"{number}\t{name}\t0x0032\t100\t100\t000\tOld age\tAlways\tNever\t{raw}\n" for number, name, raw in lines
    )
    (row,) = rows(page)
    assert (row["host_bytes"], row["waf"]) == (host_bytes, pytest.approx(waf))
