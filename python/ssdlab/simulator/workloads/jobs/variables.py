"""Replaces `${VARIABLES}` of the environment and fio's keywords for the machine in a job file.

As in fio 3.33, variables can be anywhere in the line of an option and are expanded once; one that is not set is empty.
The keywords are `$pagesize`, `$mb_memory` and `$ncpus`; a value with a keyword can be a calculation: `8*$pagesize`.
(fio uses the program `bc`; the rules here are those of bc, without fractions.)
"""

import os
import re
from collections.abc import Mapping

from ssdlab.errors import InputError

_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)")
_TOKEN = re.compile(r"\s*(?:([0-9]+)|([-+*/%^()]))")
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3}
# Results of calculations must stay in the range of the options' numbers.
_VALUE_MAX = 1 << 64


def machine() -> dict[str, int]:
    """The values of fio's keywords on this machine."""
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    return {
        "pagesize": page_bytes,
        "mb_memory": os.sysconf("SC_PHYS_PAGES") * page_bytes // (1 << 20),
        "ncpus": os.cpu_count() or 1,
    }


def expand(text: str, environment: Mapping[str, str]) -> str:
    """The text with variables replaced; a variable that is not set becomes empty."""
    return _VARIABLE.sub(lambda found: environment.get(found[1], ""), text)


def replace_keywords(text: str, where: str) -> tuple[str, dict[str, int]]:
    """The value with fio's keywords replaced and calculated, and the keywords that were found, with their values.

    Raises InputError, which names `where`, if the value is not a valid calculation.
    """
    found = {name: value for name, value in machine().items() if f"${name}" in text}
    if not found:
        return text, {}
    numbers = _KEYWORD.sub(lambda keyword: str(found[keyword[1]]), text)
    # fio calculates any value that contains an operator, and keeps others unchanged, such as `$pagesize,8k`.
    if not any(operator in numbers for operator in _BINDS):
        return numbers, found
    try:
        return str(_Calculation(numbers).value()), found
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{where}: {numbers!r} is not a calculation; whole numbers, + - * / % ^ and parentheses are"
        ) from None


class _Calculation:
    """Integer arithmetic by precedence climbing. Raises ValueError if the text is not a valid calculation."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        at = 0
        while text[at:].strip():
            token = _TOKEN.match(text, at)
            if not token:
                raise ValueError
            self._tokens.append(token[1] or token[2])
            at = token.end()

    def value(self) -> int:
        value = self._sum(1)
        if self._tokens or not 0 <= value < _VALUE_MAX:
            raise ValueError
        return value

    def _sum(self, least: int) -> int:
        left = self._operand()
        while self._tokens and _BINDS.get(self._tokens[0], 0) >= least:
            operator = self._tokens.pop(0)
            # Powers are right-associative, the other operators left-associative.
            right = self._sum(_BINDS[operator] + (operator != "^"))
            left = self._apply(operator, left, right)
        return left

    def _operand(self) -> int:
        if not self._tokens:
            raise ValueError
        token = self._tokens.pop(0)
        if token == "-":
            return -self._sum(3)
        if token == "(":
            value = self._sum(1)
            if not self._tokens or self._tokens.pop(0) != ")":
                raise ValueError
            return value
        return int(token)

    @staticmethod
    def _apply(operator: str, left: int, right: int) -> int:
        if operator == "^":
            if not 0 <= right <= 64 or abs(left) >= _VALUE_MAX:
                raise ValueError
            return int(left**right)
        if operator in "/%":
            # bc truncates towards zero.
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if operator == "/" else left - quotient * right
        return {"+": left + right, "-": left - right, "*": left * right}[operator]
