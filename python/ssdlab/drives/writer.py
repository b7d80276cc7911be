"""A drive as a drive file's text, for drives that a program makes (a fit, a variant). Reading is in `loader.py`."""

import json
from typing import Any

from ssdlab.drives.schema import DriveFile, PolicyChoice


def to_toml(drive: DriveFile) -> str:
    """TOML that `load` reads back as an equal drive; values that were left to their defaults are left out again."""
    lines = [f"name = {_value(drive.name)}", f"description = {_value(drive.description)}"]
    for table, content in drive.tables().items():
        said = [(key, getattr(content, key)) for key in type(content).model_fields if drive.says(f"{table}.{key}")]
        said = [(key, value) for key, value in said if value is not None]
        if said:
            lines += ["", f"[{table}]", *(f"{key} = {_value(value)}" for key, value in said)]
    lines += ["", "[sources]"]
    lines += [f"{_value(key)} = {_value(entry.model_dump())}" for key, entry in drive.sources.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            # JSON's escapes are a subset of TOML's but for DEL, which TOML wants escaped.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list():
            return f"[{', '.join(_value(item) for item in value)}]"
        case PolicyChoice():
            return _value({"name": value.name} | value.parameters) if value.parameters else _value(value.name)
        case dict():
            return f"{{ {', '.join(f'{key} = {_value(item)}' for key, item in value.items())} }}"
    raise TypeError(f"no TOML form for {value!r}")
