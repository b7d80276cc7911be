"""Arithmetic in the values of options: `(4*1024)`, `8*$pagesize` with its number, and what a shell computes.

The rules are those of bc, which fio runs, without fractions; numbers can have fio's units (`2*4k`). Not for when fio
computes: `variables` and `values` know that.
"""

import re

OPERATORS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3}
"""How tightly each binds."""
ALLOWED = "whole numbers, + - * / % ^ and parentheses"

_CHARACTERS_MAX = 200
# Results must stay in the range of the options' numbers.
_VALUE_MAX = 1 << 64
_TOKEN = re.compile(r"\s*(?:([0-9]+)([kmgtp]?)(?![0-9a-z])|([-+*/%^()]))", re.IGNORECASE)


def value_of(expression: str, kilobyte: int = 1024) -> int:
    """The value of an expression. Raises ValueError for another text, and for a value that no option takes."""
    try:
        return _Calculation(expression, kilobyte).value()
    except ZeroDivisionError:
        raise ValueError("it divides by zero") from None


class _Calculation:
    """Integer arithmetic by precedence climbing. Raises ValueError if the text is not a valid calculation."""

    def __init__(self, text: str, kilobyte: int) -> None:
        self._tokens: list[str] = []
        if len(text) > _CHARACTERS_MAX:
            raise ValueError
        at = 0
        while text[at:].strip():
            token = _TOKEN.match(text, at)
            if not token:
                raise ValueError
            number = token[1] and str(int(token[1]) * kilobyte ** " kmgtp".index(token[2].lower() or " "))
            self._tokens.append(number or token[3])
            at = token.end()

    def value(self) -> int:
        value = self._sum(1)
        if self._tokens or not 0 <= value < _VALUE_MAX:
            raise ValueError
        return value

    def _sum(self, least: int) -> int:
        left = self._operand()
        while self._tokens and OPERATORS.get(self._tokens[0], 0) >= least:
            operator = self._tokens.pop(0)
            # Powers are right-associative, the other operators left-associative.
            right = self._sum(OPERATORS[operator] + (operator != "^"))
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
