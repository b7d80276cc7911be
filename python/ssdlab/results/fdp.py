"""What a drive with flexible data placement reports, in the format of `nvme fdp ... --output-format=json`.

The log pages are those of NVM Express 2.1, 5.1.12.1.28 to 5.1.12.1.31. One endurance group is the whole drive, and a
reclaim unit is an erase unit. Sizes are those of the simulated drive, which `--scale` reduces.
"""

from collections.abc import Iterable
from typing import TypedDict

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

    configs: list[Configuration]
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
    isolation = _PERSISTENTLY_ISOLATED if placement["persistently_isolated"] else _INITIALLY_ISOLATED
    used = _usage(engine["jobs"], handles)
    return {
        "configs": [
            {
                "fdpa": _VALID,
                "vss": 0,
                "nrg": 1,
                "nruh": handles,
                "nnss": 1,
                "runs": capacity["data_units_per_erase_unit"] * capacity["counted_unit_bytes"],
                "erutl": 0,
                "ruhs": [{"ruht": isolation}] * handles,
            }
        ],
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


def _usage(jobs: Iterable[plain.Job], handles: int) -> list[int]:
    """Who uses each handle: a job that names it, or the drive, which assigns other writes to the first handle."""
    used = [_UNUSED] * handles
    for job in jobs:
        if job["direction"] in ("read", "trim"):
            continue
        named = _named(job, handles)
        for handle in named:
            used[handle] = _HOST_SPECIFIED
        if not named and used[0] == _UNUSED:
            used[0] = _CONTROLLER_SPECIFIED
    return used


def _named(job: plain.Job, handles: int) -> set[int]:
    if store := job.get("store"):
        return set(store["identifiers"])
    if (stream := job.get("stream_id")) is not None:
        return {stream}
    chosen = job.get("identifiers")
    if not chosen:
        return set()
    if chosen["choose"] == "by-offset":
        return {each["identifier"] for each in chosen["ranges"]}
    # A job with placement but without identifiers uses all handles.
    return set(chosen["among"] or range(handles))
