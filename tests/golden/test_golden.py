"""Does the engine still produce the same outcomes? Guards all changes that are not meant to change one.

`tools/golden diff` shows the differences; `tools/golden update --why REASON` updates the rows of intended changes.
"""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import comparing
import corpus
import table
from canonical import hashes
from ssdlab import _engine

_NAMED_MAX = 12


@pytest.mark.parametrize("group", corpus.GROUPS)
def test_outcomes_are_what_they_were(group: str) -> None:
    rows = table.read().rows
    found = {name: comparing.difference(rows.get(name), case, _engine) for name, case in corpus.group(group).items()}
    different = {name: what for name, what in found.items() if what}
    named = [f"{name}: {what}" for name, what in list(different.items())[:_NAMED_MAX]]
    counted = dict(Counter(different.values()))
    assert not different, "\n".join([f"of {len(found)} cases {counted}; see tools/golden --help", *named])


def test_every_row_has_a_case() -> None:
    assert table.read().rows.keys() <= corpus.all_cases().keys(), "tools/golden update takes rows of no case away"


def _outcome() -> dict[str, Any]:
    return {"jobs": [{"read": {"ios": 5, "bytes": 4096}, "waf": None}], "series": {"at": [1, 2], "waf": [1.5, 2.5]}}


def test_a_rename_is_told_apart_from_a_change() -> None:
    before, after = _outcome(), _outcome()
    assert hashes(before).change_to(hashes(after)) is None
    after["jobs"][0]["reads"] = after["jobs"][0].pop("read")
    assert hashes(before).change_to(hashes(after)) == "keys were renamed"
    after["series"]["waf"][1] = 2.5000000000000004
    assert hashes(before).change_to(hashes(after)) == "keys and values changed"


def test_values_count_to_the_last_bit_and_by_their_places() -> None:
    for path, value in ((("series", "waf"), [1.5, 2.5000000000000004]), (("series", "at"), [1.0, 2])):
        after = _outcome()
        after[path[0]][path[1]] = value
        assert hashes(_outcome()).change_to(hashes(after)) == "values changed"
    after = _outcome()
    after["jobs"][0]["read"] = {"ios": 4096, "bytes": 5}
    assert hashes(_outcome()).change_to(hashes(after)) == "values changed places"
    shuffled = dict(random.Random(1).sample(list(_outcome().items()), 2))
    assert hashes(_outcome()) == hashes(dict(reversed(_outcome().items()))) == hashes(shuffled)


def test_what_changed_is_named() -> None:
    after = _outcome()
    after["jobs"][0]["read"]["ios"] = 6
    del after["jobs"][0]["waf"]
    assert list(comparing.changes(_outcome(), after)) == ["  jobs[0].read.ios: 5 -> 6", "- jobs[0].waf: None"]


def test_a_row_needs_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "golden.txt"
    rows = table.Table({}, {})
    rows.rows["a/b"] = table.Row("1", hashes(_outcome()), rows.mark_of("it is new"))
    table.write(rows, path)
    assert table.read(path) == rows
    path.write_text(path.read_text().replace("why ", "# why "))
    with pytest.raises(ValueError, match="nothing says why a/b"):
        table.read(path)
