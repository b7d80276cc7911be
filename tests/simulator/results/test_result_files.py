"""Does an interrupted write leave no partial file?"""

from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.results.files import staged, write_text


def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("old")
    with pytest.raises(KeyboardInterrupt), staged(tmp_path) as place:
        (place / "result.json").write_text("new")
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert (tmp_path / "result.json").read_text() == "old"


def test_an_error_leaves_no_new_folder(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), staged(tmp_path / "new"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_all_files_arrive_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with staged(tmp_path) as place:
        (place / "a").write_text("a")
        (place / "deep").mkdir()
        (place / "deep" / "b").write_text("b")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "a",
        "deep/b",
        "mine.txt",
    ]


@pytest.mark.parametrize("below", ["file", "file/deeper"])
def test_a_file_in_the_way_is_an_input_error(below: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file; a folder is needed"), staged(tmp_path / below):
        pass
    with pytest.raises(InputError):
        write_text(tmp_path / below / "x.json", "{}")
