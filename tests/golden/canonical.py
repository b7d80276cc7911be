"""Hashes of a JSON value that distinguish a renamed key from a changed value.

An outcome has three. `exact` covers everything except the order of keys. `values` omits the names of keys, so that a
rename does not change it: an object counts as the sorted list of its values. `keys` covers only the names and positions
of keys, without values and without the lengths of lists. Floats are compared exactly, and 1 differs from 1.0.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_DIGITS = 12


@dataclass(frozen=True)
class Hashes:
    """Hexadecimal hashes."""

    exact: str
    values: str
    keys: str

    def change_to(self, other: "Hashes") -> str | None:
        """The difference in words, or None."""
        if self.exact == other.exact:
            return None
        if self.keys == other.keys:
            return "values changed places" if self.values == other.values else "values changed"
        return "keys were renamed" if self.values == other.values else "keys and values changed"


def hashes(value: Any) -> Hashes:
    """The hashes of parsed JSON."""
    paths = sorted(set(_paths(value, "")))
    return Hashes(exact(value), _digest(_nameless(value)), _digest("\n".join(paths)))


def exact(value: Any) -> str:
    """The first of the three hashes."""
    return _digest(json.dumps(value, sort_keys=True))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf value with its path, for example `jobs[0].read.ios`."""
    if isinstance(value, dict) and value:
        for key, held in value.items():
            yield from leaves(held, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for index, held in enumerate(value):
            yield from leaves(held, f"{path}[{index}]")
    else:
        yield path, value


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=_DIGITS // 2).hexdigest()


def _nameless(value: Any) -> str:
    """The value as text, with objects as sorted lists of their values. A float's `repr` is exact."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(map(_nameless, value.values()))) + "}"
    if isinstance(value, list) and not _is_plain(value):
        return "[" + ",".join(map(_nameless, value)) + "]"
    return repr(value)


def _paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, held in value.items():
            yield f"{path}.{key}"
            yield from _paths(held, f"{path}.{key}")
    elif isinstance(value, list) and not _is_plain(value):
        for held in value:
            yield from _paths(held, f"{path}[]")


def _is_plain(items: list[Any]) -> bool:
    """Whether a list contains no lists or objects, as columns of series, which are most of an outcome."""
    return {dict, list}.isdisjoint(map(type, items))
