"""The meaning of an attribute from its name alone: whether it counts host or NAND writes, and in which unit.

smartctl's names for the same drive differ between versions of its database, and new families appear; but a name that
contains a unit (`NAND_Writes_32MiB`) is sufficient. Names without a unit (`Total_LBAs_Written`, `NAND_Writes`) are not
handled here; `families.toml` explains them.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from ssdlab.hardware.smart.attributes import Attribute
from ssdlab.hardware.smart.counts import Count

Whose = Literal["host", "nand"]

_GIB = 1 << 30
_UNITS = {"MiB": 1 << 20, "32MiB": 32 << 20, "64MiB": 64 << 20, "GiB": _GIB, "1GiB": _GIB, "TiB": 1 << 40}
_UNIT = re.compile(r"(?:^|_)(32MiB|64MiB|MiB|1?GiB|TiB|G[Bb])(?:_|$)")
_WRITES = re.compile(r"Writ|Wts|Wrt|Pr(?:o)?g|Nand_Gb")
_READS = re.compile(r"Read|Rds|Fail|Err")
_NAND = re.compile(r"NAND|Nand|Fla?sh|(?:^|_)[SMTQ]LC(?:_|$)")
_ONE_KIND_OF_CELLS = re.compile(r"(?:^|_)[SMTQ]LC(?:_|$)")
_BINARY_GB = "a GB in the name is taken as a GiB, as on every drive where this can be checked"


@cache
def unit_of(name: str) -> tuple[Whose, int, str | None] | None:
    """Host or NAND writes, the unit in bytes, and the assumption made, if any. None if the name contains no unit."""
    unit = _UNIT.search(name)
    if unit is None or not _WRITES.search(name) or _READS.search(name):
        return None
    whose: Whose = "nand" if _NAND.search(name) else "host"
    if unit[1] in _UNITS:
        return whose, _UNITS[unit[1]], None
    return whose, _GIB, _BINARY_GB


def host(attributes: Sequence[Attribute]) -> Count | None:
    """The host's writes, or None. Of several counters the highest, because some drives leave one of them at 0."""
    return max(_named(attributes, "host"), key=lambda count: count.bytes, default=None)


def nand(attributes: Sequence[Attribute]) -> tuple[Count, ...]:
    """The counters whose sum is the programmed data. Counters of one cell type are used only if no counter covers
    all."""
    found = _named(attributes, "nand")
    whole = [count for count in found if not _ONE_KIND_OF_CELLS.search(count.attribute.split(" ", 1)[1])]
    return tuple(whole[:1] or found)


def _named(attributes: Sequence[Attribute], whose: Whose) -> list[Count]:
    found = []
    for attribute in attributes:
        said = unit_of(attribute.name)
        if said and said[0] == whose and attribute.raw is not None and attribute.raw >= 0:
            found.append(Count(attribute.raw, said[1], f"{attribute.id} {attribute.name}", said[2]))
    return found
