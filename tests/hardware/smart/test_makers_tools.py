"""Reports of makers' own tools, of other systems' and of monitoring, with values that tell misreadings apart."""

import json

import pytest

from pasted import attribute_lines, rows

NVMECONTROL = """SMART/Health Information Log
============================
Critical Warning State:         0x00
 Available spare:               0
 Temperature:                   0
 Device reliability:            0
 Read only:                     0
 Volatile memory backup:        0
Temperature:                    311 K, 37.85 C, 100.13 F
Available spare:                98
Available spare threshold:      10
Percentage used:                12
Data units (512,000 byte) read: 123456789
Data units written:             2000000
Host write commands:            4567890123
Power cycles:                   42
Power on hours:                 21000
Unsafe shutdowns:               11
Media errors:                   0
"""
NVMEADM = """nvme0: SMART/Health Information
  Critical Warnings
    Available Space:                                    OK
  Temperature:                            38C
  Available Spare Capacity:               97%
  Device Life Used:                       12%
  Power On Hours:                         21000
"""
ISDCT_NVME = """- SMART and Health Information CVFT0000 -

AvailableSpare : 100
AvailableSpareThreshold : 10
Data Units Written : 0x000000000000000000000000001E8480
Media Errors : 0x0
PercentageUsed : 4
PowerOnHours : 0x260E
Temperature : 307
"""
INTELMAS = "- Intel SSD DC S3520 Series BTXX0000 -\n" + "".join(
    f"\n{number}:\nDescription : {name}\nAction : Pass\nID : {number}\nNormalized : {level}\nRaw : {raw}\nStatus : 50\n"
    f"Threshold : 0\nWorst : {level}\n"
    for number, name, level, raw in (
        ("09", "Power-On Hours Count", 100, "17520"),
        ("E9", "Media Wearout Indicator", 88, "0"),
        ("F1", "Total LBAs Written", 100, "3000000"),
        ("F3", "NAND Bytes Written", 100, "0x44AA20"),
    )
)
SENTINEL = """Hard Disk Sentinel for LINUX console 0.19.9986 (c) 2021 info@hdsentinel.com

HDD Device  0: /dev/sda
HDD Model ID : SOME SSD 250GB
HDD Serial No: SN00001
HDD Size     : 238475 MB
Temperature  : 29 °C
Highest Temp.: 44 °C
Health       : 61 %
Power on time: 812 days, 5 hours
Est. lifetime: more than 690 days
Total written: 2.50 TB

HDD Device  1: /dev/sdb
HDD Model ID : OTHER SSD
HDD Serial No: SN00002
Health       : Unknown %
Power on time:
"""
TELEGRAF = "".join(
    f"smart_attribute,capacity=512110190592,device=sda,host=h,id={number},model=Samsung\\ SSD\\ 860\\ EVO,name={name},"
    f"serial_no=SN00001 exit_status=0i,raw_value={raw}i,threshold=0i,value={level}i,worst={level}i "
    f"170600000{n}000000000\n"
    for n in (0, 1)
    for number, name, level, raw in (
        (241, "Total_LBAs_Written", 99, 2_000_000 + n),
        (177, "Wear_Leveling_Count", 81, 400),
    )
)
TELEGRAF_NVME = (
    "smart_device,device=nvme0,model=X\\,Y,serial_no=SN2 health_ok=true,temp_c=38i,percentage_used=14i,"
    "power_on_hours=9000i 1706000000000000000\n"
    "smart_attribute,device=nvme0,model=X\\,Y,name=Data_Units_Written,serial_no=SN2 raw_value=2000000i "
    "1706000000004000000\n"
)
EXPORTER = "".join(
    f'nvme_{name}{{device="/dev/nvme0n1"}} {value}\n'
    for name, value in (
        ("avail_spare", 100), ("data_units_written", "2e+06"), ("percent_used", 3), ("power_on_hours", 4321),
        ("temperature", 101.3),
    )
)  # fmt: skip


def answer(kind: str, times: int) -> str:
    def sample(name: str, value: str, **labels: str) -> dict[str, object]:
        pairs = [[1706000000 + n, value if n == times - 1 else "0"] for n in range(times)]
        values = {"value": pairs[0]} if kind == "vector" else {"values": pairs}
        return {"metric": {"__name__": name, "device": "nvme0", "instance": "a:9633", **labels}, **values}

    found = [sample("smartctl_device_percentage_used", "4"), sample("smartctl_device_bytes_written", "1024000000000")]
    found += [sample("smartctl_device_percentage_used", "9", instance="b:9633")]
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": found}})


UDISKS = (
    "({'avail_spare': <byte 0x63>, 'spare_thresh': <byte 0x0a>, 'percent_used': <byte 0x0c>, "
    "'total_data_written': <uint64 1024000000000>, 'media_errors': <uint64 0>},)\n"
)
UFS = "\n".join(
    f"==> /sys/devices/x/health_descriptor/{name} <==\n{value}\n"
    for name, value in (("eol_info", "0x02"), ("life_time_estimation_a", "0x05"), ("life_time_estimation_b", "0x02"))
)
UFS_UTILS = """Device Health Descriptor [Byte offset 0x2]: bPreEOLInfo = 0x2
Device Health Descriptor [Byte offset 0x3]: bDeviceLifeTimeEstA = 0x5
Device Health Descriptor [Byte offset 0x4]: bDeviceLifeTimeEstB = 0x2
"""
ILO = {"CapacityMiB": 457862, "MediaType": "SSD", "Model": "MK000480GWEZH", "SerialNumber": "SN00001",
       "CurrentTemperatureCelsius": 31, "PowerOnHours": 21000, "SSDEnduranceUtilizationPercentage": 37.0}  # fmt: skip
MAGICIAN = """Disk Number: 0 | Model Name: SAMSUNG MZ7LM480HCHP-00003 | Firmware Version: GXT3003Q
| ID  | Attribute           | Current | Worst | Threshold | Raw         | Status |
|   9 | Power-on Hours      |      95 |    95 |         0 |       21000 |     OK |
| 177 | Wear Leveling Count |      81 |    81 |         5 |         400 |     OK |
| 241 | Total LBA Written   |      99 |    99 |         0 |     2000000 |     OK |
"""
MSECLI = """Device Name : /dev/sda
ID     Attribute Name                          Current  Worst  Threshold  Raw Data
9      Power On Hours Count                    100      100    0          9000
202    Percentage Lifetime Used                93       93     1          7
"""
ATACTL = """SMART supported, SMART enabled
id value thresh crit collect reliability description                 raw
  9  95    0     no  online  positive    Power-on hours count        21000
177  81    0     no  online  positive    Wear Leveling Count         400
"""
CHECKMK = "".join(
    f"/dev/{device} ATA Samsung_SSD_860_EVO {line}\n"
    for device, level in (("sda", 81), ("sdb", 70))
    for line in attribute_lines([(177, "Wear_Leveling_Count", level, "400"), (9, "Power_On_Hours", 95, "21000")])
    .strip("\n")
    .split("\n")
)
TRUENAS = [
    {"id": 9, "name": "Power_On_Hours", "value": 95, "worst": 95, "thresh": 0, "raw": {"value": 7, "string": "7"}},
    {"id": 202, "name": "Percent_Lifetime_Remain", "value": 81, "worst": 81, "thresh": 1,
     "raw": {"value": 19, "string": "19"}},
]  # fmt: skip

WRITTEN = 2_000_000 * 512_000
SAYS = {
    "nvmecontrol": (
        NVMECONTROL,
        {"spare_percent": 98, "temperature_c": 38, "used_percent": 12, "host_bytes": WRITTEN, "level": "fine"},
    ),
    "nvmeadm": (NVMEADM, {"spare_percent": 97, "temperature_c": 38, "used_percent": 12, "power_on_hours": 21000}),
    "isdct, NVMe": (
        ISDCT_NVME,
        {"used_percent": 4, "host_bytes": WRITTEN, "temperature_c": 34, "power_on_hours": 9742, "spare_percent": 100},
    ),
    "intelmas, SATA": (
        INTELMAS,
        {"used_percent": 12, "host_bytes": 3_000_000 << 25, "nand_bytes": 4_500_000 << 25, "serial": "BTXX0000"},
    ),
    "Telegraf, NVMe": (
        TELEGRAF_NVME,
        {"model": "X,Y", "used_percent": 14, "host_bytes": WRITTEN, "power_on_hours": 9000, "passed": True},
    ),
    "nvme_exporter": (
        EXPORTER,
        {"used_percent": 3, "host_bytes": WRITTEN, "power_on_hours": 4321, "temperature_c": None, "spare_percent": 100},
    ),
    "udisks, NVMe": (UDISKS, {"used_percent": 12, "spare_percent": 99, "host_bytes": WRITTEN, "protocol": "NVMe"}),
    "UFS by tail": (
        UFS.format("/sys/x/health_descriptor"),
        {"used_percent": 40, "protocol": "UFS", "level": "attention"},
    ),
    "ufs-utils": (UFS_UTILS, {"used_percent": 40, "protocol": "UFS", "level": "attention"}),
    "iLO": (
        json.dumps(ILO),
        {"used_percent": 37, "power_on_hours": 21000, "temperature_c": 31, "capacity_bytes": 457862 << 20},
    ),
    "Magician": (
        MAGICIAN,
        {"model": "SAMSUNG MZ7LM480HCHP-00003", "used_percent": 19, "host_bytes": 2_000_000 * 512},
    ),
    "msecli": (MSECLI, {"power_on_hours": 9000, "used_percent": None, "level": "unknown"}),
    "atactl": (ATACTL, {"power_on_hours": 21000, "used_percent": None, "level": "unknown"}),
    "TrueNAS": (json.dumps(TRUENAS), {"power_on_hours": 7, "used_percent": 19}),
}


@pytest.mark.parametrize("name", SAYS)
def test_what_a_tool_says(name: str) -> None:
    """nvmecontrol's bits had been read as values: a drive with all of its spare blocks was failing without any."""
    text, expected = SAYS[name]
    (row,) = rows(text)
    assert {key: row[key] for key in expected} == expected


def test_several_drives_and_times_in_one_paste() -> None:
    assert [row["used_percent"] for row in rows(NVMECONTROL + NVMECONTROL.replace("12\n", "30\n"))] == [12, 30]
    assert [row["used_percent"] for row in rows(CHECKMK)] == [19, 30]
    assert [(row["model"], row["used_percent"]) for row in rows(INTELMAS * 2)] == [
        ("Intel SSD DC S3520 Series", 12)
    ] * 2
    first, second = rows(TELEGRAF)
    assert (first["time_s"], second["time_s"]) == (1_706_000_000, 1_706_000_001)
    assert second["host_bytes"] - first["host_bytes"] == 512 and second["used_percent"] == 19


@pytest.mark.parametrize(("kind", "times"), [("vector", 1), ("matrix", 3)])
def test_prometheus_answers_with_the_drives_of_all_hosts(kind: str, times: int) -> None:
    first, second = rows(answer(kind, times))
    assert (first["used_percent"], first["host_bytes"], second["used_percent"]) == (4, WRITTEN, 9)


def test_the_mark_of_another_program_is_not_the_used_share() -> None:
    first, second = rows(SENTINEL)
    assert (first["used_percent"], first["level"], first["power_on_hours"]) == (None, "unknown", 812 * 24 + 5)
    assert first["host_bytes"] == round(2.5 * (1 << 40)) and "health of 61 % is its own mark" in first["remark"]
    assert (second["model"], second["power_on_hours"], second["remark"]) == ("OTHER SSD", None, None)


def test_it_is_not_said_that_smartctls_database_was_asked() -> None:
    (row,) = rows(TELEGRAF.splitlines()[0] + "\n")
    assert row["attributes_doubt"] == "the report does not say whether smartctl's database knows the drive"


def test_a_model_number_in_a_makers_words() -> None:
    """A regression: without the model, which msecli heads `Model No`, no counter had a meaning."""
    head, table = MSECLI.split("\n", 1)
    (row,) = rows(f"{head}\nModel No    : Micron_5300_MTFDDAK960TDS\nSerial No   : SN00001\n{table}")
    assert (row["model"], row["serial"], row["used_percent"]) == ("Micron_5300_MTFDDAK960TDS", "SN00001", 7)
