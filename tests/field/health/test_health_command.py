"""`ssdlab health`: from files, folders, archives and standard input to tables, data, pages and exit codes."""

import io
import json
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest
import zstandard

from program import Program, program_in
from reports import ata, nvme
from ssdlab.field.health import drive, life
from ssdlab.field.health.life import Pace
from ssdlab.field.health.surveying import health
from ssdlab.hardware.smart.change import change
from ssdlab.hardware.smart.reading import parse
from ssdlab.hardware.smart.wear import USED_MAX

SAMPLE = Path(__file__).parents[2] / "hardware/smart/field_sample/reports"
REPORTS = {path.name: path.read_bytes() for path in sorted(SAMPLE.iterdir())}


@pytest.fixture
def ssdlab(tmp_path: Path) -> Program:
    return program_in(tmp_path)


def drives(done: "subprocess.CompletedProcess[str]") -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(done.stdout)["drives"]
    return found


def test_a_folder(ssdlab: Program) -> None:
    done = ssdlab("health", str(SAMPLE), "--json")
    # One of the drives has counted 15 media errors, which need attention.
    assert done.returncode == 1, done.stderr
    assert len(drives(done)) == len(REPORTS)
    one = next(each for each in drives(done) if str(each["source"]).endswith("11.txt"))
    assert one["waf"] == pytest.approx(12182430 / 9654861)
    # 8 % used in 35,829 hours, so that the remaining 92 % last 11.5 times as long.
    assert one["years_left"] == pytest.approx(35829 / 8760 * 92 / 8)
    assert one["life_bytes"] == pytest.approx(9654861 * 2**25 * 100 / 8)


def packed(kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in REPORTS.items():
                archive.writestr(f"reports/{name}", data)
        return buffer.getvalue()
    modes = {"tar": "w", "tar.gz": "w:gz", "tar.bz2": "w:bz2", "tar.xz": "w:xz", "tar.zst": "w"}
    with tarfile.open(fileobj=buffer, mode=modes[kind]) as archive:  # type: ignore[call-overload]
        for name, data in REPORTS.items():
            entry = tarfile.TarInfo(f"reports/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    data = buffer.getvalue()
    return zstandard.compress(data) if kind == "tar.zst" else data


def test_archives_of_any_kind(tmp_path: Path) -> None:
    """The result is independent of the packing."""
    from ssdlab.field.health import contents, scanning

    for kind in ("zip", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"):
        # Detected by their content, not by their names.
        path = tmp_path / kind.replace(".", "-")
        path.write_bytes(packed(kind))
        rows = [row for content in contents.found([str(path)]) for row in scanning.rows_of(content)]
        assert [getattr(row, "reason", None) for row in rows] == [None] * len(REPORTS), kind


def test_a_damaged_archive_is_said_to_be_one(ssdlab: Program, tmp_path: Path) -> None:
    whole = packed("tar")
    (tmp_path / "cut.tar").write_bytes(whole[: len(whole) // 2])
    done = ssdlab("health", "cut.tar", "--json", "--fail-on", "never")
    assert done.returncode == 0, done.stderr
    assert 0 < len(drives(done)) < len(REPORTS)
    assert "damaged or cut off" in json.loads(done.stdout)["unread"][0]["unread"]
    (tmp_path / "cut.zip").write_bytes(packed("zip")[:4000])
    done = ssdlab("health", "cut.zip")
    assert done.returncode == 2 and "cut.zip: is damaged" in done.stderr


def test_standard_input_and_exit_codes(ssdlab: Program) -> None:
    worn = json.dumps(nvme(10**6, used=93)).encode()
    for arguments, code in (([], 1), (["--fail-on", "failing"], 0), (["--fail-on", "never"], 0)):
        done = ssdlab("health", "-", *arguments, stdin=worn)
        assert done.returncode == code, done.stderr
        assert "93 % of its rated life is used" in " ".join(done.stdout.split())
    failing = json.dumps(nvme(5, warning=8)).encode()
    assert ssdlab("health", "-", "--fail-on", "failing", stdin=failing).returncode == 1
    assert ssdlab("health", "-").returncode == 2


def from_text(ssdlab: Program, text: str) -> list[dict[str, object]]:
    return drives(ssdlab("health", "-", "--json", stdin=text.encode()))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere: is neither a file nor a folder"),
        (["empty"], "empty: contains no file"),
        ([str(SAMPLE), "--fail-on", "often"], "--fail-on is 'often'"),
        (["note.txt"], "note.txt: is not a known report"),
    ],
)
def test_what_is_wrong_is_said(ssdlab: Program, tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").write_text("The drive is fine.\n")
    done = ssdlab("health", *words)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_table_fits_the_terminal(tmp_path: Path, columns: int) -> None:
    said = program_in(tmp_path, columns)("health", str(SAMPLE)).stdout.splitlines()
    assert len(said) > len(REPORTS)
    assert max(len(line) for line in said) <= columns
    head = " ".join(said[1:3])
    assert all(word in head for word in ("WAF", "used", "years", "left", "state"))


def test_two_reports_of_one_drive_give_its_pace(ssdlab: Program, tmp_path: Path) -> None:
    """In ten days 1,000 GiB from the host and 2,500 to flash, after equal amounts before; 10 % are used."""
    family = "Intel 545s Series SSDs"
    for day, host, nand in ((0, 10_000, 10_000), (10, 11_000, 12_500)):
        report = ata(family, {(241, "Host_Writes_32MiB"): host * 32, (249, "NAND_Writes_1GiB"): nand}, day=day)
        report["ata_smart_attributes"]["table"].append(
            {"id": 233, "name": "Media_Wearout_Indicator", "value": 90, "raw": {"value": 0, "string": "0"}}
        )
        (tmp_path / f"day{day}.json").write_text(json.dumps(report))
    (only,) = drives(ssdlab("health", "day0.json", "day10.json", "--json"))
    assert only["reports"] == 2 and only["pace_between_reports"] is True
    assert only["host_bytes_per_day"] == pytest.approx(100 * 2**30)
    assert only["recent_waf"] == pytest.approx(2.5)
    assert only["left_bytes"] == pytest.approx(11_000 * 2**30 * 90 / 10)
    # What wears the drive is written to flash: nine times the 12,500 GiB so far are left, at 250 GiB a day.
    assert only["years_left"] == pytest.approx(12_500 * 90 / 10 / 250 / 365)
    assert only["years_by"] == "its used percentage and what was written to flash"


@pytest.mark.parametrize(("used", "said"), [(1, ">5"), (2, "7-23"), (8, "10.5")])
def test_the_years_of_a_drive_that_is_hardly_used_are_a_range(
    ssdlab: Program, tmp_path: Path, used: int, said: str
) -> None:
    """A regression: of 1 % used, which is 0 to 2 %, the table named the years to a tenth, as of 50 %."""
    report = nvme(used * 400_000, used=used)
    report["nvme_smart_health_information_log"]["power_on_hours"] = 1000 * used
    (tmp_path / "one.json").write_text(json.dumps(report))
    row = next(line for line in ssdlab("health", "one.json").stdout.splitlines() if line.lstrip().startswith("NVME"))
    assert said in row.split()


def test_less_than_a_year_of_a_drive_that_is_hardly_used_is_a_range(tmp_path: Path) -> None:
    """A regression: of 3 % used in 241 hours the table had `1-1` years, the writes left were named to four digits, and
    the sentence named one number of months. The days were said to be those since the drive was new, not with power."""
    report = nvme(188_000_000, used=3)
    report["nvme_smart_health_information_log"]["power_on_hours"] = 241
    (tmp_path / "one.json").write_text(json.dumps(report))
    said = program_in(tmp_path, 160)("health", "one.json").stdout
    row = next(line for line in said.splitlines() if line.lstrip().startswith("NVME"))
    assert "0.7-1.3" in row.split() and "2.3-4.7 PB" in row
    told = " ".join(said.split())
    assert "the rest lasts 8 months to 1.3 years with power" in told and "9.6 TB a day of its time with power" in told


def test_a_percentage_that_the_written_bytes_cannot_have_used_gives_no_years(ssdlab: Program, tmp_path: Path) -> None:
    """A regression: a SAS drive that had used 7 % by 1.5 drive writes, in 146 hours, was said to last 3 more months."""
    for name, drive_writes in (("reset", 1.5), ("worn", 15.0)):
        report = nvme(round(drive_writes * 480e9 / 512_000), used=7)
        report |= {"serial_number": name, "user_capacity": {"bytes": 480 * 10**9}, "power_on_time": {"hours": 146}}
        (tmp_path / f"{name}.json").write_text(json.dumps(report))
    by_serial = {each["serial"]: each for each in drives(ssdlab("health", "reset.json", "worn.json", "--json"))}
    reset, worn = by_serial["reset"], by_serial["worn"]
    assert worn["years_left"] == pytest.approx(146 / 8760 * 93 / 7) and worn["level"] == "attention"
    assert reset["years_left"] is None and reset["level"] == "note" and reset["endurance_class"] is None
    assert "7 % of its rated life is used after 1.5 drive writes from the host" in str(reset["concern"])


@pytest.mark.parametrize(
    ("level", "used", "in_table", "most"),
    [(2, "98 %", "98", None), (1, "99 % or more", ">=99", 2 / 98), (0, "100 % or more", ">=100", 1 / 99)],
)
def test_a_level_that_has_fallen_to_its_end_is_a_bound(
    ssdlab: Program, tmp_path: Path, level: int, used: str, in_table: str, most: float | None
) -> None:
    """A regression: a drive whose 233 stays at 1, however much more is used, had "99 % used" and 0.115 years left; in
    the table "0-0"."""
    table = "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n"
    rows = {9: ("Power_On_Hours", 100, 87_600), 225: ("Host_Writes_32MiB", 100, 2_000_000)}
    rows[233] = ("Media_Wearout_Indicator", level, 0)
    table += "".join(
        f"{key:3} {name:23} 0x0032   {value:03}   {value:03}   000    Old_age   Always       -       {raw}\n"
        for key, (name, value, raw) in rows.items()
    )
    head = "smartctl 7.2 2020-12-30 r5155\n\nModel Family:     Intel 320 Series SSDs\nDevice Model:     INTEL A\n"
    (tmp_path / "one.txt").write_text(f"{head}User Capacity:    160,041,885,696 bytes [160 GB]\n\n{table}")
    (row,) = drives(ssdlab("health", "one.txt", "--json"))
    told, lifetime = (
        ssdlab("health", "one.txt").stdout,
        " ".join(ssdlab("lifetime", "--smart", "one.txt").stdout.split()),
    )
    assert f"{used} of its rated life is used" in str(row["concern"]) or f"({used} used)" in str(row["concern"])
    assert f"used {used} (233 Media_Wearout_Indicator)" in lifetime
    assert in_table in told.split() and "0-0" not in told
    assert row["used_percent_max"] == (None if most is None else 255)
    if most is not None:
        assert (row["years_left_low"], row["left_bytes_low"]) == (0, 0)
        assert row["years_left_high"] == pytest.approx(10 * most)
        assert f"at most {10 * most:.3g} years left" in lifetime
        assert "the rest lasts at most 2 months" in " ".join(told.split()) or level == 0


def test_the_rise_to_the_end_of_a_level_is_at_least_that() -> None:
    pace = Pace(1e9, 365, between_reports=True, used_percent_risen=9)
    known, bound = (life.of(99, 10**12, 10_000, pace, most).years_left for most in (None, USED_MAX))
    assert known and bound and known.low == pytest.approx(1 / 10) and bound.low == 0 and bound.high == known.high


def test_each_summed_counter_can_be_off_by_a_step() -> None:
    """A regression: between two reports, a sum of two counters had the bounds of one."""
    readings = [
        parse(
            ata(
                "Silicon Motion based SSDs",
                {(241, "Host_Writes_32MiB"): host, (245, "TLC_Writes_32MiB"): tlc, (246, "SLC_Writes_32MiB"): slc},
                day=day,
            ),
            "a report",
        )
        for day, host, tlc, slc in ((0, 0, 0, 0), (10, 1000, 1000, 800))
    ]
    row = drive.between(*(drive.row_of(reading, "a report") for reading in readings))
    expected = change(*readings).waf
    assert expected is not None and expected.low == pytest.approx(1798 / 1001)
    found = (row["recent_waf"], row["recent_waf_low"], row["recent_waf_high"])
    assert found == pytest.approx((expected.value, expected.low, expected.high))


def test_a_stopped_survey_goes_on(ssdlab: Program, tmp_path: Path) -> None:
    first = ssdlab("health", str(SAMPLE), "--output", "out", "--fail-on", "never")
    assert first.returncode == 0, first.stderr
    parts = {path: path.stat().st_mtime_ns for path in (tmp_path / "out/parts").iterdir()}
    frame = pl.read_parquet(tmp_path / "out/drives.parquet")
    assert len(parts) == 1 and len(frame) == len(REPORTS)
    (tmp_path / "out/drives.parquet").unlink()
    again = ssdlab("health", str(SAMPLE), "--output", "out", "--fail-on", "never")
    assert again.stdout == first.stdout
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out/parts").iterdir()} == parts
    assert pl.read_parquet(tmp_path / "out/drives.parquet").equals(frame)


def test_workers_read_what_one_process_reads(tmp_path: Path) -> None:
    """More files than one process reads; some are not reports."""
    from ssdlab.field.health.survey import surveyed

    for number in range(300):
        (tmp_path / f"{number:03}.txt").write_bytes(REPORTS[f"{number % len(REPORTS):02}.txt"] if number % 7 else b"x")
    found = []
    for workers in (1, 2):
        with surveyed([str(tmp_path)], workers=workers) as spool:
            found.append((spool.rows().collect(), spool.unread().collect()))
    assert found[0][0].equals(found[1][0])
    assert len(found[0][1]) == 43


def test_anonymous(ssdlab: Program, tmp_path: Path) -> None:
    (tmp_path / "S3CR3T.json").write_text(json.dumps(nvme(10**6) | {"serial_number": "S3CR3T"}))
    assert "S3CR3T" in ssdlab("health", "S3CR3T.json", "--json").stdout
    done = ssdlab("health", "S3CR3T.json", "--json", "--anonymous", "--output", "out", "--prometheus", "out.prom")
    assert done.returncode == 0, done.stderr
    assert "S3CR3T" not in done.stdout
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert files and not any(b"S3CR3T" in path.read_bytes() for path in [*files, tmp_path / "out.prom"])


def test_a_drives_words_are_only_shown(ssdlab: Program, tmp_path: Path) -> None:
    """A drive's model name can contain anything: pages, terminals and labels must not interpret it."""
    name = '<script>alert(1)</script>[red]\x1b[31m"\\'
    (tmp_path / "odd.json").write_text(json.dumps(nvme(10**6, used=99) | {"model_name": name}))
    done = ssdlab("health", "odd.json", "--output", "out", "--prometheus", "m.prom", "--fail-on", "never")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    page = (tmp_path / "out/report.html").read_text()
    assert "<script>alert(1)" not in page and "&lt;script&gt;alert(1)" in page
    assert re.search(r'model_name="<script>.*\\"\\\\"', (tmp_path / "m.prom").read_text())


def test_the_page_says_which_class_of_endurance_is_enough(ssdlab: Program, tmp_path: Path) -> None:
    """Drives of 1 TB after 1,000 hours: 4 TB written are a tenth of it a day, 60 TB are 1.4 of it."""
    for name, written_bytes in (("a", 4 * 10**12), ("b", 4 * 10**12), ("c", 60 * 10**12)):
        report = nvme(written_bytes // 512_000) | {"serial_number": name, "user_capacity": {"bytes": 10**12}}
        report |= {"power_on_time": {"hours": 1000}}
        report["nvme_smart_health_information_log"]["power_on_hours"] = 1000
        (tmp_path / f"{name}.json").write_text(json.dumps(report))
    done = ssdlab("health", "a.json", "b.json", "c.json", "--json", "--output", "out", "--fail-on", "never")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out/report.html").read_text()
    section = re.sub(r"<[^>]*>|\s+", " ", page[page.index("Classes of endurance") :])
    assert re.search(r"0\.3 +2 +2 of 3 +3 +1 +3 of 3", section), section[:400]


NVME_CLI = """Smart Log for NVME device:nvme0n1 namespace-id:ffffffff
critical_warning\t\t\t: 0
temperature\t\t\t\t: 41 °C (314 K)
available_spare\t\t\t\t: 100%
available_spare_threshold\t\t: 10%
percentage_used\t\t\t\t: 3%
Data Units Read\t\t\t\t: 1,000 (512.00 MB)
Data Units Written\t\t\t: 2,000,000 (1.02 TB)
power_on_hours\t\t\t\t: 1,234
media_errors\t\t\t\t: 0
SMART Cloud Attributes :-
  Physical media units written -   \t        \t0 2048000000000
"""


def test_nvme_cli_text_with_ocp_log(ssdlab: Program) -> None:
    (only,) = from_text(ssdlab, NVME_CLI)
    assert (only["host_bytes"], only["nand_bytes"], only["waf"]) == (2_000_000 * 512_000, 2_048_000_000_000, 2.0)
    assert (only["used_percent"], only["temperature_c"], only["power_on_hours"]) == (3, 41, 1234)


def test_nvme_cli_json_and_fdp(ssdlab: Program) -> None:
    health = {"critical_warning": 0, "temperature": 314, "avail_spare": 99, "percent_used": 3, "data_units_written": 5}
    said = f"{json.dumps(health)}/n\n"
    (only,) = from_text(ssdlab, said)
    assert (only["host_bytes"], only["temperature_c"], only["spare_percent"]) == (5 * 512_000, 41, 99)
    placed = json.dumps({"hbmw": 10**12, "mbmw": 12 * 10**11, "mbe": 0})
    (only,) = from_text(ssdlab, placed)
    assert only["waf"] == pytest.approx(1.2)
    text = "Host Bytes with Metadata Written (HBMW): 1000000\nMedia Bytes with Metadata Written (MBMW): 1500000\n"
    (only,) = from_text(ssdlab, text)
    assert only["waf"] == pytest.approx(1.5)


_NUMBERS = (9, 202, 246, 247, 248)
_COLUMNS = ",".join(f"smart_{number}_normalized,smart_{number}_raw" for number in _NUMBERS)
BACKBLAZE = f"""date,serial_number,model,capacity_bytes,failure,{_COLUMNS}
2026-01-01,A1,MTFDDAV240TCB,240057409536,0,100,1000,95,5,100,2000000000,100,31250000,100,31250000
2026-01-11,A1,MTFDDAV240TCB,240057409536,0,100,1240,95,5,100,3000000000,100,41250000,100,61250000
2026-01-11,B2,ST4000DM000,4000787030016,1,100,9000,,,,,,,,
"""


def test_backblaze(ssdlab: Program) -> None:
    found = {each["serial"]: each for each in from_text(ssdlab, BACKBLAZE)}
    ssd = found["A1"]
    assert (ssd["reports"], ssd["used_percent"], ssd["host_bytes"]) == (2, 5, 3_000_000_000 * 512)
    assert ssd["waf"] == pytest.approx(102.5 / 41.25) and ssd["recent_waf"] == pytest.approx(4.0)
    assert ssd["host_bytes_per_day"] == pytest.approx(10**9 * 512 / 10)
    assert found["B2"]["level"] == "failing"
    # A regression: "its self-assessment test has failed", which the statistics do not say.
    assert found["B2"]["concern"] == "Backblaze counts it as failed on the day of this report."


def test_an_implausible_figure_is_no_number(ssdlab: Program, tmp_path: Path) -> None:
    """A drive of a family that counts GiB reports two thousand times the host's writes, over many drive writes."""
    attributes = {(241, "Lifetime_Writes_GiB"): 10_000, (233, "Flash_Writes_GiB"): 20_000_000}
    (tmp_path / "a.json").write_text(json.dumps(ata("Phison Driven SSDs", attributes)))
    (tmp_path / "b.json").write_text(
        json.dumps(ata("Phison Driven SSDs", {(241, "Lifetime_Writes_GiB"): 10_000, (233, "Flash_Writes_GiB"): 900}))
    )
    for name, said in (("a.json", "2,000 times"), ("b.json", "0.09 times")):
        (only,) = drives(ssdlab("health", name, "--json"))
        assert only["waf"] is None and only["waf_is_implausible"] is True
        assert said in str(only["waf_reason"])


RAID_VOLUME = """smartctl 7.0 2018-12-30 r4883 [x86_64-linux-5.4.0] (local build)

=== START OF INFORMATION SECTION ===
Vendor:               AVAGO
Product:              MR9361-16i
User Capacity:        959,656,755,200 bytes [959 GB]
Logical block size:   512 bytes
Device type:          disk
SMART support is:     Unavailable - device lacks SMART capability.

=== START OF READ SMART DATA SECTION ===
Current Drive Temperature:     0 C
Drive Trip Temperature:        0 C
"""


def test_a_volume_of_which_nothing_is_known_is_not_fine(ssdlab: Program, tmp_path: Path) -> None:
    # It was listed as fine, and the summary said that no drive needs attention.
    report = tmp_path / "volume.txt"
    report.write_text(RAID_VOLUME)
    (row,) = drives(ssdlab("health", str(report), "--json"))
    assert row["level"] == "unknown"
    said = " ".join(ssdlab("health", str(report)).stdout.split())
    assert "a volume of a RAID controller" in said and "megaraid" in said
    assert "1 drive: 1 of unknown health" in said
    assert "no drive needs attention" not in said


def test_uncorrectable_errors_need_attention(ssdlab: Program, tmp_path: Path) -> None:
    # 153 of them were a note, beside "no drive needs attention" and exit code 0.
    report = tmp_path / "errors.json"
    report.write_text(json.dumps(ata("Crucial/Micron Client SSDs", {(187, "Reported_Uncorrect"): 153})))
    done = ssdlab("health", str(report))
    assert done.returncode == 1
    assert "153 times" in done.stdout
    assert "no drive needs attention" not in done.stdout


def test_the_terminal_groups_a_fleet_and_has_lines_for_tickets(ssdlab: Program) -> None:
    places = str(Path(__file__).parents[2] / "hardware/smart/cases")
    said = ssdlab("health", places, "--fail-on", "never").stdout
    (urgent, *_) = health(places).gravest(1)
    ticket = f"{urgent['model']}, serial {urgent['serial']}, {urgent['level']} by {urgent['source']}: "
    # The lines are as wide as the terminal.
    assert "".join(said.split()).count("".join(ticket.split())) == 1
    assert any(line.split()[:4] == ["model", "drives", "failing", "attention"] for line in said.splitlines())


def test_a_fleet_is_grouped_and_has_a_sentence_for_each_ticket(tmp_path: Path) -> None:
    """Serial, report and what is wrong in one sentence, drives by model, and "half" only of those that report it."""
    found = health(str(Path(__file__).parents[2] / "hardware/smart/cases"))
    found.write(tmp_path / "out")
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    urgent = found.frame().filter(pl.col("level").is_in(["failing", "attention"])).row(0, named=True)
    ticket = re.search(r"<h2>For tickets</h2>.*?</section>", page, re.DOTALL)
    assert ticket is not None
    for said in (urgent["serial"], urgent["source"].rpartition("/")[2], urgent["level"]):
        assert said in ticket[0]
    assert "<h2>By model</h2>" in page
    reported = found.frame()["used_percent"].count()
    assert f"Half of the {reported} drives that report it" in page
    assert pl.read_csv(tmp_path / "out/drives.csv", infer_schema_length=None)["model"].len() == found.summary.drives


def test_reports_without_a_serial_number_may_be_of_one_drive(ssdlab: Program, tmp_path: Path) -> None:
    """A regression: two readings of one drive were two drives, without a word."""
    for name, day in (("before", 0), ("after", 30)):
        (tmp_path / f"{name}.json").write_text(json.dumps(nvme(10**6 + day, day=day) | {"serial_number": "XXXX"}))
    said = "2 reports without a serial number count as a drive each, though those of the same model may be of one drive"
    assert said in " ".join(ssdlab("health", "before.json", "after.json").stdout.split())
    assert json.loads(ssdlab("health", "before.json", "after.json", "--json").stdout)["summary"]["unnamed"] == 2
    assert "without a serial number" not in ssdlab("health", "before.json").stdout
    named = nvme(10**6, day=60) | {"model_name": "OTHER", "serial_number": ""}
    (tmp_path / "other.json").write_text(json.dumps(named))
    assert "without a serial number" not in ssdlab("health", "before.json", "other.json").stdout
    counted = {
        (9, "Power_On_Hours"): 1000,
        (202, "Percent_Lifetime_Used"): 10,
        (246, "Total_Host_Sector_Write"): 10**10,
    }
    counted |= {(247, "Host_Program_Page_Count"): 3 * 10**8, (248, "FTL_Program_Page_Count"): 2 * 10**8}
    for name, day in (("first", 0), ("second", 60)):
        report = ata("Micron 5100 Pro / 52x0 / 5300 SSDs", counted, day=day, serial="")
        (tmp_path / f"{name}.json").write_text(json.dumps(report))
    # It would count the writes of one drive twice. What is written said nothing of it.
    done = ssdlab("fleet", "smart", "first.json", "second.json", "--output", "fleet")
    assert said in " ".join(done.stderr.split())
    assert [notice for notice in json.loads((tmp_path / "fleet/result.json").read_text())["notices"] if said in notice]
    assert said in (tmp_path / "fleet/report.html").read_text()
