"""Size of an SLC cache: sequential writes on a purged drive in slices, until they stay slower."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, job

SLICES = 50
QUICK_SLICES = 20


def points(setting: Setting) -> Sequence[Point]:
    slices = QUICK_SLICES if setting.quick else SLICES
    each = max(1, setting.size_bytes // slices // (1 << 20)) << 20
    count = min(slices, setting.size_bytes // each)
    steps = [
        Step(
            f"up to {100 * (number + 1) * each / setting.size_bytes:.0f} %",
            job("write", "1m", 8, f"offset={number * each}", f"size={each}"),
        )
        for number in range(count)
    ]
    return [Point("", steps)]


PROTOCOL = Protocol(
    name="slc-cache-size",
    title="Amount that a purged drive accepts sequentially before its speed drops",
    source="reviewers' practice: the whole drive written once sequentially, with the rate of each slice",
    quick_gives_up="resolution: slices of a twentieth of the drive, rather than a fiftieth",
    points=points,
    columns=("write_mb_s", "waf"),
)
