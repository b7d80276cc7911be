"""A stand-in for the native module with its interface and invented flash: for each unit written, half a unit is copied.

With a clock, every second request takes twice as long. The tests of schema and text can therefore compute all expected
figures. It is not a model of a drive.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from ssdlab._engine import check as check
from ssdlab._engine import describe as describe
from ssdlab._engine import policies as policies
from ssdlab.simulator.results.breakdown import PARTS as LATENCY_PARTS

GC_SHARE = 0.5
FLUSHES = 0
# With a clock, requests take these times alternately; each is the middle of a bin of fio's.
LATENCIES_NS = (101_888, 203_776)
WINDOWS = 10
PARTS = ("host", "gc", "wear_leveling", "metadata", "parity", "padding", "slc_fold")


class SpecificationError(ValueError):
    pass


def version() -> str:
    return "0.0.0"


def memory(specification_json: str) -> str:
    return json.dumps({"of_units_bytes": 0, "other_bytes": 0})


def run(specification_json: str, on_progress: Callable[[float, int], None] | None = None, *_: object) -> str:
    specification = json.loads(specification_json)
    if specification["seed"] == 13:
        raise SpecificationError("seed", "13", "any other number")
    if specification["seed"] == 15 and on_progress:
        for step in range(600):
            on_progress(step / 600, step)
            time.sleep(0.1)
    unit_bytes = specification["drive"]["ftl"]["mapping_unit_bytes"]
    user_bytes = specification["drive"]["ftl"]["user_bytes"]
    until = specification["until"]
    repeats = 1
    if until["kind"] == "steady-state":
        last = specification["jobs"][-1]["stage"]
        once = sum(_bytes(job)["write"] for job in specification["jobs"] if job["stage"] == last)
        repeats = -(-6 * until["round_bytes"] // once)
    jobs = [_job(job, repeats, specification["jobs"][-1]["stage"], unit_bytes) for job in specification["jobs"]]
    timing = _timing(jobs, specification["jobs"]) if specification["timed"] else None
    stages: list[dict[str, int]] = []
    written = 0
    for stage in sorted({job["stage"] for job in jobs}):
        start = written
        written += sum(job["ledger"]["host_written_bytes"] for job in jobs if job["stage"] == stage)
        stages.append({"stage": stage, "host_written_bytes_start": start, "host_written_bytes_end": written})
    if on_progress:
        on_progress(0.5, written // 2)
    total = _sum([job["ledger"] for job in jobs])
    steps = [written * (step + 1) // WINDOWS for step in range(WINDOWS)] if written else []
    outcome = {
        "jobs": jobs,
        "ledger": total,
        "capacity": {
            "mapping_unit_bytes": unit_bytes,
            "counted_unit_bytes": unit_bytes,
            "physical_units": 2 * user_bytes // unit_bytes,
            "user_units": user_bytes // unit_bytes,
            "erase_units": 100,
            "units_per_erase_unit": 64,
            "data_units_per_erase_unit": 64,
            "live_units": user_bytes // unit_bytes,
            "effective_over_provisioning": 0.9,
        },
        "wear": {
            "erase_count": {"min": 1, "mean": 2.5, "max": 4, "stddev": 0.5},
            "histogram": [{"erase_count_min": 1, "erase_count_max": 4, "blocks": 100}],
            "bad_blocks_factory": 2,
            "bad_blocks_grown": 1,
        },
        "stages": stages,
        "steady_state": None
        if until["kind"] == "job"
        else {
            "reached": True,
            "at_host_bytes": written,
            "round_bytes": until["round_bytes"],
            "range_share": 0.05,
            "slope_share": 0.01,
            "round_waf": [9.0, 1.5, 1.5, 1.5, 1.5, 1.5],
            "window": total,
            "timing": timing and _steady_timing(jobs, timing),
        },
        "series": {
            "host_written_bytes": steps,
            "stage": [_stage_at(stages, step) for step in steps],
            **{
                f"programmed_units_{part}": [
                    total["programmed_units"][part] * (step + 1) // WINDOWS for step in range(len(steps))
                ]
                for part in PARTS
            },
            "free_erase_units": [10] * len(steps),
            "effective_over_provisioning": [None, *[0.9] * (len(steps) - 1)] if steps else [],
        },
        "timing": timing,
        "failure": "the drive is out of spare blocks" if specification["seed"] == 14 else None,
    }
    return json.dumps(outcome)


def _bytes(job: dict[str, Any]) -> dict[str, int]:
    amount = job["io_bytes"] * job["loops"]
    if job["direction"] == "read-write":
        read = int(amount * job["read_percent"] / 100)
        return {"read": read, "write": amount - read, "trim": 0}
    direction = {"trim-write": "write"}.get(job["direction"], job["direction"])
    return {name: amount if name == direction else 0 for name in ("read", "write", "trim")}


def _job(job: dict[str, Any], repeats: int, last_stage: int, unit_bytes: int) -> dict[str, Any]:
    moved = {name: count * (repeats if job["stage"] == last_stage else 1) for name, count in _bytes(job).items()}
    units = moved["write"] // unit_bytes
    programmed = {**dict.fromkeys(PARTS, 0), "host": units, "gc": int(units * GC_SHARE)}
    return {
        "name": job["name"],
        "clone": job["clone"],
        "stage": job["stage"],
        **{
            name: {"ios": count // job["block_sizes"][name][0]["bytes"], "bytes": count}
            for name, count in moved.items()
        },
        "flush": {"ios": FLUSHES, "bytes": 0},
        "timing": None,
        "ledger": {
            "host_written_bytes": moved["write"],
            "host_read_bytes": moved["read"],
            "host_trimmed_bytes": moved["trim"],
            "programmed_units": programmed,
            "read_units": {
                "host": moved["read"] // unit_bytes,
                "gc": programmed["gc"],
                "wear_leveling": 0,
                "slc_fold": 0,
                "read_modify_write": 0,
                "metadata": 0,
            },
            "read_modify_write_units": 0,
            "erased_erase_units": units // 64,
            "trimmed_units": moved["trim"] // unit_bytes,
            "map_page_lookups": 0,
            "deduplicated_units": 0,
        },
    }


def _timing(jobs: list[dict[str, Any]], specified: list[dict[str, Any]]) -> dict[str, Any]:
    """Gives each job its timing, and returns that of the run, with one interval per stage."""
    mean_ns = sum(LATENCIES_NS) / len(LATENCIES_NS)
    ends: dict[int, int] = {}
    now_ns = 0
    columns: dict[str, list[Any]] = {}
    for stage in sorted({job["stage"] for job in jobs}):
        of_stage = [(job, each) for job, each in zip(jobs, specified, strict=True) if job["stage"] == stage]
        for job, each in of_stage:
            ios = sum(job[name]["ios"] for name in ("read", "write", "trim"))
            end_ns = now_ns + round(ios * mean_ns / each["iodepth"])
            job["timing"] = {"start_ns": now_ns, "end_ns": end_ns}
            job["timing"] |= {"log": None, "steady_state": None, "failure": None, "depth": None}
            job["timing"] |= {name: _latency(job[name]["ios"]) for name in ("read", "write", "trim", "flush")}
            job["timing"]["breakdown"] = {
                name: {part: [50] * len(job["timing"][name]["bins"]) for part in LATENCY_PARTS}
                for name in ("read", "write", "trim")
            }
            ends[stage] = max(ends.get(stage, 0), end_ns)
        now_ns = ends[stage]
        counted = {name: sum(job[name]["ios"] for job, _ in of_stage) for name in ("read", "write", "trim")}
        row = {
            "time_ns": now_ns,
            "stage": stage,
            **{f"{name}_ios": count for name, count in counted.items()},
            "read_bytes": sum(job["read"]["bytes"] for job, _ in of_stage),
            "written_bytes": sum(job["write"]["bytes"] for job, _ in of_stage),
            "host_written_bytes": sum(job["write"]["bytes"] for job in jobs if job["stage"] <= stage),
            "programmed_units_total": sum(
                sum(job["ledger"]["programmed_units"].values()) for job in jobs if job["stage"] <= stage
            ),
            "free_erase_units": 10,
            **{
                f"{name}_{rank}_ns": value if counted[name] else None
                for name in ("read", "write")
                for rank, value in zip(
                    ("mean", "p50", "p99", "p999"), (mean_ns, *LATENCIES_NS, LATENCIES_NS[1]), strict=True
                )
            },
        }
        for key, value in row.items():
            columns.setdefault(key, []).append(value)
    return {"simulated_ns": now_ns, "die_utilization": 0.75, "series": columns}


def _steady_timing(jobs: list[dict[str, Any]], timing: dict[str, Any]) -> dict[str, Any]:
    """Half of the run is before the steady state."""
    last = [job for job in jobs if job["stage"] == jobs[-1]["stage"]]
    counted = {
        name: {key: sum(job[name][key] for job in last) // 2 for key in ("ios", "bytes")}
        for name in ("read", "write", "trim")
    }
    return {
        "round_iops": [9.0, 5.0, 5.0, 5.0, 5.0, 5.0],
        "range_share": 0.05,
        "slope_share": 0.01,
        "window_ns": timing["simulated_ns"] // 2,
        **counted,
        **{f"{name}_latency": _latency(counts["ios"]) for name, counts in counted.items()},
    }


def _latency(ios: int) -> dict[str, Any]:
    if not ios:
        return {"count": 0, **dict.fromkeys(("min_ns", "max_ns", "mean_ns", "stddev_ns")), "bins": []}
    short, long = LATENCIES_NS
    counts = [(short, ios - ios // 2), (long, ios // 2)]
    mean_ns = sum(value * count for value, count in counts) / ios
    return {
        "count": ios,
        "min_ns": short,
        "max_ns": long if ios > 1 else short,
        "mean_ns": mean_ns,
        "stddev_ns": (sum(count * (value - mean_ns) ** 2 for value, count in counts) / ios) ** 0.5,
        "bins": [[value, count] for value, count in counts if count],
    }


def _sum(values: list[Any]) -> Any:
    if isinstance(values[0], dict):
        return {key: _sum([value[key] for value in values]) for key in values[0]}
    return sum(values)


def _stage_at(stages: list[dict[str, int]], position: int) -> int:
    return next(entry["stage"] for entry in stages if position <= entry["host_written_bytes_end"])
