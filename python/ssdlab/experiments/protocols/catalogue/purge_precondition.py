"""Purge and precondition: the drive is trimmed and written twice sequentially, as at the start of SNIA's tests."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, fill, job


def points(setting: Setting) -> Sequence[Point]:
    if setting.quick:
        return [Point("", [Step("fill", fill().text)])]
    return [Point("", [Step(f"pass {number}", job("write", "128k", 32)) for number in (1, 2)])]


PROTOCOL = Protocol(
    name="purge-precondition",
    title="Bring a drive into a known state: trimmed, then written twice sequentially",
    source="SNIA Solid State Storage Performance Test Specification, workload-independent preconditioning",
    quick_gives_up="the second pass, so that the spare area of the drive may still be fresh",
    points=points,
)
