"""All options of a job: the addresses of its requests, their rate, its end; and the end of a run."""

from collections.abc import Iterator

from case import Case, Run
from parts import KIB, MIB, UNIT, USER_BYTES, Changes, Json, drive, fill, job, per_direction, specification

_MS = 1_000_000
_SIZES = [{"bytes": UNIT, "percent": 50.0}, {"bytes": 3 * UNIT, "percent": 30.0}, {"bytes": 16 * UNIT, "percent": 20.0}]
_LARGE = [{"bytes": 2 * UNIT, "percent": 60.0}, {"bytes": 5 * UNIT, "percent": 40.0}]
_UNALIGNED = [{"bytes": 512, "percent": 40.0}, {"bytes": 5 * KIB, "percent": 60.0}]
_ZONES = [{"access_percent": 60.0, "span_percent": 10.0}, {"access_percent": 40.0, "span_percent": 90.0}]
_ABSOLUTE = [{"access_percent": 70.0, "span_bytes": 2 * MIB}, {"access_percent": 30.0, "span_bytes": 8 * MIB}]
_FILES = [{"offset_bytes": at * MIB, "size_bytes": size * MIB} for at, size in ((0, 2), (4, 1), (10, 6))]
_NONE = per_direction(None)


def _files(service: Json) -> Json:
    return {"ranges": _FILES, "service": service}


def _skewed(name: str, **parameters: Json) -> Changes:
    return {"distribution": {"name": name, **parameters}}


# Each entry is one job after a fill.
_PLACES: dict[str, Changes] = {
    "uniform": {},
    "random-map": {"random_map": True},
    "random-map-sizes": {"random_map": True, "block_sizes": per_direction(_SIZES)},
    "zipf": _skewed("zipf", theta=1.2, center=None),
    "zipf-below-one": _skewed("zipf", theta=0.6, center=0.7),
    "zipf-one": _skewed("zipf", theta=1.0, center=0.0),
    "pareto": _skewed("pareto", h=0.2, center=None),
    "pareto-center": _skewed("pareto", h=0.3, center=0.5),
    "normal": _skewed("normal", deviation_percent=10.0, center=None),
    "normal-center": _skewed("normal", deviation_percent=40.0, center=0.9),
    "zoned": _skewed("zoned", zones=_ZONES),
    "zoned-by-direction": {"direction": "read-write"}
    | _skewed("zoned-by-direction", zones=per_direction(_ZONES) | {"read": list(reversed(_ZONES))}),
    "zoned-absolute": _skewed("zoned-absolute", zones=per_direction(_ABSOLUTE)),
    "zoned-map": {"random_map": True, "share": 0.3} | _skewed("zoned", zones=_ZONES),
    "like-fio-zipf": _skewed("like-fio", law={"name": "zipf", "theta": 1.1}, center=None, seed=7),
    "like-fio-pareto": _skewed("like-fio", law={"name": "pareto", "h": 0.2}, center=0.2, seed=7),
    "like-fio-normal": _skewed("like-fio", law={"name": "normal", "deviation_percent": 20.0}, center=None, seed=7),
    "like-fio-normal-center": _skewed(
        "like-fio", law={"name": "normal", "deviation_percent": 80.0}, center=0.1, seed=7
    ),
    "normal-narrow": _skewed("normal", deviation_percent=0.001, center=0.5),
    "random-map-cut": {"random_map": True, "block_sizes": per_direction(_LARGE), "align_bytes": UNIT},
    "random-map-again": {"random_map": True, "loops": 2, "size_bytes": 4 * MIB, "share": 0.4},
    "random-map-cut-again": {
        "random_map": True,
        "block_sizes": per_direction(_LARGE),
        "align_bytes": UNIT,
        "loops": 2,
        "size_bytes": 4 * MIB,
        "share": 0.4,
    },
    "random-map-mixed": {"random_map": True, "direction": "read-write"},
    "strided-mixed": {
        "zones": {"transfer_bytes": MIB, "range_bytes": MIB, "skip_bytes": 0},
        "direction": "read-write",
        "sequential": True,
        "loops": 2,
    },
    "trims-map": {"direction": "trim", "random_map": True, "block_bytes": 64 * KIB},
    "sizes": {"block_sizes": per_direction(_SIZES), "block_align_bytes": per_direction(UNIT)},
    "unaligned": {"block_sizes": per_direction(_UNALIGNED), "block_align_bytes": per_direction(512), "share": 0.2},
    "sequential": {"sequential": True, "block_bytes": 12 * KIB},
    "sequential-skip": {"sequential": True, "skip_bytes": 8 * KIB},
    "sequential-back": {"sequential": True, "skip_bytes": -8 * KIB},
    "runs": {"runs": {"ios": 8, "then": "sequential"}},
    "runs-identical": {"runs": {"ios": 4, "then": "identical"}, "direction": "read-write"},
    "following-sizes": {
        "runs": {"ios": 8, "then": "sequential"},
        "following_block_sizes": per_direction([{"bytes": 2 * UNIT, "percent": 100.0}]),
    },
    "random-percent": {"random_percent": per_direction(30.0), "direction": "read-write"},
    "strided": {"zones": {"transfer_bytes": MIB, "range_bytes": 2 * MIB, "skip_bytes": MIB}, "sequential": True},
    "strided-random": {"zones": {"transfer_bytes": 4 * MIB, "range_bytes": 2 * MIB, "skip_bytes": 0}},
    "files": {"files": _files({"kind": "round-robin", "ios": 3})},
    "files-map": {"files": _files({"kind": "random", "ios": 2}), "random_map": True, "share": 0.3},
    "files-in-turn": {"files": _files({"kind": "sequential"}), "sequential": True, "block_bytes": 64 * KIB},
    "files-weighted": {"files": _files({"kind": "weighted", "weights": [1.0, 5.0, 2.0]})},
    "part": {"offset_bytes": 4 * MIB, "size_bytes": 6 * MIB, "loops": 2, "share": 0.2},
    "number-ios": {"number_ios": 777},
    "trim-write": {"direction": "trim-write", "block_bytes": 32 * KIB},
    "trim-write-sequential": {"direction": "trim-write", "sequential": True, "block_bytes": 64 * KIB},
    "trims": {"direction": "trim", "block_bytes": 20 * KIB, "align_bytes": 512},
    "reads": {"direction": "read", "block_sizes": per_direction(_SIZES), "block_align_bytes": per_direction(UNIT)},
    "read-write-sequential": {"direction": "read-write", "sequential": True, "block_bytes": 16 * KIB},
    "depth-one": {"iodepth": 1, "share": 0.5},
    "depth-256": {"iodepth": 256},
    "identifiers-in-turn": {"identifiers": {"choose": "round-robin", "among": [0, 2]}},
    "identifiers-all": {"identifiers": {"choose": "random", "among": []}},
    "identifiers-by-offset": {
        "identifiers": {
            "choose": "by-offset",
            "ranges": [
                {"start_bytes": 0, "end_bytes": MIB, "identifier": 1},
                {"start_bytes": MIB, "end_bytes": 9 * MIB, "identifier": 2},
            ],
        }
    },
    "past-the-end": {"offset_bytes": MIB},
    "kv-cache": {
        "store": {
            "tree": {
                "kind": "kv-cache",
                "chunk_bytes": 192 * KIB,
                "layers": 3,
                "sessions": 20,
                "turn_chunks": 2,
                "context_chunks": 10,
                "zipf_theta": 0.9,
            },
            "data_bytes": 18 * MIB,
            "request_bytes": 32 * KIB,
            "trims": True,
            "identifiers": [0, 1],
            "begins_after_bytes": 30 * MIB,
        }
    },
}

_RATE = per_direction(None) | {"write": 20 * MIB}
_LIMITS = {
    "bytes_per_second_min": _NONE,
    "iops_min": _NONE,
    "window_ns": 10 * _MS,
    "latency_ns_max": _NONE,
    "ends_others": "none",
}
_LOG = {"average_ns": None, "histogram_ns": None}
_STEADY = {"limit": 30.0, "is_percent": True, "duration_seconds": 5, "ramp_ns": 0}
_SLOW = {"think_time_ns": 3 * _MS, "iodepth": 1, "share": 10.0}
_TARGET = {"latency_ns": 2 * _MS, "window_ns": 20 * _MS, "percent": 90.0, "goes_on": False}

# Requests come slowly enough for windows of time to end and for rates to settle.
_HELD_BACK = {"think_time_ns": 40 * _MS, "think_time_blocks": 16, "share": 0.2}

# Options that need a clock.
_PACES: dict[str, Changes] = {
    "runtime": {"runtime_ns": 150 * _MS},
    "time-based": {"runtime_ns": 300 * _MS, "time_based": True, "share": 0.1},
    "ramp": {"ramp_ns": 50 * _MS, "runtime_ns": 100 * _MS},
    "start-delay": {"start_delay_ns": 30 * _MS, "share": 0.2},
    "think-time": {"think_time_ns": 2 * _MS, "think_time_blocks": 50, "share": 0.3},
    "think-time-issued": {
        "think_time_ns": 2 * _MS,
        "think_time_blocks": 50,
        "think_time_counts_issued": True,
        "share": 0.3,
    },
    "think-time-after": {"think_time_ns": _MS, "think_time_after_ns": 5 * _MS, "share": 0.3},
    "think-time-spin": {"think_time_ns": 2 * _MS, "think_time_spin_ns": _MS, "think_time_blocks": 20, "share": 0.3},
    "rate": {"rate_bytes_per_second": _RATE, "share": 0.3},
    "rate-iops": {"rate_iops": per_direction(4000), "direction": "read-write", "share": 0.3},
    "rate-poisson": {"rate_iops": per_direction(4000), "rate_process": "poisson", "share": 0.3},
    "rate-and-think": {
        "rate_iops": per_direction(4000),
        "rate_leaves_think_time": True,
        "think_time_ns": 5 * _MS,
        "think_time_blocks": 40,
        "share": 0.2,
    },
    "refill": {"refill_at": 2, "iodepth": 16, "share": 0.5},
    "flushes": {"flush_every_writes": 3, "share": 0.3},
    "sync": {"sync_writes": True, "share": 0.3},
    "flush-at-end": {"flush_at_end": True, "share": 0.3},
    "host-time": {"host_ns": 2800, "share": 0.3},
    "limit-rate": {"limits": _LIMITS | {"bytes_per_second_min": per_direction(10**12), "ends_others": "stage"}},
    "limit-iops": {"limits": _LIMITS | {"iops_min": per_direction(10**9), "ends_others": "all"}},
    "limit-latency": {"limits": _LIMITS | {"latency_ns_max": per_direction(3 * _MS)}},
    "limits-kept": {"limits": _LIMITS | {"iops_min": per_direction(1), "latency_ns_max": per_direction(10**12)}},
    "limit-rate-window": _HELD_BACK | {"limits": _LIMITS | {"bytes_per_second_min": per_direction(10**12)}},
    "limit-iops-window": _HELD_BACK | {"limits": _LIMITS | {"iops_min": per_direction(10**9), "ends_others": "all"}},
    "limits-kept-windows": _HELD_BACK
    | {"limits": _LIMITS | {"iops_min": per_direction(1), "latency_ns_max": per_direction(10**12)}},
    "log-windows": _HELD_BACK | {"direction": "read-write", "log": {"average_ns": 30 * _MS, "histogram_ns": 100 * _MS}},
    "steady-not-yet": _SLOW | {"steady_state": _STEADY | {"criterion": "iops", "limit": 1e-9}, "share": 0.5},
    "depth-search-all": {"latency_target": _TARGET | {"percent": 100.0}, "iodepth": 64, "share": 2.0},
    "depth-search-too-late": {"latency_target": _TARGET | {"percent": 100.0, "latency_ns": 1}, "share": 2.0},
    "steady-iops": _SLOW | {"steady_state": _STEADY | {"criterion": "iops"}},
    "steady-iops-slope": _SLOW | {"steady_state": _STEADY | {"criterion": "iops-slope"}},
    "steady-bw": _SLOW | {"steady_state": _STEADY | {"criterion": "bw", "is_percent": False, "limit": 1e6}},
    "steady-bw-slope": _SLOW | {"steady_state": _STEADY | {"criterion": "bw-slope", "ramp_ns": 500 * _MS}},
    "steady-snia-iops": _SLOW | {"steady_state": _STEADY | {"criterion": "snia-pts-iops"}},
    "steady-snia-bw": _SLOW | {"steady_state": _STEADY | {"criterion": "snia-pts-bw"}},
    "depth-search": {"latency_target": _TARGET, "iodepth": 64, "share": 4.0},
    "depth-search-on": {"latency_target": _TARGET | {"goes_on": True}, "iodepth": 64, "share": 2.0},
    "depth-search-in-vain": {"latency_target": _TARGET | {"latency_ns": 1}, "iodepth": 64, "share": 2.0},
    "depth-search-easy": {"latency_target": _TARGET | {"latency_ns": 10**12}, "iodepth": 64, "share": 2.0},
}


def jobs() -> Iterator[tuple[str, Case]]:
    on = drive({"ftl.placement": {"name": "host-streams", "identifiers": 3, "persistently_isolated": True}})
    for name, changes in _PLACES.items():
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            one = job(**{"stage": 1, "share": 0.6} | changes)
            yield f"{clock}/{name}", Run(specification([fill(), one], on, timed=timed))
    for name, changes in _PACES.items():
        one = job(**{"stage": 1} | changes)
        yield f"timed/{name}", Run(specification([fill(), one, _beside(1), _beside(2)]))
        without = drive({"write_buffer.bytes": 0})
        yield f"unbuffered/{name}", Run(specification([fill(), one, _beside(1)], without))
        volatile = drive({"write_buffer.power_loss_protection": False})
        yield f"volatile/{name}", Run(specification([fill(), one], volatile))
    yield from _together()
    yield from _logged()
    yield from _until_steady()


def _beside(stage: int) -> dict[str, Json]:
    """Reads of another client."""
    return job(name=f"beside-{stage}", stage=stage, direction="read", share=0.2, seed=40 + stage, iodepth=2)


def _together() -> Iterator[tuple[str, Case]]:
    """Jobs that wait for others and end others, clones, shares of the turns."""
    for ends in ("stage", "all"):
        first = job(name="first", stage=1, share=0.1, ends_others=ends)
        jobs = [fill(), first, _beside(1), job(name="after", stage=1, wait_for="first", share=0.1), _beside(2)]
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            yield f"{clock}/ends-{ends}", Run(specification(jobs, timed=timed))
    clones = [
        job(name="clones", stage=1, clone=clone, share=0.2, seed=50 + clone, iodepth=1 + 3 * clone)
        for clone in range(3)
    ]
    for timed in (True, False):
        clock = "timed" if timed else "untimed"
        yield f"{clock}/clones", Run(specification([fill(), *clones], timed=timed))


def _logged() -> Iterator[tuple[str, Case]]:
    for name, log in {
        "each": _LOG,
        "averages": _LOG | {"average_ns": 5 * _MS},
        "histograms": _LOG | {"histogram_ns": 20 * _MS},
        "both": {"average_ns": 10 * _MS, "histogram_ns": 50 * _MS},
    }.items():
        one = job(direction="read-write", share=0.1, log=log)
        yield f"timed/log-{name}", Run(specification([one]))
        yield f"untimed/log-{name}", Run(specification([one], timed=False))


def _until_steady() -> Iterator[tuple[str, Case]]:
    for timed in (True, False):
        clock = "timed" if timed else "untimed"
        rounds = {"kind": "steady-state", "round_bytes": USER_BYTES // 4, "host_bytes_max": 3 * USER_BYTES}
        few = rounds | {"host_bytes_max": USER_BYTES}
        writes = job(stage=1)
        for name, jobs, until in (
            ("reached", [fill(), writes], rounds),
            ("missed", [fill(), writes], few),
            ("reads-beside", [fill(), writes, _beside(1)], rounds),
            ("short-jobs", [fill(), job(stage=1, share=0.05)], rounds),
            ("logged", [fill(), job(stage=1, share=0.05, log=_LOG, limits=_LIMITS)], rounds),
            ("mixed", [fill(), job(stage=1, direction="read-write")], rounds),
            ("only-reads", [fill(), _beside(1)], rounds),
            ("no-round", [fill(), writes], rounds | {"round_bytes": 0}),
        ):
            yield f"{clock}/steady-{name}", Run(specification(jobs, timed=timed, until=until))
