"""SNIA's write-saturation test: random writes from a purged drive until they are steady."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.experiments.protocols import drawing
from ssdlab.experiments.protocols.contract import DriveTests, Point, Protocol, Setting, Step, job
from ssdlab.foundation.quantities import format_share, measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.experiments.protocols.figures import Figures, Sample
    from ssdlab.presentation.report.figure import Figure

_WRITES = job("randwrite", "4k", 32, "norandommap")
# The rate of the purged drive is that of its first writes, because the drop is near; the rate at the end is that of a
# tenth of the time.
_START_WRITES = 1000
_END_SHARE = 0.1
# A longer start than this part of its time is not the purged drive's.
_START_SHARE_MAX = 0.1


def points(setting: Setting) -> Sequence[Point]:
    if not setting.quick:
        return [Point("", [Step("random writes", _WRITES, "steady", over_time=True)])]
    return [Point("", [Step(f"pass {n}", _WRITES, over_time=True) for n in (1, 2, 3)])]


def conclude(figures: Sequence[Figures]) -> str | None:
    """The rates on the purged drive and at the end; None without rates over time, or if they are of too few writes."""
    first, last = figures[0], figures[-1]
    if not first.over_time or not last.over_time or first.write is None or last.write is None:
        return None
    block_bytes = first.write.moved_bytes / first.write.ios
    start = next(
        (
            _mb_s(first.over_time[:count])
            for count, sample in enumerate(first.over_time, 1)
            if _mb_s(first.over_time[:count]) * 1e6 * sample.seconds >= _START_WRITES * block_bytes
            and sample.seconds <= _START_SHARE_MAX * first.over_time[-1].seconds
        ),
        None,
    )
    end_seconds = _END_SHARE * last.over_time[-1].seconds
    begin = last.over_time[-1].seconds - end_seconds
    end = _mb_s([each for each in last.over_time if each.seconds > begin])
    if not start or end * 1e6 * end_seconds < _START_WRITES * block_bytes:
        return None
    fresh, left = (rate * 1e6 / block_bytes for rate in (start, end))
    share = format_share(left / fresh, 2)
    return f"Random writes begin at {measured(fresh)} and end at {measured(left)} per second, {share} of that"


def _mb_s(samples: Sequence[Sample]) -> float:
    """The mean rate of samples, which are equally long but for the last of a step."""
    return sum(each.write_mb_s for each in samples) / len(samples)


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
