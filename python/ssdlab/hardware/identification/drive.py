"""Builds a drive file from the inferred values with their intervals; all other values are typical ones.

Does not choose values: the experiments and the fit do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from ssdlab.errors import RunFailed
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.identification.evidence import Inferred
from ssdlab.simulator.drives.schema import DriveFile, described, drive_of, problems

DERIVED = {
    "over_provisioning": "over-provisioning",
    "erase_unit_bytes": "erase unit",
    "parallel_units": "dies at work at the same time",
    "slc_cache_bytes": "SLC cache",
    "buffer_bytes": "writes taken into memory",
}
"""Inferred quantities that are not keys of the drive file, with their names for readers."""

_USUAL: JsonObject = {
    "nand.cell": "tlc",
    "nand.channels": 4,
    "nand.dies_per_channel": 4,
    "nand.planes_per_die": 2,
    "nand.pages_per_block": 256,
    "nand.page_bytes": 16384,
    "nand.read_us": 60.0,
    "nand.program_us": 700.0,
    "nand.erase_us": 5000.0,
    "nand.channel_mb_s": 800.0,
    "nand.endurance_cycles": 3000,
    "ftl.mapping_unit_bytes": 4096,
    "ftl.erase_unit": "superblock",
    "ftl.victim": "greedy",
    "ftl.placement": "host-gc-split",
    "ftl.wear_leveling": "none",
    "ftl.reserve_erase_units": 2,
    "ftl.spare_area": "dynamic",
}
"""Typical values for keys that a drive file requires and no experiment determines. The number of pages in a block is
replaced if it is not known (see `_blocks`)."""
_OVER_PROVISIONING = 0.07
_ERASE_UNITS_ABOUT = 400


@dataclass(frozen=True)
class Model:
    """A drive file and the keys whose values are assumed."""

    file: DriveFile
    assumed: tuple[str, ...]


def model_of(
    known: Mapping[str, Inferred], capacity_bytes: int, name: str, changes: Mapping[str, Any] | None = None
) -> Model:
    """The drive file from the known values. `changes` overrides values by key, for fits. Raises RunFailed if the values
    form no valid drive."""
    found = {key: each.value for key, each in known.items() if "." in key}
    values = {**_USUAL, **found, **(changes or {})}
    spare = values.pop("over_provisioning", None)
    if spare is None:
        spare = known["over_provisioning"].value if "over_provisioning" in known else _OVER_PROVISIONING
    _cache(values, known)
    if values["ftl.mapping_unit_bytes"] > values["nand.page_bytes"]:
        values["nand.page_bytes"] = values["ftl.mapping_unit_bytes"]
    values["ftl.user_bytes"] = capacity_bytes
    _blocks(values, float(spare), assumed_pages="nand.pages_per_block" not in {**found, **(changes or {})})
    content = _content(name, values, known)
    for _ in range(64):
        wrong = problems(content)
        if not wrong:
            return Model(described(content), tuple(key for key in values if key not in found))
        if any(problem.kind != "spare-area" for problem in wrong):
            break
        # The spare area is too small: adds blocks until it suffices.
        values["nand.blocks_per_plane"] += 1
        content = _content(name, values, known)
    try:
        return Model(drive_of(content, "the inferred drive"), ())
    except Exception as error:
        raise RunFailed(f"the inferred values make no drive: {error}") from None


def _cache(values: JsonObject, known: Mapping[str, Inferred]) -> None:
    cache = known.get("slc_cache_bytes")
    if cache is not None and "slc_cache.static_bytes" not in values and "slc_cache.dynamic_bytes_max" not in values:
        values["slc_cache.dynamic_bytes_max"] = cache.value


def _blocks(values: JsonObject, spare: float, *, assumed_pages: bool) -> None:
    """Sets the number of blocks to match the raw capacity, and the pages in a block if their number is assumed."""
    planes = values["nand.channels"] * values["nand.dies_per_channel"] * values["nand.planes_per_die"]
    row = planes * values["nand.page_bytes"]
    raw = values["ftl.user_bytes"] * (1 + spare)
    if assumed_pages:
        together = values.get("nand.pages_per_program", 1)
        values["nand.pages_per_block"] = max(1, round(raw / row / _ERASE_UNITS_ABOUT / together)) * together
    blocks = max(8, round(raw / (row * values["nand.pages_per_block"])))
    if static := values.get("slc_cache.static_bytes", 0):
        # Blocks that always belong to an SLC cache are not part of the spare area.
        bits = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}[values["nand.cell"]]
        stripe = values.get("parity.units_per_stripe", 0)
        held = row * max(1, values["nand.pages_per_block"] // bits) * ((stripe - 1) / stripe if stripe else 1)
        blocks += ceil(static / held)
    values["nand.blocks_per_plane"] = blocks


def _content(name: str, values: Mapping[str, Any], known: Mapping[str, Inferred]) -> JsonObject:
    content: JsonObject = {"name": name, "description": f"inferred from outside by ssdlab identify: {name}"}
    sources: JsonObject = {}
    for key, value in values.items():
        table, _, word = key.partition(".")
        content.setdefault(table, {})[word] = value
        sources[key] = _source(key, known)
    return {**content, "sources": sources}


def _source(key: str, known: Mapping[str, Inferred]) -> dict[str, str]:
    found = known.get(key)
    if key in ("ftl.user_bytes",):
        return {"kind": "measured", "source": "the capacity that the target reports"}
    if key == "nand.blocks_per_plane" and "over_provisioning" in known:
        spare = known["over_provisioning"]
        return {"kind": "fitted", "source": f"inferred from an over-provisioning of {_interval(spare)}"}
    if found is None:
        return {"kind": "assumed", "source": "not inferred: what is usual"}
    return {"kind": "fitted", "source": f"inferred: {_interval(found)}, experiment {found.experiment}"}


def _interval(found: Inferred) -> str:
    if isinstance(found.value, str | bool) or found.low == found.high:
        return str(found.value).lower() if isinstance(found.value, bool) else str(found.value)
    ends = found.value, found.low, found.high
    value, low, high = (f"{each:.4g}" if isinstance(each, float) else str(each) for each in ends)
    return f"{value} (90 %: {low} to {high})"
