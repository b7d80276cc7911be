"""Compares cases with rows, and outcomes with outcomes, and describes the differences in words."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from canonical import Hashes, exact, hashes, leaves
from case import Case
from parts import Json
from table import Row


def outcome_of(case: Case, engine: Any) -> Json:
    with tempfile.TemporaryDirectory() as folder:
        return case.outcome(engine, Path(folder))


def row_of(case: Case, outcome: Json, mark: str) -> Row:
    return Row(exact(case.described()), hashes(outcome), mark)


def difference(row: Row | None, case: Case, engine: Any) -> str | None:
    """The difference between a case and its row, or None."""
    if row is None:
        return "has no row"
    if exact(case.described()) != row.specification:
        return "the specification changed"
    return row.outcome.change_to(hashes(outcome_of(case, engine)))


def changes(old: Json, new: Json) -> Iterator[str]:
    """The changed values of an outcome, one per line."""
    before, after = dict(leaves(old)), dict(leaves(new))
    for path in before | after:
        if path not in after:
            yield f"- {path}: {_shown(before[path])}"
        elif path not in before:
            yield f"+ {path}: {_shown(after[path])}"
        elif exact(before[path]) != exact(after[path]):
            yield f"  {path}: {_shown(before[path])} -> {_shown(after[path])}"


def change(old: Json, new: Json) -> str | None:
    """The kind of change in a word, or None."""
    before: Hashes = hashes(old)
    return before.change_to(hashes(new))


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
