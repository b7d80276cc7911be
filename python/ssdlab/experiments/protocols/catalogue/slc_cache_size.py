"""Size of an SLC cache: sequential writes on a purged drive in slices, until they stay slower."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, job
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.foundation.quantities import format_bytes
from ssdlab.theory.slc_cache import phases_of

SLICES = 50
QUICK_SLICES = 20
_SLICES_MIN = 4
"""Fewer show no phases."""


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


def conclude(figures: Sequence[Figures]) -> str | None:
    """The rates of the phases and where they end; None if a slice has no rate."""
    rates = [each.write.mb_s if each.write else None for each in figures]
    known = [rate for rate in rates if rate]
    if len(known) < len(rates) or len(known) < _SLICES_MIN:
        return None
    *phases, last = phases_of(known)
    if not phases:
        return f"The rate stays at {last.rate:,.0f} MB/s: no cache shows"
    total = sum(each.written_bytes for each in figures)
    clauses = []
    for phase in phases:
        written = sum(each.written_bytes for each in figures[: phase.end])
        clauses.append(f"at {phase.rate:,.0f} MB/s up to {format_bytes(written)} ({100 * written / total:.0f} %)")
    return f"The drive accepts writes {', '.join(clauses)}, and at {last.rate:,.0f} MB/s from there"


PROTOCOL = Protocol(
    name="slc-cache-size",
    title="Amount that a purged drive accepts sequentially before its speed drops",
    source="reviewers' practice: the whole drive written once sequentially, with the rate of each slice",
    quick_gives_up="resolution: slices of a twentieth of the drive, rather than a fiftieth",
    points=points,
    columns=("write_mb_s", "waf"),
    conclude=conclude,
)
