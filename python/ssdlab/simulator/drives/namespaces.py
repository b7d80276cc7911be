"""The namespaces of a drive: consecutive ranges of its addresses, in the order of its file.

Their keys are described in `crates/engine/src/specification/drive/namespaces.rs`, which also checks them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ssdlab.errors import InputError
from ssdlab.foundation.foreign import JsonObject

KEY = "namespace"
"""The key of the list of namespaces in drive files and specifications."""

_DEVICE = re.compile(r"/dev/n(?:vme|g)[0-9]+n([1-9][0-9]*)")


@dataclass(frozen=True)
class Namespace:
    """A namespace, as a range of bytes of the drive."""

    number: int
    """The number of the namespace from 1, like NVMe's namespace identifiers."""
    name: str
    offset_bytes: int
    size_bytes: int
    placement_handles: tuple[int, ...] = ()
    """The drive's reclaim unit handles that its placement identifiers stand for; empty: all of the drive's."""

    def holds(self, offset_bytes: int) -> bool:
        """Whether this byte of the drive is in the namespace."""
        return self.offset_bytes <= offset_bytes < self.offset_bytes + self.size_bytes


def namespaces_of(specification: Mapping[str, Any]) -> tuple[Namespace, ...]:
    """The namespaces in an engine's specification or in the content of a drive file; empty for most drives."""
    found: list[Namespace] = []
    at = 0
    for number, entry in enumerate(specification.get(KEY, ()), start=1):
        handles = tuple(entry.get("placement_handles", ()))
        found.append(Namespace(number, entry["name"], at, entry["size_bytes"], handles))
        at += entry["size_bytes"]
    return tuple(found)


def allocated_bytes(namespaces: Sequence[Namespace], user_bytes: int) -> int:
    """The bytes that a host can address: those of all namespaces, or of the drive if it has none."""
    return sum(namespace.size_bytes for namespace in namespaces) if namespaces else user_bytes


def named(name: str, namespaces: Sequence[Namespace]) -> Namespace:
    """The namespace of a job's `filename`: `/dev/nvme0n2` for the second, or the namespace's name.

    Raises InputError, with the allowed names, if there is none.
    """
    device = _DEVICE.fullmatch(name)
    for namespace in namespaces:
        if name == namespace.name or (device and int(device[1]) == namespace.number):
            return namespace
    raise InputError(f"is no namespace of the drive; allowed are {known(namespaces)}")


def known(namespaces: Sequence[Namespace]) -> str:
    """The allowed values of `filename`, as part of a sentence."""
    return ", ".join(f"/dev/nvme0n{namespace.number} or {namespace.name}" for namespace in namespaces)


def scaled(content: Mapping[str, Any], full_user_bytes: int, unit_bytes: int) -> JsonObject:
    """The content of a drive file with a reduced capacity, with its namespaces reduced in proportion, in whole mapping
    units."""
    if not content.get(KEY):
        return dict(content)
    share = Fraction(content["ftl"]["user_bytes"], full_user_bytes)
    sizes = (max(1, int(entry["size_bytes"] * share) // unit_bytes) * unit_bytes for entry in content[KEY])
    smaller = [{**entry, "size_bytes": size} for entry, size in zip(content[KEY], sizes, strict=True)]
    return {**content, KEY: smaller}
