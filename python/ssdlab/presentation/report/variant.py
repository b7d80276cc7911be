"""The data that a comparison shows of one variant, as plain values, so that results of any source can be drawn.

Not for computations: WAF, theory and endurance are inputs. `None` means "not measured" and is shown as an em dash with
a reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from ssdlab.evidence import Estimate, estimate
from ssdlab.presentation.report import wording

# The parts of NAND writes, in the order of the stacked bars and the table.
PARTS: dict[str, str] = {
    "host": "host",
    "gc": "garbage collection",
    "wear_leveling": "wear levelling",
    "metadata": "metadata",
    "parity": "parity",
    "padding": "padding",
    "slc_fold": "SLC fold",
    "journal": "journal of the map",
}

# The parts of the latency of a request, in the order of the stacked bars.
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
    """Requests per simulated second, reads and writes together, and latencies of writes, or of reads without writes."""

    direction: str
    """`write` or `read`: the direction of `direction_iops` and the latencies."""
    estimate: Estimate
    """Requests per second, with the interval."""
    direction_iops: float
    mean: Estimate | None
    """Of the latency, in nanoseconds; None without requests."""
    p99: Estimate | None
    """The 99th percentile; None with fewer than ten requests above it, as `p999`."""
    p999: Estimate | None
    is_as_recorded: bool = False
    """Whether requests arrive at the times of a trace, so that their rate is the host's."""

    @property
    def latency_ns_mean(self) -> float | None:
        return self.mean.value if self.mean else None

    @property
    def latency_ns_p999(self) -> float | None:
        return self.p999.value if self.p999 else None

    @property
    def iops(self) -> float:
        return self.estimate.value

    @property
    def direction_estimate(self) -> Estimate:
        """`direction_iops` with the interval of all requests."""
        return self.estimate.times(self.direction_iops / self.iops)


@dataclass(frozen=True)
class WearStatistics:
    """Erase counts of blocks of the drive at the end of the run."""

    erase_count_min: int
    erase_count_mean: float
    erase_count_max: int
    erase_count_stddev: float


@dataclass(frozen=True)
class ComparedVariant:
    """One variant of the experiment. Shares are fractions (0.07 is 7 %); host bytes count from the start of the run.

    `series` needs the columns of `SERIES_COLUMNS`, one row for each window, in order: `host_written_bytes` (cumulative,
    at the end of the window), `stage`, `waf` (in this window), `free_erase_units`, `effective_over_provisioning`; `waf`
    and `effective_over_provisioning` can be null. Further columns are allowed.

    `waf_parts` has one entry for each key of `PARTS`, programmed per host unit; they add up to `waf`.
    """

    label: str
    """A short name, unique in the comparison, that is shown in every key, such as "7 %" or "fifo"."""
    drive: str
    over_provisioning: float
    user_bytes: int
    host_written_bytes: int
    nand_programmed_bytes: int
    series: pl.DataFrame
    effective_over_provisioning: float | None = None
    waf: float | None = None
    """In the steady state, or in the last stage if the run did not search for it."""
    waf_estimate: Estimate | None = None
    """`waf` with its interval; None: no interval is known."""
    waf_parts: Mapping[str, float] = field(default_factory=dict)
    timing_series: pl.DataFrame | None = None
    """One row for each interval of simulated time, in order, with `TIMING_COLUMNS`; None without a clock."""
    speed: VariantSpeed | None = None
    """In the steady state, or in the last stage if the run did not search for it. None without a clock."""
    latency_parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Nanoseconds by the keys of `LATENCY_PARTS` in the last stage, for the direction of `speed`.

    `mean` is for all requests, `p99_9` for those at and above the 99.9th percentile, where ten or more are so
    slow. Empty without a clock.
    """
    theory: float | None = None
    theory_formula: str | None = None
    theory_curve: Sequence[tuple[float, float]] = ()
    """Points (over_provisioning, waf) of the closed form around this variant."""
    tbw_bytes: float | None = None
    years: float | None = None
    dwpd: float | None = None
    """The drive writes per day assumed for `years`."""
    watts_mean: float | None = None
    joules_per_host_gib: Mapping[str, float | None] = field(default_factory=dict)
    """In the last stage, by cause, with `total`; a None needs a clock. Empty for a drive whose energy is unknown."""
    co2e_g_per_host_tb: float | None = None
    """None unless its energy is known, and the CO2e of a kWh was given."""
    steady_reached: bool | None = None
    """None: the run did not search for a steady state."""
    steady_at_host_bytes: int | None = None
    stages: Sequence[tuple[int | str, int, int]] = ()
    """(name or number, host bytes at its start, host bytes at its end)"""
    wear_histogram: Sequence[tuple[int, int, int]] = ()
    """(erase_count_min, erase_count_max, blocks); both counts are inclusive."""
    wear: WearStatistics | None = None
    """Of all blocks, without erases after use in SLC mode."""
    slc_mode_wear: WearStatistics | None = None
    """The erases after use in SLC mode, of the blocks that had one; None if there was none."""
    notes: Sequence[str] = ()
    is_untimed: bool = False
    """Whether the run was simulated without a clock."""
    standing: str = ""
    """What stands behind the name of the drive, in one line; "" if unknown."""
    scale: str | None = None
    """The scale, such as "1/16", if the drive was scaled down."""
    is_workload_scaled: bool = True
    """With a `scale`: whether the workload was, too, which a whole trace is not."""
    scale_chosen: str | None = None
    """How the scale was chosen, as a sentence without its full stop; None if it was given."""
    specification: Mapping[str, Any] | None = None
    """The fully resolved specification, shown in the details of the page."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """The reason why a value is None, by field name; shown in place of the value."""

    @property
    def waf_said(self) -> str | None:
        """`waf` with the digits that its interval allows."""
        if self.waf_estimate is not None:
            return wording.estimated_waf(self.waf_estimate)
        return None if self.waf is None else wording.waf(self.waf)

    @property
    def determined_waf_parts(self) -> Mapping[str, float]:
        """`waf_parts`; empty where of `waf` itself only the ends of its interval are printed."""
        return {} if self.waf_estimate is not None and self.waf_estimate.has_only_ends else self.waf_parts

    @property
    def main_cause(self) -> tuple[str, Estimate] | None:
        """The largest part of `waf` that is not the host's, as a key of `PARTS` and units per host unit, with the
        interval of the whole: the host's part has none. None without parts."""
        if not sum(self.waf_parts.values()):
            return None
        part = max((part for part in PARTS if part != "host"), key=lambda part: self.waf_parts.get(part, 0.0))
        units, whole = self.waf_parts.get(part, 0.0), self.waf_estimate
        half_width = (whole.high - whole.low) / 2 if whole else 0.0
        return part, estimate.of_rounds(units, half_width, whole.n if whole else 1)

    @property
    def waf_decimals(self) -> int:
        """The decimals of `waf` and its parts, which are not more certain than the whole: two, or fewer if its interval
        allows no more."""
        return 2 if self.waf_estimate is None else max(0, estimate.decimals(self.waf_estimate, 2))

    def drive_writes(self, host_bytes: float) -> float:
        return host_bytes / self.user_bytes
