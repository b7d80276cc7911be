"""The output and the figures that a page shows, and whether a command prints them."""

import re
from collections.abc import Sequence

_FIGURE = re.compile(r"(?<![\w./])\d[\d,]*(?:\.\d+)?")


def figures(text: str) -> list[str]:
    """Its numbers as they are written, but for those that are part of a word, a path or a version."""
    return [each.rstrip(",") for each in _FIGURE.findall(text)]


def parts_not_printed(shown: str, printed: str) -> list[str]:
    """The parts of an output, with a line `...` between them, that a command does not print; line breaks may differ."""
    whole = " ".join(printed.split())
    parts = re.split(r"^\s*\.\.\.$", shown, flags=re.MULTILINE)
    return [part for part in parts if " ".join(part.split()) not in whole]


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))


def not_printed(text: str, commands: str, printed: str) -> list[str]:
    """The figures of a text that neither stand in its commands nor, to as many decimals, in what these print."""
    given = {_value(each) for each in figures(commands)}
    values = [_value(each) for each in figures(printed)]
    shown = [each for each in figures(text) if _value(each) not in given]
    return [each for each in shown if not _is_one_of(each, values)]


def _is_one_of(figure: str, values: Sequence[float]) -> bool:
    decimals = len(figure.partition(".")[2])
    return _value(figure) in {round(value, decimals) for value in values}
