"""Replaces `${VARIABLES}` of the environment and fio's keywords for the machine in a job file.

As in fio 3.33, variables can be anywhere in the line of an option and are expanded once; one that is not set is empty.
The keywords are `$pagesize`, `$mb_memory` and `$ncpus`; a value with a keyword can be a calculation: `8*$pagesize`.
(fio uses the program `bc`; `expressions` has its rules, without fractions.)
"""

import os
import re
from collections.abc import Mapping

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import expressions

_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)")


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
    if not any(operator in numbers for operator in expressions.OPERATORS):
        return numbers, found
    try:
        return str(expressions.value_of(numbers)), found
    except ValueError:
        raise InputError(f"{where}: {numbers!r} is not a calculation; {expressions.ALLOWED} are") from None
