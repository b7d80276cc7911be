"""Over-provisioning sweep: uses only a share of the drive, and the rest stays trimmed, as with a smaller partition."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, fill, random_writes

USED_PERCENT = (100, 93, 85, 75, 60)
QUICK_PERCENT = (100, 80)


def points(setting: Setting) -> Sequence[Point]:
    shares = QUICK_PERCENT if setting.quick else USED_PERCENT
    return [
        Point(f"{share} % used", [fill(f"{share}%"), random_writes(size=f"{share}%", quick=setting.quick)])
        for share in shares
    ]


PROTOCOL = Protocol(
    name="over-provisioning-sweep",
    title="The effect of unpartitioned space on random writes",
    source="the over-provisioning experiments of `ssdlab study`; the range of the job stands for the partition",
    quick_gives_up="three of the five spare areas, and the steady state (two passes of random writes instead)",
    points=points,
    needs_device=True,
)
