"""Cases that the other groups lack: idle time, small map caches, policies combined with features, flash faults, runs in
steps with unusual changes."""

from collections.abc import Iterator

from case import Case, Live, Resumed, Run
from cases_features import FEATURES, workload
from cases_policies import kinds
from cases_served import faulty
from parts import KIB, MIB, UNIT, USER_BYTES, Changes, Json, drive, fill, job, per_direction, specification

_MS = 1_000_000
_ERASE_UNIT = 384 * UNIT
_SLC_UNIT = 128 * UNIT


def _unhurried() -> list[dict[str, Json]]:
    """Scattered writes, then small groups with long pauses, reads of the same addresses, and trims."""
    pauses = {"think_time_ns": 200 * _MS, "think_time_blocks": 25, "stage": 2}
    return [
        fill(share=1.2),
        job(name="scattered", stage=1, share=0.6, block_bytes=2 * UNIT),
        job(**pauses, name="writes", share=0.05),
        job(**pauses | {"stage": 3}, name="reads", direction="read", share=0.1, size_bytes=MIB, sequential=True),
        job(**pauses | {"stage": 4}, name="trims", direction="trim", share=0.2, block_bytes=128 * KIB),
        job(**pauses | {"stage": 5}, name="again", share=0.05, seed=33),
    ]


_IDLE: dict[str, Changes] = {
    "pool": {"background.erased_pool_bytes": 3 * _ERASE_UNIT},
    "defragment": {"background.defragment": True},
    "wear": {
        "background.wear_leveling": True,
        "ftl.wear_leveling": {"name": "static", "threshold": 1},
    },
    "disturb": {"background.read_disturb_reads": 30},
    "retention": {"background.retention_days": 5e-6},
    "late": {"background.defragment": True, "background.idle_after_ms": 150.0},
}
_WITH_IDLE: dict[str, Changes] = {
    "plain": {},
    "blocks": FEATURES["blocks"],
    "parity": FEATURES["parity"],
    "slc-static": FEATURES["slc-static"],
    "slc-dynamic": FEATURES["slc-dynamic"],
    "slc-mlc": {"slc_cache.dynamic_bytes_max": 3 * 192 * UNIT, "nand.cell": "mlc"},
    "map-cache": FEATURES["map-cache"],
    "reduction": FEATURES["reduction"],
    "class-spare": {"ftl.placement": {"name": "class-spare", "classes": 2, "borders": []}},
    "own-channels": FEATURES["own-channels"],
    "suspend": FEATURES["suspend"] | FEATURES["own-channels"],
}


def idle() -> Iterator[tuple[str, Case]]:
    for beside, changes in _WITH_IDLE.items():
        yield f"{beside}+nothing", Run(specification(_unhurried(), drive(changes)))
        for name, work in _IDLE.items():
            yield f"{beside}+{name}", Run(specification(_unhurried(), drive({**changes, **work})))


def maps() -> Iterator[tuple[str, Case]]:
    """Map pages so small that trims and sequential writes cover complete ones."""
    for form in ("page", "extent"):
        for eviction in ("lru", "clock"):
            for policy in ("host-gc-split", "class-spare"):
                keys = {"bytes": 2 * KIB, "entries_per_map_page": 16, "form": form, "eviction": eviction}
                changes = {f"map_cache.{key}": value for key, value in keys.items()}
                on = drive(changes | {"ftl.placement": {"name": policy}, "map_cache.miss_us": 1.0})
                for timed in (True, False):
                    clock = "timed" if timed else "untimed"
                    jobs = [*workload(0.4), *_rewritten()]
                    yield f"{clock}/{form}+{eviction}+{policy}", Run(specification(jobs, on, timed=timed))


def _rewritten() -> list[dict[str, Json]]:
    """Rewrites fragmented data in sequence, partly and completely, and trims it in large pieces."""
    return [
        job(name="in-order", stage=7, sequential=True, block_bytes=8 * KIB, share=0.7),
        job(name="pieces", stage=8, block_bytes=64 * KIB, share=0.3),
        job(name="holes", stage=9, direction="trim", block_bytes=256 * KIB, share=0.5),
        job(name="after", stage=10, share=0.3),
    ]


def together() -> Iterator[tuple[str, Case]]:
    """Each policy with data reduction, with a block open on every die, with worn flash, and from a saved state."""
    beside: dict[str, Changes] = {
        "reduction": FEATURES["reduction"],
        "blocks": FEATURES["blocks"],
        "wear-out": FEATURES["wear-out"],
        "tight": {"ftl.user_bytes": 26 * MIB, "ftl.wear_leveling": {"name": "static", "threshold": 1}},
    }
    for kind, names in kinds().items():
        for name, parameters in names.items():
            chosen: Changes = {f"ftl.{kind}": {"name": name, **parameters}}
            if kind == "die_choice":
                chosen |= FEATURES["blocks"]
            for of_drive, changes in beside.items():
                for timed in (True, False):
                    clock = "timed" if timed else "untimed"
                    on = drive({**changes, **chosen})
                    yield f"{clock}/{kind}-{name}+{of_drive}", Run(specification(workload(0.5), on, timed=timed))
            first = specification(workload(0.3), drive(chosen), timed=False)
            second = specification([job(name="after", share=0.5, seed=21)], drive(chosen))
            yield f"resumed/{kind}-{name}", Resumed(first, second)
    for name in ("slc-dynamic", "slc-static", "map-cache", "reduction"):
        on = drive({**FEATURES[name], "ftl.wear_leveling": {"name": "static", "threshold": 1}})
        first, second = specification(workload(0.3), on), specification([job(share=0.4)], on)
        yield f"resumed/leveled+{name}", Resumed(first, second)
    yield "resumed/magnified", _magnified()


def _magnified() -> Case:
    """The state of a drive with blocks a third as large."""
    small = drive({"nand.pages_per_block": 4, "ftl.user_bytes": USER_BYTES // 3, "nand.erase_us": 5000.0})
    part = {"size_bytes": USER_BYTES // 3, "share": 0.5}
    first = specification([job(**part)], small, timed=False)
    return Resumed(first, specification([job(share=0.5)], timed=False), times=3)


def partly() -> Iterator[tuple[str, Case]]:
    """Partial writes of units with each feature, and with policies that keep pools, on a drive with little spare
    area."""
    parts = {"block_sizes": per_direction([{"bytes": 512, "percent": 50.0}, {"bytes": 6 * KIB, "percent": 50.0}])}
    reduced = {"compress_percent": 30.0, "dedupe_percent": 20.0, "block_align_bytes": per_direction(512)}
    jobs = [*workload(0.3), job(**parts, **reduced, name="parts", stage=7, number_ios=1500, direction="read-write")]
    pooled: Changes = {"ftl.placement": {"name": "class-spare", "classes": 2, "borders": []}}
    for name, changes in FEATURES.items():
        yield f"timed/{name}", Run(specification(jobs, drive(changes)))
        if name in ("reduction", "slc-dynamic", "map-cache"):
            tight: Changes = {**changes, "ftl.user_bytes": 26 * MIB, "ftl.reserve_erase_units": 3}
            for timed in (True, False):
                clock = "timed" if timed else "untimed"
                yield f"{clock}/{name}+class-spare", Run(specification(jobs, drive({**changes, **pooled}), timed=timed))
                yield f"{clock}/{name}+tight", Run(specification(jobs, drive(tight), timed=timed))


def faults() -> Iterator[tuple[str, Case]]:
    """Failing flash under a served drive, with each feature."""
    for name, changes in FEATURES.items():
        yield f"{name}/served", faulty(changes, erase_failures=0.05, program_failures=0.005)
    least_worn: Changes = {"ftl.wear_leveling": {"name": "dynamic"}}
    yield "least-worn/served", faulty(least_worn, erase_failures=0.05, program_failures=0.005)
    both = {**FEATURES["reduction"], **FEATURES["volatile-buffer"]}
    yield "reduction-volatile/served", faulty(both, erase_failures=0.02, program_failures=0.005)


def steps() -> Iterator[tuple[str, Case]]:
    """Runs in steps whose jobs repeat, pause, are logged, or run to steady state."""
    ended: list[list[Json]] = [["advance", 900, 1e6], ["end_job"], ["advance", 200, 1e6], ["figures"], ["marks"]]
    odd: dict[str, list[dict[str, Json]]] = {
        "loops": [job(loops=3, share=0.1)],
        "time-based": [job(time_based=True, share=0.1, runtime_ns=400 * _MS)],
        "thinks": [job(think_time_ns=_MS, think_time_blocks=7)],
        "trim-write": [job(direction="trim-write")],
        "stages": [fill(share=0.2), job(stage=1, direction="read-write", share=0.1), job(stage=2)],
        "beside": [job(share=0.1), job(name="other", iodepth=1, share=0.4)],
    }
    for name, jobs in odd.items():
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            run = specification(jobs, timed=timed)
            once = [*ended, ["end_job"], ["advance", 10**9, 1e6], ["specification"], ["outcome"]]
            yield f"{clock}/{name}", Live(run, once)
            later = [["advance", 50, 1e6], ["end_job", [700] * len(jobs)], ["advance", 10**9, 1e6], ["issued"]]
            yield f"{clock}/{name}-later", Live(run, [*later, ["specification"], ["outcome"]])
    until = {"kind": "steady-state", "round_bytes": USER_BYTES // 4, "host_bytes_max": USER_BYTES}
    for timed in (True, False):
        clock = "timed" if timed else "untimed"
        run = specification([fill(), job(stage=1)], timed=timed, until=until)
        calls = [*ended, ["append_job", job(stage=2)], ["advance", 10**9, 1e6], ["outcome"]]
        yield f"{clock}/until-steady", Live(run, calls)
        yield f"{clock}/no-jobs", Live(specification([], timed=timed), [["advance", 10, 1e6], ["outcome"]])
    placements = {**kinds()["placement"], "class-spare": {"borders": [0.3]}}
    for name, parameters in placements.items():
        on = drive({"ftl.placement": {"name": name, **parameters}, "ftl.user_bytes": 22 * MIB})
        part = {"size_bytes": 22 * MIB}
        jobs = [
            fill(**part),
            job(**part, stage=1, share=0.6, distribution={"name": "zipf", "theta": 1.0, "center": None}),
        ]
        looks = [["marks"], ["cells", "stream"], ["cells", "state"], ["erase_unit", 1], ["erase_unit", 20]]
        calls = [["advance", 4000, 1e6], *looks, ["advance", 10**9, 1e6], *looks, ["outcome"]]
        yield f"timed/placement-{name}", Live(specification(jobs, on), calls)
