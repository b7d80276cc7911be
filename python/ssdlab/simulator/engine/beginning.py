"""The counters of a run that began in a saved state, without what that state had counted.

The engine's counters are those of the drive since it was new. Wear, zones, reclaim groups and what a drive with
placement handles reports stay so: they are the drive's, at the end.
"""

from collections.abc import Mapping
from typing import Any

from ssdlab.simulator.engine import plain


def since_beginning(outcome: plain.Outcome) -> plain.Outcome:
    """The outcome with its counters from the beginning of the run on; `began` still has those before."""
    began = outcome.get("began")
    if began is None:
        return outcome
    before = began["ledger"]
    host_bytes: int = before["host_written_bytes"]
    programmed: Any = before["programmed_units"]
    found = outcome.copy()
    found["ledger"] = _less(outcome["ledger"], before)
    found["stages"] = [
        {
            **stage,
            "host_written_bytes_start": stage["host_written_bytes_start"] - host_bytes,
            "host_written_bytes_end": stage["host_written_bytes_end"] - host_bytes,
        }
        for stage in outcome["stages"]
    ]
    counted = {f"programmed_units_{cause}": units for cause, units in programmed.items()}
    found["series"] = _columns(outcome["series"], {"host_written_bytes": host_bytes, **counted})
    if (steady := outcome["steady_state"]) and steady["at_host_bytes"] is not None:
        found["steady_state"] = {**steady, "at_host_bytes": steady["at_host_bytes"] - host_bytes}
    if namespaces := outcome.get("namespaces"):
        found["namespaces"] = [
            {**each, "ledger": _less(each["ledger"], earlier)}
            for each, earlier in zip(namespaces, began["namespaces"], strict=True)
        ]
    if timing := outcome["timing"]:
        total = sum(programmed.values())
        series = _columns(timing["series"], {"host_written_bytes": host_bytes, "programmed_units_total": total})
        since: plain.Timing = {**timing, "series": series}
        if rows := timing.get("intervals"):
            first, *others = rows
            since["intervals"] = [{**first, "ledger": _less(first["ledger"], before)}, *others]
        found["timing"] = since
    return found


def _less(now: Any, before: Mapping[str, Any]) -> Any:
    """Each counter of `now` without that of `before`, which lacks those that were 0."""
    return {
        name: _less(value, before[name]) if isinstance(value, dict) else value - before.get(name, 0)
        for name, value in now.items()
    }


def _columns(columns: Any, before: Mapping[str, int]) -> Any:
    """Cumulative columns without what was counted before; before the first look at the drive they are 0 already."""
    return {
        name: [max(0, value - before[name]) for value in values] if name in before else values
        for name, values in columns.items()
    }
