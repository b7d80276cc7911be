"""Drives that smartctl's database does not know: the names that it gives to numbers then say nothing.

They had been read by those names: a worn drive with 233 at 100 was new.
"""

from typing import Any

import pytest

from pasted import Attribute, case, rows, unknown_drive
from ssdlab.field.health import table

UNKNOWN, UNKNOWN_SSD = "Unknown_Attribute", "Unknown_SSD_Attribute"
GIB, MIB32 = 2**30, 2**25


def test_a_name_by_default_says_nothing() -> None:
    (row,) = rows(case("s01"))
    assert (row["used_percent"], row["used_source"], row["level"]) == (94, "231 SSD_Life_Left", "attention")
    assert row["host_bytes"] == 71400 * GIB and row["waf"] == pytest.approx(189600 / 71400)
    assert row["attributes_read_as"] == "Phison, by its model"
    assert row["attributes_unknown"] == "234, 242"


def test_a_model_newer_than_the_database() -> None:
    (row,) = rows(case("s03"))
    assert (row["used_percent"], row["waf"]) == (4, pytest.approx((65406 + 190852) / 173833))


def test_wear_that_rises() -> None:
    (row,) = rows(case("s17"))
    assert (row["used_percent"], row["level"]) == (95, "attention")


# Model, firmware, attributes, and what they say: percent used, host bytes, flash bytes.
BY_MODEL: dict[str, tuple[str, str, list[Attribute], dict[str, Any]]] = {
    "Kingston A400": (
        "KINGSTON  SA400S37480G",
        "SBFK10D7",
        [
            (231, "Temperature_Celsius", 88, "88"),
            (233, "Media_Wearout_Indicator", 100, "9000"),
            (241, "Total_LBAs_Written", 100, "6000"),
        ],
        {"used_percent": 12, "host_bytes": 6000 * GIB, "nand_bytes": 9000 * GIB, "level": "fine"},
    ),
    "a name that many controllers have, by Phison's firmware": (
        "INTENSO SATA III SSD",
        "SBFM91.3",
        [(231, UNKNOWN_SSD, 40, "40"), (241, "Total_LBAs_Written", 100, "6000")],
        {"used_percent": 60, "host_bytes": 6000 * GIB, "attributes_read_as": "Phison, by its firmware SBFM91.3"},
    ),
    "the same name, by Silicon Motion's firmware": (
        "INTENSO SSD",
        "W0714A0",
        [
            (169, UNKNOWN, 100, "62"),
            (241, "Total_LBAs_Written", 100, "320"),
            (245, UNKNOWN, 100, "400"),
            (246, UNKNOWN, 100, "240"),
        ],
        {"used_percent": 38, "host_bytes": 320 * MIB32, "nand_bytes": 640 * MIB32},
    ),
    "the same name, by neither": (
        "INTENSO SSD",
        "1.0.7",
        [(169, UNKNOWN, 100, "62"), (231, UNKNOWN_SSD, 40, "40"), (233, "Media_Wearout_Indicator", 100, "0")],
        {"used_percent": None, "level": "unknown", "attributes_unknown": "169, 231, 233", "attributes_read_as": None},
    ),
    "Crucial, newer than the database": (
        "CT4000MX500SSD1",
        "M3CR045",
        [
            (202, UNKNOWN_SSD, 93, "7"),
            (246, UNKNOWN, 100, "2097152"),
            (247, UNKNOWN, 100, "1000"),
            (248, UNKNOWN, 100, "500"),
        ],
        {"used_percent": 7, "host_bytes": GIB, "waf": 1.5},
    ),
    "Crucial with Silicon Motion's numbers": (
        "CT480BX200SSD1",
        "MU02.6",
        [(202, UNKNOWN_SSD, 10, "90"), (169, UNKNOWN, 100, "97")],
        {"used_percent": 3},
    ),
    "WD Green": (
        "WD Green 2.5 480GB",
        "UP450000",
        [(230, UNKNOWN_SSD, 61, "103079215164"), (233, "Media_Wearout_Indicator", 100, "700")],
        {"used_percent": 61},
    ),
    "SanDisk Ultra 3D": (
        "SanDisk SDSSDH3 1T00",
        "411040RL",
        [(230, UNKNOWN_SSD, 93, "0x24a4010024a4"), (241, "Total_LBAs_Written", 253, "100")],
        {"used_percent": 93, "level": "attention", "host_bytes": 100 * GIB},
    ),
    "WD that leaves the value at 100": (
        "WDC WDS240G2G0A-00JH30",
        "UF450000",
        [(230, UNKNOWN_SSD, 100, "0x011e0100011e")],
        {"used_percent": 3, "level": "fine"},
    ),
    "Samsung": (
        "SAMSUNG MZ7LH960HAJR-00005",
        "HXT7304Q",
        [(177, "Wear_Leveling_Count", 5, "2900"), (241, "Total_LBAs_Written", 99, "2097152")],
        {"used_percent": 95, "level": "attention", "host_bytes": GIB},
    ),
    "Intel": (
        "INTEL SSDSC2KB480GZ",
        "7CV10100",
        [
            (233, "Media_Wearout_Indicator", 98, "0"),
            (241, "Total_LBAs_Written", 100, "320"),
            (243, UNKNOWN, 100, "640"),
        ],
        {"used_percent": 2, "host_bytes": 320 * MIB32, "waf": 2.0},
    ),
    "Maxio by its firmware, writes in GiB": (
        "V Series SATA SSD 480GB",
        "SN12521",
        [(231, UNKNOWN_SSD, 98, "98"), (241, "Total_LBAs_Written", 100, "106"), (245, UNKNOWN, 100, "0")],
        {"host_bytes": 106 * GIB, "used_percent": None, "attributes_unknown": "231, 245"},
    ),
    "a model that Phison's controllers have too, by Maxio's firmware": (
        "SSDPR-CX400-128-G2",
        "SN07373",
        [
            (231, UNKNOWN_SSD, 98, "98"),
            (241, "Total_LBAs_Written", 100, "106"),
            (233, "Media_Wearout_Indicator", 1, "7"),
        ],
        {
            "host_bytes": 106 * GIB,
            "nand_bytes": None,
            "attributes_read_as": "Maxio, writes in GiB, by its firmware SN07373",
        },
    ),
    "Maxio, writes in 32 MiB": (
        "Lexar SSD NS100 256GB",
        "SN17776",
        [(241, "Total_LBAs_Written", 100, "998347")],
        {"host_bytes": 998347 * MIB32, "waf": None},
    ),
    "Maxio, writes in LBAs, and those to flash": (
        "NT-512",
        "T180731",
        [(233, "Media_Wearout_Indicator", 100, "3000000"), (241, "Total_LBAs_Written", 100, "2000000")],
        {"host_bytes": 2_000_000 * 512, "waf": 1.5},
    ),
    "Hosin Global in a name of several controllers": (
        "Verbatim Vi550 S3",
        "HAFEA2.0",
        [(241, "Total_LBAs_Written", 100, "106"), (249, UNKNOWN, 100, "9")],
        {"host_bytes": 106 * GIB, "nand_bytes": None, "attributes_unknown": "249"},
    ),
    "Hosin Global in another": (
        "Patriot P220 256GB",
        "HDFEB3.2",
        [(241, "Total_LBAs_Written", 100, "320")],
        {"host_bytes": 320 * MIB32, "attributes_read_as": "Hosin Global HG2259, by its firmware HDFEB3.2"},
    ),
    "ATP, on which 241 is not the host's": (
        "ATP SATA III M.2 2280 SSD",
        "T0205B",
        [(235, UNKNOWN, 100, "1000000"), (241, "Total_LBAs_Written", 100, "1700000"), (248, UNKNOWN, 90, "90")],
        {"host_bytes": 512_000_000, "waf": 1.7, "attributes_unknown": "248"},
    ),
    "Kingston UV400, on which the value falls and the raw value rises": (
        "KINGSTON SUV400S37120G",
        "0C3J96R9",
        [
            (183, "Runtime_Bad_Block", 83, "106"),
            (231, "Temperature_Celsius", 80, "20"),
            (241, "Total_LBAs_Written", 100, "9"),
        ],
        {"used_percent": 20, "host_bytes": 9 * GIB, "attributes_read_as": "Kingston UV400 and UV500, by its model"},
    ),
    "HPE's name of a Samsung": (
        "MK000960GZXRB",
        "HPG0",
        [(177, "Wear_Leveling_Count", 93, "100"), (241, "Total_LBAs_Written", 99, "2097152")],
        {"used_percent": 7, "host_bytes": GIB, "attributes_read_as": "Samsung SATA, by its model"},
    ),
    "177 of nobody knows whom": (
        "Goldenfir SSD 480G",
        "X.1",
        [(177, "Wear_Leveling_Count", 5, "2900"), (202, UNKNOWN_SSD, 10, "90"), (173, UNKNOWN, 1, "7")],
        {"used_percent": None, "level": "unknown", "attributes_unknown": "173, 177, 202"},
    ),
}


@pytest.mark.parametrize("name", BY_MODEL)
def test_numbers_have_the_meaning_of_their_family(name: str) -> None:
    model, firmware, attributes, expected = BY_MODEL[name]
    (row,) = rows(unknown_drive(model, firmware, attributes))
    assert {key: row[key] for key in expected} == expected


# Reports of drives that smartctl knows; the value of 230 stays at 100.
@pytest.mark.parametrize(
    ("model", "family", "name", "raw", "used"),
    [
        ("WDC WDS240G2G0A-00JH30", "WD Blue / Red / Green SSDs", "Media_Wearout_Indicator", "0x2f2423142f24", 121),
        ("WDC WDS500G2B0A-00SM50", "WD Blue and Green SSDs", "Media_Wearout_Indicator", "0x0523023c0523", 14),
        ("SanDisk SDSSDH3 2T00", "Marvell based SanDisk SSDs", "Perc_Write/Erase_Count", "9798 1066 9798", 98),
        ("SanDisk SSD PLUS 240 GB", "Marvell based SanDisk SSDs", "Perc_Write/Erase_Count", "1421638828363", 4),
        ("SanDisk SSD PLUS 1000GB", "Marvell based SanDisk SSDs", "Perc_Write/Erase_Count", "9 20 9", 1),
    ],
)
def test_wear_in_the_raw_value(model: str, family: str, name: str, raw: str, used: int) -> None:
    text = unknown_drive(model, "X", [(230, name, 100, raw)])
    known = text.replace("Device Model:", f"Model Family:     {family}\nDevice Model:")
    (row,) = rows(known.replace("Not in smartctl database 7.3/5319", "In smartctl database 7.3/5319"))
    assert row["used_percent"] == used


def test_hpes_names_say_nothing_but_the_wwn_says_whose_drive_it_is() -> None:
    attributes = [(202, UNKNOWN_SSD, 71, "29"), (247, UNKNOWN, 100, "1000"), (248, UNKNOWN, 100, "500")]
    (micron,) = rows(unknown_drive("VK000480GXNZA", "HPG1", attributes, "5 00a075 14d000000"))
    assert (micron["used_percent"], micron["waf"]) == (29, 1.5)
    (other,) = rows(unknown_drive("VK000480GXNZA", "HPG1", attributes, "5 00ffff 14d000000"))
    assert (other["used_percent"], other["waf"], other["level"]) == (None, None, "unknown")


def test_a_family_that_smartctl_knows_keeps_its_names() -> None:
    text = unknown_drive("INTEL SSDSC2KB480G8", "X", [(233, "Media_Wearout_Indicator", 98, "0")])
    known = text.replace("Device Model:", "Model Family:     Intel S4510/S4610/S4500/S4600 Series SSDs\nDevice Model:")
    (row,) = rows(known.replace("Not in smartctl database 7.3/5319", "In smartctl database 7.3/5319"))
    assert (row["used_percent"], row["attributes_read_as"], row["attributes_unknown"]) == (2, None, None)


SCSI = """smartctl 7.3 2022-02-28 r5338 [x86_64-linux] (local build)

=== START OF INFORMATION SECTION ===
Vendor:               {vendor}
Product:              {product}
Revision:             0001
User Capacity:        3,840,755,982,336 bytes [3.84 TB]
Logical block size:   512 bytes
Serial number:        SN00001
Device type:          disk
{more}
"""


def test_a_volume_of_a_controller_is_unknown() -> None:
    """A regression: 0 C of a RAID volume made it fine."""
    volume = SCSI.format(
        vendor="BROADCOM",
        product="MR9560-16i",
        more="SMART support is:     Unavailable - device lacks SMART capability.",
    )
    (row,) = rows(f"{volume}\n=== START OF READ SMART DATA SECTION ===\nCurrent Drive Temperature:     0 C\n")
    assert (row["level"], row["used_percent"]) == ("unknown", None)
    assert "it is a volume of a RAID controller" in row["concerns"] and "megaraid,0" in row["concerns"]


def test_an_older_smartctls_words_for_the_use_of_a_sas_drive() -> None:
    """A regression: smartctl before 7.4 calls the indicator "SS Media used", and nothing was read."""
    drive = SCSI.format(vendor="TOSHIBA", product="PX05SMB040", more="Rotation Rate:        Solid State Device")
    (row,) = rows(
        f"{drive}\n=== START OF READ SMART DATA SECTION ===\nSMART Health Status: OK\n\n"
        "SS Media used endurance indicator: 7%\nCurrent temperature = 25\n"
    )
    assert (row["used_percent"], row["passed"]) == (7, True)


SAS = (
    SCSI.format(vendor="TOSHIBA", product="PX05SMB040", more="Rotation Rate:        Solid State Device")
    + """=== START OF READ SMART DATA SECTION ===
SMART Health Status: {verdict}

Percentage used endurance indicator: {used}%
Accumulated power on time, hours:minutes 20000:17

Error counter log:
           fast | delayed   rewrites  corrected  invocations   [10^9 bytes]  errors
read:          0        0         0         0          0    1204551.312           7
write:         0        0         0         0          0     842113,560           1
verify:        0        0         0         0          0          0.000           0
"""
)


def test_uncorrected_reads_of_a_sas_drive_count() -> None:
    """A regression: of smartctl's text only the writes that failed were counted, of its JSON all."""
    (row,) = rows(SAS.format(verdict="OK", used=12))
    assert (row["media_errors"], row["level"]) == (8, "attention")
    assert (row["host_bytes"], row["power_on_hours"]) == (842_113_560_000_000, 20000)


def test_a_sas_drive_without_smartctls_headings() -> None:
    """A regression: without its first line and its headings, such a text was not a known report."""
    text = "".join(
        line for line in SAS.format(verdict="OK", used=12).splitlines(True) if not line.startswith(("smartctl", "==="))
    )
    (row,) = rows(text.lstrip())
    assert (row["model"], row["used_percent"], row["media_errors"]) == ("TOSHIBA PX05SMB040", 12, 8)
    (row,) = rows("Percentage used endurance indicator: 12%\n")
    assert (row["protocol"], row["used_percent"]) == ("SCSI", 12)


def test_the_largest_percentage_is_no_exact_one() -> None:
    """A regression: 255, which stands for all that is more than 254, was said as the used share."""
    (row,) = rows(SAS.format(verdict="FAILURE PREDICTION THRESHOLD EXCEEDED: ascq=0x73 [asc=5d, ascq=73]", used=255))
    assert table.used_text(row) == ">254 %" and "past its rated life (more than 254 % used)" in row["concerns"]
    assert "The drive warns: it predicts its failure." in row["concerns"], "a SAS drive has no self-assessment test"


def test_a_disk_that_hides_its_health_says_how_to_ask_behind_it() -> None:
    hidden = SCSI.format(vendor="JMicron", product="Generic", more="SMART support is:     Unavailable")
    (row,) = rows(f"{hidden}\n=== START OF READ SMART DATA SECTION ===\nCurrent Drive Temperature:     0 C\n")
    assert row["level"] == "unknown" and "smartctl -a -d sat" in row["concerns"]


def test_a_raw_value_with_all_bits_set_is_no_count() -> None:
    """A regression: 281,474,976,710,655 sectors made 144 PB, 288 drive writes a day."""
    (row,) = rows(unknown_drive("SAMSUNG MZ7LH480HAHQ-00005", "X", [(241, "Total_LBAs_Written", 99, str(2**48 - 1))]))
    assert row["host_bytes"] is None


def test_an_attribute_that_smartctl_prints_twice_is_named_once() -> None:
    """A regression: a failed drive was at the threshold of "231 SSD_Life_Left, 231 SSD_Life_Left"."""
    line = "231 SSD_Life_Left           0x0013   000   000   010    Pre-fail  Always   FAILING_NOW 0\n"
    (row,) = rows(unknown_drive("KINGSTON SA400S37480G", "X", []).replace("PASSED\n", f"FAILED!\n{line}") + line)
    assert row["failing"] == "231 SSD_Life_Left" and row["level"] == "failing"
