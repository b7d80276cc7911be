"""Runs of the engine on the textbook drive, for comparison with closed forms: spare area counted as in the formulas."""

import json
from typing import Any

from ssdlab import _engine

UNIT_BYTES = 4096
ERASE_UNITS = 2048
RESERVE = 1

UNIFORM = {"name": "random"}


def zones(*shares: tuple[float, float]) -> dict[str, Any]:
    """Each zone as (share of the accesses, share of the range)."""
    return {
        "name": "zoned",
        "zones": [{"access_percent": 100 * access, "span_percent": 100 * span} for access, span in shares],
    }


def write_job(user_units: int, drive_writes: float, distribution: dict[str, Any], stage: int, seed: int) -> Any:
    user_bytes = user_units * UNIT_BYTES
    directions = ("read", "write", "trim")
    return {
        "name": f"stage-{stage}",
        "clone": 0,
        "stage": stage,
        "direction": "write",
        "sequential": False,
        "read_percent": 0,
        "offset_bytes": 0,
        "size_bytes": user_bytes,
        "io_bytes": int(user_units * drive_writes) * UNIT_BYTES,
        "number_ios": None,
        "loops": 1,
        "block_sizes": {direction: [{"bytes": UNIT_BYTES, "percent": 100}] for direction in directions},
        "block_align_bytes": dict.fromkeys(directions, UNIT_BYTES),
        "distribution": distribution,
        "random_map": False,
        "seed": seed,
        "iodepth": 32,
    }


def textbook_drive(
    over_provisioning: float,
    units_per_erase_unit: int,
    victim: dict[str, Any],
    placement: dict[str, Any],
    erase_units: int = ERASE_UNITS,
) -> tuple[dict[str, Any], int]:
    """The drive, and U for an effective OP of `over_provisioning`: the reserve and half of each frontier do not count
    in T."""
    frontiers = 1 + len(placement.get("borders", [])) + (placement["name"] == "host-gc-split")
    physical_units = (erase_units - RESERVE - 0.5 * frontiers) * units_per_erase_unit
    user_units = round(physical_units / (1 + over_provisioning))
    drive = {
        "name": "textbook",
        "nand": {
            "cell": "mlc",
            "channels": 1,
            "dies_per_channel": 1,
            "planes_per_die": 1,
            "blocks_per_plane": erase_units,
            "pages_per_block": units_per_erase_unit,
            "page_bytes": UNIT_BYTES,
            "read_us": 50.0,
            "program_us": 500.0,
            "erase_us": 3000.0,
            "channel_mb_s": 400.0,
            "endurance_cycles": 3000,
        },
        "ftl": {
            "user_bytes": user_units * UNIT_BYTES,
            "mapping_unit_bytes": UNIT_BYTES,
            "erase_unit": "block",
            "victim": victim,
            "placement": placement,
            "wear_leveling": {"name": "none"},
            "reserve_erase_units": RESERVE,
            "spare_area": "dynamic",
        },
        "parity": {"units_per_stripe": 0},
        "faults": {"factory_bad_blocks": 0.0, "wear_out": False, "endurance_spread": 0.0},
        "write_buffer": {"bytes": 0},
        "controller": {"command_us": 5.0},
    }
    return drive, user_units


def run(drive: dict[str, Any], jobs: list[dict[str, Any]], seed: int = 1) -> Any:
    run_until = {"until": {"kind": "job"}, "timed": False, "series_points_max": 1000}
    specification = {"seed": seed, "drive": drive, "jobs": jobs, **run_until}
    return json.loads(_engine.run(json.dumps(specification)))


def write_amplification(ledger: dict[str, Any]) -> float:
    programmed = ledger["programmed_units"]
    return float(sum(programmed.values()) / programmed["host"])


def steady_waf(
    over_provisioning: float,
    units_per_erase_unit: int,
    victim: dict[str, Any],
    placement: dict[str, Any] | None = None,
    distribution: dict[str, Any] | None = None,
    drive_writes: tuple[float, float] = (25, 15),
) -> float:
    """Fills in sequence, writes `drive_writes[0]` times U to settle, measures over `drive_writes[1]` times U."""
    drive, user_units = textbook_drive(over_provisioning, units_per_erase_unit, victim, placement or {"name": "single"})
    distribution = distribution or UNIFORM
    fill = {**write_job(user_units, 1, UNIFORM, 0, 1), "sequential": True}
    settle = write_job(user_units, drive_writes[0], distribution, 1, 2)
    measure = write_job(user_units, drive_writes[1], distribution, 2, 3)
    return write_amplification(run(drive, [fill, settle, measure])["jobs"][-1]["ledger"])
