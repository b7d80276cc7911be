"""SNIA's latency test: one request at a time, in the steady state."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, fill, job, random_writes

SIZES = ("4k", "8k")
MIXES = (100, 65, 0)


def points(setting: Setting) -> Sequence[Point]:
    sizes, seconds = (SIZES[:1], 5) if setting.quick else (SIZES, 60)
    timed = ("norandommap", "time_based", f"runtime={seconds}s")
    cells = [
        Step(f"{size}, {mix} % reads", job("randrw", size, 1, f"rwmixread={mix}", *timed))
        for size in sizes
        for mix in MIXES
    ]
    return [Point("", [fill(loops=1 if setting.quick else 2), random_writes(quick=setting.quick), *cells])]


PROTOCOL = Protocol(
    name="snia-latency",
    title="Response times of one request at a time, in the steady state",
    source="SNIA Solid State Storage Performance Test Specification, latency test; blocks of 512 B are omitted, "
    "because few drives map them",
    quick_gives_up="blocks of 8 KiB, the steady state (two passes of random writes instead), and all but 5 s per cell",
    points=points,
    columns=("read_mean_us", "read_p99_us", "write_mean_us", "write_p99_us"),
)
