"""What a drive with flexible data placement reports, in the format of `nvme fdp ... --output-format=json`.

The log pages are those of NVM Express 2.1, 5.1.12.1.28 to 5.1.12.1.31, and the status of reclaim unit handles that of
the NVM command set 1.1, 4.1.4.6 (`nvme fdp status`). One endurance group is the whole drive. Handles are listed as the
controller lists them: all reclaim groups of the first handle, then all of the second. Sizes are those of the simulated
drive, which `--scale` reduces. A logical block is a mapping unit.
"""

from collections.abc import Iterable, Sequence
from typing import NotRequired, TypedDict

from ssdlab.simulator.drives.namespaces import Namespace, namespaces_of
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results.device_json import HostEvent, HostEvents
from ssdlab.simulator.results.ledger import Ledger

PLACEMENT = "host-streams"
_INITIALLY_ISOLATED, _PERSISTENTLY_ISOLATED = 1, 2
_UNUSED, _HOST_SPECIFIED, _CONTROLLER_SPECIFIED = 0, 1, 2
# The attribute of a usable configuration: "FDP Configuration Valid".
_VALID = 1 << 7
_EVENT_TYPES = {"media-reallocated": 0x80, "implicitly-modified-handle": 0x81}
_HOST_EVENT_TYPES = {"not-fully-written": 0x00, "invalid-identifier": 0x03}
_IDENTIFIER_VALID, _NAMESPACE_VALID, _LOCATION_VALID = 1 << 0, 1 << 1, 1 << 2
_BLOCKS_MAX = 0xFFFF
_IDENTIFIER_BITS = 16


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


class HandleStatus(TypedDict):
    pid: int
    """The reclaim group in the upper bits, the handle in the lower ones."""
    ruhid: int
    earutr: int
    """0: no time limit is reported."""
    ruamw: int
    """Logical blocks that can still be written to the reclaim unit."""


class Status(TypedDict):
    """The status of reclaim unit handles."""

    nruhsd: int
    ruhss: list[HandleStatus]


class Event(TypedDict):
    """An event of log 23h. nvme-cli's JSON lacks `rgid` and `ruhid`, which it prints in its text."""

    type: int
    """80h: media reallocated, 81h: implicitly modified reclaim unit handle; of the host: 0h: reclaim unit not fully
    written to capacity, 3h: invalid placement identifier."""
    fdpef: int
    """Bit 0: `pid` is valid, bit 1: `nsid`, bit 2: `rgid` and `ruhid`."""
    pid: int
    timestamp: None
    """The part of the simulation that decides this has no clock: `host_written_bytes` says when."""
    nsid: int
    nlbam: NotRequired[int]
    """Only of type 80h: the number of logical blocks that were moved; 65535 stands for as many or more."""
    rgid: NotRequired[int]
    ruhid: NotRequired[int]
    host_written_bytes: int
    """What the host had written since the drive was new."""


class Events(TypedDict):
    """Log 23h."""

    n: int
    """The number of events."""
    events: list[Event]
    lost: int
    """Older events, which the log no longer has."""


class FdpJson(TypedDict):
    """The key `fdp` of a result."""

    configs: Configurations
    usage: Usage
    stats: Statistics
    status: Status | None
    events: Events | None
    """The events of the controller; the oldest first."""
    host_events: Events | None
    """The events of the host, on a drive that is served; none arises in a run."""


def fdp(
    engine: plain.Specification,
    capacity: plain.Capacity,
    ledger: Ledger,
    report: plain.PlacementReport | None,
) -> FdpJson | None:
    """The key `ssdlab.fdp` of a result: configurations (log 20h), usage of the handles (21h), statistics (22h), status
    of the handles, events (23h).

    `engine` is the engine's specification; `capacity` and `report` are those of its outcome. Status and events are null
    without a report, which a stripe of drives does not have. None for a drive without handles.
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
                    "runs": capacity["data_units_per_erase_unit"]
                    * capacity["mapping_unit_bytes"]
                    * placement["reclaim_unit_erase_units"],
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
        "status": _status(report, groups),
        "events": _events(report, groups, one_namespace=not namespaces_of(engine["drive"])),
        "host_events": None if report is None else {"n": 0, "events": [], "lost": 0},
    }


def _status(report: plain.PlacementReport | None, groups: int) -> Status | None:
    if report is None:
        return None
    listed: list[HandleStatus] = [
        {
            "pid": _identifier(each["handle"], each["reclaim_group"], groups),
            "ruhid": each["handle"],
            "earutr": 0,
            # A handle whose reclaim unit is full refers to the next, which is empty.
            "ruamw": each["available_units"] or report["reclaim_unit_units"],
        }
        for each in report["handles"]
    ]
    return {"nruhsd": len(listed), "ruhss": listed}


def _identifier(handle: int, group: int, groups: int) -> int:
    """A placement identifier of the whole drive: the reclaim group in as many upper bits as groups take."""
    return group << (_IDENTIFIER_BITS - (groups - 1).bit_length()) | handle


def _events(report: plain.PlacementReport | None, groups: int, *, one_namespace: bool) -> Events | None:
    if report is None:
        return None
    events = [_event(each, groups, one_namespace=one_namespace) for each in report["events"]]
    return {"n": len(events), "events": events, "lost": report["lost_events"]}


def _event(event: plain.PlacementEvent, groups: int, *, one_namespace: bool) -> Event:
    """With several namespaces, whose data may share an erase unit, the identifier is not valid: each namespace has
    identifiers of its own."""
    handle, group = event["handle"], event["reclaim_group"]
    has_identifier = handle is not None and one_namespace
    found: Event = {
        "type": _EVENT_TYPES[event["kind"]],
        "fdpef": has_identifier * _IDENTIFIER_VALID | (handle is not None) * _LOCATION_VALID,
        "pid": _identifier(handle, group, groups) if handle is not None and one_namespace else 0,
        "timestamp": None,
        "nsid": 0,
        "host_written_bytes": event["host_written_bytes"],
    }
    if event["kind"] == "media-reallocated":
        found["nlbam"] = min(event["moved_units"], _BLOCKS_MAX)
    if handle is not None:
        found["rgid"], found["ruhid"] = group, handle
    return found


def host_events(found: HostEvents, groups: int) -> Events:
    """The key `host_events` of a served drive with that many reclaim groups, from what the native module reports."""
    events = [_host_event(each, groups) for each in found["events"]]
    return {"n": len(events), "events": events, "lost": found["lost"]}


def _host_event(event: HostEvent, groups: int) -> Event:
    handle, identifier = event["handle"], event["identifier"]
    found: Event = {
        "type": _HOST_EVENT_TYPES[event["kind"]],
        "fdpef": _IDENTIFIER_VALID | _NAMESPACE_VALID | (handle is not None) * _LOCATION_VALID,
        "pid": identifier,
        "timestamp": None,
        "nsid": event["namespace"],
        "host_written_bytes": event["host_written_bytes"],
    }
    if handle is not None:
        found["rgid"], found["ruhid"] = identifier >> (_IDENTIFIER_BITS - (groups - 1).bit_length()), handle
    return found


def reclaim_groups(drive: plain.Drive) -> int:
    """The reclaim groups of a drive with handles."""
    groups: int = drive["ftl"]["placement"]["reclaim_groups"]
    return groups


def _erase_unit_bytes(capacity: plain.Capacity) -> int:
    return capacity["units_per_erase_unit"] * capacity["mapping_unit_bytes"]


def _usage(jobs: Iterable[plain.Job], handles: int, groups: int, namespaces: Sequence[Namespace]) -> list[int]:
    """The usage of each handle: by the host if a job names it, by the controller if it only has writes without an
    identifier, which use the first handle of their namespace."""
    used = [_UNUSED] * handles
    for job in jobs:
        if "direction" not in job:
            return _usage_by_namespaces(handles, namespaces)
        if job["direction"] in ("read", "trim"):
            continue
        for available in _available(job, handles, namespaces):
            named = _named(job, groups * len(available))
            for identifier in named:
                used[available[identifier // groups]] = _HOST_SPECIFIED
            if not named and used[available[0]] == _UNUSED:
                used[available[0]] = _CONTROLLER_SPECIFIED
    return used


def _usage_by_namespaces(handles: int, namespaces: Sequence[Namespace]) -> list[int]:
    """The usage where no job is known, on a drive that is served: as the standard defines it, a handle is used by the
    namespaces that were made with it. One without a list has all of the drive's."""
    used = {handle for each in namespaces for handle in each.placement_handles or range(handles)}
    return [_HOST_SPECIFIED if handle in used or not namespaces else _UNUSED for handle in range(handles)]


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
