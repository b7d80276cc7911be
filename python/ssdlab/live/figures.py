"""Counters of a drive at work as the page shows them: plain names, units in the names, rates worked out."""

from collections.abc import Mapping
from typing import Any

from ssdlab.live.samples import PARTS, PERCENTILES
from ssdlab.results.ledger import Ledger


def plain(raw: Mapping[str, Any]) -> dict[str, Any]:
    """From the JSON of `LiveDrive.figures`; `since` holds the growth since the previous time it was asked."""
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


def _since(raw: Mapping[str, Any], capacity: Mapping[str, Any]) -> dict[str, Any]:
    ledger = Ledger.from_outcome(raw["ledger"], capacity)
    reads, writes = raw["read_latency"], raw["write_latency"]
    return {
        "seconds": raw["simulated_seconds"],
        "requests": raw["requests"],
        "iops": raw["iops"],
        # Those that became complete; without a clock nobody counts them.
        "reads": reads and reads["count"],
        "writes": writes and writes["count"],
        "read_bytes": ledger.host_read_bytes,
        "written_bytes": ledger.host_written_bytes,
        "programmed_bytes": {part: ledger.programmed_units[part] * ledger.counted_unit_bytes for part in PARTS},
        "waf": raw["waf"],
        "die_utilization": raw["die_utilization"],
        "read_latency_ns": reads and {rank: reads[f"{rank}_ns"] for rank in PERCENTILES},
        "write_latency_ns": writes and {rank: writes[f"{rank}_ns"] for rank in PERCENTILES},
    }
