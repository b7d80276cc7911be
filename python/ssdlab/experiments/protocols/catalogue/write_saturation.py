"""SNIA's write-saturation test: random writes from a purged drive until they are steady."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, job


def points(setting: Setting) -> Sequence[Point]:
    if not setting.quick:
        return [Point("", [Step("random writes", job("randwrite", "4k", 32, "norandommap"), "steady")])]
    return [Point("", [Step(f"pass {n}", job("randwrite", "4k", 32, "norandommap")) for n in (1, 2, 3)])]


PROTOCOL = Protocol(
    name="write-saturation",
    title="Random writes on a purged drive until saturation: size and time of the drop",
    source="SNIA Solid State Storage Performance Test Specification, write saturation test; rounds are drive writes, "
    "rather than minutes",
    quick_gives_up="the steady state: three passes of random writes",
    points=points,
    columns=("waf", "write_iops", "write_p99_us"),
)
