"""Zoned drives with jobs that write at the write pointers, and hosts that manage zones on an ordinary drive."""

from collections.abc import Iterator

from case import Case, Live, Resumed, Run
from cases_features import FEATURES
from parts import KIB, MIB, UNIT, Changes, Json, drive, job, per_direction, specification

_ZONES = 18
_CAPACITY = 384 * UNIT
"""An erase unit of the small drive."""
_ON: Changes = {
    "ftl.placement": {"name": "single"},
    "ftl.user_bytes": _ZONES * 2 * MIB,
    "zones": {"zone_bytes": 2 * MIB, "capacity_bytes": _CAPACITY, "open_max": 3, "active_max": 4},
}
_OF_DRIVE: dict[str, Json] = {
    "zone_bytes": 0,
    "capacity_bytes": 0,
    "open_max": 0,
    "job_open_max": 0,
    "reset_threshold": 0.0,
    "reset_frequency": 0.0,
    "read_beyond_pointer": False,
}
# Features that a zoned drive supports.
_BESIDE = (
    "bad-blocks",
    "suspend",
    "closing-buffer",
    "one-shot",
    "at-once",
    "host-link",
    "read-ahead",
    "command-limit",
    "volatile-buffer",
    "no-buffer",
    "own-channels",
)


def _zoned(zoned: Changes, **changes: Json) -> dict[str, Json]:
    """A job over all zones; `share` refers to the small drive's ordinary capacity."""
    return job(**{"size_bytes": _ZONES * 2 * MIB, "block_bytes": 16 * KIB, "zoned": _OF_DRIVE | zoned} | changes)


def _work(zoned: Changes | None = None) -> list[dict[str, Json]]:
    """Fills zones in order, then writes at random, resetting each zone when its turn comes again; then reads, together
    with writes of two jobs in separate zones, and resets."""
    how = zoned or {}
    half = _ZONES // 2 * 2 * MIB
    return [
        _zoned(how, name="fill", sequential=True, iodepth=4, share=0.9),
        _zoned(how, name="scattered", stage=1, share=0.8),
        _zoned(how, name="first", stage=2, size_bytes=half, share=0.3, direction="read-write"),
        _zoned(how, name="reads", stage=3, direction="read", share=0.2, block_bytes=UNIT),
        _zoned(how, name="resets", stage=4, direction="trim", share=0.3, block_bytes=2 * MIB, iodepth=1),
        _zoned(how, name="again", stage=5, offset_bytes=half, size_bytes=half, share=0.3, seed=12),
    ]


def zoned() -> Iterator[tuple[str, Case]]:
    besides: dict[str, Changes] = {"none": {}} | {name: FEATURES[name] for name in _BESIDE}
    besides["parity"] = {"parity.units_per_stripe": 16, "zones.capacity_bytes": _CAPACITY // 16 * 15}
    besides["small"] = {"zones.capacity_bytes": 100 * UNIT}
    besides["whole"] = {"zones.zone_bytes": _CAPACITY, "zones.capacity_bytes": 0, "ftl.user_bytes": _ZONES * _CAPACITY}
    for name, changes in besides.items():
        # A drive of smaller zones has fewer addresses.
        work = _work() if name != "whole" else [_zoned({}, size_bytes=_ZONES * _CAPACITY, share=2.0)]
        on = drive(_ON | changes)
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            yield f"{clock}/{name}", Run(specification(work, on, timed=timed))
    yield from _jobs()
    yield from _with_areas()
    on = drive(_ON)
    # The state of a zoned drive cannot be saved.
    yield "refused/kept-state", Resumed(specification(_work()[:2], on, timed=False), specification(_work()[3:], on))
    calls: list[list[Json]] = [["advance", 900, 1e6], ["end_job"], ["advance", 10**9, 1e6], ["outcome"]]
    yield "live/ended", Live(specification(_work(), on), calls)


def _with_areas() -> Iterator[tuple[str, Case]]:
    """Zones with random write areas, and jobs that overwrite in them or not."""
    areas: Changes = {"zones.random_write_area_bytes": 32 * UNIT, "zones.flush_granularity_bytes": 4 * UNIT}
    for name, percent in (("in-order", 0.0), ("overwritten", 40.0)):
        for beside in ("suspend", "no-buffer", "volatile-buffer"):
            on = drive(_ON | areas | FEATURES[beside])
            for timed in (True, False):
                clock = "timed" if timed else "untimed"
                work = _work({"overwrite_percent": percent})
                yield f"{clock}/areas-{name}-{beside}", Run(specification(work, on, timed=timed))
    overwriting = _zoned({"overwrite_percent": 40.0})
    yield "refused/no-area", Run(specification([overwriting], drive(_ON)))
    yield (
        "refused/area-in-part",
        Run(specification([overwriting], drive(_ON | areas | {"zones.capacity_bytes": 38 * UNIT}))),
    )


def _jobs() -> Iterator[tuple[str, Case]]:
    on = drive(_ON)
    hows: dict[str, Changes] = {
        "fewer-open": {"open_max": 2},
        "own-limit": {"job_open_max": 1},
        "resets-early": {"reset_threshold": 0.5, "reset_frequency": 0.1, "job_open_max": 1},
        "reads-anywhere": {"read_beyond_pointer": True, "job_open_max": 1},
    }
    for name, how in hows.items():
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            yield f"{clock}/job-{name}", Run(specification(_work(how), on, timed=timed))
    kept = {"zone_bytes": 2 * MIB, "capacity_bytes": _CAPACITY, "open_max": 5}
    hosts = [
        job(name="fill", zoned=_OF_DRIVE | kept, sequential=True, block_bytes=64 * KIB, share=0.7),
        job(name="scattered", stage=1, zoned=_OF_DRIVE | kept, block_bytes=16 * KIB, share=2.0),
    ]
    for timed in (True, False):
        clock = "timed" if timed else "untimed"
        yield f"{clock}/host-keeps-them", Run(specification(hosts, timed=timed))
    wrong: dict[str, dict[str, Json]] = {
        "not-at-pointers": {"zoned": None},
        "other-size": {"zoned": _OF_DRIVE | {"zone_bytes": MIB}},
        "part-of-a-unit": {"block_sizes": per_direction([{"bytes": 512, "percent": 100.0}])},
        "part-of-a-zone": {"direction": "trim"},
    }
    for name, changes in wrong.items():
        yield f"refused/{name}", Run(specification([_zoned({}) | changes], on))
