"""Writes the Python types of the engine's interface from the engine's schema.

usage: engine_types.py FILE, or - for standard output. `plain.py` receives the JSON objects that stay dictionaries, any
other file the structs.

The structs are msgspec's, which reads JSON in one pass and imports fast. The engine checks bounds and rules
(`_engine.check`), so pydantic is not needed. Specifications are built and outcomes are read as JSON objects, which
results contain unchanged; their types are TypedDicts.
"""

import json
import re
import sys
import textwrap
from collections.abc import Set
from pathlib import Path
from typing import Any

from generated_page import write
from ssdlab import _engine

HEAD = '''"""Drive files, capacities and problems in the engine's own words.

Written by `make docs` from `_engine.schema()`; changes belong into the Rust types. Units are in the names.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class PolicyChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A policy and its own parameters, every one of them given."""

    name: str
    parameters: dict[str, Any]
'''
PLAIN_HEAD = '''"""What the engine is given and what it gives back, as JSON objects: specifications and outcomes.

Written by `make docs` from `_engine.schema()`; changes belong into the Rust types. Units are in the names. A key that
need not be given has a default in the engine. Drives are in `types.py`.
"""

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")

Drive = dict[str, Any]
"""A drive with all values: its `name`, and the tables of a drive file that `types.py` describes."""


class PerDirection(TypedDict, Generic[T]):
    read: T
    write: T
    trim: T


class Began(TypedDict):
    """What a saved state had counted: `Counted` in `crates/engine/src/simulation/mod.rs`."""

    ledger: "Ledger"
    namespaces: "list[NamespaceLedger]"
    """Empty for a drive without any."""


class TraceCounts(TypedDict):
    """What became of a trace's requests: `Counts` in `crates/python/src/trace/source.rs`."""

    passes: int
    """Passes that were begun."""
    reads: int
    writes: int
    trims: int
    flushes: int
    """Without a clock they have no effect."""
    empty: int
    """Reads, writes and trims of 0 bytes."""
    split: int
    """Requests that came to lie in several pieces on the drive; each piece is a request to it."""
    moved: int
    """Requests that begin at another address than in the recording."""
    trimmed_nowhere_bytes: int
    """Bytes of trims that fell on what nothing had touched, where packing gives no place."""
    placed_units: int | None
    """Units that packing has placed."""
'''
# Keys that the engine's own types lack.
_MORE_KEYS = {
    "Outcome": [
        "    trace: NotRequired[TraceCounts]",
        '    """Of `_engine.replay` only."""',
        "    began: NotRequired[Began]",
        '    """What a saved state had counted; absent for a new drive."""',
    ],
}
# Types that the heads describe.
_BY_HAND = {"PolicyChoice"}
_PLAIN_BY_HAND = {"Drive"}
# The types from which all others are reached.
_ROOTS = ("described_drive", "problem")
_PLAIN_ROOTS = ("specification", "outcome")
_WIDTH = 120
_PER_DIRECTION = re.compile(r"PerDirection[0-9]*")


def module() -> str:
    """The text of the whole module, as ruff formats it."""
    schema = json.loads(_engine.schema())
    definitions = schema["$defs"]
    names = sorted(_reached(schema, [schema["properties"][root] for root in _ROOTS]) - _BY_HAND)
    words = [name for name in names if "properties" not in definitions[name]]
    structs = [name for name in names if "properties" in definitions[name]]
    parts = [HEAD, "".join(_alias(name, definitions[name]) for name in words)]
    parts += [_struct(name, definitions[name]) for name in structs]
    parts.append(_units(definitions))
    return "\n\n".join(parts)


def plain_module() -> str:
    """The text of the module of JSON objects, as ruff formats it except for lines that ruff joins."""
    schema = json.loads(_engine.schema())
    whole = [schema["properties"][root] for root in ("drive_file", "outcome")]
    plain = _Plain(schema["$defs"], _reached(schema, whole))
    names = _reached(schema, [schema["properties"][root] for root in _PLAIN_ROOTS], _PLAIN_BY_HAND)
    return "\n\n".join([PLAIN_HEAD, *plain.types(sorted(names, key=plain.rank))])


class _Plain:
    """The types of JSON objects, each after the types that it refers to."""

    def __init__(self, definitions: dict[str, Any], whole: set[str]) -> None:
        """`whole` are the types whose keys with defaults are always present: those of drives and outcomes."""
        self._definitions = definitions
        self._whole = whole

    def rank(self, name: str) -> tuple[int, str]:
        """The sort key of a type: its depth, then its name."""
        inner = _reached({"$defs": self._definitions}, [self._definitions[name]], _PLAIN_BY_HAND) - {name}
        return 1 + max((self.rank(each)[0] for each in inner), default=0), name

    def types(self, names: list[str]) -> list[str]:
        """The definitions of these types."""
        found = []
        for name in names:
            node = self._definitions[name]
            if _PER_DIRECTION.fullmatch(name):
                continue
            if "properties" in node:
                found.append(self._dictionary(name, node))
                if name == "Job":
                    found.append(self._part(name, node))
            elif any("properties" in choice for choice in node.get("oneOf", [])):
                choices = [self._choice(name, choice) for choice in node["oneOf"]]
                found += [self._dictionary(choice, inner) for choice, inner in zip(choices, node["oneOf"], strict=True)]
                described = _docstring(node["description"], "") if "description" in node else []
                found.append("\n".join([f"{name} = {' | '.join(choices)}", *described]) + "\n")
            else:
                found.append(_alias(name, node))
        return found

    def _part(self, name: str, node: dict[str, Any]) -> str:
        """A TypedDict with an arbitrary subset of a type's keys."""
        lines = [f"class {name}Part(TypedDict, total=False):", f'    """Some of the keys of a `{name}`."""', ""]
        lines += [f"    {key}: {self._type(field)}" for key, field in node["properties"].items()]
        return "\n".join(lines) + "\n"

    def _choice(self, name: str, node: dict[str, Any]) -> str:
        """The name of one of several forms, from the constant that distinguishes it."""
        word = next(field["const"] for field in node["properties"].values() if "const" in field)
        return name + "".join(part.capitalize() for part in word.split("-"))

    def _dictionary(self, name: str, node: dict[str, Any]) -> str:
        lines = [f"class {name}(TypedDict):"]
        if "description" in node:
            lines += [*_docstring(node["description"]), ""]
        properties, required = node["properties"], node["required"]
        for key in [*required, *(key for key in properties if key not in required)]:
            field = properties[key]
            kind = self._type(field)
            is_given = key in required and (name in self._whole or not _may_be_left_out(field))
            lines.append(f"    {key}: {kind if is_given else f'NotRequired[{kind}]'}")
            if "description" in field:
                lines += _docstring(field["description"])
        return "\n".join([*lines, *_MORE_KEYS.get(name, [])]) + "\n"

    def _type(self, node: dict[str, Any]) -> str:
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if _PER_DIRECTION.fullmatch(name):
            return f"PerDirection[{self._type(self._definitions[name]['properties']['read'])}]"
        if "anyOf" in node:
            return " | ".join(dict.fromkeys(self._type(choice) for choice in node["anyOf"]))
        if "prefixItems" in node:
            # JSON has no tuples, only lists.
            return f"list[{' | '.join(dict.fromkeys(self._type(item) for item in node['prefixItems']))}]"
        if node.get("type") == "array":
            return f"list[{self._type(node['items'])}]"
        return _type(node)


def _may_be_left_out(field: dict[str, Any]) -> bool:
    """Whether the engine accepts a specification without this key."""
    kinds = [field.get("type"), *(choice.get("type") for choice in field.get("anyOf", ()))]
    return "default" in field or any(kind == "null" or (isinstance(kind, list) and "null" in kind) for kind in kinds)


def _reached(schema: dict[str, Any], nodes: list[Any], without: Set[str] = frozenset()) -> set[str]:
    """The definitions that nodes refer to, directly or indirectly, not through those of `without`."""
    found: set[str] = set()
    while nodes:
        match nodes.pop():
            case dict() as node:
                name = str(node.get("$ref", "")).rpartition("/")[2]
                if name and name not in found and name not in without:
                    found.add(name)
                    nodes.append(schema["$defs"][name])
                nodes += [value for key, value in node.items() if key not in ("default", "examples")]
            case list() as items:
                nodes += items
    return found


def _alias(name: str, node: dict[str, Any]) -> str:
    return f"{name} = {_type(node)}\n"


def _struct(name: str, node: dict[str, Any]) -> str:
    lines = [f"class {name}(msgspec.Struct, frozen=True, kw_only=True):"]
    if "description" in node:
        lines += [*_docstring(node["description"]), ""]
    for key in node["required"]:
        field = node["properties"][key]
        lines.append(f"    {key}: {_type(field)}")
        if "description" in field:
            lines += _docstring(field["description"])
    return "\n".join(lines) + "\n"


def _docstring(text: str, indent: str = "    ") -> list[str]:
    text = " ".join(text.split())
    quoted = f'"""{text[0].upper()}{text[1:]}"""'.replace("\\", "\\\\")
    return textwrap.wrap(quoted, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _type(node: dict[str, Any]) -> str:
    if "$ref" in node:
        return str(node["$ref"]).rpartition("/")[2]
    for key in ("anyOf", "oneOf"):
        if key in node:
            choices = [_type(choice) for choice in node[key]]
            if all(choice.startswith("Literal[") for choice in choices):
                inner = ", ".join(choice.removeprefix("Literal[").removesuffix("]") for choice in choices)
                return f"Literal[{inner}]"
            return " | ".join(dict.fromkeys(choices))
    if "enum" in node or "const" in node:
        listed = node.get("enum") or [node["const"]]
        literal = f"Literal[{', '.join(json.dumps(word) for word in listed if word is not None)}]"
        return f"{literal} | None" if None in listed else literal
    kinds = node.get("type")
    if kinds is None:
        return "Any"
    if isinstance(kinds, str):
        kinds = [kinds]
    return " | ".join(_plain(kind, node) for kind in kinds)


def _plain(kind: str, node: dict[str, Any]) -> str:
    match kind:
        case "array" if "prefixItems" in node:
            return f"tuple[{', '.join(_type(item) for item in node['prefixItems'])}]"
        case "array":
            return f"list[{_type(node['items'])}]"
        case "object":
            entry = node.get("additionalProperties")
            return f"dict[str, {_type(entry) if isinstance(entry, dict) else 'Any'}]"
    return {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}[kind]


def _units(definitions: dict[str, Any]) -> str:
    """The units of a drive file's keys, as shown in listings."""
    lines = ["UNITS = {"]
    for table, node in definitions["DriveFile"]["properties"].items():
        name = str(node.get("$ref", "")).rpartition("/")[2]
        for key in definitions.get(name, {}).get("required", []):
            if unit := definitions[name]["properties"][key].get("unit"):
                lines.append(f'    "{table}.{key}": "{unit}",')
    return (
        "\n".join([*lines, "}"])
        + '\n"""The units of the keys of a drive file, by `table.key`; none for names and choices."""\n'
    )


if __name__ == "__main__":
    write(plain_module if Path(sys.argv[-1]).name == "plain.py" else module)
