"""Finds and reads drive files: those of the catalogue, and those of users, which can be based on another file."""

import copy
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from ssdlab.errors import InputError, near, notify
from ssdlab.foundation.foreign import JsonObject
from ssdlab.simulator.drives import data_sheet
from ssdlab.simulator.drives.older_names import with_current_keys
from ssdlab.simulator.drives.own_file import BASED_ON, PROTECTION, UNSAID, completed
from ssdlab.simulator.drives.schema import DriveFile, described, drive_of, problems, sentences
from ssdlab.simulator.engine.types import Problem

_HELP = (
    "docs/simulate/drive-file.md describes every key; `ssdlab drives new --like tiny my.toml` writes a file that works"
)


@cache
def _catalogue() -> dict[str, Traversable]:
    folder = resources.files("ssdlab.simulator.drives") / "catalogue"
    files = {entry.name.removesuffix(".toml"): entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return dict(sorted(files.items()))


def names() -> list[str]:
    """The names of the drives of the catalogue, sorted."""
    return list(_catalogue())


def load(name_or_path: str, *, base: DriveFile | None = None) -> DriveFile:
    """Loads a drive of the catalogue by its name, or a drive file by its path (which ends in `.toml`).

    `base` is the drive that a file is based on which names none and describes no flash, such as a data sheet alone.
    Raises InputError with the file, the key, its value and the allowed values. Warns with a Note about values without
    a source.
    """
    if name_or_path.endswith(".toml"):
        drive = _own(Path(name_or_path), name_or_path, (), base)
        if unsourced := drive.unsourced():
            notify([f"{name_or_path}: {unsourced}"])
        if drive.sources.get(PROTECTION) == UNSAID:
            taken = "the drive is taken to have none, so that flushes and sync writes wait for flash"
            notify([f"{name_or_path}: {PROTECTION} is not given; {taken}"])
        return drive
    entry = _catalogue().get(name_or_path)
    if entry is None:
        raise InputError(
            f"no drive {name_or_path!r} in the catalogue{near(name_or_path, names())}"
            f" (known: {', '.join(names())}; a file's name must end in .toml)"
        )
    return parse(entry.read_text(encoding="utf-8"), where=f"{name_or_path}.toml")


def parse(text: str, *, where: str) -> DriveFile:
    """The drive of a TOML text. Raises InputError with all errors, one per line, each after `where`."""
    return drive_of(_toml(text, where), where)


def says_what_it_is(content: Mapping[str, object]) -> bool:
    """Whether a drive file names a drive that it is based on, or describes flash of its own."""
    return BASED_ON in content or "nand" in content


def read(path: Path, where: str) -> JsonObject:
    """The content of a user's drive file, of which only the data sheet has been checked."""
    try:
        return _toml(path.read_bytes().decode(), where)
    except OSError as error:
        raise InputError(f"{where}: cannot read the drive file: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{where}: not a text in UTF-8, as TOML is") from None


def _own(path: Path, where: str, via: tuple[Path, ...], assumed: DriveFile | None = None) -> DriveFile:
    """Loads a user's drive file. `via` are the files that are based on it, in the order in which they were read."""
    content = read(path, where)
    via = (*via, path.resolve())
    base = None if says_what_it_is(content) else assumed
    if BASED_ON in content:
        base = _base(content[BASED_ON], path, where, via)
    complete, wrong = completed(content, base, where, _name_of(path))
    lines = [*wrong.values(), *sentences(_all_problems(complete, base, wrong), complete)]
    if lines:
        raise InputError("\n".join([*(f"{where}: {line}" for line in lines), _HELP]))
    return described(complete)


def _name_of(path: Path) -> str:
    """The name of a drive whose file gives none; bytes that are not UTF-8 become question marks."""
    return path.stem.encode(errors="replace").decode()


def _all_problems(content: JsonObject, base: DriveFile | None, named: Collection[str]) -> list[Problem]:
    """The errors of single values, and those of combinations of values. For the combinations, wrong values are replaced
    by those of the base or by defaults. `named` are keys with errors found before; they are not reported again."""
    found = [problem for problem in problems(content) if not _is_known(problem, named)]
    named = {*named, *(problem.key for problem in found)}
    return found + [problem for problem in problems(_mended(content, base, named)) if not _is_known(problem, named)]


def _is_known(problem: Problem, named: Collection[str]) -> bool:
    """Whether the error was found before. `completed` checks which values the sources name; what the engine finds
    beyond that is a source of the base, or of a wrong value that was taken out."""
    return problem.key in named or (problem.kind == "unknown-key" and problem.key.startswith("sources."))


def _mended(content: JsonObject, base: DriveFile | None, keys: Collection[str]) -> JsonObject:
    mended = copy.deepcopy(content)
    for key in keys:
        names = key.split(".")
        inner: object = mended
        of_base: object = base.content if base else {}
        for name in names[:-1]:
            inner = inner.get(name) if isinstance(inner, dict) else None
            of_base = of_base.get(name, {}) if isinstance(of_base, Mapping) else {}
        if isinstance(inner, dict):
            inner.pop(names[-1], None)
            if isinstance(of_base, Mapping) and names[-1] in of_base:
                inner[names[-1]] = of_base[names[-1]]
    return mended


def _base(said: object, path: Path, where: str, via: tuple[Path, ...]) -> DriveFile:
    """The drive in `based_on`: one of the catalogue, or a file by its path relative to the folder of this one.

    Raises InputError if it cannot be loaded or is based on this file.
    """
    if not isinstance(said, str):
        raise InputError(f"{where}: {BASED_ON} = {said!r} should be a drive of the catalogue or a .toml file")
    if not said.endswith(".toml"):
        try:
            return load(said)
        except InputError as error:
            raise InputError(f"{where}: {BASED_ON}: {error}") from None
    base = path.parent / said
    if base.resolve() in via:
        raise InputError(f"{where}: {BASED_ON} = {said!r} leads back to {base}")
    return _own(base, str(base), via)


def _toml(text: str, where: str) -> JsonObject:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not valid TOML: {error}") from None
    data_sheet.check(content, where)
    return with_current_keys(content, where)
