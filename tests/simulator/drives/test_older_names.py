"""Keys of drive files that were renamed or removed: the older file works for a release, with a note."""

from pathlib import Path

import pytest

from ssdlab.errors import InputError, Note
from ssdlab.experiments.advice import fit_drive
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.drives.older_names import with_current_keys

OLDER = """based_on = "tiny"
[ftl]
pacing = { name = "in-batches", units = 8 }
[housekeeping]
idle_after_ms = 7.0
[sources]
"ftl.pacing" = { kind = "assumed", source = "a guess" }
"housekeeping.*" = { kind = "assumed", source = "another" }
"""


def _written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


def test_a_file_with_older_names_is_read_as_one_with_the_current_names(tmp_path: Path) -> None:
    with pytest.warns(Note) as notes:
        older = load(_written(tmp_path, OLDER))
    current = load(_written(tmp_path, OLDER.replace("pacing", "gc_throttling").replace("housekeeping", "background")))
    assert older.specification == current.specification
    assert older.source_of("background.idle_after_ms").source == "another"
    assert older.source_of("ftl.gc_throttling").source == "a guess"
    said = [str(note.message) for note in notes]
    assert [text.split(": ")[1].split(";")[0] for text in said] == [
        "housekeeping is now called background",
        "ftl.pacing is now called ftl.gc_throttling",
    ]
    assert all(text.startswith(str(tmp_path / "mine.toml")) for text in said)


def test_settings_with_older_names_set_the_same(tmp_path: Path) -> None:
    drive = load("generic-tlc-480")
    older = {"housekeeping.idle_after_ms": "3", "ftl.pacing": "in-batches", "ftl.pacing.units": "16"}
    with pytest.warns(Note, match="--set ftl.pacing=in-batches: ftl.pacing is now called ftl.gc_throttling"):
        renamed = resolve(drive, settings=older).file
    current = {"background.idle_after_ms": "3", "ftl.gc_throttling": "in-batches", "ftl.gc_throttling.units": "16"}
    assert renamed.specification == resolve(drive, settings=current).file.specification


def test_a_key_given_by_both_names_is_refused(tmp_path: Path) -> None:
    both = OLDER.replace("[housekeeping]", "[background]\nidle_after_ms = 9.0\n[housekeeping]")
    with pytest.warns(Note), pytest.raises(InputError, match="unknown key 'housekeeping'"):
        load(_written(tmp_path, both))


def test_what_has_no_older_name_stays_as_it_is() -> None:
    content = {"name": "x", "ftl": {"victim": "fifo"}, "nand": 3, "sources": {"ftl.*": {}}}
    assert with_current_keys(content, "x.toml") == content


def test_a_fit_frees_a_key_by_its_older_name() -> None:
    with pytest.warns(Note, match="housekeeping is now called background"):
        freed = fit_drive.parameter("housekeeping.idle_after_ms=1..100", load("generic-sata-tlc-500"))
    assert freed.name == "background.idle_after_ms"


def test_removed_keys_are_accepted_at_their_default_only(tmp_path: Path) -> None:
    with pytest.warns(Note, match=r"mine.toml: nand.cache_read was removed; false is accepted in this release only"):
        load(_written(tmp_path, 'based_on = "tiny"\n[nand]\ncache_read = false\n'))
    with pytest.raises(InputError, match="cache_program"):
        load(_written(tmp_path, 'based_on = "tiny"\n[nand]\ncache_program = true\n'))
