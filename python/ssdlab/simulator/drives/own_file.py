"""Completes a user's drive file: applies it to its base, converts sizes with units, and adds missing sources.

Files of the catalogue do not need this: they have all values, in bytes, each with its source.
"""

from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

import msgspec

from ssdlab.errors import InputError, near
from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import parse_bytes
from ssdlab.simulator.drives import data_sheet
from ssdlab.simulator.drives.namespaces import KEY as NAMESPACE
from ssdlab.simulator.drives.schema import NO_SOURCE, TABLES, DriveFile, Source, keys_of

BASED_ON = "based_on"
PROTECTION = "write_buffer.power_loss_protection"
UNSAID = Source(kind="assumed", source="the drive file does not say; client drives have no power-loss protection")
_MAPPING_UNIT_BYTES = 4096


def completed(
    content: Mapping[str, Any], base: DriveFile | None, where: str, name: str
) -> tuple[JsonObject, dict[str, str]]:
    """The content in the form of a catalogue file, and the errors as sentences by key.

    `base` is the drive that the file is based on, if any; `name` is its name if it has none.
    """
    own = {key: value for key, value in content.items() if key != BASED_ON}
    wrong: dict[str, str] = {}
    tables = {table: own[table] for table in TABLES if isinstance(own.get(table), Mapping)}
    for table, values in tables.items():
        own[table] = tables[table] = _in_bytes(table, values, wrong)
    if isinstance(own.get(NAMESPACE), list):
        own[NAMESPACE] = [_namespace(entry, index, wrong) for index, entry in enumerate(own[NAMESPACE], start=1)]
    sources = own.get("sources", {})
    if not isinstance(sources, Mapping):
        wrong["sources"] = f"sources = {sources!r} should be a table, [sources]"
        sources = {}
    own["sources"] = _sources(own, tables, sources, base, wrong)
    # A data sheet is that of a product, which a changed drive no longer is.
    own = _over(data_sheet.without(base.content), own) if base else own
    _round_capacity(content, own)
    _round_namespaces(content, own)
    _say_protection(own)
    own.setdefault("description", f"described in {where}")
    # The drive does not inherit the name of its base.
    return own | {"name": content.get("name", name)}, wrong


def _over(base: Mapping[str, Any], own: Mapping[str, Any]) -> JsonObject:
    """The base's content with the values of the file in their places. A policy is replaced as a whole."""
    merged = dict(base)
    for key, value in own.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merged[key] | value if both else value
    return merged


def _in_bytes(table: str, values: Mapping[str, Any], wrong: dict[str, str]) -> JsonObject:
    """The values with sizes such as "960 GiB" converted to bytes. Adds errors to `wrong`."""
    hints = get_type_hints(TABLES[table])
    found = dict(values)
    for key, value in values.items():
        hint = hints.get(key)
        if isinstance(value, str) and int in {hint, *get_args(hint)} and "bytes" in key.split("_"):
            try:
                found[key] = parse_bytes(value)
            except InputError as error:
                wrong[f"{table}.{key}"] = f"{table}.{key}: {error}"
                # A number, as the roundings below need; the check does not report the key again.
                found[key] = 1 << 40
    return found


def _round_capacity(content: Mapping[str, Any], own: JsonObject) -> None:
    """Rounds a capacity with a unit, such as 500 GB, down to whole mapping units."""
    ftl, said = own.get("ftl"), content.get("ftl")
    if isinstance(ftl, Mapping) and isinstance(said, Mapping) and isinstance(said.get("user_bytes"), str):
        unit = ftl.get("mapping_unit_bytes", _MAPPING_UNIT_BYTES)
        if isinstance(unit, int) and unit > 0:
            own["ftl"] = {**ftl, "user_bytes": ftl["user_bytes"] // unit * unit}


def _say_protection(own: JsonObject) -> None:
    """A buffer of which the file does not say whether it survives a loss of power does not: no default flatters."""
    buffer = own.get("write_buffer")
    if not isinstance(buffer, Mapping) or PROTECTION.partition(".")[2] in buffer:
        return
    if isinstance(buffer.get("bytes"), int) and buffer["bytes"] > 0:
        own["write_buffer"] = {**buffer, PROTECTION.partition(".")[2]: False}
        own["sources"] = {**own["sources"], PROTECTION: msgspec.to_builtins(UNSAID)}


def _namespace(entry: Any, number: int, wrong: dict[str, str]) -> Any:
    """A namespace with its size converted to bytes. Other values are unchanged; the check reports them."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("size_bytes"), str):
        return entry
    try:
        return {**entry, "size_bytes": parse_bytes(entry["size_bytes"])}
    except InputError as error:
        wrong[f"{NAMESPACE}.{number}.size_bytes"] = f"{NAMESPACE}.{number}.size_bytes: {error}"
        return {**entry, "size_bytes": _MAPPING_UNIT_BYTES}


def _round_namespaces(content: Mapping[str, Any], own: JsonObject) -> None:
    """Rounds namespace sizes with a unit down to whole mapping units, like the capacity of the drive."""
    said, ftl = content.get(NAMESPACE), own.get("ftl", {})
    unit = ftl.get("mapping_unit_bytes", _MAPPING_UNIT_BYTES) if isinstance(ftl, Mapping) else 0
    if not isinstance(said, list) or not isinstance(unit, int) or unit < 1:
        return
    own[NAMESPACE] = [
        {**entry, "size_bytes": entry["size_bytes"] // unit * unit}
        if isinstance(before, Mapping) and isinstance(before.get("size_bytes"), str)
        else entry
        for before, entry in zip(said, own[NAMESPACE], strict=True)
    ]


def _sources(
    own: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    sources: Mapping[str, Any],
    base: DriveFile | None,
    wrong: dict[str, str],
) -> JsonObject:
    """A source for each value of the file: its own, its table's, or NO_SOURCE.

    Adds to `wrong` the entries that name no value. An entry for a value of an unknown key, or of something that should
    be a table and is not, is left out without an error: that value has its own.
    """
    none = msgspec.to_builtins(NO_SOURCE)
    given = [f"{table}.{key}" for table, values in tables.items() for key in values if key in keys_of(table)]
    found = {key: sources.get(key, sources.get(f"{key.partition('.')[0]}.*", none)) for key in given}
    of_base = [] if base is None else [f"{table}.{key}" for table in TABLES for key in base.content.get(table, {})]
    known = list(dict.fromkeys([*given, *of_base]))
    for entry, source in sources.items():
        table, _, name = entry.partition(".")
        if entry in known:
            found[entry] = source
        elif _is_given(own, table, name):
            continue
        elif name != "*" or not any(key.startswith(f"{table}.") for key in given):
            wrong[f"sources.{entry}"] = f"sources.{entry!r} names no value of this file{near(entry, known)}"
    return found


def _is_given(own: Mapping[str, Any], table: str, name: str) -> bool:
    """Whether the file has the value, or has a value where the table should be."""
    values = own.get(table, {})
    return name in values if isinstance(values, Mapping) else True
