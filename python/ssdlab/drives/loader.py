"""Finds and reads drive files, and says precisely what is wrong with one."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ssdlab.drives import consistency
from ssdlab.drives.schema import KINDS, POLICY_KINDS, TABLES, DriveFile
from ssdlab.errors import InputError, near


@cache
def _catalogue() -> dict[str, Traversable]:
    folder = resources.files("ssdlab.drives") / "catalogue"
    files = {entry.name.removesuffix(".toml"): entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return dict(sorted(files.items()))


def names() -> list[str]:
    """The drives of the catalogue, sorted."""
    return list(_catalogue())


def load(name_or_path: str) -> DriveFile:
    """A drive of the catalogue by its name, or a drive file by its path (which ends in `.toml`).

    Raises InputError naming the file, the key, its value and what is allowed.
    """
    if name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{name_or_path}: cannot read the drive file: {error.strerror}") from None
        try:
            return parse(content.decode(), where=name_or_path)
        except UnicodeDecodeError:
            raise InputError(f"{name_or_path}: not a text in UTF-8, as TOML is") from None
    entry = _catalogue().get(name_or_path)
    if entry is None:
        raise InputError(
            f"no drive {name_or_path!r} in the catalogue{near(name_or_path, names())}"
            f" (known: {', '.join(names())}; a file's name must end in .toml)"
        )
    return parse(entry.read_text(encoding="utf-8"), where=f"{name_or_path}.toml")


def parse(text: str, *, where: str) -> DriveFile:
    """The drive of a TOML text; `where` opens the message of an error."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: not valid TOML: {error}") from None
    drive = validate(content, where=where)
    _check_sources(drive, content, where)
    consistency.check(drive, where)
    return drive


def validate(content: Mapping[str, Any], *, where: str) -> DriveFile:
    """The drive of parsed TOML: keys, types and bounds are checked, sources and consistency are not."""
    try:
        return DriveFile.model_validate(content)
    except ValidationError as error:
        messages = [f"{where}: {_describe(problem['loc'], dict(problem))}" for problem in error.errors()]
        raise InputError("\n".join(messages)) from None


def _describe(location: tuple[int | str, ...], problem: dict[str, Any]) -> str:
    key = ".".join(str(part) for part in location)
    table, last = str(location[0]), str(location[-1])
    if problem["type"] == "extra_forbidden":
        known = _keys_beside(location)
        allowed = f"keys of [{table}]" if len(location) > 1 else "top-level keys and tables"
        return f"unknown key {key!r}{near(last, known)} ({allowed}: {', '.join(known)})"
    if problem["type"] == "missing":
        return f"key {key!r} is missing"
    message = str(problem["msg"]).replace("Input should be", "should be").removeprefix("Value error, ")
    if problem["type"] in ("model_type", "dict_type"):
        message = f"should be a table, [{key}]" if len(location) == 1 else "should be a text or a table"
    return f"{key} = {problem['input']!r}: {message}"


def _keys_beside(location: tuple[int | str, ...]) -> list[str]:
    if len(location) == 1:
        return list(DriveFile.model_fields)
    if location[0] == "sources":
        return ["kind", "source"]
    return list(TABLES[str(location[0])].model_fields)


def _check_sources(drive: DriveFile, content: Mapping[str, Any], where: str) -> None:
    said = [f"{table}.{key}" for table in TABLES for key in content.get(table, {})]
    fallbacks = {f"{table}.*": [key for key in said if key.startswith(f"{table}.")] for table in TABLES}
    for entry in drive.sources:
        if entry in fallbacks:
            if all(key in drive.sources for key in fallbacks[entry]):
                raise InputError(f"{where}: sources.{entry!r} serves no value; take it out")
        elif entry not in said:
            raise InputError(
                f"{where}: sources.{entry!r} names no value of this file{near(entry, said + list(fallbacks))}"
            )
    missing = [key for key in said if key not in drive.sources and f"{key.partition('.')[0]}.*" not in drive.sources]
    if missing:
        raise InputError(
            f"{where}: no source for {', '.join(missing)}; under [sources] write, for example,"
            f' {missing[0]!r} = {{ kind = "assumed", source = "why this value" }}'
            f' (kinds: {", ".join(KINDS)}; "{missing[0].partition(".")[0]}.*" stands for all others of its table)'
        )


def is_policy(key: str) -> bool:
    """Whether `table.key` holds the choice of a policy."""
    return key.startswith("ftl.") and key.removeprefix("ftl.") in POLICY_KINDS
