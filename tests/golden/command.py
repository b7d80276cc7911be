"""Checks the corpus of outcomes, updates its rows together with a reason, and shows which values changed."""

import argparse
import fnmatch
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import comparing
import corpus
import table
from case import Case, Run
from engines import Cargo, engine
from parts import Json

_LINES_MAX = 40


def main() -> int:
    arguments = _parser().parse_args()
    try:
        return int(arguments.does(arguments))
    except (FileNotFoundError, ValueError) as error:
        print(f"tools/golden: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/golden", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(name: str, does: Any, about: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about)
        made.set_defaults(does=does)
        made.add_argument("names", nargs="*", help="cases, or patterns such as 'pairs/*/parity+*'; none: all")
        made.add_argument("--engine", help="'cargo', or the file of a native module; else the package's own")
        return made

    command("list", _list, "names the cases")
    command("check", _check, "compares outcomes with their rows")
    update = command("update", _update, "changes the rows of cases that are not as these say; takes away rows of none")
    update.add_argument("--why", required=True, help="the reason, which is written down with the rows")
    diff = command("diff", _diff, "shows which values of outcomes changed")
    diff.add_argument(
        "--against", required=True, help="the file of an older native module, or a folder that 'keep' filled"
    )
    keep = command("keep", _keep, "writes outcomes to a folder, as JSON")
    keep.add_argument("--into", required=True, type=Path)
    dump = command("dump", _dump, "writes the specifications of runs to a folder, as JSON")
    dump.add_argument("--into", required=True, type=Path)
    return parser


def _chosen(arguments: argparse.Namespace) -> dict[str, Case]:
    """The cases named on the command line, or all. Raises ValueError for an unknown name."""
    cases = corpus.all_cases()
    if not arguments.names:
        return cases
    chosen: dict[str, Case] = {}
    for pattern in arguments.names:
        found = {name: case for name, case in cases.items() if fnmatch.fnmatchcase(name, pattern)}
        if not found:
            raise ValueError(f"no case is called {pattern}; see tools/golden list")
        chosen |= found
    return chosen


def _run(arguments: argparse.Namespace, on: Any) -> Iterator[tuple[str, Case]]:
    """The chosen cases that an engine supports; prints the number of others."""
    chosen = _chosen(arguments)
    had = {name: case for name, case in chosen.items() if isinstance(case, Run) or not isinstance(on, Cargo)}
    yield from had.items()
    if len(had) < len(chosen):
        print(f"{len(chosen) - len(had)} cases are no plain runs; they take the native module")


def _list(arguments: argparse.Namespace) -> int:
    print("\n".join(_chosen(arguments)))
    return 0


def _check(arguments: argparse.Namespace) -> int:
    rows = table.read().rows
    on = engine(arguments.engine)
    found: Counter[str] = Counter()
    for name, case in _run(arguments, on):
        different = comparing.difference(rows.get(name), case, on)
        found[different or "as its row says"] += 1
        if different:
            print(f"{name}: {different}")
    print(", ".join(f"{count} {what}" for what, count in found.most_common()))
    return 1 if set(found) - {"as its row says"} else 0


def _update(arguments: argparse.Namespace) -> int:
    why = " ".join(arguments.why.split())
    if not why:
        raise ValueError("--why: a reason, in a line")
    cases = _chosen(arguments)
    kept = table.read()
    mark = kept.mark_of(why)
    on = engine(arguments.engine)
    changed = 0
    for name, case in cases.items():
        row = kept.rows.get(name)
        new = comparing.row_of(case, comparing.outcome_of(case, on), mark)
        if row is None or (row.specification, row.outcome) != (new.specification, new.outcome):
            kept.rows[name] = new
            changed += 1
    gone = set() if arguments.names else kept.rows.keys() - cases.keys()
    for name in gone:
        del kept.rows[name]
    if changed or gone:
        table.write(kept)
    print(f"{changed} rows changed, {len(gone)} taken away")
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.against)
    older = None if folder.is_dir() else engine(arguments.against)
    on = engine(arguments.engine)
    different = 0
    for name, case in _run(arguments, on):
        old = comparing.outcome_of(case, older) if older else _kept(folder, name)
        new = comparing.outcome_of(case, on)
        what = comparing.change(old, new)
        if what is None:
            continue
        different += 1
        lines = list(comparing.changes(old, new))
        shown = lines if arguments.names else lines[:4]
        print(f"{name}: {what}, {len(lines)} of them", *shown[:_LINES_MAX], sep="\n  ")
        if len(lines) > len(shown[:_LINES_MAX]):
            print("  ...")
    print(f"{different} cases differ")
    return 1 if different else 0


def _kept(folder: Path, name: str) -> Json:
    return json.loads(_file(folder, name).read_text())


def _keep(arguments: argparse.Namespace) -> int:
    on = engine(arguments.engine)
    for name, case in _run(arguments, on):
        path = _file(arguments.into, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(comparing.outcome_of(case, on), indent=1, sort_keys=True))
    return 0


def _dump(arguments: argparse.Namespace) -> int:
    for name, case in _chosen(arguments).items():
        if isinstance(case, Run):
            path = _file(arguments.into, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(case.specification))
    return 0


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


if __name__ == "__main__":
    sys.exit(main())
