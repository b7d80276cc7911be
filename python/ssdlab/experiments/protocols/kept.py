"""Results of the same protocol that were written earlier, to lay beside a new one: of other drives, or of the same
drive again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError
from ssdlab.experiments.protocols.contract import DriveTests
from ssdlab.experiments.protocols.figures import Figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ssdlab.experiments.protocols.contract import Protocol

_FILE = "result.json"


@dataclass(frozen=True)
class Kept:
    """What one test of a drive gave."""

    target: Mapping[str, Any]
    steps: Sequence[Figures]
    where: str
    """The folder of the result, which tells drives of the same name apart; empty for the new result."""


def kept(path: Path, protocol: Protocol, *, quick: bool) -> Kept:
    """The result in a folder, or a `result.json`. Raises InputError unless it is complete and of the same protocol."""
    file = path / _FILE if path.is_dir() else path
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--with {file}: {error.strerror}") from None
    except ValueError:
        raise InputError(f"--with {file}: not JSON; allowed is a {_FILE} of ssdlab measure --protocol") from None
    try:
        origin, described = content["ssdlab"], content["protocol"]
        name, was_quick, failure, target = described["name"], described["quick"], origin["failure"], origin["target"]
        steps = [Figures.from_dict(each) for each in content["steps"]]
        name_of(target)
    except (KeyError, TypeError):
        raise InputError(f"--with {file}: not a {_FILE} of ssdlab measure --protocol") from None
    if name != protocol.name:
        raise InputError(f"--with {file}: it is of the protocol {name}, not {protocol.name}")
    if bool(was_quick) != quick:
        raise InputError(
            f"--with {file}: it is of the {'quick' if was_quick else 'full'} form of {name}, this run of the other; "
            f"{'add' if was_quick else 'leave out'} --quick"
        )
    if failure:
        raise InputError(f"--with {file}: the run is incomplete ({failure})")
    return Kept(target, steps, str(file.parent))


def name_of(target: Mapping[str, Any]) -> str:
    """The name of a tested drive: of a device its model, if it says one."""
    if target["kind"] == "device":
        return str(target.get("model") or target["path"]).strip()
    return str(target["drive"]["name"])


def tested(results: Iterable[Kept]) -> list[DriveTests]:
    """The drives of these results, each with all its tests, in the order of their first. Different drives of the same
    name are told apart by the folder of their first result."""
    drives: dict[str, list[Kept]] = {}
    for each in results:
        drives.setdefault(_identity(each.target), []).append(each)
    names = [name_of(tests[0].target) for tests in drives.values()]
    return [
        DriveTests(
            name if names.count(name) == 1 or not tests[0].where else f"{name} ({tests[0].where})",
            [test.steps for test in tests],
        )
        for name, tests in zip(names, drives.values(), strict=True)
    ]


def _identity(target: Mapping[str, Any]) -> str:
    """What two tests of one drive have in common."""
    keys = (
        ("kind", "path", "model", "serial", "size_bytes") if target["kind"] == "device" else ("kind", "drive", "scale")
    )
    return json.dumps([target.get(key) for key in keys], sort_keys=True)
