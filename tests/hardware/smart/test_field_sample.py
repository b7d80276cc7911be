"""Real reports: compared with values read manually and with a second parser; truncated anywhere; other locales and
encodings."""

import csv
import os
import random
from pathlib import Path

import pytest

import second_reader
from pasted import CASES
from ssdlab.errors import InputError
from ssdlab.field.health.drive import row_of
from ssdlab.hardware.smart import formats, reading
from ssdlab.hardware.smart.reading import Reading

SAMPLE = Path(__file__).parent / "field_sample"
REPORTS = sorted((SAMPLE / "reports").iterdir())
with (SAMPLE / "expected.csv").open(newline="") as lines:
    EXPECTED = {row["report"]: row for row in csv.DictReader(lines)}
# A folder with more reports of smartctl, if available; they are compared with the second parser.
MORE = os.environ.get("SSDLAB_FIELD_REPORTS")
SHORT_BYTES = 3000
HOURS_BELIEVED_MAX = 20 * 365 * 24


def read(data: bytes, where: str = "report") -> Reading:
    (report,) = formats.recognised(data, where)
    return reading.parse(report, where)


def whole(text: str) -> int | None:
    return int(text) if text else None


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_as_read_by_eye(path: Path) -> None:
    row, found = EXPECTED[path.stem], read(path.read_bytes())
    assert (found.protocol, found.model) == (row["protocol"], row["model"])
    for name in ("capacity_bytes", "power_on_hours", "used_percent", "spare_percent", "temperature_c"):
        assert getattr(found, name) == whole(row[name]), name
    assert found.signs.media_errors == whole(row["media_errors"])
    assert found.signs.passed is True
    host = found.host and (found.host.ticks, found.host.unit_bytes)
    assert host == ((int(row["host_count"]), int(row["host_unit"])) if row["host_count"] else None)
    nand = [(count.ticks, count.unit_bytes) for count in found.nand]
    assert nand == ([(int(row["nand_count"]), int(row["nand_unit"]))] if row["nand_count"] else [])
    pages = found.pages and tuple(count.ticks for count in found.pages)
    assert pages == ((int(row["host_pages"]), int(row["background_pages"])) if row["host_pages"] else None)


def agrees(path: Path) -> bool:
    """Whether both parsers agree; False if the second finds no write counters."""
    data = path.read_bytes()
    found, second = read(data, str(path)), second_reader.read(data.decode(errors="replace"))
    if found.protocol == "SCSI":
        return False
    assert second.model is not None and found.model.split() == second.model.split(), path
    assert found.capacity_bytes == second.capacity_bytes, path
    if second.hours is not None and second.hours <= HOURS_BELIEVED_MAX:
        assert found.power_on_hours == second.hours, path
    assert found.signs.passed == second.passed, path
    if second.used_percent is not None:
        assert found.used_percent == second.used_percent, path
    if second.host_bytes is not None:
        assert found.host and found.host.bytes == second.host_bytes, path
    if second.pages is not None:
        assert found.pages and tuple(count.ticks for count in found.pages) == second.pages, path
    if second.nand_bytes is not None and not found.reason:
        assert sum(count.bytes for count in found.nand) == second.nand_bytes, path
    return second.host_bytes is not None


def test_as_the_second_reader() -> None:
    more = [path for path in Path(MORE).rglob("*") if path.is_file() and path.suffix != ".md"] if MORE else []
    assert sum([agrees(path) for path in [*REPORTS, *sorted(more)]]) > len(REPORTS) // 3


def figures(found: Reading) -> tuple[object, ...]:
    nand = tuple((count.ticks, count.unit_bytes) for count in found.nand) or None
    pages = found.pages and tuple(count.ticks for count in found.pages)
    host = found.host and found.host.ticks
    return (found.model or None, found.capacity_bytes, host, nand, pages, found.signs.media_errors)


@pytest.mark.parametrize("path", REPORTS[1::7], ids=lambda path: path.stem)
def test_a_report_that_was_cut_says_less_and_nothing_else(path: Path) -> None:
    """A number that is cut off would be a different number."""
    data = path.read_bytes()
    all_of_it = figures(read(data))
    # Every byte of a short report; in a long one, steps that are not a multiple of a line's length.
    for end in range(0, len(data), 1 if len(data) < SHORT_BYTES or MORE else 37):
        try:
            found = figures(read(data[:end]))
        except InputError as error:
            assert str(error).startswith("report")
            continue
        assert all(part in (None, one) for part, one in zip(found, all_of_it, strict=True)), end


@pytest.mark.parametrize("separator", [".", " ", "\u00a0", "\u202f", "'", "\u2019", "\u066c"])
def test_thousands_in_any_locale(separator: str) -> None:
    nvme = (SAMPLE / "reports/01.txt").read_text()
    said = figures(read(nvme.encode()))
    other = nvme.replace("16,064,494,639", "16,064,494,639".replace(",", separator))
    other = other.replace("1,600,321,314,816", "1,600,321,314,816".replace(",", separator))
    other = other.replace("[8.22 PB]", "[8,22 PB]")
    assert other != nvme
    assert figures(read(other.encode())) == said


def test_separators_that_an_old_system_wrote_in_its_own_encoding() -> None:
    nvme = (SAMPLE / "reports/01.txt").read_bytes()
    assert figures(read(nvme.replace(b"16,064,494,639", b"16\xa0064\xa0494\xa0639"))) == figures(read(nvme))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("name", ["01", "11"])
def test_other_encodings(name: str, encoding: str) -> None:
    text = (SAMPLE / f"reports/{name}.txt").read_text()
    assert figures(read(text.encode(encoding))) == figures(read(text.encode()))
    assert figures(read(text.replace("\n", "\r\n").encode(encoding))) == figures(read(text.encode()))


@pytest.mark.parametrize(
    "data", [b"", b" \n", b"\0\1\2" * 100, bytes(range(255, -1, -1)), b"Dear all,\n", b"\x7fELF\0"]
)
def test_what_is_no_report_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(InputError, match="x: is"):
        list(formats.recognised(data, "x"))


def test_several_reports_in_one_text() -> None:
    texts = [path.read_text() for path in REPORTS[1:5]]
    found = [reading.parse(report, "x").model for report in formats.recognised("".join(texts).encode(), "x")]
    assert found == [EXPECTED[path.stem]["model"] for path in REPORTS[1:5]]


@pytest.mark.parametrize(
    "text",
    [
        "smartctl 7.1\nDevice Model: X\n045 Name -O--CK   100   100   000    -    1\n",
        "smartctl 7.1\nDevice Model: X\nUser Capacity: " + "9" * 5000 + " bytes\n  9 A -O--CK 100 100 000 - 1\n",
        '{"smartctl": {}, "nvme_smart_health_information_log": {"data_units_written": ' + "9" * 5000 + "}}",
        '{"smartctl": {}, "nvme_smart_health_information_log": {"data_units_written": ' + "9" * 400 + "}}",
        '{"smartctl": {}, "device": [], "model_name": 5, "ata_smart_attributes": {"table": [{"id": "x"}, 7]}}',
        '{"smartctl": null, "model_name": {}, "nvme_smart_health_information_log": {"power_on_hours": true}}',
    ],
)
def test_odd_numbers_and_types(text: str) -> None:
    """A regression: numbers with a leading zero were not parsed, and Python refuses very long numbers."""
    try:
        for report in formats.recognised(text.encode(), "x"):
            assert row_of(reading.parse(report, "x"), "x")["host_bytes"] is None
    except InputError as error:
        assert str(error).startswith("x")


def test_any_change_gives_readings_or_an_input_error() -> None:
    chance = random.Random(19)
    seeds = [path.read_bytes() for path in (*REPORTS, *sorted(CASES.iterdir()))]
    for _ in range(int(os.environ.get("SSDLAB_FUZZ_RUNS", "400"))):
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data))
            part = bytes(data[at : at + chance.randint(0, 40)])
            data[at : at + chance.randint(0, 40)] = chance.choice(
                (
                    b"",
                    part * 3,
                    bytes(chance.randrange(256) for _ in range(4)),
                    b"99999999999999999999999",
                    b"-1",
                    b"\n",
                )
            )
        try:
            for report in formats.recognised(bytes(data), "x"):
                row_of(reading.parse(report, "x"), "x")
        except InputError as error:
            assert str(error).strip()
