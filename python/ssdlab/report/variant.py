"""What a comparison shows of one variant: plain data, so that any source of results can be drawn.

Not for computing anything: WAF, theory and endurance come ready-made; `None` means "not measured" and is shown as an em
dash with its reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

# The parts of what is programmed into NAND, in the order in which the bars stack them and the table lists them.
PARTS: dict[str, str] = {
    "host": "host",
    "gc": "garbage collection",
    "wear_leveling": "wear levelling",
    "metadata": "metadata",
    "parity": "parity",
    "padding": "padding",
    "slc_fold": "SLC fold",
}

# What the latency of a request consists of, in the order in which the bars stack it.
LATENCY_PARTS: dict[str, str] = {
    "flash": "flash",
    "gc": "garbage collection",
    "host_operations": "other host operations",
    "channel": "channel",
    "link": "link",
    "controller": "controller",
    "queueing": "queueing",
    "map": "map",
}

SERIES_COLUMNS = ("host_written_bytes", "stage", "waf", "free_erase_units", "effective_over_provisioning")


TIMING_COLUMNS = (
    "simulated_seconds",
    "interval_seconds",
    "stage",
    "host_written_bytes",
    *(
        f"{direction}_{column}"
        for direction in ("read", "write")
        for column in ("ios", "latency_ns_p50", "latency_ns_p99", "latency_ns_p999")
    ),
)


@dataclass(frozen=True)
class VariantSpeed:
    """Requests per simulated second, reads and writes together, and latencies of the writes, or the reads if none."""

    direction: str
    """`write` or `read`: whose latencies and rates these are."""
    iops: float
    direction_iops: float
    latency_ns_mean: float | None
    latency_ns_p999: float | None


@dataclass(frozen=True)
class WearStatistics:
    """Erase counts of all blocks of the drive at the end of the run."""

    erase_count_min: int
    erase_count_mean: float
    erase_count_max: int
    erase_count_stddev: float


@dataclass(frozen=True)
class ComparedVariant:
    """One variant of the experiment. Shares are fractions (0.07 is 7 %), host bytes count from the start of the run.

    `series` needs the columns of `SERIES_COLUMNS`, one row a window, in order: `host_written_bytes` (cumulative, at the
    window's end), `stage`, `waf` (in that window alone), `free_erase_units`, `effective_over_provisioning`; `waf` and
    `effective_over_provisioning` may hold null. More columns are welcome.
    `waf_parts` has one entry for each key of `PARTS`, programmed per host unit; they add up to `waf`.
    """

    label: str
    """Unique in the comparison and short: it names the variant in every key, such as "7 %" or "fifo"."""
    drive: str
    over_provisioning: float
    user_bytes: int
    host_written_bytes: int
    nand_programmed_bytes: int
    series: pl.DataFrame
    effective_over_provisioning: float | None = None
    waf: float | None = None
    """Of the steady state; of the last stage when none was looked for."""
    waf_parts: Mapping[str, float] = field(default_factory=dict)
    timing_series: pl.DataFrame | None = None
    """With the columns of `TIMING_COLUMNS`, one row an interval of simulated time, in order; None without a clock."""
    speed: VariantSpeed | None = None
    """In the steady state; in the last stage when none was looked for. None without a clock."""
    latency_parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Nanoseconds by the keys of `LATENCY_PARTS` in the last stage, of the direction of `speed`:
    `mean` of all requests, `p99_9` of those at and above the 99.9th percentile. Empty without a clock."""
    theory: float | None = None
    theory_formula: str | None = None
    theory_curve: Sequence[tuple[float, float]] = ()
    """Points (over_provisioning, waf) of the closed form around this variant."""
    tbw_bytes: float | None = None
    years: float | None = None
    dwpd: float | None = None
    """The drive writes per day for which `years` holds."""
    steady_reached: bool | None = None
    """None: the run did not search for a steady state."""
    steady_at_host_bytes: int | None = None
    stages: Sequence[tuple[int | str, int, int]] = ()
    """(name or number, host bytes at its start, host bytes at its end)"""
    wear_histogram: Sequence[tuple[int, int, int]] = ()
    """(erase_count_min, erase_count_max, blocks): both counts belong to the bin."""
    wear: WearStatistics | None = None
    notes: Sequence[str] = ()
    scale: str | None = None
    """Such as "1/16" when drive and workload were scaled down."""
    specification: Mapping[str, Any] | None = None
    """The fully resolved specification, shown in the page's details."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why a value is None, by field name; the reason is printed where the value would be."""

    def drive_writes(self, host_bytes: float) -> float:
        return host_bytes / self.user_bytes
