"""Writes docs/simulate/drive-file.md from the engine's schema.

    drive_file_page.py FILE     or - for standard output

The text of each key is its doc comment in `crates/engine/src/specification/drive/`; this file only defines the order.
"""

import json
import textwrap
from typing import Any

from generated_page import table, write
from ssdlab import _engine
from ssdlab.simulator.drives.data_sheet import STATES, UNITS

HEAD = """# Drive files

Written by `make docs` from the engine's own description of a drive (`crates/engine/src/specification/drive/`).

A drive file is TOML: two keys at its top, tables of keys, and a source for every value. `ssdlab drives` lists the
drives of the catalogue, `ssdlab drives NAME` shows one with all values. `--set table.key=value` changes a value; the
path of a file that ends in `.toml` may stand wherever the name of a drive may.

```toml
name = "mine"
description = "a small drive"
[nand]
cell = "tlc"
channels = 2
# and the other keys that have no default
[sources]
"nand.channels" = { kind = "measured", source = "read latency over queue depth" }
"nand.*" = { kind = "assumed", source = "usual for its class" }
```

A key whose default is "required" must be in the file. The column *acts* says when a value has an effect: always, where
it is empty. All keys are there since version 1.0.0.
A size may have a unit, in a file (`user_bytes = "960 GB"`) and on the command line (`--set ftl.user_bytes=480GB`). What
is wrong with a file is said all at once, a line for each key, with its value and what is allowed.

## A drive of one's own

`ssdlab drives new --like generic-tlc-480 my.toml` writes a file that works, with the values of the drive as comments to
change. It needs to give only what differs from the drive that it is based on:

```toml
based_on = "generic-tlc-480"   # a drive of the catalogue, or another file by its path from this one
[ftl]
user_bytes = "440 GB"
```

`name` is the name of the file unless it is given; a capacity with a unit is rounded down to whole mapping units. Only
the catalogue must give a source for every value: in other files a value without one counts as assumed, which is noted
in the results. A file with a write buffer that does not say `write_buffer.power_loss_protection`, and whose base does
not, describes a drive without it, which is noted.

## [datasheet]

What the maker says of the product, with its source: a record of facts that the engine does not use. `ssdlab drives
NAME` shows it, `ssdlab study data-sheets --drive NAME` simulates its rows. A file does not inherit that of its base.

```toml
[datasheet]
source = "Example Corp., specification of the X1, Rev. 1.2, page 7"
rows = [
  { quantity = "sequential read", value = 3000, unit = "MB/s", block = "128 KiB", depth = 32 },
  { quantity = "random write", value = 40000, unit = "IOPS", state = "steady", fitted = ["nand.program_us"] },
  { quantity = "power-loss protection", value = true, source = "Example Corp., product brief" },
]
```

{quantities}
"""
QUANTITIES = """Quantities: {quantities}. `block`, `depth` and `state` ({states}; default `filled`) are the condition,
`source` is the row's own, `fitted` names the keys that were chosen with the value in view."""

NOT_THE_ENGINES = {"power_loss_protection": "`false`, noted"}
"""Defaults of users' files that differ from the engine's; catalogue files give these keys."""
_COLUMNS = ("key", "meaning", "unit", "default", "allowed", "acts", "example")


def page() -> str:
    """The whole page, in Markdown."""
    schema = Schema(json.loads(_engine.schema()))
    keys = schema.drive_file["properties"]
    sections = [
        HEAD.replace("{quantities}", _quantities()),
        "## At the top\n",
        table(_COLUMNS, [schema.row(key, keys[key]) for key in ("name", "description")]),
    ]
    for name in schema.drive_file["required"]:
        target = schema.target(keys[name])
        if "properties" not in target:
            continue
        rows = [schema.row(key, target["properties"][key]) for key in target["required"]]
        sections.append(
            f"## [{name}]\n\n{_joined(target['description'])}\n\n{table(_COLUMNS, rows)}{schema.choices(target)}"
        )
    sections += [schema.list_of_tables(name) for name in keys if name not in schema.drive_file["required"]]
    source = schema.target(schema.target(keys["sources"])["additionalProperties"])
    rows = [schema.row(key, source["properties"][key]) for key in source["required"]]
    sections.append(
        f"## [sources]\n\n{_joined(keys['sources']['description'])} {_joined(source['description'])}\n\n"
        f"{table(_COLUMNS, rows)}{schema.choices(source)}"
    )
    return "\n".join(sections)


def _quantities() -> str:
    """The paragraph on the rows of a data sheet."""
    names = ", ".join(f"{name} ({' or '.join(units) or 'true or false'})" for name, units in UNITS.items())
    return textwrap.fill(QUANTITIES.format(quantities=names, states=", ".join(f"`{state}`" for state in STATES)), 120)


class Schema:
    """The schema of a drive file, with its references resolved."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._definitions = schema["$defs"]
        self.drive_file = self.target(schema["properties"]["drive_file"])

    def target(self, node: dict[str, Any]) -> dict[str, Any]:
        """The type of a node: the node itself, or the type that it refers to."""
        for choice in node.get("anyOf", []):
            if "$ref" in choice:
                node = choice
        if "$ref" not in node:
            return node
        found: dict[str, Any] = self._definitions[node["$ref"].rpartition("/")[2]]
        return found

    def row(self, key: str, node: dict[str, Any]) -> tuple[str, ...]:
        return (
            f"`{key}`",
            _joined(node["description"]),
            node.get("unit", ""),
            NOT_THE_ENGINES.get(key) or _default(node),
            str(node.get("allowed") or self.target(node)["allowed"]),
            node.get("acts", ""),
            ", ".join(f"`{_toml(example)}`" for example in node["examples"]),
        )

    def list_of_tables(self, name: str) -> str:
        """The section of an optional list, with a table for its entries."""
        target = self.target(self.drive_file["properties"][name]["items"])
        rows = [self.row(key, target["properties"][key]) for key in target["required"]]
        return f"## [[{name}]]\n\n{_joined(target['description'])}\n\n{table(_COLUMNS, rows)}"

    def choices(self, table: dict[str, Any]) -> str:
        """The meaning of the words that a table's keys accept, if documented."""
        lines = []
        for key in table["required"]:
            for word in self.target(table["properties"][key]).get("oneOf", []):
                for value in [word["const"]] if "const" in word else []:
                    if "description" in word:
                        lines.append(f"- `{key} = {_toml(value)}`: {_joined(word['description'])}\n")
        return "\n" + "".join(lines) if lines else ""


def _default(node: dict[str, Any]) -> str:
    if "default" not in node:
        return "required"
    default = node["default"]
    if isinstance(default, dict):
        default = default["name"]
    return "none" if default is None else f"`{_toml(default)}`"


def _toml(value: Any) -> str:
    return json.dumps(value)


def _joined(text: str) -> str:
    """A doc comment as one line that starts with a capital letter."""
    text = " ".join(text.split())
    return text[0].upper() + text[1:]


if __name__ == "__main__":
    write(page)
