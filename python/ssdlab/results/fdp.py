"""What a drive with flexible data placement reports, in the format of `nvme fdp ... --output-format=json`.

The log pages are those of NVM Express 2.1, 5.1.12.1.28 to 5.1.12.1.31. One endurance group is the whole drive, and a
reclaim unit is an erase unit. Placement identifiers count as the controller lists them (reclaim unit handle status):
all reclaim groups of the first handle, then all of the second. Sizes are those of the simulated drive, which `--scale`
reduces.
"""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from ssdlab.drives.namespaces import Namespace, namespaces_of
from ssdlab.engine import plain
from ssdlab.results.ledger import Ledger

PLACEMENT = "host-streams"
_INITIALLY_ISOLATED, _PERSISTENTLY_ISOLATED = 1, 2
_UNUSED, _HOST_SPECIFIED, _CONTROLLER_SPECIFIED = 0, 1, 2
# The attribute of a usable configuration: "FDP Configuration Valid".
_VALID = 1 << 7


class ReclaimUnitHandle(TypedDict):
    ruht: int
    """1: initially isolated, 2: persistently isolated."""


class Configuration(TypedDict):
    """A configuration of log 20h."""

    fdpa: int
    vss: int
    nrg: int
    nruh: int
    nnss: int
    runs: int
    """The size of a reclaim unit in bytes."""
    erutl: int
    ruhs: list[ReclaimUnitHandle]


class Configurations(TypedDict):
    """Log 20h."""

    n: int
    """The number of configurations, counted from 0."""
    configs: list[Configuration]


class HandleUsage(TypedDict):
    ruha: int
    """0: unused, 1: specified by the host, 2: by the controller."""


class Usage(TypedDict):
    """Log 21h."""

    nruh: int
    ruhus: list[HandleUsage]


class Statistics(TypedDict):
    """Log 22h, in bytes."""

    hbmw: int
    mbmw: int
    mbe: int


class FdpJson(TypedDict):
    """The key `fdp` of a result."""

    configs: Configurations
    usage: Usage
    stats: Statistics
    events: None


def fdp(engine: plain.Specification, capacity: plain.Capacity, ledger: Ledger) -> FdpJson | None:
    """The key `ssdlab.fdp` of a result: configurations (log 20h), usage of the handles (21h), statistics (22h).

    `engine` is the engine's specification and `capacity` that of its outcome. Events (23h) are null: the engine does
    not record them. None for a drive without handles.
    """
    placement = engine["drive"]["ftl"]["placement"]
    if placement["name"] != PLACEMENT:
        return None
    handles: int = placement["identifiers"]
    groups: int = placement["reclaim_groups"]
    isolation = _PERSISTENTLY_ISOLATED if placement["persistently_isolated"] else _INITIALLY_ISOLATED
    used = _usage(engine["jobs"], handles, groups, namespaces_of(engine["drive"]))
    return {
        "configs": {
            "n": 0,
            "configs": [
                {
                    # The lowest bits: how many bits of a placement identifier name the reclaim group.
                    "fdpa": _VALID | (groups - 1).bit_length(),
                    "vss": 0,
                    "nrg": groups,
                    "nruh": handles,
                    "nnss": 1,
                    "runs": capacity["data_units_per_erase_unit"] * capacity["counted_unit_bytes"],
                    "erutl": 0,
                    "ruhs": [{"ruht": isolation}] * handles,
                }
            ],
        },
        "usage": {"nruh": handles, "ruhus": [{"ruha": used[handle]} for handle in range(handles)]},
        "stats": {
            "hbmw": ledger.host_written_bytes,
            "mbmw": ledger.programmed_bytes,
            "mbe": ledger.erased_erase_units * _erase_unit_bytes(capacity),
        },
        "events": None,
    }


def _erase_unit_bytes(capacity: plain.Capacity) -> int:
    return capacity["units_per_erase_unit"] * capacity["counted_unit_bytes"]


def _usage(jobs: Iterable[plain.Job], handles: int, groups: int, namespaces: Sequence[Namespace]) -> list[int]:
    """The usage of each handle: by the host if a job names it, by the controller if it only has writes without an
    identifier, which use the first handle of their namespace."""
    used = [_UNUSED] * handles
    for job in jobs:
        if job["direction"] in ("read", "trim"):
            continue
        for available in _available(job, handles, namespaces):
            named = _named(job, groups * len(available))
            for identifier in named:
                used[available[identifier // groups]] = _HOST_SPECIFIED
            if not named and used[available[0]] == _UNUSED:
                used[available[0]] = _CONTROLLER_SPECIFIED
    return used


def _available(job: plain.Job, handles: int, namespaces: Sequence[Namespace]) -> list[Sequence[int]]:
    """For each namespace that the job accesses, or for the drive, the handles that its identifiers stand for."""
    end_bytes = job["offset_bytes"] + job["size_bytes"]
    accessed: list[Sequence[int]] = [
        each.placement_handles or range(handles)
        for each in namespaces
        if each.offset_bytes < end_bytes and job["offset_bytes"] < each.offset_bytes + each.size_bytes
    ]
    return accessed or [range(handles)]


def _named(job: plain.Job, identifiers: int) -> set[int]:
    if store := job.get("store"):
        return set(store["identifiers"])
    if (stream := job.get("stream_id")) is not None:
        return {stream}
    chosen = job.get("identifiers")
    if not chosen:
        return set()
    if chosen["choose"] == "by-offset":
        return {each["identifier"] for each in chosen["ranges"]}
    # A job with placement but without identifiers uses all.
    return set(chosen["among"] or range(identifiers))
