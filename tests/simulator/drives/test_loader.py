"""Errors in a drive file are reported with the file, the key, the value and the allowed values."""

import copy
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.errors import InputError
from ssdlab.simulator.drives import load
from ssdlab.simulator.drives.loader import parse
from ssdlab.simulator.drives.schema import Source, drive_of
from ssdlab.simulator.drives.writer import to_toml
from waiting import SECONDS_MAX

GOOD = to_toml(load("tiny"))


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse(text, where="my.toml")
    message = str(caught.value)
    assert all(line.startswith("my.toml: ") for line in message.splitlines())
    return message


def with_line(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_the_text_that_the_tests_vary_is_good() -> None:
    assert parse(GOOD, where="my.toml").name == "tiny"


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("channels = 1", "chanels = 1", ["'nand.chanels'", "did you mean 'channels'", "'nand.channels' is missing"]),
        ("[nand]", "[nands]", ["'nands'", "did you mean 'nand'", "'nand' is missing"]),
        ("channels = 1", "channels = 0", ["nand.channels = 0 should be a whole number of 1 or more"]),
        ("channels = 1", 'channels = "1"', ["nand.channels = '1' should be a whole number"]),
        ("channels = 1", "channels = true", ["nand.channels = True should be a whole number"]),
        ("channels = 1", "channels = 1.0", ["nand.channels = 1.0 should be a whole number"]),
        ("read_us = 25.0", "read_us = nan", ["nand.read_us = nan"]),
        ("read_us = 25.0", "read_us = -1", ["nand.read_us = -1", "a number above 0"]),
        ("read_us = 25.0", "read_us = []", ["nand.read_us = []", "list of 1 to 16"]),
        ("read_us = 25.0", "read_us = [25.0, 0]", ["nand.read_us = [25.0, 0]", "a number above 0"]),
        ("read_us = 25.0", 'read_us = ["25"]', ["nand.read_us = ['25']", "such numbers by page"]),
        ('cell = "slc"', 'cell = "plc"', ["nand.cell = 'plc'", "'slc', 'mlc', 'tlc' or 'qlc'"]),
        ('victim = "greedy"', 'victim = "greedi"', ["ftl.victim = 'greedi'", "did you mean 'greedy'", "fifo"]),
        ('victim = "greedy"', "victim = 3", ["ftl.victim = 3", "text or a table"]),
        ('victim = "greedy"', "victim = { d = 3 }", ["'ftl.victim.name' is missing"]),
        (
            'victim = "greedy"',
            'victim = { name = "d-choices", e = 3 }',
            ["unknown key 'ftl.victim.e'", "parameters of 'd-choices': d"],
        ),
        (
            'victim = "greedy"',
            'victim = { name = "d-choices", d = 1.5 }',
            ["ftl.victim.d = 1.5", "a whole number", "10"],
        ),
        ("page_bytes = 4096", "page_bytes = 6000", ["nand.page_bytes = 6000", "multiple of", "4096"]),
        ("mapping_unit_bytes = 4096", "mapping_unit_bytes = 3072", ["3072", "power of two"]),
        ("user_bytes = 163840", "user_bytes = 163841", ["ftl.user_bytes = 163841", "163840"]),
        ("user_bytes = 163840", "user_bytes = 262144", ["ftl.user_bytes = 262144", "45.46 %", "180224"]),
        ("user_bytes = 163840", "user_bytes = 1073741824", ["ftl.user_bytes = 1073741824", "least"]),
        ("reserve_erase_units = 2", "reserve_erase_units = 90", ["no over-provisioning makes this drive work"]),
        ("[sources]", "[parity]\nunits_per_stripe = 1\n[sources]", ["parity.units_per_stripe = 1", "at least 2"]),
        (
            "[sources]",
            '[parity]\nunits_per_stripe = 5\n[sources]\n"parity.*" = { kind = "assumed", source = "s" }',
            ["parity.units_per_stripe = 5", "at most the 4"],
        ),
        ('"nand.*"', '"nand.channels"', ["no source for nand.cell", "kinds: datasheet, measured, fitted, assumed"]),
        ('"nand.*"', '"nand.chanels"', ["'nand.chanels'", "names no value", "did you mean 'nand.channels'"]),
        ("[sources]", '[sources]\n"market.*" = { kind = "assumed", source = "s" }', ["'market.*' names no value"]),
        ('kind = "assumed"', 'kind = "guessed"', ["'guessed'", "'datasheet', 'measured', 'fitted' or 'assumed'"]),
        ("[sources]", "[market]\nprice_usd = 9.5\n[sources]", ["no source for market.price_usd"]),
        ('name = "tiny"', "name = ", ["not valid TOML", "line 1"]),
        ("[nand]", "nand = 3\n[other]", ["nand = 3", "should be a table, [nand]"]),
    ],
)
def test_a_wrong_value_is_named(old: str, new: str, parts: list[str]) -> None:
    message = refused(with_line(old, new))
    assert [part for part in parts if part not in message] == [], message


def test_all_that_is_wrong_is_said_at_once() -> None:
    text = with_line("channels = 1", "channels = 0").replace("page_bytes = 4096", "page_bites = 4096")
    of_keys = refused(text.replace('cell = "slc"', 'cell = "plc"')).splitlines()
    assert [line.split(" should")[0].split(" (keys")[0] for line in of_keys] == [
        "my.toml: nand.cell = 'plc'",
        "my.toml: nand.channels = 0",
        "my.toml: key 'nand.page_bytes' is missing; it",
        "my.toml: unknown key 'nand.page_bites'; did you mean 'page_bytes'?",
    ]
    together = with_line("user_bytes = 163840", "user_bytes = 163841").replace('"greedy"', '"greedi"')
    together = together.replace("[sources]", "[background]\nwear_leveling = true\n[sources]")
    assert [line.split(" ")[1] for line in refused(together).splitlines()] == [
        "no",
        "ftl.victim",
        "background.wear_leveling",
        "ftl.user_bytes",
    ]


def test_a_file_without_sources_is_refused() -> None:
    assert "no source for nand.cell" in refused(GOOD[: GOOD.index("[sources]")])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.toml: cannot read the drive file: No such file"):
        load(str(tmp_path / "nowhere.toml"))
    with pytest.raises(InputError, match="Is a directory"):
        (tmp_path / "folder.toml").mkdir()
        load(str(tmp_path / "folder.toml"))
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        load(str(binary))


def test_a_name_that_is_not_in_the_catalogue() -> None:
    with pytest.raises(InputError, match=r"no drive 'textbok'.*did you mean 'textbook'"):
        load("textbok")


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(with_line('name = "tiny"', 'name = "mine"'))
    assert load(str(path)).name == "mine"


def test_sources_fall_back_from_key_to_table_to_default() -> None:
    drive = parse(
        with_line("[sources]", '[sources]\n"nand.read_us" = { kind = "measured", source = "with a probe" }'),
        where="my.toml",
    )
    assert drive.source_of("nand.read_us") == Source(kind="measured", source="with a probe")
    assert drive.source_of("nand.erase_us") == drive.sources["nand.*"]
    assert "default" in drive.source_of("parity.units_per_stripe").source


@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    price=st.floats(min_value=1e-300, max_value=1e300),
    wear_out=st.booleans(),
    window=st.floats(min_value=0.01, max_value=1),
)
def test_any_text_and_number_survives_writing_and_reading(
    text: str, price: float, wear_out: bool, window: float
) -> None:
    content = copy.deepcopy(load("tiny").content)
    content["description"] = text
    content["market"] = {"price_usd": price}
    content["faults"] = {"wear_out": wear_out}
    content["ftl"]["victim"] = {"name": "windowed-greedy", "window": window}
    content["sources"] |= {f"{table}.*": {"kind": "measured", "source": text} for table in ("market", "faults")}
    drive = drive_of(content, "made")
    assert parse(to_toml(drive), where="again") == drive


def test_threads_may_load_their_first_drives_at_once() -> None:
    """In processes of their own: msgspec crashes, some of the times, if threads decode a type for the first time."""
    code = (
        "import threading; from ssdlab.simulator.drives import load; together = threading.Barrier(8)\n"
        "def work(): together.wait(); load('tiny')\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()"
    )
    for _ in range(8):
        subprocess.run([sys.executable, "-c", code], check=True, timeout=SECONDS_MAX)
