"""Translates the other spellings of smartctl's JSON to JSON: `--json=g`, as gron prints it, and `--json=y`, YAML.

Of YAML only what smartctl prints is read: nested maps and lists, and plain and quoted values.
"""

import json
import re
from typing import Any

from ssdlab.foundation.foreign import JsonObject

_STEP = r"(?:\.[A-Za-z_]\w*|\[\d+\]|\[\"[^\"\n]*\"\])"
_GRON_LINE = re.compile(rf"^json({_STEP}*) = (.+?);?[ \t]*$", re.MULTILINE)
_STEPS = re.compile(r"\.([A-Za-z_]\w*)|\[(\d+)\]|\[\"([^\"\n]*)\"\]")
_YAML = re.compile(r"^---[ \t]*\n(?=(?:[a-z_]+:.*\n(?:[ \t-].*\n)*)*smartctl:)", re.MULTILINE)
_YAML_LINE = re.compile(r"^( *)((?:- )*)(?:([\w$.+/-]+|'[^'\n]*'|\"[^\"\n]*\"):(?: |$))?(.*)$")
_INDEX_MAX = 10_000
_PLAIN: JsonObject = {"true": True, "false": False, "null": None, "": None, "~": None}


def as_json(text: str) -> str:
    """The text with each report in one of the other spellings replaced by JSON."""
    if _GRON_LINE.search(text):
        text = _gron_as_json(text)
    if _YAML.search(text):
        text = _yaml_as_json(text)
    return text


def _gron_as_json(text: str) -> str:
    lines: list[str] = []
    value: Any = None
    for line in text.split("\n"):
        match = _GRON_LINE.match(line)
        if value is not None and (not match or not match[1]):
            lines.append(json.dumps(value))
            value = None
        if match:
            value = _set(value, _STEPS.findall(match[1]), _parsed(match[2]))
        else:
            lines.append(line)
    if value is not None:
        lines += [json.dumps(value), ""]
    return "\n".join(lines)


def _set(whole: Any, steps: list[tuple[str, str, str]], value: Any) -> Any:
    """The whole with the value at the place that the steps lead to; lines of gron can be missing."""
    if not steps:
        return value
    (name, index, quoted), *others = steps
    if index:
        entries = whole if isinstance(whole, list) else []
        at = int(index)
        if at <= _INDEX_MAX:
            entries.extend([None] * (at + 1 - len(entries)))
            entries[at] = _set(entries[at], others, value)
        return entries
    table = whole if isinstance(whole, dict) else {}
    key = name or quoted
    table[key] = _set(table.get(key), others, value)
    return table


def _yaml_as_json(text: str) -> str:
    starts = [match.start() for match in _YAML.finditer(text)]
    parts = [text[: starts[0]]]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        lines = text[start:end].split("\n")[1:]
        count = next((at for at, line in enumerate(lines) if not _is_yaml(line)), len(lines))
        value, _ = _block(_tokens(lines[:count]), 0, 0)
        parts += [json.dumps(value), "\n", "\n".join(lines[count:])]
    return "".join(parts)


def _is_yaml(line: str) -> bool:
    return not line.strip() or line.startswith((" ", "- ")) or bool(re.match(r"[\w$.+/-]+:( |$)", line))


_Token = tuple[int, bool, str | None, str]
"""Indentation, whether it begins an entry of a list, the key, the value."""


def _tokens(lines: list[str]) -> list[_Token]:
    found: list[_Token] = []
    for line in lines:
        match = _YAML_LINE.match(line.rstrip())
        if not match or not line.strip():
            continue
        indentation = len(match[1])
        for _ in range(len(match[2]) // 2):
            found.append((indentation, True, None, ""))
            indentation += 2
        if match[4].strip() == "-" and match[3] is None:
            found.append((indentation, True, None, ""))
        elif match[3] is not None or match[4].strip():
            found.append((indentation, False, match[3] and match[3].strip("'\""), match[4].strip()))
    return found


def _block(tokens: list[_Token], at: int, indentation: int) -> tuple[Any, int]:
    """The value that begins at a token, and the token behind it."""
    if at == len(tokens) or tokens[at][0] < indentation:
        return None, at
    own, is_entry, key, text = tokens[at]
    if is_entry:
        entries = []
        while at < len(tokens) and tokens[at][:2] == (own, True):
            entry, at = _block(tokens, at + 1, own + 1)
            entries.append(entry)
        return entries, at
    if key is None:
        return _parsed(text), at + 1
    table: JsonObject = {}
    while at < len(tokens) and tokens[at][0] == own and not tokens[at][1] and tokens[at][2] is not None:
        _, _, name, text = tokens[at]
        at += 1
        if text:
            table[str(name)] = _parsed(text)
        else:
            # A list can have the indentation of its key.
            is_list = at < len(tokens) and tokens[at][:2] == (own, True)
            table[str(name)], at = _block(tokens, at, own if is_list else own + 1)
    return table, at


def _parsed(text: str) -> Any:
    text = text.strip()
    if text in _PLAIN:
        return _PLAIN[text]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return json.loads(text)
    except ValueError:
        return text
