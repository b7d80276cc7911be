"""Invented variants for the tests of charts and pages: plausible curves without a simulation."""

import math
import random
from typing import Any

import polars as pl

from ssdlab.evidence import Estimate
from ssdlab.presentation.report import ComparedVariant, VariantSpeed, WearStatistics

USER_BYTES = 128 * 10**9


def made_up_waf(over_provisioning: float) -> float:
    """A curve with the shape of theory: large at small OP, near 1 at large OP."""
    return 1 + 0.36 / over_provisioning * math.exp(-1.1 * over_provisioning)


def curve() -> list[tuple[float, float]]:
    return [(op / 200, made_up_waf(op / 200)) for op in range(5, 125)]


def within(value: float, share: float = 0.005) -> Estimate:
    """A figure that is known within this share of it."""
    return Estimate(value, value * (1 - share), value * (1 + share), 7, "made up")


def made_up_speed(iops: float, mean_ns: float, p999_ns: float | None) -> VariantSpeed:
    """The speed of a variant that only writes."""
    p99, p999 = (within(p999_ns / part, 0.05) if p999_ns is not None else None for part in (2, 1))
    return VariantSpeed("write", within(iops), iops, within(mean_ns), p99, p999)


def made_up_variant(
    label: str,
    over_provisioning: float,
    *,
    drive: str = "generic-tlc-480",
    windows: int = 60,
    with_theory: bool = True,
    waf_factor: float = 1.0,
    steady: bool | None = True,
    extra_parts: bool = False,
    timed: bool = True,
    hours: float = 4.0,
    **changes: Any,
) -> ComparedVariant:
    random_source = random.Random(label)
    expected = made_up_waf(over_provisioning) * waf_factor
    waf = expected * (1 + random_source.uniform(-0.006, 0.006))
    drive_writes = 3.5 + 0.25 * expected
    host_bytes = int(drive_writes * USER_BYTES)
    series = _series(over_provisioning, waf, drive_writes, windows, random_source)
    parts = {
        "host": 1.0,
        "gc": waf - 1,
        "wear_leveling": 0.0,
        "metadata": 0.0,
        "parity": 0.0,
        "padding": 0.0,
        "slc_fold": 0.0,
    }
    if extra_parts:
        for part, units in (("wear_leveling", 0.06), ("metadata", 0.12), ("parity", 0.2), ("padding", 0.09)):
            parts[part] = units
            parts["gc"] -= units
    mean = host_bytes * waf / (USER_BYTES * (1 + over_provisioning))
    low = max(0, round(mean) - 3)
    histogram = [(low + i, low + i, round(400 * math.exp(-((low + i - mean) ** 2) / 2.4))) for i in range(8)]
    counts = [count for count, _, blocks in histogram if blocks]
    values: dict[str, Any] = {
        "label": label,
        "drive": drive,
        "over_provisioning": over_provisioning,
        "user_bytes": USER_BYTES,
        "host_written_bytes": host_bytes,
        "nand_programmed_bytes": int(host_bytes * waf),
        "series": series,
        "effective_over_provisioning": over_provisioning * 0.94,
        "timing_series": made_up_timing(waf, host_bytes, hours, windows) if timed else None,
        "speed": made_up_speed(50_000 / waf, 640_000 * waf, 2_500_000 * waf) if timed else None,
        "latency_parts": made_up_latency_parts(waf) if timed else {},
        "waf": waf,
        "waf_parts": parts,
        "theory": expected if with_theory else None,
        "theory_formula": "greedy, uniform" if with_theory else None,
        "theory_curve": curve() if with_theory else (),
        "tbw_bytes": 3000 * USER_BYTES * (1 + over_provisioning) / waf,
        "years": 3000 * (1 + over_provisioning) / waf / 365,
        "dwpd": 1.0,
        "steady_reached": steady,
        "steady_at_host_bytes": int(host_bytes - 0.2 * USER_BYTES) if steady else None,
        "stages": [("fill", 0, USER_BYTES), ("randwrite", USER_BYTES, host_bytes)],
        "wear_histogram": histogram,
        "wear": WearStatistics(min(counts), mean, max(counts), 1.1),
        "notes": ["direct and ioengine mean nothing on a simulated drive"],
    }
    return ComparedVariant(**(values | changes))


def made_up_latency_parts(waf: float) -> dict[str, dict[str, float]]:
    """Parts of the mean and of the slowest requests: garbage collection's part grows with WAF."""
    names = ("flash", "gc", "host_operations", "channel", "link", "controller", "queueing", "map")
    shares = (0.2, 0.3 * (waf - 1), 0.25, 0.04, 0.03, 0.02, 0.0, 0.0)
    whole_ns = {"mean": 640_000 * waf, "p99_9": 2_500_000 * waf}
    return {
        kind: {name: ns * share / sum(shares) for name, share in zip(names, shares, strict=True)}
        for kind, ns in whole_ns.items()
    }


def made_up_timing(waf: float, host_bytes: int, hours: float, intervals: int) -> pl.DataFrame:
    """A fill for a tenth of the time, then random writes that are fast at first."""
    length = hours * 3600 / intervals
    rows = []
    for index in range(intervals):
        fill = index < intervals // 10
        since = index - intervals // 10
        iops = 3_000 if fill else 50_000 / (1 + (waf - 1) * (1 - math.exp(-since / 4)))
        rows.append(
            {
                "simulated_seconds": (index + 1) * length,
                "interval_seconds": length,
                "stage": 0 if fill else 1,
                "host_written_bytes": host_bytes * (index + 1) // intervals,
                "read_ios": 0,
                "write_ios": int(iops * length),
                **{f"read_latency_ns_{rank}": None for rank in ("p50", "p99", "p999")},
                **{
                    f"write_latency_ns_{rank}": 32 / iops * 1e9 * factor
                    for rank, factor in (("p50", 0.8), ("p99", 2.5), ("p999", 4.0))
                },
            }
        )
    return pl.DataFrame(rows)


def _series(
    over_provisioning: float, waf: float, drive_writes: float, windows: int, random_source: random.Random
) -> pl.DataFrame:
    rows = []
    for index in range(windows):
        at = (index + 1) / windows * drive_writes
        fill, onset = at <= 1, 1 + over_provisioning
        since = max(0.0, at - onset)
        overshoot = 1 + 0.35 * math.exp(-since / 0.35) * math.sin(min(since * 6, math.pi * 2.5)) if since else 0
        window_waf = 1.0 if at <= onset else 1 + (waf * overshoot - 1) * min(1, since * 8)
        free = max(3, int(1024 * (onset - at) / onset)) if at < onset else 2 + index % 3
        rows.append(
            {
                "host_written_bytes": int(at * USER_BYTES),
                "stage": 0 if fill else 1,
                "waf": max(1.0, window_waf + (random_source.gauss(0, 0.012) * waf if since else 0)),
                "free_erase_units": free,
                "effective_over_provisioning": (onset - at) / at + over_provisioning
                if fill
                else over_provisioning * 0.94,
            }
        )
    return pl.DataFrame(rows)
