"""Writes a drive as the text of a drive file: for drives that a program makes (a fit, a variant) and for users' files.

Reading is in `loader.py`.
"""

from collections.abc import Mapping
from typing import Any

import tomlkit

from ssdlab.simulator.drives import data_sheet
from ssdlab.simulator.drives.namespaces import KEY as NAMESPACE
from ssdlab.simulator.drives.own_file import BASED_ON
from ssdlab.simulator.drives.schema import TABLES, DriveFile
from ssdlab.simulator.engine.types import UNITS


def to_toml(drive: DriveFile) -> str:
    """TOML text that `load` reads as an equal drive. Values that the drive takes from defaults are left out."""
    lines = [f"name = {_value(drive.name)}", f"description = {_value(drive.description)}"]
    for table, model in TABLES.items():
        content = drive.content.get(table, {})
        if content:
            ordered = [key for key in model.__struct_fields__ if key in content]
            lines += ["", f"[{table}]", *(f"{key} = {_value(content[key])}" for key in ordered)]
    for entry in drive.content.get(NAMESPACE, []):
        lines += ["", f"[[{NAMESPACE}]]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    lines += _data_sheet(drive.content.get(data_sheet.KEY, {}))
    lines += ["", "[sources]"]
    lines += [f"{_value(key)} = {_value(entry)}" for key, entry in drive.content.get("sources", {}).items()]
    return "\n".join(lines) + "\n"


def new_file(base: DriveFile, based_on: str, name: str) -> str:
    """TOML text of a drive equal to its base except for the name, with every value of the base as a comment to edit."""
    lines = [
        "# A value without its # replaces that of the drive below. A size may have a unit: 960 GB, 2 MiB.",
        "# docs/simulate/drive-file.md describes every key; a value may have a source under [sources], and needs none.",
        f"{BASED_ON} = {_value(based_on)}",
        f"name = {_value(name)}",
        f"description = {_value(f'like {base.name}')}",
    ]
    for table in TABLES:
        content = base.content.get(table, {})
        lines += ["", f"[{table}]"] if content else []
        for key, value in content.items():
            unit = UNITS.get(f"{table}.{key}", "")
            lines.append(
                f"# {key} = {_value(_with_unit(value) if unit == 'B' else value)}" + f"  # {unit}" * bool(unit)
            )
    return "\n".join(lines) + "\n"


def _data_sheet(table: Mapping[str, Any]) -> list[str]:
    """The lines of `[datasheet]`, a row each; none if the drive has none."""
    if not table:
        return []
    rows = ["rows = [", *(f"  {_value(row)}," for row in table["rows"]), "]"]
    others = [f"{key} = {_value(value)}" for key, value in table.items() if key != "rows"]
    return ["", f"[{data_sheet.KEY}]", *others, *rows]


def _with_unit(size: int) -> int | str:
    """The size with the first unit that gives a whole number below 100,000; otherwise the number of bytes."""
    for unit, unit_bytes in (("GB", 10**9), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size and size % unit_bytes == 0 and size < 100_000 * unit_bytes:
            return f"{size // unit_bytes} {unit}"
    return size


def _value(value: Any) -> str:
    """The value as TOML text; a table is inline."""
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        table.update(value)
        return table.as_string()
    text: str = tomlkit.item(value).as_string()
    return text
