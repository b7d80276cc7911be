"""The data sheets of drive files: facts with sources, checked, not inherited; and what stands behind a drive's name."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

import ssdlab
from ssdlab.errors import InputError, Note
from ssdlab.simulator.drives import load, names, resolve, standing
from ssdlab.simulator.drives.data_sheet import SPEEDS
from ssdlab.simulator.workloads.jobs import parse

PRODUCTS = [name for name in names() if standing.is_product(load(name))]
WITH_SHEET = [name for name in PRODUCTS if load(name).data_sheet]
ROW = '{ quantity = "random write", value = 28000, unit = "IOPS", state = "steady" }'


def written(folder: Path, table: str, base: str = 'based_on = "tiny"\n') -> str:
    path = folder / "mine.toml"
    path.write_text(base + table)
    return str(path)


def refused(path: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        load(path)
    return str(caught.value).splitlines()


def test_a_row_has_its_condition_and_its_source(tmp_path: Path) -> None:
    rows = f'[{ROW}, {{ quantity = "power-loss protection", value = true, source = "the box" }}]'
    path = written(tmp_path, f'[datasheet]\nsource = "the sheet"\nrows = {rows}\n')
    steady, protected = load(path).data_sheet
    assert (steady.quantity, steady.value, steady.unit, steady.state) == ("random write", 28000, "IOPS", "steady")
    assert (steady.source, protected.source, protected.value) == ("the sheet", "the box", True)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("datasheet = 3\n", "datasheet = 3 should be a table with source and rows"),
        ("[datasheet]\nrow = []\n", "datasheet.row: unknown key; did you mean 'rows'? (known: source, rows)"),
        ("[datasheet]\nrows = []\n", "datasheet.rows = [] should be a list of rows, such as {"),
        (f"[datasheet]\nrows = [{ROW}]\n", "row 1: no source: give the row one, or the table one"),
        ("quantity = 'random writes'", "did you mean 'random write'"),
        ("unit = 'MB/s'", "unit = 'MB/s' should be 'IOPS' for 'random write'"),
        ("value = -1", "value = -1 should be a number above 0"),
        ("value = true", "value = True should be a number"),
        ("state = 'new'", "state = 'new' should be one of fresh, filled, steady"),
        ("depth = 0", "depth = 0 should be a number of requests, 1 or more"),
        ("block = '4 KB?'", "block: '4 KB?' is not a size"),
        ("blok = 3", "unknown key 'blok'; did you mean 'block'?"),
        ("fitted = 'nand.read_us'", "fitted = 'nand.read_us' should be a list of keys"),
    ],
)
def test_what_is_wrong_is_said_with_its_row(tmp_path: Path, table: str, said: str) -> None:
    if not table.startswith(("[", "datasheet")):
        given = {"quantity": '"random write"', "value": "28000", "unit": '"IOPS"', "source": '"the sheet"'}
        key, _, value = table.partition(" = ")
        row = ", ".join(f"{name} = {text}" for name, text in (given | {key: value}).items())
        table = f"[datasheet]\nrows = [{{ {row} }}]\n"
    (line,) = [line for line in refused(written(tmp_path, table)) if said in line]
    assert line.startswith(str(tmp_path / "mine.toml: datasheet"))


def test_a_drive_does_not_inherit_the_data_sheet_of_its_base(tmp_path: Path) -> None:
    path = written(tmp_path, "", 'based_on = "samsung-pm883-1920gb"\n')
    assert load("samsung-pm883-1920gb").data_sheet
    assert not load(path).data_sheet
    assert "of your own" in standing.behind(load(path).specification)


@pytest.mark.parametrize("name", WITH_SHEET)
def test_the_rows_of_a_drive_agree_with_its_file(name: str) -> None:
    drive = load(name)
    for row in drive.data_sheet:
        assert row.source
        if row.quantity == "power-loss protection":
            assert drive.write_buffer.power_loss_protection == row.value
        for key in row.fitted:
            source = drive.source_of(key)
            assert source.kind == "datasheet" or "data sheet" in source.source or "[datasheet]" in source.source


@pytest.mark.parametrize("name", [name for name in names() if load(name).write_buffer.bytes])
def test_every_drive_of_the_catalogue_says_whether_its_buffer_survives(name: str) -> None:
    """The engine's default, true, flattered client drives: 12,400 to 114,000 sync writes a second."""
    drive = load(name)
    assert drive.says("write_buffer.power_loss_protection")
    if "client" in drive.description or "consumer" in drive.description:
        assert not drive.write_buffer.power_loss_protection


def test_a_file_that_does_not_say_so_has_no_protection_and_is_told(tmp_path: Path) -> None:
    table = '[write_buffer]\nbytes = "4 MiB"\n'
    path = written(tmp_path, table)
    with pytest.warns(Note, match=r"write_buffer\.power_loss_protection is not given"):
        drive = load(path)
    assert not drive.write_buffer.power_loss_protection
    second = tmp_path / "second.toml"
    second.write_text('based_on = "mine.toml"\n')
    with pytest.warns(Note, match=r"second\.toml: write_buffer\.power_loss_protection is not given"):
        assert not load(str(second)).write_buffer.power_loss_protection
    second.write_text('based_on = "mine.toml"\n[write_buffer]\npower_loss_protection = true\n')
    assert load(str(second)).write_buffer.power_loss_protection
    second.write_text('based_on = "generic-sata-dc-480"\n')
    assert load(str(second)).write_buffer.power_loss_protection


def test_the_stored_counts_are_those_of_the_catalogue() -> None:
    """Written by tools/standing.py; the study's own test simulates a drive again."""
    kept = standing.stored()["drives"]
    assert list(kept) == PRODUCTS
    for name, known in kept.items():
        file = load(name)
        assert known["sha256"] == standing.fingerprint(file), f"run tools/standing.py {name}"
        rated = [float(row.value) for row in file.data_sheet if row.quantity in SPEEDS]
        assert [row["rated"] for row in known["rows"]] == rated


def _known(*simulated: float, fitted_to: int = 0, remembered: int = 0) -> standing.StandingJson:
    rows: list[standing.RowJson] = [
        {
            "row": f"row {number}",
            "unit": "IOPS",
            "rated": 100.0,
            "simulated": value,
            "from_memory": number <= remembered,
        }
        for number, value in enumerate(simulated, start=1)
    ]
    return {"sha256": "", "fitted_to": fitted_to, "compared_with": fitted_to, "rows": rows}


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (_known(fitted_to=15), "fitted to measurements (15 rows)"),
        (_known(100, 91, 86), "keeps its data sheet within 15 % (2 of 3 rows within 10 %)"),
        (_known(100, remembered=1), "keeps its data sheet, from memory, not looked up (1 of 1 rows within 10 %)"),
        (
            _known(100, 100, remembered=1),
            "keeps its data sheet (2 of 2 rows within 10 %); 1 of the rows from memory, not looked up",
        ),
        (
            _known(100, 84, 130),
            "speeds are not those of the product: of its data sheet 1 of 3 rows within 10 %, 2 off by more than 15 % "
            "(row 3: 130 instead of 100 IOPS)",
        ),
        (
            _known(121, fitted_to=9),
            "fitted to measurements (9 rows); of its data sheet 0 of 1 rows within 10 %, 1 off by more than 15 % "
            "(row 1: 121 instead of 100 IOPS)",
        ),
    ],
)
def test_the_line_counts_the_rows(known: standing.StandingJson, said: str) -> None:
    assert standing.sentence(known) == said


def test_the_line_is_that_of_the_drive_at_any_scale_and_not_of_a_changed_one() -> None:
    file = load("samsung-pm883-1920gb")
    whole = standing.of_name(file.name)
    assert "data sheet" in whole and standing.stored()["date"] in whole
    small = resolve(file, scale=Fraction(1, 64))
    assert standing.behind(small.specification(), str(small.scale)) == whole
    assert standing.behind(small.specification()).startswith("changed from samsung-pm883-1920gb")
    assert standing.with_settings(file, {"nand.program_us": "50"}).startswith("changed from")
    changed = standing.with_settings(load("nova-v128"), {"nand.program_us": "50"})
    assert changed.startswith("changed from nova-v128") and changed.endswith("not those of the product")
    assert standing.with_settings(load("generic-tlc-480"), {"nand.program_us": "50"}).startswith("a generic drive")
    assert standing.of_name("nova-v128") == "only its geometry is known; speeds are not those of the product"


def test_a_drive_without_a_host_link_is_said_to_be_without_one() -> None:
    """A regression: pny-120gb read faster than SATA carries, and only the pages of protocols said why."""
    said = "its file names no host link, so that no rate is limited by an interface"
    unlinked = load("pny-120gb")
    assert standing.behind(resolve(unlinked, scale=Fraction(1, 64)).specification(), "1/64").endswith(f"; {said}")
    for settings in ({"host_link.interface": "sata-6g"}, {"host_link.mb_s": "500"}):
        assert said not in standing.with_settings(unlinked, settings)


def test_a_result_says_what_stands_behind_its_drive() -> None:
    drive = ssdlab.drive("nova-v128", scale="1/256")
    result = ssdlab.run(parse("[w]\nrw=write\nbs=64k\nio_size=1%\ndirect=1\n", "small.fio"), drive)
    assert json.loads(result.to_json())["ssdlab"]["standing"].startswith("only its geometry is known")


def test_rows_that_values_were_fitted_to_are_counted() -> None:
    assert "; values were fitted to all of its rows (" in standing.of_name("samsung-pm883-1920gb")
    assert "; values were fitted to 2 of the rows (" in standing.of_name("samsung-845dc-pro-400gb")
    assert "fitted to" not in standing.of_name("intel-545s-256gb")


@pytest.mark.parametrize("name", names())
def test_a_row_that_a_value_was_taken_from_is_no_prediction(name: str) -> None:
    """Program times computed from rated sequential writes, and links set to rated sequential reads, agreed with those
    rows, and the line counted the agreement as if it were evidence."""
    drive = load(name)
    rows = {row.quantity: row for row in drive.data_sheet}
    for key, source in drive.sources.items():
        taken = re.search(r"(?:rated|MB/s of|to) (sequential (?:read|write))s?\b", source.source)
        if taken and taken[1] in rows and not key.startswith("market."):
            assert key in rows[taken[1]].fitted, f"{name}: {key}"
