"""`ssdlab.drives` and `ssdlab.policies`: what the catalogue and the engine have, with sources."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import msgspec

from ssdlab.foundation.foreign import JsonObject
from ssdlab.foundation.quantities import format_scale
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator.drives import standing
from ssdlab.simulator.drives.loader import load, names
from ssdlab.simulator.drives.policies import Policy, known
from ssdlab.simulator.drives.resolve import ResolvedDrive, resolve
from ssdlab.simulator.drives.schema import KINDS, POLICY_KINDS, DriveFile
from ssdlab.simulator.engine.types import UNITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from ssdlab.presentation.report.figure import Figure


@dataclass(frozen=True, repr=False)
class Drives(Shown):
    """The drives of the catalogue, by name. Iterating gives them resolved, with `capacity` and `file`."""

    drives: Sequence[ResolvedDrive]

    def __repr__(self) -> str:
        return f"<Drives: {len(self.drives)} in the catalogue>"

    def __iter__(self) -> Iterator[ResolvedDrive]:
        return iter(self.drives)

    def __len__(self) -> int:
        return len(self.drives)

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each drive.

        Columns: name, description, cell, scale (text), standing (what stands behind the name); the capacities, in
        bytes, shares and counts, as `ssdlab drives NAME` defines them; and for each kind of source the number of values
        that have it, such as values_datasheet.
        """
        import polars as pl

        return pl.DataFrame([row(drive) for drive in self.drives])

    def figures(self) -> Sequence[Figure]:
        """No pictures."""
        return ()

    def to_dict(self) -> list[SummaryJson]:
        """The list that `ssdlab drives --format json` prints."""
        return [summary(drive) for drive in self.drives]


@dataclass(frozen=True, repr=False)
class Policies(Shown):
    """The policies of the engine. Iterating gives them one by one."""

    policies: Sequence[Policy]

    def __repr__(self) -> str:
        kinds = dict.fromkeys(policy.kind for policy in self.policies)
        return f"<Policies: {len(self.policies)}, of {len(kinds)} kinds: {', '.join(kinds)}>"

    def __iter__(self) -> Iterator[Policy]:
        return iter(self.policies)

    def __len__(self) -> int:
        return len(self.policies)

    def frame(self) -> pl.DataFrame:
        """A frame with one row for each policy.

        Columns: kind (the key below `ftl` that selects it), name, summary, source, parameters (names with their
        defaults, as in a drive file).
        """
        import polars as pl

        rows = [
            {
                "kind": each.kind,
                "name": each.name,
                "summary": each.summary,
                "source": each.source,
                "parameters": parameters(each),
            }
            for each in self.policies
        ]
        return pl.DataFrame(rows)

    def figures(self) -> Sequence[Figure]:
        """No pictures."""
        return ()

    def to_dict(self) -> list[JsonObject]:
        """The list that `ssdlab policies --format json` prints."""
        return [msgspec.structs.asdict(policy) for policy in self.policies]


def drives() -> Drives:
    """The drives of the catalogue with their capacities and sources, as `ssdlab drives`.

    `ssdlab.drive(NAME)` is one of them. Raises RunFailed if the native module is not built.

        ssdlab.drives().frame().filter(polars.col("cell") == "qlc")["name"]
    """
    return Drives([resolve(load(each)) for each in names()])


def policies() -> Policies:
    """The policies of the simulated drive, with the engine's own descriptions, as `ssdlab policies`.

    A policy is selected by `settings={"ftl.KIND": "NAME"}`. Raises RunFailed if the native module is not built.

        ssdlab.policies().frame().filter(polars.col("kind") == "victim")["name"]
    """
    return Policies([policy for of_kind in known().values() for policy in of_kind.values()])


def parameters(policy: Policy) -> list[str]:
    """The parameters of a policy, each as `name = default`."""
    return [f"{key} = {json.dumps(value)}" for key, value in policy.parameters.items()]


def row(drive: ResolvedDrive) -> dict[str, object]:
    """The row of a drive in `Drives.frame`."""
    plain = summary(drive)
    return {
        **{name: plain[name] for name in ("name", "description", "cell", "scale", "standing")},
        **plain["capacity"],
        **{f"values_{kind}": count for kind, count in plain["sources"].items()},
    }


class ValueJson(TypedDict):
    """A value of a drive file with its unit and source."""

    key: str
    value: object
    unit: str
    kind: str
    source: str


class CapacityJson(TypedDict):
    """Capacities of a drive. The shares are fractions, defined as in the capacity table of `ssdlab drives NAME`."""

    physical_bytes: int
    user_bytes: int
    sold_bytes: int
    over_provisioning: float
    spare_factor: float
    hidden_over_provisioning: float
    erase_units: int
    units_per_erase_unit: int
    data_units_per_erase_unit: int
    mapping_unit_bytes: int


class SummaryJson(TypedDict):
    """A drive in `ssdlab drives --format json`."""

    name: str
    description: str
    cell: str
    scale: str
    standing: str
    """What stands behind the name of the drive."""
    capacity: CapacityJson
    sources: dict[str, int]


def values(file: DriveFile) -> list[ValueJson]:
    """Every value of the drive, including defaults, with unit, kind and source; values that are None are left out."""
    entries: list[ValueJson] = []
    for table, content in file.tables().items():
        for name in content.__struct_fields__:
            value = getattr(content, name)
            if table == "ftl" and name in POLICY_KINDS:
                value = file.choice(name)
            if value is None:
                continue
            key = f"{table}.{name}"
            source = file.source_of(key)
            entries.append(
                {"key": key, "value": value, "unit": UNITS.get(key, ""), "kind": source.kind, "source": source.source}
            )
    return entries


def kinds(file: DriveFile) -> dict[str, int]:
    """The number of values of each kind, of those that the file itself gives."""
    said = [entry["kind"] for entry in values(file) if file.says(entry["key"])]
    return {kind: said.count(kind) for kind in KINDS}


def summary(drive: ResolvedDrive) -> SummaryJson:
    capacity = drive.capacity
    return {
        "name": drive.name,
        "description": drive.file.description,
        "cell": drive.file.nand.cell,
        "scale": format_scale(drive.scale),
        "standing": standing.behind(drive.specification(), drive.scale),
        "capacity": {
            "physical_bytes": capacity.physical_bytes,
            "user_bytes": capacity.user_bytes,
            "sold_bytes": capacity.sold_bytes,
            "over_provisioning": capacity.over_provisioning,
            "spare_factor": capacity.spare_factor,
            "hidden_over_provisioning": capacity.hidden_over_provisioning,
            "erase_units": capacity.erase_units,
            "units_per_erase_unit": capacity.units_per_erase_unit,
            "data_units_per_erase_unit": capacity.data_units_per_erase_unit,
            "mapping_unit_bytes": capacity.mapping_unit_bytes,
        },
        "sources": kinds(drive.file),
    }
