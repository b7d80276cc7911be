"""Writes python/ssdlab/engine/types.py from the engine's schema. usage: engine_types.py FILE, or - for the screen.

The types are msgspec's structs, which read JSON in one pass and take little time to import. What pydantic would do
besides, bounds and rules, the engine does (`_engine.check`).
"""

import json
import textwrap
from typing import Any

from generated_page import write
from ssdlab import _engine

HEAD = '''"""What crosses the engine's boundary, in the engine's own words: drive files, capacities, problems, outcomes.

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
# Types whose form in JSON is not that of a struct.
_BY_HAND = {"PolicyChoice"}
# Where the types begin; specifications are made by the Python side, as JSON.
_ROOTS = ("described_drive", "problem", "outcome")
_WIDTH = 120


def module() -> str:
    """The whole module, as ruff formats it."""
    schema = json.loads(_engine.schema())
    definitions = schema["$defs"]
    names = sorted(_reached(schema, [schema["properties"][root] for root in _ROOTS]) - _BY_HAND)
    words = [name for name in names if "properties" not in definitions[name]]
    structs = [name for name in names if "properties" in definitions[name]]
    parts = [HEAD, "".join(_alias(name, definitions[name]) for name in words)]
    parts += [_struct(name, definitions[name]) for name in structs]
    parts.append(_units(definitions))
    return "\n\n".join(parts)


def _reached(schema: dict[str, Any], nodes: list[Any]) -> set[str]:
    """The definitions that nodes refer to, and what those refer to."""
    found: set[str] = set()
    while nodes:
        match nodes.pop():
            case dict() as node:
                name = str(node.get("$ref", "")).rpartition("/")[2]
                if name and name not in found:
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


def _docstring(text: str) -> list[str]:
    text = " ".join(text.split())
    quoted = f'"""{text[0].upper()}{text[1:]}"""'.replace("\\", "\\\\")
    return textwrap.wrap(quoted, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


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
    """The units of a drive file's keys, as listings show them."""
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
    write(module)
