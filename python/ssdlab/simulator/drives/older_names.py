"""Older names of the keys of drive files, accepted for one release with a note that gives the current name; and keys
that were removed, accepted at their default."""

from collections.abc import Mapping
from typing import Any

from ssdlab.errors import notify
from ssdlab.foundation.foreign import JsonObject

_CURRENT = {"housekeeping": "background", "ftl.pacing": "ftl.gc_throttling"}
"""The current name of each renamed table or key; keys below it are renamed with it."""

_REMOVED = ("nand.cache_program", "nand.cache_read")
"""Keys that were removed: at their default, which is false, they are still accepted."""


def current_key(key: str, where: str) -> str:
    """The current name of `table.key`. Warns with a Note, which starts with `where`, about an older name."""
    name, older = _renamed(key)
    if older:
        _note(older, where)
    return name


def with_current_keys(content: Mapping[str, Any], where: str) -> JsonObject:
    """The content of a drive file with the current names of its tables, keys and entries of `[sources]`.

    If a key is given by both names, the older one is kept too, and the check of keys rejects it as unknown. Warns with
    a Note, which starts with `where`, about each older name.
    """
    for older in _CURRENT:
        table, _, key = older.partition(".")
        values = content.get(table)
        if values is not None and (not key or (isinstance(values, Mapping) and key in values)):
            _note(older, where)
    content = {name: _without_removed(name, values, where) for name, values in content.items()}
    return {
        name: _with_current_names(values, "" if name == "sources" else f"{name}.")
        if isinstance(values, Mapping)
        else values
        for name, values in _with_current_names(content, "").items()
    }


def _without_removed(table: str, values: object, where: str) -> object:
    if not isinstance(values, Mapping):
        return values
    removed = {key for key, value in values.items() if f"{table}.{key}" in _REMOVED and value is False}
    for key in sorted(removed):
        notify([f"{where}: {table}.{key} was removed; false is accepted in this release only"])
    return {key: value for key, value in values.items() if key not in removed}


def _with_current_names(values: Mapping[str, Any], prefix: str) -> JsonObject:
    renamed = {key: _renamed(prefix + key)[0].removeprefix(prefix) for key in values}
    return {key if renamed[key] in values else renamed[key]: value for key, value in values.items()}


def _renamed(key: str) -> tuple[str, str]:
    """The current name of a key, and the older name of the key or its table, or "" if it has none."""
    for older, name in _CURRENT.items():
        if key == older or key.startswith(f"{older}."):
            return name + key.removeprefix(older), older
    return key, ""


def _note(older: str, where: str) -> None:
    notify([f"{where}: {older} is now called {_CURRENT[older]}; the older name is accepted in this release only"])
