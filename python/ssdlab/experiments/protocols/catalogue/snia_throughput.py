"""SNIA's throughput test: sequential writes until they are steady, then sequential reads."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, fill, job

SIZES = ("128k", "1024k")


def points(setting: Setting) -> Sequence[Point]:
    sizes = SIZES[:1] if setting.quick else SIZES
    return [
        Point(
            size,
            [
                fill(loops=1 if setting.quick else 2),
                Step("writes", job("write", size, 32), "job" if setting.quick else "steady"),
                Step("reads", job("read", size, 32)),
            ],
        )
        for size in sizes
    ]


PROTOCOL = Protocol(
    name="snia-throughput",
    title="Sequential throughput in the steady state",
    source="SNIA Solid State Storage Performance Test Specification, throughput test",
    quick_gives_up="the blocks of 1 MiB, and the steady state (one pass instead)",
    points=points,
    columns=("read_mb_s", "write_mb_s", "waf"),
)
