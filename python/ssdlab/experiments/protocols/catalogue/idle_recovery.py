"""Idle recovery: bursts of random writes on a saturated drive, after increasing idle times."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, fill, job, random_writes

RESTS_S = (0, 10, 60, 300, 1800)
QUICK_RESTS_S = (0, 10)
BURST_PERCENT = 5


def points(setting: Setting) -> Sequence[Point]:
    rests = QUICK_RESTS_S if setting.quick else RESTS_S
    amount = max(1, setting.size_bytes * BURST_PERCENT // 100 // 4096) * 4096
    burst = job("randwrite", "4k", 32, "norandommap", f"io_size={amount}")
    bursts = [Step(f"after {rest} s idle", burst, idle_seconds=rest) for rest in rests]
    return [Point("", [fill(), random_writes("saturate", quick=setting.quick), *bursts])]


PROTOCOL = Protocol(
    name="idle-recovery",
    title="Recovery of a saturated drive in idle time",
    source="SNIA Solid State Storage Performance Test Specification, host idle recovery test; with bursts of a share "
    "of the drive",
    quick_gives_up="idle times above 10 s, and the steady state (two passes of random writes instead)",
    points=points,
    columns=("write_iops", "write_p99_us", "waf"),
)
