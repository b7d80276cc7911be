"""SNIA's write-saturation test: random writes from a purged drive until they are steady."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.experiments.protocols import drawing
from ssdlab.experiments.protocols.contract import DriveTests, Point, Protocol, Setting, Step, job
from ssdlab.foundation.quantities import format_share, rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.experiments.protocols.figures import Figures
    from ssdlab.presentation.report.figure import Figure

_WRITES = job("randwrite", "4k", 32, "norandommap")
# The parts of the samples at the start, short because the drop comes soon, and at the end whose means are compared.
_START_SHARE = 0.02
_END_SHARE = 0.1


def points(setting: Setting) -> Sequence[Point]:
    if not setting.quick:
        return [Point("", [Step("random writes", _WRITES, "steady", over_time=True)])]
    return [Point("", [Step(f"pass {n}", _WRITES, over_time=True) for n in (1, 2, 3)])]


def conclude(figures: Sequence[Figures]) -> str | None:
    """The rates on the purged drive and at the end; None without rates over time."""
    if not all(each.over_time and each.write for each in figures):
        return None
    first, last = figures[0], figures[-1]
    assert first.write is not None and last.write is not None
    count = max(1, round(_START_SHARE * len(first.over_time)))
    fresh = sum(each.write_mb_s for each in first.over_time[:count]) / count
    count = max(1, round(_END_SHARE * len(last.over_time)))
    end = sum(each.write_mb_s for each in last.over_time[-count:]) / count
    if not fresh:
        return None
    fresh_iops = fresh * 1e6 * first.write.ios / first.write.moved_bytes
    end_iops = end * 1e6 * last.write.ios / last.write.moved_bytes
    return (
        f"Random writes begin at {rounded(fresh_iops)} and end at {rounded(end_iops)} per second, "
        f"{format_share(end / fresh)} of that"
    )


def draw(tested: Sequence[DriveTests]) -> list[Figure]:
    """Writes per second over time and over the bytes written, and the rounds."""
    title = "Writes per second over time"
    return [*drawing.over_time(tested, title=title), *drawing.rounds(tested)]


PROTOCOL = Protocol(
    name="write-saturation",
    title="Random writes on a purged drive until saturation: size and time of the drop",
    source="SNIA Solid State Storage Performance Test Specification, write saturation test; rounds are drive writes, "
    "rather than minutes",
    quick_gives_up="the steady state: three passes of random writes",
    points=points,
    columns=("waf", "write_iops", "write_p99_us"),
    conclude=conclude,
    draw=draw,
)
