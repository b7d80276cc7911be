"""SNIA's IOPS test: reads and writes in seven mixes and several block sizes, in the steady state of random writes."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, fill, job, random_writes

MIXES = (100, 95, 65, 50, 35, 5, 0)
SIZES = ("4k", "8k", "16k", "32k", "64k", "128k", "1024k")
QUICK_MIXES = (100, 65, 0)
QUICK_SIZES = ("4k", "64k")


def points(setting: Setting) -> Sequence[Point]:
    mixes, sizes, seconds = (QUICK_MIXES, QUICK_SIZES, 5) if setting.quick else (MIXES, SIZES, 60)
    timed = ("norandommap", "time_based", f"runtime={seconds}s")
    cells = [
        Step(f"{size}, {mix} % reads", job("randrw", size, 32, f"rwmixread={mix}", *timed))
        for size in reversed(sizes)
        for mix in mixes
    ]
    return [Point("", [fill(loops=1 if setting.quick else 2), random_writes(quick=setting.quick), *cells])]


PROTOCOL = Protocol(
    name="snia-iops",
    title="IOPS over block sizes and mixes of reads and writes, in the steady state",
    source="SNIA Solid State Storage Performance Test Specification, IOPS test; here the cells are measured once, in "
    "the steady state of 4 KiB random writes, rather than in each round",
    quick_gives_up="most mixes and sizes, the steady state (two passes of random writes instead), all but 5 s per cell",
    points=points,
    columns=("read_iops", "write_iops", "waf"),
)
