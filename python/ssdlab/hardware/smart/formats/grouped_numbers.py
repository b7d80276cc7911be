"""A whole number at the beginning of a text, with the thousands separators of any locale."""

import re

_DIGITS_MAX = 39
"""Digits of a 128-bit number, the largest counter; Python refuses to convert very long numbers."""
# Separators are any characters except ASCII letters and marks that end a number; up to three of them, where one was
# decoded as several. Groups have three digits, in India two before the last.
_SEPARATOR = r"[^0-9A-Za-z%(/\[]{1,3}"
_WHOLE = re.compile(rf"(-?)(\d{{1,3}}(?:{_SEPARATOR}\d{{2,3}})+(?!\d)|\d+)", re.ASCII)
# A paste can end within a number: within a group, or behind the separator of one. A blank behind the number is none.
_GROUPS = rf"-?\d{{1,3}}(?:{_SEPARATOR}\d{{2,3}})"
_CUT_OFF = re.compile(rf"(?:{_GROUPS}*{_SEPARATOR}\d{{1,2}}|{_GROUPS}+{_SEPARATOR})$", re.ASCII)


def whole_at_start(text: str) -> int | None:
    """The number, optionally followed by a unit or a size in words; None without one, and of one whose last group of
    digits is not complete."""
    text = text.rstrip()
    if text.startswith("0x"):
        hexadecimal = re.match(r"0x[0-9a-fA-F]+", text)
        return int(hexadecimal[0], 16) if hexadecimal else None
    match = None if _CUT_OFF.match(text) else _WHOLE.match(text)
    digits = re.sub(r"[^0-9]", "", match[2]) if match else ""
    return int(match[1] + digits) if match and len(digits) <= _DIGITS_MAX else None
