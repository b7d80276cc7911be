"""A data sheet in one line: what it says as rows, and what cannot be read."""

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.drives import data_sheet, data_sheet_line
from ssdlab.simulator.drives.data_sheet_line import parse


def said(text: str, *, steady: bool = True) -> list[tuple[object, object, object, object]]:
    rows = parse(text, steady=steady).rows
    return [(row["quantity"], row["value"], row.get("unit"), row.get("state")) for row in rows]


def test_a_line_of_a_data_centre_drive() -> None:
    read = parse("1.92 TB, 550/520 MB/s, 98k/28k IOPS, 110/35.5 us, 1.3 DWPD, PLP", steady=True)
    assert read.sold_bytes == 1_920_000_000_000
    assert said("550/520 MB/s, 98k/28k IOPS, 110/35.5 us, 1.3 DWPD, PLP") == [
        ("sequential read", 550, "MB/s", "filled"),
        ("sequential write", 520, "MB/s", "filled"),
        ("random read", 98_000, "IOPS", "filled"),
        ("random write", 28_000, "IOPS", "steady"),
        ("random read latency", 110, "us", "filled"),
        ("random write latency", 35.5, "us", "filled"),
        ("endurance", 1.3, "DWPD", None),
        ("power-loss protection", True, None, None),
    ]


def test_client_drives_are_rated_new_unless_the_line_says_otherwise() -> None:
    assert {state for _, _, _, state in said("7/5 GB/s, 1M/1.1M IOPS", steady=False)} == {"fresh"}
    assert said("7 GB/s, 1M/40kIOPS steady", steady=False)[1:] == [
        ("random read", 1_000_000, "IOPS", "fresh"),
        ("random write", 40_000, "IOPS", "steady"),
    ]


@pytest.mark.parametrize("text", ["550MB/s", "550 MB/S", " 0.55 GB/s ", "550mb/s, no PLP"])
def test_spaces_and_letters_of_units_do_not_matter(text: str) -> None:
    assert said(text)[0] == ("sequential read", 550, "MB/s", "filled")


def test_product_pages_separate_thousands_by_commas_and_say_up_to() -> None:
    """A comma between digits ended the part, so that `7,450 MB/s` was refused as '7'."""
    read = parse("1TB,Up to 7,450/6,900 MB/s,1,200K/1,550,000 IOPS, 1,200 TBW,PLP", steady=False)
    assert read.sold_bytes == 10**12
    assert [row["value"] for row in read.rows] == [7450, 6900, 1_200_000, 1_550_000, 1200, True]


def test_the_rows_are_those_of_a_drive_file() -> None:
    rows = parse(data_sheet_line.EXAMPLE, steady=True).rows
    content = {data_sheet.KEY: {"source": data_sheet_line.SOURCE, "rows": rows}}
    data_sheet.check(content, "the line")
    assert [row.value for row in data_sheet.rows_of(content)] == [550, 520, 98_000, 28_000, True]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fast", "'fast': cannot be read"),
        ("550/520 MBs", "'550/520 MBs': unit 'MBs' is unknown"),
        ("550/520/3 MB/s", "'550/520/3 MB/s': cannot be read"),
        ("98k/28k IOPS hot", "'hot' is no state of a drive"),
        ("1.92 T, 550 MB/s", "'1.92 T': unit 'T' is unknown"),
        ("0 MB/s", "'0' is no number above 0"),
        ("1.2.3 MB/s", "'1.2.3' is no number above 0"),
        ("550 MB/s, 540 MB/s", "'540 MB/s': sequential read is given twice"),
        ("650/700K IOPS", "'650' has no K as '700K' has: write it behind both"),
        ("1 TB, 2 TB, 550 MB/s", "'2 TB': a second capacity"),
        ("1 DWPD/2", "'1 DWPD/2': cannot be read"),
        ("550 MB/s,", "'': cannot be read"),
        ("1 DWPD", "no speed is given"),
        ("", "'': cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said_with_what_is_allowed(text: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, steady=True)
    assert str(caught.value).startswith(f"data sheet {text!r}: ")
    assert why in str(caught.value) and "MB/s" in str(caught.value)
