"""Free-space sweep: rewrites a file on ext4 that takes a share of the drive, while the rest was never written."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step

USED_PERCENT = (50, 60, 70, 80, 88)
QUICK_PERCENT = (60, 85)


def points(setting: Setting) -> Sequence[Point]:
    shares = QUICK_PERCENT if setting.quick else USED_PERCENT
    line = "overwrite data random bs=4KiB depth=32"
    passes = [Step("random writes", line, "steady")]
    if setting.quick:
        passes = [Step(f"pass {number}", line) for number in (1, 2)]
    return [
        Point(
            f"{share} % in use",
            [Step("mkfs", "mkfs", shown=False), Step("write", f"write data {share}%", shown=False), *passes],
            is_script=True,
        )
        for share in shares
    ]


PROTOCOL = Protocol(
    name="free-space-sweep",
    title="The effect of free space on random writes",
    source='"Free space and write performance", MySQL performance blog, 2010, with one file on ext4',
    quick_gives_up="three of the five shares, and the steady state (two passes instead)",
    points=points,
    needs_device=True,
)
