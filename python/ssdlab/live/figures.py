"""Converts the counters of a running drive for the page: plain names with units, and computed rates."""

from ssdlab.live.messages import Figures, FiguresShown, FiguresSince, LatencySince, Rank, SinceShown
from ssdlab.simulator.engine.plain import Capacity
from ssdlab.simulator.results.ledger import PARTS, Ledger


def plain(raw: Figures) -> FiguresShown:
    """Converts the JSON of `LiveDrive.figures`; `since` contains the growth since the previous call."""
    user_bytes = raw["capacity"]["user_units"] * raw["capacity"]["mapping_unit_bytes"]
    whole = Ledger.from_outcome(raw["ledger"], raw["capacity"])
    return {
        "simulated_seconds": raw["simulated_seconds"],
        "requests": raw["requests"],
        "host_written_bytes": whole.host_written_bytes,
        "host_read_bytes": whole.host_read_bytes,
        "host_trimmed_bytes": whole.host_trimmed_bytes,
        "nand_programmed_bytes": whole.programmed_bytes,
        "waf": whole.waf,
        "waf_parts": whole.waf_parts,
        "drive_writes": whole.host_written_bytes / user_bytes,
        "free_erase_units": raw["free_erase_units"],
        "effective_over_provisioning": raw["capacity"]["effective_over_provisioning"],
        "erase_count": raw["erase_count"],
        "since": _since(raw["since"], raw["capacity"]),
    }


def _since(raw: FiguresSince, capacity: Capacity) -> SinceShown:
    ledger = Ledger.from_outcome(raw["ledger"], capacity)
    reads, writes = raw["read_latency"], raw["write_latency"]
    return {
        "seconds": raw["simulated_seconds"],
        "requests": raw["requests"],
        "iops": raw["iops"],
        # Completed requests; without a clock they are not counted.
        "reads": reads["count"] if reads else None,
        "writes": writes["count"] if writes else None,
        "read_bytes": ledger.host_read_bytes,
        "written_bytes": ledger.host_written_bytes,
        "programmed_bytes": {part: ledger.programmed_units[part] * ledger.counted_unit_bytes for part in PARTS},
        "waf": raw["waf"],
        "die_utilization": raw["die_utilization"],
        "read_latency_ns": _percentiles(reads),
        "write_latency_ns": _percentiles(writes),
    }


def _percentiles(latency: LatencySince | None) -> dict[Rank, int] | None:
    if latency is None:
        return None
    return {"p50": latency["p50_ns"], "p99": latency["p99_ns"], "p999": latency["p999_ns"]}
