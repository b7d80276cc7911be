"""Reports of programs other than smartctl and nvme-cli, in the forms in which they are pasted."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pasted import case, rows
from ssdlab.errors import InputError

EXTCSD = case("s20").decode()
LIST = case("s21").decode()
TABLE = """
DeviceId Temperature ReadErrorsUncorrected Wear PowerOnHours
-------- ----------- --------------------- ---- ------------
0                 41                     0   37        15023
1                 29                     2    0
"""
PHYSICAL = """
DeviceId     : 0
FriendlyName : Samsung SSD 980 1TB
SerialNumber : SN00001
HealthStatus : Healthy
Size         : 1000204886016

"""
CSV = """#TYPE Microsoft.Management.Infrastructure.CimInstance
"DeviceId","PowerOnHours","Temperature","TemperatureMax","Wear"
"0","15023","41","70","37"
"""
CRYSTAL_SATA = """----------------------------------------------------------------------------
CrystalDiskInfo 8.12.4 (C) 2008-2021 hiyohiyo
----------------------------------------------------------------------------
    Date : 2022/01/22 10:00:00

----------------------------------------------------------------------------
 (01) KINGSTON SA400S37480G
----------------------------------------------------------------------------
           Model : KINGSTON SA400S37480G
        Firmware : SBFK10D7
   Serial Number : SN00001
       Disk Size : 480.1 GB (8.4/137.4/480.1/480.1)
    # of Sectors : 937703088
   Rotation Rate : ---- (SSD)
       Interface : Serial ATA
  Power On Hours : 1200 hours
     Temperature : 25 C (77 F)
   Health Status : Good (88 %)

-- S.M.A.R.T. --------------------------------------------------------------
ID Cur Wor Thr RawValues(6) Attribute Name
09 100 100 __0 0000000004B0 Power-On Hours
E7 _88 _88 __0 000000000058 SSD Life Left
E9 100 100 __0 0000000007D0 Vendor Specific
F1 100 100 __0 0000000003E8 Total Host Writes
"""
CRYSTAL_NVME = """----------------------------------------------------------------------------
 (02) SOME NVME 1TB
----------------------------------------------------------------------------
           Model : SOME NVME 1TB
   Serial Number : SN00002
       Disk Size : 1000.2 GB
       Interface : NVM Express
  Power On Hours : 4096 hours
     Temperature : 40 C (104 F)
   Health Status : Good (95 %)

-- S.M.A.R.T. --------------------------------------------------------------
ID RawValues(6) Attribute Name
01 000000000000 Critical Warning
02 000000000139 Composite Temperature
03 000000000064 Available Spare
04 00000000000A Available Spare Threshold
05 000000000005 Percentage Used
06 000000100000 Data Units Read
07 0000001E8480 Data Units Written
0C 000000001000 Power On Hours
0E 000000000000 Media and Data Integrity Errors
"""
ESX_SATA = """Parameter                     Value  Threshold  Worst
----------------------------  -----  ---------  -----
Health Status                 OK     N/A        N/A
Media Wearout Indicator       93     0          93
Write Error Count             N/A    N/A        N/A
Power-on Hours                99     0          99
Reallocated Sector Count      100    10         100
Drive Temperature             31     0          40
"""
ESX_NVME = """SMART And Health Info:
   Available Spare Space Below Threshold: false
   Composite Temperature: 303 K
   Available Spare: 100%
   Available Spare Threshold: 10%
   Percentage Used: 6%
   Data Units Read: 0xc10d
   Data Units Written: 0xe1c78d
   Power On Hours: 0x1234
   Media Errors: 0x0
"""
STORCLI = """Drive /c0/e252/s0 :
================

Drive /c0/e252/s0 - Detailed Information :
========================================

Drive /c0/e252/s0 State :
=======================
Shield Counter = 0
Media Error Count = {errors}
Other Error Count = 0
Drive Temperature =  32C (89.60 F)
Predictive Failure Count = 0
S.M.A.R.T alert flagged by drive = {alert}

Drive /c0/e252/s0 Device attributes :
===================================
SN = SN00001
Manufacturer Id = ATA
Model Number = SAMSUNG MZ7LH480HAHQ-00005
Raw size = 447.130 GB [0x37e436b0 Sectors]
"""
MEGACLI = """Enclosure Device ID: 252
Slot Number: 0
Device Id: 8
Media Error Count: 0
Other Error Count: 0
Predictive Failure Count: 2
Raw Size: 447.130 GB [0x37e436b0 Sectors]
Inquiry Data: SN00001 SAMSUNG MZ7LH480HAHQ-00005 HXT7404Q
Media Type: Solid State Device
Drive Temperature :28C (82.40 F)
Drive has flagged a S.M.A.R.T alert : No

"""
EXPORTER_SATA = """smartctl_device{device="sda",interface="sat",model_family="Crucial/Micron Client SSDs",\
model_name="CT500MX500SSD1",protocol="ATA",serial_number="SN00001"} 1
smartctl_device_attribute{attribute_id="202",attribute_name="Percent_Lifetime_Remain",\
attribute_value_type="value",device="sda"} 81
smartctl_device_attribute{attribute_id="246",attribute_name="Total_LBAs_Written",attribute_value_type="raw",\
device="sda"} 2.097152e+06
smartctl_device_power_on_seconds{device="sda"} 7.2e+06
smartctl_device_smart_status{device="sda"} 1
smartctl_device_temperature{device="sda",temperature_type="current"} 31
"""
SMARTMON = """smartmon_device_info{disk="/dev/sda",type="sat",device_model="Samsung SSD 860 EVO 500GB"} 1
smartmon_device_smart_healthy{disk="/dev/sda",type="sat"} 1
smartmon_wear_leveling_count_value{disk="/dev/sda",type="sat",smart_id="177"} 81
smartmon_wear_leveling_count_raw_value{disk="/dev/sda",type="sat",smart_id="177"} 4.000000e+02
smartmon_total_lbas_written_raw_value{disk="/dev/sda",type="sat",smart_id="241"} 2.097152e+06
"""
NVME_METRICS = """nvme_percentage_used_ratio{device="nvme0n1"} 0.04
nvme_data_units_written_total{device="nvme0n1"} 2e+06
nvme_available_spare_ratio{device="nvme0n1"} 1
nvme_power_on_hours_total{device="nvme0n1"} 900
"""
OWN_METRICS = """smartctl_device{device="sdb",interface="ata",model_name="X",serial_number="S2"} 1
smartctl_device_percentage_used{device="sdb"} 12
ssd_host_written_bytes_total{device="sdb"} 512000000
ssd_nand_written_bytes_total{device="sdb"} 1024000000
"""
SCRUTINY_NVME = json.dumps(
    {
        "data": {
            "device": {"wwn": "0x1", "model_name": "SOME NVME", "serial_number": "S3", "device_protocol": "NVMe"},
            "smart_results": [
                {
                    "date": "2024-01-08T00:00:00Z",
                    "temp": 40,
                    "power_on_hours": 669,
                    "attrs": {
                        name: {"attribute_id": name, "value": value}
                        for name, value in (
                            ("percentage_used", 4),
                            ("data_units_written", 3820044),
                            ("available_spare", 100),
                        )
                    },
                }
            ],
        }
    }
)
STATE = """# smartd state file
temperature-min = 20
ata-smart-attribute.0.id = 9
ata-smart-attribute.0.val = 95
ata-smart-attribute.0.raw = 21000
ata-smart-attribute.1.id = 177
ata-smart-attribute.1.val = 84
ata-smart-attribute.1.raw = 910
"""

TB = 10**12
SAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "eMMC": (
        EXTCSD,
        {
            "used_percent": 90,
            "used_percent_max": 100,
            "level": "attention",
            "protocol": "MMC",
            "capacity_bytes": 0x01D1F000 * 512,
        },
    ),
    "a new eMMC": (
        EXTCSD.replace("0x0a", "0x01").replace("INFO]: 0x02", "INFO]: 0x01").replace("0x02\n", "0x01\n"),
        {"used_percent": 0, "used_percent_max": 10, "level": "fine", "passed": True},
    ),
    "an eMMC past its life": (
        EXTCSD.replace("0x0a", "0x0b"),
        {"used_percent": 100, "used_percent_max": None, "level": "attention"},
    ),
    "an eMMC that urges": (EXTCSD.replace("INFO]: 0x02", "INFO]: 0x03"), {"level": "failing"}),
    "an eMMC that says nothing": (
        "EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_A]: 0x00\nEXT_CSD_DEVICE_LIFE_TIME_EST_TYP_B]: 0x00\n",
        {"used_percent": None, "level": "unknown"},
    ),
    "the kernel's files of an eMMC": (
        "/sys/block/mmcblk0/device/life_time:0x03 0x01\n/sys/block/mmcblk0/device/pre_eol_info:0x01\n",
        {"used_percent": 20, "used_percent_max": 30, "model": "mmcblk0", "level": "fine"},
    ),
    "the kernel's files of a UFS device": (
        "/sys/bus/ufs/health_descriptor/eol_info:0x01\nhealth_descriptor/life_time_estimation_a:0x02\n",
        {"used_percent": 10, "used_percent_max": 20, "protocol": "UFS"},
    ),
    "PowerShell's list": (
        LIST,
        {
            "used_percent": 37,
            "power_on_hours": 15023,
            "temperature_c": 41,
            "temperature_max_c": 70,
            "media_errors": 0,
            "level": "fine",
        },
    ),
    "PowerShell's list with the drive": (
        PHYSICAL + LIST,
        {"model": "Samsung SSD 980 1TB", "serial": "SN00001", "used_percent": 37, "passed": True},
    ),
    "PowerShell's CSV": (CSV, {"used_percent": 37, "power_on_hours": 15023}),
    "PowerShell's JSON": (
        '{"DeviceId": "0", "Wear": 93, "PowerOnHours": 15023, "Temperature": 41}',
        {"used_percent": 93, "level": "attention"},
    ),
    "PowerShell without wear": (LIST.replace(": 37", ":"), {"used_percent": None, "level": "unknown"}),
    "CrystalDiskInfo, SATA": (
        CRYSTAL_SATA,
        {
            "model": "KINGSTON SA400S37480G",
            "used_percent": 12,
            "host_bytes": 1000 << 30,
            "nand_bytes": 2000 << 30,
            "capacity_bytes": 937703088 * 512,
            "power_on_hours": 1200,
        },
    ),
    "CrystalDiskInfo, of a model that only it knows": (
        CRYSTAL_SATA.replace("KINGSTON SA400S37480G", "SOME SSD").replace("SBFK10D7", "X1"),
        {"used_percent": 12, "used_source": "CrystalDiskInfo's health status", "host_bytes": None},
    ),
    "CrystalDiskInfo, NVMe": (
        CRYSTAL_NVME,
        {"used_percent": 5, "host_bytes": 2_000_000 * 512_000, "power_on_hours": 4096, "temperature_c": 40},
    ),
    "ESXi, SATA": (ESX_SATA, {"used_percent": 7, "passed": True, "temperature_c": 31, "level": "fine"}),
    "ESXi, wear not available": (
        ESX_SATA.replace("93     0          93", "N/A    N/A        N/A"),
        {"used_percent": None, "level": "unknown"},
    ),
    "ESXi, NVMe": (
        ESX_NVME,
        {"used_percent": 6, "host_bytes": 14796685 * 512_000, "power_on_hours": 0x1234, "temperature_c": 30},
    ),
    "storcli": (
        STORCLI.format(errors=0, alert="No"),
        {"model": "SAMSUNG MZ7LH480HAHQ-00005", "serial": "SN00001", "passed": True, "level": "unknown"},
    ),
    "storcli with media errors": (
        STORCLI.format(errors=3, alert="No"),
        {"media_errors": 3, "level": "attention"},
    ),
    "storcli with an alert": (STORCLI.format(errors=0, alert="Yes"), {"passed": False, "level": "failing"}),
    "storcli's JSON": (
        json.dumps(
            {
                "Controllers": [
                    {
                        "Response Data": {
                            "Drive /c0/e252/s0 - Detailed Information": {
                                "Drive /c0/e252/s0 State": {
                                    "Media Error Count": 7,
                                    "S.M.A.R.T alert flagged by drive": "No",
                                },
                                "Drive /c0/e252/s0 Device attributes": {"SN": "SN00001", "Model Number": "X"},
                            }
                        }
                    }
                ]
            }
        ),
        {"model": "X", "media_errors": 7, "level": "attention"},
    ),
    "MegaCli": (
        MEGACLI,
        {"model": "SAMSUNG MZ7LH480HAHQ-00005 HXT7404Q", "serial": "SN00001", "level": "failing", "media_errors": 0},
    ),
    "smartctl_exporter, NVMe": (
        case("s27").decode(),
        {"model": "WD_BLACK SN770 500GB", "used_percent": 4, "power_on_hours": 669, "host_bytes": 3820044 * 512_000},
    ),
    "smartctl_exporter, SATA": (
        EXPORTER_SATA,
        {"used_percent": 19, "host_bytes": 1 << 30, "power_on_hours": 2000, "temperature_c": 31, "passed": True},
    ),
    "node-exporter's smartmon": (
        SMARTMON,
        {"model": "Samsung SSD 860 EVO 500GB", "used_percent": 19, "host_bytes": 1 << 30},
    ),
    "node-exporter's nvme_metrics": (
        NVME_METRICS,
        {"used_percent": 4, "host_bytes": 2_000_000 * 512_000, "power_on_hours": 900},
    ),
    "ssdlab's own metrics": (OWN_METRICS, {"used_percent": 12, "waf": 2.0, "host_bytes": 512_000_000}),
    "scrutiny, SATA": (
        case("s24").decode(),
        {
            "model": "Samsung SSD 860 EVO 500GB",
            "used_percent": 19,
            "host_bytes": 64777000000 * 512,
            "time_s": 1704672000,
            "temperature_c": 36,
        },
    ),
    "scrutiny, NVMe": (SCRUTINY_NVME, {"used_percent": 4, "host_bytes": 3820044 * 512_000, "power_on_hours": 669}),
    "a log of attributes without a name": (
        case("s23").decode().splitlines()[0] + "\n",
        {"power_on_hours": 21000, "host_bytes": 1769630340990 * 512, "used_percent": None, "level": "unknown"},
    ),
}


@pytest.mark.parametrize("name", SAYS)
def test_what_a_report_says(name: str) -> None:
    text, expected = SAYS[name]
    (row,) = rows(text)
    assert {key: row[key] for key in expected} == expected


def test_powershells_table_of_several_drives() -> None:
    first, second = rows(TABLE)
    assert (first["used_percent"], first["power_on_hours"], first["temperature_c"]) == (37, 15023, 41)
    assert (second["used_percent"], second["power_on_hours"], second["media_errors"]) == (0, None, 2)
    assert second["level"] == "attention"


def test_powershells_tables_of_a_drive_and_of_its_counters() -> None:
    disk = "\nFriendlyName        SerialNumber HealthStatus\n------------        ------------ ------------\n"
    (row,) = rows(
        f"{disk}Samsung SSD 980 1TB SN00001      Healthy\n{TABLE.replace('1                 29', '')[:180]}\n"
    )
    assert (row["model"], row["serial"], row["used_percent"]) == ("Samsung SSD 980 1TB", "SN00001", 37)


def test_a_drive_without_wear_beside_another() -> None:
    csv = '"DeviceId","FriendlyName","Wear","PowerOnHours"\n"0","A","95","9"\n"1","B","","900"\n'
    assert [(row["model"], row["used_percent"], row["level"]) for row in rows(csv)] == [
        ("A", 95, "attention"),
        ("B", None, "unknown"),
    ]


def test_a_block_for_each_drive() -> None:
    assert [row["model"] for row in rows(CRYSTAL_SATA + CRYSTAL_NVME)] == ["KINGSTON SA400S37480G", "SOME NVME 1TB"]
    assert len(rows(MEGACLI * 2)) == 2
    assert len(rows(ESX_SATA * 2)) == 2
    assert len(rows(EXTCSD * 2)) == 2
    assert len(rows(SMARTMON + NVME_METRICS)) == 2


@pytest.mark.parametrize("name", ["attrlog.{}.ata.csv", "smartd.{}.ata.state"])
def test_smartds_files_say_the_drive_by_their_name(name: str) -> None:
    text = STATE if name.endswith("state") else case("s23").decode()
    where = f"logs.zip/{name.format('Samsung_SSD_860_EVO_1TB-SN00001')}"
    row = rows(text, where)[-1]
    assert (row["model"], row["serial"], row["used_percent"]) == ("Samsung SSD 860 EVO 1TB", "SN00001", 16)


SAS_LOG = (
    "2023-06-14 {time};\tread-corr-by-ecc-fast;0;\tread-corr-by-ecc-delayed;9;\tread-corr-by-retry;0;"
    "\tread-total-err-corrected;9;\tread-corr-algorithm-invocations;2278941;\tread-gb-processed;77192.668;"
    "\tread-total-unc-errors;0;\twrite-corr-by-ecc-fast;0;\twrite-corr-by-ecc-delayed;41;\twrite-corr-by-retry;0;"
    "\twrite-total-err-corrected;41;\twrite-corr-algorithm-invocations;1546627;\twrite-gb-processed;{written};"
    "\twrite-total-unc-errors;1;\tnon-medium-errors;0;\ttemperature;27;\n"
)


def test_the_log_of_a_sas_drive_is_a_history_of_its_writes() -> None:
    text = SAS_LOG.format(time="06:00:00", written="229818.534") + SAS_LOG.format(time="18:00:00", written="229918.534")
    first, last = rows(text, "attrlog.HGST-HUSMM1640ASS204-SN00001.scsi.csv")
    assert (last["model"], last["serial"], last["protocol"]) == ("HGST HUSMM1640ASS204", "SN00001", "SCSI")
    assert (last["host_bytes"], last["temperature_c"], last["media_errors"]) == (229_918_534_000_000, 27, 1)
    assert last["time_s"] - first["time_s"] == 12 * 3600
    assert last["used_percent"] is None, "the log does not say it"


def test_a_history_is_one_drive_with_its_rate(tmp_path: Path) -> None:
    from ssdlab.field.health.survey import surveyed

    (tmp_path / "log.csv").write_bytes(case("s23"))
    with surveyed([str(tmp_path / "log.csv")], workers=1) as spool:
        (row,) = spool.drives().collect().to_dicts()
    assert row["reports"] == 2 and row["pace_days"] == pytest.approx(3.0)
    assert row["host_bytes_per_day"] == pytest.approx(115e9 * 512 / 3)
    assert "identity" not in row


def test_a_longer_history_has_the_bounds_of_its_rates(tmp_path: Path) -> None:
    from ssdlab.field.health import table
    from ssdlab.field.health.survey import surveyed

    days = ((8, 2_000_000_000_000), (9, 2_000_200_000_000), (10, 2_000_200_000_000), (18, 2_001_000_000_000))
    lines = [f"2024-01-{day:02} 00:00:12;\t9;95;{20000 + 24 * day};\t241;99;{count};\n" for day, count in days]
    path = tmp_path / "attrlog.SAMSUNG_MZ7LH480HAHQ-SN00001.ata.csv"
    path.write_text("".join(lines))
    with surveyed([str(path)], workers=1) as spool:
        (row,) = spool.drives().collect().to_dicts()
    assert (row["pace_low"], row["pace_high"]) == (0, 200_000_000 * 512)
    assert row["host_bytes_per_day"] == pytest.approx(10**9 * 512 / 10)
    assert "51.2 GB a day over the last 10 days (0 B to 102.4 GB between reports)" in table.pace_text(row)


def test_a_table_that_esxi_does_not_explain() -> None:
    """Whether 2 is used or left is not known of a drive whose other rows are not normalized."""
    (row,) = rows(
        ESX_SATA.replace("93     0          93", "2      0          2").replace("100    10         100", "N/A N/A N/A")
    )
    assert row["used_percent"] is None and "not published" in row["remark"]


def test_what_is_of_no_program_is_said_to_be_none() -> None:
    with pytest.raises(InputError, match=r"x: is not a known report; allowed: smartctl -a"):
        rows("The drive has Wear.\n", "x")


PROXMOX_ATA = {
    "type": "ata",
    "health": "PASSED",
    "attributes": [
        {"id": "  5", "name": "Reallocated_Sector_Ct", "flags": "PO--CK", "value": 100, "worst": 100, "threshold": 10,
         "fail": "-", "raw": "0", "normalized": 100},
        {"id": "202", "name": "Percent_Lifetime_Remain", "flags": "----CK", "value": 81, "worst": 81, "threshold": 1,
         "fail": "-", "raw": "19", "normalized": 81},
        {"id": "247", "name": "Host_Program_Page_Count", "flags": "-O--CK", "value": 100, "worst": 100, "threshold": 0,
         "fail": "-", "raw": "1000", "normalized": 100},
        {"id": "248", "name": "FTL_Program_Page_Count", "flags": "-O--CK", "value": 100, "worst": 100, "threshold": 0,
         "fail": "-", "raw": "500", "normalized": 100},
    ],
}  # fmt: skip
PROXMOX_NVME = {
    "type": "text",
    "health": "FAILED!",
    "text": "\nSMART/Health Information (NVMe Log 0x02)\nCritical Warning:                   0x04\n"
    "Temperature:                        40 Celsius\nAvailable Spare:                    9%\n"
    "Available Spare Threshold:          10%\nPercentage Used:                    103%\n"
    "Data Units Written:                 5,584,952 [2.85 TB]\nPower On Hours:                     1,000\n",
}


@pytest.mark.parametrize("wrap", [lambda value: {"data": value}, lambda value: value], ids=["API", "pvesh"])
def test_the_answer_of_proxmox(wrap: Callable[[object], object]) -> None:
    (sata,) = rows(json.dumps(wrap(PROXMOX_ATA)))
    assert (sata["used_percent"], sata["waf"], sata["passed"]) == (19, 1.5, True)
    (nvme,) = rows(json.dumps(wrap(PROXMOX_NVME)))
    assert (nvme["used_percent"], nvme["host_bytes"], nvme["passed"]) == (103, 5_584_952 * 512_000, False)
    assert nvme["level"] == "failing"


def test_two_answers_of_proxmox_are_two_drives() -> None:
    both = rows(json.dumps([PROXMOX_NVME, PROXMOX_ATA]))
    assert [row["used_percent"] for row in both] == [103, 19]
    with pytest.raises(InputError, match="is JSON, but not of a known program"):
        rows(json.dumps({"type": "ata", "health": 1, "attributes": []}))


LBAS = 62_578_693_422
DUMPED = f"""Device: sat16:/dev/sda
Size: 244198 MiB
Model: [Samsung SSD 850 PRO 256GB]
Serial: [SN00001]
Firmware: [EXM02B6Q]
SMART Disk Health Good: yes
ID# Name                        Value Worst Thres Pretty      Raw            Type    Updates Good Good/Past
  5 reallocated-sector-count 100   100  10  0 sectors 0x000000000000 prefail online  yes  yes
177 wear-leveling-count   86    86     0   n/a         0x640300000000 prefail online  n/a  n/a
241 total-lbas-written    99    99     0   n/a         0x{LBAS.to_bytes(6, "little").hex()} old-age online  n/a  n/a
"""
UDISKS = f"""/org/freedesktop/UDisks2/drives/Samsung_SSD_850_PRO_256GB_SN00001:
  org.freedesktop.UDisks2.Drive:
    Model:                      Samsung SSD 850 PRO 256GB
    Revision:                   EXM02B6Q
    Serial:                     SN00001
    Size:                       256060514304
  org.freedesktop.UDisks2.Drive.Ata:
    SmartFailing:               false
    SmartPowerOnSeconds:        135640800
$ gdbus call --system --dest org.freedesktop.UDisks2 --method org.freedesktop.UDisks2.Drive.Ata.SmartGetAttributes
([(byte 0x09, 'power-on-hours', uint16 0x0032, 92, 92, 0, int64 135640800000, 2, @a{{sv}} {{}}),
(0xb1, 'wear-leveling-count', 0x0013, 86, 86, 0, 868, 0, {{}}),
(0xf1, 'total-lbas-written', 0x0032, 99, 99, 0, {LBAS * 65536 * 512 // 10**6}, 0, {{}})],)
"""


@pytest.mark.parametrize("text", [DUMPED, UDISKS], ids=["skdump", "udisks"])
def test_what_libatasmart_reads(text: str) -> None:
    """udisks multiplies the drive's count of sectors as if it were one of 32 MiB; that is undone."""
    (row,) = rows(text)
    assert (row["model"], row["serial"]) == ("Samsung SSD 850 PRO 256GB", "SN00001")
    assert (row["host_bytes"], row["used_percent"]) == (LBAS * 512, 14)
    assert row["power_on_hours"] == (37678 if text is UDISKS else None)


@pytest.mark.parametrize(
    "text",
    [
        "Temperatur:           36 °C\nVerfügbare Reserve:   100 %\nProzent verwendet:    7 %\n",
        "État de santé\tBon 97 %\nÉcritures de l'hôte\t30412 Go\n",
    ],
    ids=["German", "French"],
)
def test_a_page_in_another_language_is_told_what_prints_english(text: str) -> None:
    with pytest.raises(InputError, match=r"not a known report, though it has figures of a drive\. smartctl -x"):
        rows(text)
