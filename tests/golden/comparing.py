"""Cases against rows, and outcomes against outcomes: what became different, in words."""

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
    """How a case is not as its row says; None where it is."""
    if row is None:
        return "has no row"
    if exact(case.described()) != row.specification:
        return "the specification changed"
    return row.outcome.change_to(hashes(outcome_of(case, engine)))


def changes(old: Json, new: Json) -> Iterator[str]:
    """Line by line, which values of an outcome became others."""
    before, after = dict(leaves(old)), dict(leaves(new))
    for path in before | after:
        if path not in after:
            yield f"- {path}: {_shown(before[path])}"
        elif path not in before:
            yield f"+ {path}: {_shown(after[path])}"
        elif exact(before[path]) != exact(after[path]):
            yield f"  {path}: {_shown(before[path])} -> {_shown(after[path])}"


def change(old: Json, new: Json) -> str | None:
    """In a word; None where nothing changed."""
    before: Hashes = hashes(old)
    return before.change_to(hashes(new))


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
