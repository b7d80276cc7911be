"""The Python form of a drive file: all values, which of them the file itself gives, and their sources.

The engine defines the meaning of the keys, their bounds and the checks of combinations: `specification/drive/` and
`description/` in `crates/engine/src/`. docs/simulate/drive-file.md and the types in
`ssdlab/simulator/engine/types.py` are generated.
"""

import json
import math
import statistics
import threading
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_type_hints

import msgspec

from ssdlab.errors import InputError, near
from ssdlab.foundation.foreign import JsonObject
from ssdlab.simulator.drives import data_sheet
from ssdlab.simulator.drives.namespaces import Namespace, namespaces_of
from ssdlab.simulator.engine import native, plain, types
from ssdlab.simulator.engine.types import DriveCapacity, Memory, PolicyChoice, Problem, Source, SourceKind

__all__ = ["KINDS", "POLICY_KINDS", "TABLES", "DriveFile", "PolicyChoice", "PolicyKind", "Source", "keys"]

KINDS: tuple[SourceKind, ...] = get_args(SourceKind)
PolicyKind = Literal["victim", "placement", "wear_leveling", "gc_throttling", "die_choice"]
POLICY_KINDS: tuple[PolicyKind, ...] = get_args(PolicyKind)
_DECODING = threading.Lock()
"""msgspec prepares a type when it is first decoded, and crashes if two threads do so at once (0.22)."""
TABLES: dict[str, type[msgspec.Struct]] = {
    name: table
    for name, table in get_type_hints(types.DriveFile).items()
    if isinstance(table, type) and issubclass(table, msgspec.Struct)
}
"""The tables of values, in the order in which they are listed."""
_DEFAULT = Source(kind="assumed", source="not in the file: the default of every drive file")
NO_SOURCE = Source(kind="assumed", source="the drive file gives no source")
"""The source of a value that a user's file gives without a source."""
_LISTED_MAX = 3
_NOT_FOR_RUNS = ("description", "identity", "market", "sources")


class DriveFile(types.DriveFile, frozen=True, kw_only=True):
    """The content of a drive file, with the source of every value that the file gives."""

    content: JsonObject
    """The parsed TOML of the file."""
    specification: plain.Drive
    """The drive for the engine, with all values."""
    capacity: DriveCapacity
    memory: Memory

    def tables(self) -> dict[str, msgspec.Struct]:
        """The tables of values, in the order in which they are listed."""
        return {name: getattr(self, name) for name in TABLES}

    def source_of(self, key: str) -> Source:
        """The source of `table.key`: its own entry, its table's entry `table.*`, or that of a default."""
        table, _, _ = key.partition(".")
        found = self.sources.get(key) or self.sources.get(f"{table}.*")
        return found if found is not None and self.says(key) else _DEFAULT

    def says(self, key: str) -> bool:
        """Whether the file itself gives `table.key`; False for a default."""
        table, _, name = key.partition(".")
        return name in self.content.get(table, {})

    def unsourced(self) -> str:
        """A sentence about the values that a user's file gives without a source; "" if there are none."""
        keys = [key for key, source in self.sources.items() if source == NO_SOURCE]
        if not keys:
            return ""
        listed = ", ".join(keys[:_LISTED_MAX]) + (" ..." if len(keys) > _LISTED_MAX else "")
        return f"{len(keys)} value{'s have' if len(keys) > 1 else ' has'} no source ({listed})"

    def choice(self, kind: PolicyKind) -> JsonObject:
        """The name of the policy of a kind, and the parameters that the file gives."""
        given = self.content["ftl"].get(kind, getattr(self.ftl, kind).name)
        return {"name": given} if isinstance(given, str) else dict(given)

    def with_sources(self, sources: Mapping[str, Source]) -> "DriveFile":
        """The drive with the sources of some values, by `table.key`, replaced."""
        return described(changed(self.content, {}, sources))

    @property
    def data_sheet(self) -> tuple[data_sheet.Rated, ...]:
        """What the maker says of the product; empty if the file has no `[datasheet]`."""
        return data_sheet.rows_of(self.content)

    @property
    def has_slc_cache(self) -> bool:
        return self.slc_cache.static_bytes > 0 or self.slc_cache.dynamic_bytes_max > 0

    @property
    def has_data_reduction(self) -> bool:
        return self.data_reduction.compression or self.data_reduction.deduplication

    @property
    def is_striped(self) -> bool:
        return self.stripe.devices > 1

    @property
    def namespaces(self) -> tuple[Namespace, ...]:
        """The namespaces in order; empty if the drive has none."""
        return namespaces_of(self.specification)


def keys() -> list[str]:
    """All keys allowed in a drive file: the top-level `name` and `description`, and the others as `table.key`."""
    return ["name", "description", *(f"{table}.{key}" for table in TABLES for key in keys_of(table))]


def keys_of(table: str) -> tuple[str, ...]:
    """The keys of one table, in the order in which they are listed."""
    return TABLES[table].__struct_fields__


def changed(content: Mapping[str, Any], values: Mapping[str, Any], sources: Mapping[str, Source]) -> JsonObject:
    """The content of a drive file with some values and sources, by `table.key`, replaced."""
    changed = dict(content)
    for key, value in values.items():
        table, _, name = key.partition(".")
        changed[table] = changed.get(table, {}) | {name: value}
    entries = {key: msgspec.to_builtins(source) for key, source in sources.items()}
    changed["sources"] = changed.get("sources", {}) | entries
    return changed


def mean_us(times: float | list[float]) -> float:
    """The mean time of a page. Several times are those of the pages of a word line."""
    return statistics.fmean(times) if isinstance(times, list) else times


def drive_of(content: Mapping[str, Any], where: str, *, sold_bytes: int | None = None) -> DriveFile:
    """The drive of parsed TOML. `sold_bytes` replaces the sold capacity of the file.

    Raises InputError with all errors, one per line, each after `where`.
    """
    refuse(problems(content), content, where)
    return described(content, sold_bytes=sold_bytes)


def _is_off(table: str, values: Any) -> bool:
    """Whether runs do not use a table. It is then left out of specifications, so that results of drives without the
    feature stay under the hash that they had before there was such a table."""
    switches = {"read_retries": "retry_us", "power": "limit_watts"}
    return table in switches and not values[switches[table]]


def problems(content: Mapping[str, Any], part: Literal["keys", "geometry", "all"] = "all") -> list[Problem]:
    """The errors of a drive file: "keys" checks keys and single values; "geometry" also the geometry, without the
    capacity for the host; "all" everything."""
    found = native().check(json.dumps(_plain(data_sheet.without(content))), part)
    with _DECODING:
        return msgspec.json.decode(found, type=list[Problem])


def refuse(found: list[Problem], content: Mapping[str, Any], where: str) -> None:
    """Raises InputError if there are problems, with one line for each, which starts with `where`."""
    if found:
        raise InputError("\n".join(f"{where}: {sentence}" for sentence in sentences(found, content)))


def sentences(found: list[Problem], content: Mapping[str, Any]) -> list[str]:
    """One sentence for each problem."""
    return [_sentence(problem, content) for problem in found]


def described(content: Mapping[str, Any], *, sold_bytes: int | None = None) -> DriveFile:
    """The drive of content that has no problems, except possibly with the capacity for the host."""
    found = json.loads(native().describe(json.dumps(_plain(data_sheet.without(content))), sold_bytes))
    file = found.pop("file")
    specification = {key: value for key, value in file.items() if key not in _NOT_FOR_RUNS and not _is_off(key, value)}
    policies = {kind: _choice(file["ftl"][kind]) for kind in POLICY_KINDS}
    values = file | {"ftl": file["ftl"] | policies} | found
    with _DECODING:
        return msgspec.convert(values | {"content": dict(content), "specification": specification}, DriveFile)


def _choice(choice: Mapping[str, Any]) -> JsonObject:
    return {"name": choice["name"], "parameters": {key: value for key, value in choice.items() if key != "name"}}


def _sentence(problem: Problem, content: Mapping[str, Any]) -> str:
    key, last = problem.key, problem.key.rpartition(".")[2]
    known = ", ".join(problem.known)
    match problem.kind:
        case "missing-key":
            return f"key {key!r} is missing; it should be {problem.allowed}"
        case "unknown-key" if key.startswith("sources."):
            entry = key.removeprefix("sources.")
            return f"sources.{entry!r} names no value of this file{near(entry, problem.known)}"
        case "unknown-key":
            return f"unknown key {key!r}{near(last, problem.known)} ({problem.allowed}: {known or 'none'})"
        case "no-source":
            first = problem.known[0]
            return (
                f"no source for {known}; under [sources] write, for example,"
                f' {first!r} = {{ kind = "assumed", source = "why this value" }}'
                f' (kinds: {", ".join(KINDS)}; "{first.partition(".")[0]}.*" stands for all others of its table)'
            )
        case "spare-area":
            return f"{key} = {problem.value} leaves too little spare area: {problem.allowed}"
    value = _value_at(content, key, problem.value)
    listed = f"{near(str(value), problem.known)} (known: {known})" if problem.known else ""
    return f"{key} = {value!r} should be {problem.allowed}{listed}"


def _value_at(content: Mapping[str, Any], key: str, otherwise: Any) -> Any:
    """The value of the key in the file, or `otherwise` if it has none. JSON cannot represent NaN and dates."""
    found: Any = content
    for name in key.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return otherwise
        found = found[name]
    return otherwise if isinstance(found, Mapping) else found


def _plain(value: Any) -> Any:
    """The value in JSON form. Values that JSON cannot represent become null, which no key allows."""
    match value:
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case str() | int() | float():
            return value
    return None
