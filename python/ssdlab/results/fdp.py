"""What a drive with flexible data placement reports of it, in the shapes of `nvme fdp ... --output-format=json`.

The log pages are those of NVM Express 2.1, 5.1.12.1.28 to 5.1.12.1.31; one endurance group is the whole drive, and a
reclaim unit is an erase unit. Sizes are those of the drive of the run, which `--scale` makes smaller.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ssdlab.results.ledger import Ledger

PLACEMENT = "host-streams"
_INITIALLY_ISOLATED, _PERSISTENTLY_ISOLATED = 1, 2
_UNUSED, _HOST_SPECIFIED, _CONTROLLER_SPECIFIED = 0, 1, 2
# The attribute of a configuration that can be used: "FDP Configuration Valid".
_VALID = 1 << 7


def fdp(engine: Mapping[str, Any], capacity: Mapping[str, Any], ledger: Ledger) -> dict[str, Any] | None:
    """`ssdlab.fdp` of a result: configurations (log 20h), usage of the handles (21h), statistics (22h).

    `engine` is the engine's specification and `capacity` that of its outcome. Events (23h) are null: the engine keeps
    no list of them. None for a drive without handles.
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


def _erase_unit_bytes(capacity: Mapping[str, Any]) -> int:
    bytes_each: int = capacity["units_per_erase_unit"] * capacity["counted_unit_bytes"]
    return bytes_each


def _usage(jobs: Iterable[Mapping[str, Any]], handles: int) -> list[int]:
    """Who names each handle: a job, or the drive for writes that name none, which go to the first."""
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


def _named(job: Mapping[str, Any], handles: int) -> set[int]:
    if job.get("store"):
        return set(job["store"]["identifiers"])
    if job.get("stream_id") is not None:
        return {job["stream_id"]}
    chosen = job.get("identifiers") or {}
    if "ranges" in chosen:
        return {each["identifier"] for each in chosen["ranges"]}
    # A job that is to use handles and names none uses all of them.
    return set(chosen.get("among") or range(handles)) if chosen else set()
