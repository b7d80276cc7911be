"""The namespaces of a drive: ranges of its addresses, one behind another in the order of its file.

Their keys are described in `crates/engine/src/specification/drive/namespaces.rs`, which also checks them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ssdlab.errors import InputError
from ssdlab.foreign import JsonObject

KEY = "namespace"
"""The key of their list in drive files and specifications."""

_DEVICE = re.compile(r"/dev/n(?:vme|g)[0-9]+n([1-9][0-9]*)")


@dataclass(frozen=True)
class Namespace:
    """One of them, as bytes of the drive."""

    number: int
    """From 1, as NVMe's identifiers of namespaces are."""
    name: str
    offset_bytes: int
    size_bytes: int

    def holds(self, offset_bytes: int) -> bool:
        """Whether this byte of the drive belongs to it."""
        return self.offset_bytes <= offset_bytes < self.offset_bytes + self.size_bytes


def namespaces_of(specification: Mapping[str, Any]) -> tuple[Namespace, ...]:
    """Those of a drive, as the engine's specification or the content of a drive file has it; none for most drives."""
    found: list[Namespace] = []
    at = 0
    for number, entry in enumerate(specification.get(KEY, ()), start=1):
        found.append(Namespace(number, entry["name"], at, entry["size_bytes"]))
        at += entry["size_bytes"]
    return tuple(found)


def allocated_bytes(namespaces: Sequence[Namespace], user_bytes: int) -> int:
    """The bytes that a host can address: those of all namespaces, or of the drive where it has none."""
    return sum(namespace.size_bytes for namespace in namespaces) if namespaces else user_bytes


def named(name: str, namespaces: Sequence[Namespace]) -> Namespace:
    """The namespace that a job's `filename` names: `/dev/nvme0n2` for the second, or its own name.

    Raises InputError, which lists what is allowed.
    """
    device = _DEVICE.fullmatch(name)
    for namespace in namespaces:
        if name == namespace.name or (device and int(device[1]) == namespace.number):
            return namespace
    raise InputError(f"is no namespace of the drive; allowed are {known(namespaces)}")


def known(namespaces: Sequence[Namespace]) -> str:
    """What a `filename` may be, as part of a sentence."""
    return ", ".join(f"/dev/nvme0n{namespace.number} or {namespace.name}" for namespace in namespaces)


def scaled(content: Mapping[str, Any], full_user_bytes: int, unit_bytes: int) -> JsonObject:
    """The content of a drive file whose capacity was made smaller, with its namespaces made smaller alike, in whole
    mapping units."""
    if not content.get(KEY):
        return dict(content)
    share = Fraction(content["ftl"]["user_bytes"], full_user_bytes)
    sizes = (max(1, int(entry["size_bytes"] * share) // unit_bytes) * unit_bytes for entry in content[KEY])
    smaller = [{**entry, "size_bytes": size} for entry, size in zip(content[KEY], sizes, strict=True)]
    return {**content, KEY: smaller}
