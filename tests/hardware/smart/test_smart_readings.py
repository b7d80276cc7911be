"""The counters of real drives: every family of the table, and values that cannot be determined."""

from typing import Any

import pytest

from reports import ata, nvme
from ssdlab.errors import InputError
from ssdlab.hardware.smart import formats, vendor_log
from ssdlab.hardware.smart.change import change
from ssdlab.hardware.smart.families import families
from ssdlab.hardware.smart.reading import parse

GIB, MIB32 = 2**30, 2**25

# (smartctl's family, attributes before, after, WAF): the host writes 1000 GiB, the flash 2500.
CASES = {
    "Intel 545s": ("Intel 545s Series SSDs", {(241, "Host_Writes_32MiB"): 32, (249, "NAND_Writes_1GiB"): 5}, 32),
    "Intel S4510": (
        "Intel S4510/S4610/S4500/S4600 Series SSDs",
        {(225, "Host_Writes_32MiB"): 32, (243, "NAND_Writes_32MiB"): 64},
        32,
    ),
    "Samsung": ("Samsung based SSDs", {(241, "Total_LBAs_Written"): 7, (249, "NAND_Writes_1GiB"): 9}, 2**21),
    "SanDisk": (
        "Marvell based SanDisk SSDs",
        {(241, "Total_Writes_GiB"): 7, (233, "Total_NAND_Writes_GiB"): 9},
        1,
    ),
    "Phison": ("Phison Driven SSDs", {(241, "Lifetime_Writes_GiB"): 7, (233, "Flash_Writes_GiB"): 9}, 1),
    "SK hynix": ("SK hynix SATA SSDs", {(241, "Lifetime_Writes_GiB"): 7, (234, "Lifetime_NAND_Prg_GiB"): 9}, 1),
    "SandForce": ("SandForce Driven SSDs", {(241, "Lifetime_Writes_GiB"): 7, (233, "SandForce_Internal"): 9}, 1),
}


@pytest.mark.parametrize("name", CASES)
def test_waf_by_family(name: str) -> None:
    family, before, host_per_gib = CASES[name]
    nand_per_gib = {"NAND_Writes_32MiB": 32}
    after = {
        key: raw + (1000 * host_per_gib if index == 0 else 2500 * nand_per_gib.get(key[1], 1))
        for index, (key, raw) in enumerate(before.items())
    }
    seen = change(parse(ata(family, before), "a"), parse(ata(family, after, day=10), "b"))
    assert seen.reason is None
    assert seen.waf is not None
    assert seen.waf.value == pytest.approx(2.5)
    assert seen.waf.low < 2.5 < seen.waf.high
    assert seen.waf.high - seen.waf.low < 0.02
    assert (seen.host_bytes, seen.nand_bytes, seen.days) == (1000 * GIB, 2500 * GIB, 10)


def test_two_kinds_of_cells_are_added_up() -> None:
    before = {(241, "Host_Writes_32MiB"): 0, (245, "TLC_Writes_32MiB"): 0, (246, "SLC_Writes_32MiB"): 0}
    after = {(241, "Host_Writes_32MiB"): 1000, (245, "TLC_Writes_32MiB"): 1000, (246, "SLC_Writes_32MiB"): 800}
    family = "Silicon Motion based SSDs"
    seen = change(parse(ata(family, before), "a"), parse(ata(family, after), "b"))
    assert seen.waf is not None
    assert seen.waf.value == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("Crucial/Micron Client SSDs", "FTL_Program_Page_Count"),
        ("Micron 5100 Pro / 52x0 / 5300 SSDs", "Bckgnd_Program_Page_Cnt"),
    ],
)
def test_micron_counts_pages(family: str, name: str) -> None:
    """Micron's WAF is (F7 + F8) / F7, independent of the page size."""
    before = {(246, "Total_LBAs_Written"): 0, (247, "Host_Program_Page_Count"): 100, (248, name): 100}
    after = {(246, "Total_LBAs_Written"): 10**9, (247, "Host_Program_Page_Count"): 100_100, (248, name): 60_100}
    seen = change(parse(ata(family, before), "a"), parse(ata(family, after), "b"))
    assert seen.waf is not None
    assert seen.waf.value == pytest.approx(1.6)
    assert seen.nand_bytes is None, "the size of a page is not known"


def test_a_number_that_means_something_else_is_not_taken() -> None:
    """233 is Media_Wearout_Indicator on Intel drives: the number alone is not sufficient."""
    attributes = {(241, "Lifetime_Writes_GiB"): 10, (233, "Media_Wearout_Indicator"): 99}
    reading = parse(ata("Phison Driven SSDs", attributes), "a")
    assert reading.nand == ()
    assert reading.reason is not None


@pytest.mark.parametrize(
    ("family", "said"), [(None, "does not know this model"), ("Foo SSDs", "'Foo SSDs' is not in the table")]
)
def test_an_unknown_drive_is_not_guessed_at(family: str | None, said: str) -> None:
    attributes = {(241, "Total_LBAs_Written"): 10, (249, "Unknown_Attribute"): 99}
    reading = parse(ata(family, attributes), "a")
    assert (reading.host, reading.nand) == (None, ())
    assert said in (reading.reason or "")


def test_nvme_counts_the_host_alone_and_ocp_both() -> None:
    before, after = nvme(1000), nvme(1000 + 200_000, day=3)
    plain = change(parse(before, "a"), parse(after, "b"))
    assert plain.host_bytes == 200_000 * 512_000
    assert plain.waf is None
    assert "counts only the host's writes" in (plain.reason or "")
    written = 200_000 * 512_000 * 3 // 2
    logs = [{"Physical media units written": {"hi": 0, "lo": at}} for at in (10**12, 10**12 + written)]
    seen = change(parse(before, "a", logs[0]), parse(after, "b", logs[1]))
    assert seen.waf is not None
    assert seen.waf.value == pytest.approx(1.5)


def test_ocp_counters_of_128_bits() -> None:
    reading = parse(nvme(1), "a", {"Physical media units written": {"hi": 2, "lo": 5}})
    assert reading.nand[0].bytes == 2 * 2**64 + 5


def test_no_waf_from_a_few_steps() -> None:
    family = "Intel 545s Series SSDs"
    before = {(241, "Host_Writes_32MiB"): 0, (249, "NAND_Writes_1GiB"): 0}
    after = {(241, "Host_Writes_32MiB"): 32 * 60, (249, "NAND_Writes_1GiB"): 99}
    seen = change(parse(ata(family, before), "a"), parse(ata(family, after), "b"))
    assert seen.waf is None
    assert seen.reason == "only 99 steps of the coarser counter have passed; at least 100 are needed"
    assert seen.resolution == "host 32 MiB, NAND 1 GiB"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (nvme(5), nvme(4), "fell from 5 to 4"),
        (nvme(5, day=2), nvme(6, day=1), "older than the first"),
        (nvme(5), ata("Samsung based SSDs", {}), "from two drives"),
    ],
)
def test_readings_that_do_not_belong_together(first: dict[str, object], second: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        change(parse(first, "a"), parse(second, "b"))


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ({}, "not a report of `smartctl -j`"),
        ({"smartctl": {"messages": [{"string": "Permission denied"}]}}, "Permission denied"),
    ],
)
def test_what_is_no_report(report: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(report, "x.json")


def test_every_family_says_where_it_is_from() -> None:
    assert len(families()) >= 10
    for family in families():
        assert "drivedb.h" in family.source
        assert family.host


# Published reports of real drives: the counters, and the resulting ratio.
RECORDED = {
    "Kingston SV300S37A120G": (
        "SandForce Driven SSDs",
        {(233, "SandForce_Internal"): 7125, (234, "SandForce_Internal"): 5442, (241, "Lifetime_Writes_GiB"): 5442},
        7125 / 5442,
    ),
    "WDC WDS240G2G0A": (
        "WD Blue / Red / Green SSDs",
        {
            (233, "NAND_GB_Written_TLC"): 44318,
            (234, "NAND_GB_Written_SLC"): 126409,
            (241, "Host_Writes_GiB"): 27134,
            (242, "Host_Reads_GiB"): 7237,
        },
        (44318 + 126409) / 27134,
    ),
}


@pytest.mark.parametrize("model", RECORDED)
def test_what_is_assumed_of_recorded_drives_is_said(model: str) -> None:
    """The ratio over the drive's life, and the units that are assumed."""
    family, counters, waf = RECORDED[model]
    new = ata(family, dict.fromkeys(counters, 0))
    seen = change(parse(new, "new"), parse(ata(family, counters, day=1500), "now"))
    assert seen.waf is not None
    assert seen.waf.value == pytest.approx(waf)
    assert seen.assumed and all("GiB" in words for words in seen.assumed)


def test_limits_of_temperature() -> None:
    """smartctl 7.4 reports NVMe's thresholds, SCT status those of SATA drives; 7.3 reports none of NVMe's."""
    assert parse(nvme(5), "a").temperature_max_c is None
    told = nvme(5) | {"nvme_composite_temperature_threshold": {"warning": 83, "critical": 85}}
    assert parse(told, "a").temperature_max_c == 85
    assert parse(ata(None, {}) | {"temperature": {"current": 31, "op_limit_max": 65}}, "a").temperature_max_c == 65


@pytest.mark.parametrize(
    "ocp",
    [
        {"Physical media units written": {"hi": 0, "lo": 5_000_000_000}},
        {"physical_media_units_written": 5_000_000_000},
        {"physical_media_units_written_bytes": 5_000_000_000},
    ],
    ids=["nvme-cli", "nvme-cli, second format", "the simulated drive"],
)
def test_forms_of_the_ocp_log(ocp: dict[str, Any]) -> None:
    (count,) = parse(nvme(5), "a", ocp).nand
    assert count.bytes == 5_000_000_000


def intel(nand: int, host: int) -> dict[str, Any]:
    statistics = {"nand_bytes_written": nand, "host_bytes_written": host, "crc_error_count": 0}
    return {
        "Intel Smart log": "nvme0n1",
        "Device stats": {name: {"normalized": 100, "raw": raw} for name, raw in statistics.items()},
    }


def test_the_makers_own_log_proves_its_unit() -> None:
    """Its host writes must agree with those in NVMe's health log, which has known units."""
    host_32mib = 45197
    units = host_32mib * MIB32 // 512_000
    reading = parse(nvme(units), "a", None, intel(40262, host_32mib))
    assert [count.bytes for count in reading.nand] == [40262 * MIB32]
    assert reading.reason is None and reading.nand[0].assumed is None
    other_unit = parse(nvme(units * 3), "a", None, intel(40262, host_32mib))
    assert other_unit.nand == () and "0.33 times the host writes" in str(other_unit.reason)
    new = parse(nvme(1), "a", None, intel(1, 0))
    assert new.nand == () and "too little" in str(new.reason)
    assert "no counts" in str(parse(nvme(5), "a", None, {"Device stats": {}}).reason)


def test_the_makers_log_is_asked_of_its_drives_only() -> None:
    assert vendor_log.command("INTEL SSDPE2KX010T8", "/dev/nvme0") == (
        "nvme",
        "intel",
        "smart-log-add",
        "/dev/nvme0",
        "--json",
    )
    assert "solidigm" in (vendor_log.command("SOLIDIGM SSDPF2KX038T1", "/dev/nvme0") or ())
    assert vendor_log.command("Samsung SSD 980 PRO 1TB", "/dev/nvme0") is None
    assert vendor_log.first_object('\n{"a": 1}/n') == {"a": 1}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/dev/sdb: Unknown USB bridge [0x152d:0x0583 (0x209)]", "Unknown USB bridge"),
        ("Smartctl open device: /dev/nvme0 failed: Permission denied", "Permission denied"),
        ("Read NVMe SMART/Health Information failed: scsi error", "Health Information failed"),
        (
            "Device Model: A\nID# ATTRIBUTE_NAME FLAG VALUE 5 Reallocated_Sector_Ct 0x0033 100 9 X 0x0032 1",
            "a line of its own",
        ),
    ],
)
def test_what_smartctl_says_of_its_failure_is_told(line: str, said: str) -> None:
    """A regression: only that there is no SMART data was said, and to run smartctl as root, which helps with no
    bridge."""
    text = f"smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.15.0] (local build)\n\n{line}\n"
    (report,) = formats.recognised(text.encode(), "x")
    with pytest.raises(InputError, match=said):
        parse(report, "x")


@pytest.mark.parametrize(
    ("zone", "hours"),
    [("UTC", 0), ("CET", 1), ("CEST", 2), ("PST", -8), ("JST", 9), ("+0530", 5.5), ("-03", -3), ("CST", 0)],
)
def test_times_of_zones_that_are_known(zone: str, hours: float) -> None:
    """A regression: all times were read as UTC, so that a report as text and one as JSON of half an hour later were
    in the wrong order, or hours apart."""
    text = "smartctl 7.3 2022-02-28\n\n=== START OF INFORMATION SECTION ===\nDevice Model:     A\n"
    text += f"Local Time is:    Tue Jan  9 10:00:00 2024 {zone}\n"
    (report,) = formats.recognised(text.encode(), "x")
    assert report["local_time"]["time_t"] == 1_704_794_400 - hours * 3600


_SCSI_HEAD = """smartctl 7.2 2020-12-30 r5155

=== START OF INFORMATION SECTION ===
Vendor:               A
Product:              B
Serial number:        C
SMART Health Status: OK
Percentage used endurance indicator: 7%

SMART Self-test log
Num  Test              Status                 segment  LifeTime  LBA_first_err [SK ASC ASQ]
     Description                              number   (hours)
"""


def _scsi_test(number: int, result: str, segment: str = "-") -> str:
    return f"#{number:2}  Background long   {result:<25}{segment:>4}   12345                 - [-   -    -]"


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([(7, "Failed in segment -->")], "Its last self-test failed (Failed in segment)."),
        ([(4, "Completed, segment failed")], "Its last self-test failed (Completed, segment failed)."),
        ([(3, "Unknown error, incomplete")], "Its last self-test failed (Unknown error, incomplete)."),
        ([(15, "Self test in progress ..."), (5, "Failed in first segment")], "Its last self-test failed (Failed in"),
        ([(0, "Completed"), (7, "Failed in segment -->")], None),
        ([(1, "Aborted (by user command)"), (6, "Failed in second segment")], None),
        ([(0, "Completed")], None),
    ],
)
def test_the_last_self_test_of_a_sas_drive_counts(results: list[tuple[int, str]], said: str | None) -> None:
    """A regression: it was read of SATA and NVMe drives only, and a SAS drive was fine."""
    lines = [_scsi_test(number, string) for number, (_, string) in enumerate(results, start=1)]
    (report,) = formats.recognised((_SCSI_HEAD + "\n".join([*lines, ""])).encode(), "x")
    as_json = {
        **{key: value for key, value in report.items() if not key.startswith("scsi_self_test")},
        **{
            f"scsi_self_test_{number}": {"code": {"value": 2}, "result": {"value": value, "string": string}}
            for number, (value, string) in enumerate(results)
        },
    }
    for each in (report, as_json):
        reported = parse(each, "x").signs.reported
        assert reported is None if said is None else str(reported).startswith(said)


@pytest.mark.parametrize("serial", ["XXXXXXXX", "00000000000000000000", "xxxx-xxxx"])
def test_a_serial_number_that_says_nothing_joins_no_drives(serial: str) -> None:
    assert parse(nvme(5) | {"serial_number": serial}, "a").identity == ""


_ATA_TESTS = "Num  Test_Description    Status                  Remaining  LifeTime(hours)  LBA_of_first_error\n"
_ATA_FAILED = "# {}  Extended offline    Completed: read failure       90%     23400         1234567"
_NVME_TESTS = "Num  Test_Description  Status                       Power_on_Hours  Failing_LBA  NSID Seg SCT Code\n"
_NVME_FAILED = " {}   Extended          Completed: failed segments            9000            -     -   2   -    -"


@pytest.mark.parametrize(
    ("head", "lines", "said"),
    [
        (_ATA_TESTS, [_ATA_FAILED.format(1)], "read failure"),
        (_ATA_TESTS, ["# 1  Short offline       Completed without error  00%  23500  -", _ATA_FAILED.format(2)], None),
        (_ATA_TESTS, ["# 1  Short offline       Aborted by host               60%     23500         -"], None),
        (_NVME_TESTS, [_NVME_FAILED.format(0)], "failed segments"),
        (
            _NVME_TESTS,
            [" 0   Short   Completed without error   9100   -   -  -  -  -", _NVME_FAILED.format(1)],
            None,
        ),
    ],
)
def test_the_last_self_test_counts(head: str, lines: list[str], said: str | None) -> None:
    """A regression: a drive whose last self-test failed was fine."""
    is_nvme = head is _NVME_TESTS
    log = "Critical Warning:  0x00\nPercentage Used:  3%\nData Units Written:  5\n"
    table = "  9 Power_On_Hours          0x0032   095   095   000    Old_age   Always       -       23456\n"
    text = f"smartctl 7.4 2023-08-01\n\nDevice Model:     A\n{log if is_nvme else table}\n{head}{chr(10).join(lines)}\n"
    (report,) = formats.recognised(text.encode(), "x")
    reported = parse(report, "x").signs.reported
    assert reported is None if said is None else said in str(reported)
