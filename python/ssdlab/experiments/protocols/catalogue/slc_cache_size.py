"""Size of an SLC cache: sequential writes on a purged drive in slices, until they stay slower."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.experiments.protocols import drawing
from ssdlab.experiments.protocols.contract import DriveTests, Point, Protocol, Setting, Step, job
from ssdlab.foundation.quantities import format_bytes, format_share, measured
from ssdlab.theory.slc_cache import phases_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.experiments.protocols.figures import Figures
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.theory.slc_cache import Phase

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
    found = _phases(figures)
    if not found:
        return None
    *phases, last = found
    if phases and not _is_apart(figures, found):
        rates = [each.write.mb_s for each in figures if each.write and each.write.mb_s]
        return (
            f"Slices are written at {measured(min(rates))} to {measured(max(rates))} MB/s, too uneven to tell a cache"
        )
    if not phases:
        return f"The rate stays at {measured(last.rate)} MB/s: no cache shows"
    total = sum(each.written_bytes for each in figures)
    clauses = []
    for phase in phases:
        written = sum(each.written_bytes for each in figures[: phase.end])
        clauses.append(
            f"at {measured(phase.rate)} MB/s up to {format_share(written / total, 2)} of its size "
            f"({format_bytes(written)})"
        )
    return f"The drive accepts writes {', '.join(clauses)}, and at {measured(last.rate)} MB/s from there"


def _phases(figures: Sequence[Figures]) -> list[Phase]:
    """The phases of the fill; empty if a slice has no rate, or if there are too few."""
    rates = [each.write.mb_s if each.write else None for each in figures]
    known = [rate for rate in rates if rate]
    return [] if len(known) < len(rates) or len(known) < _SLICES_MIN else phases_of(known)


def draw(tested: Sequence[DriveTests]) -> list[Figure]:
    """The speed over the gigabytes written, with the size of the cache in the title."""
    return drawing.speed_over_size(tested, title="; ".join(_size(each, alone=len(tested) == 1) for each in tested))


def _is_apart(figures: Sequence[Figures], phases: Sequence[Phase]) -> bool:
    """Whether each slice of the first phase was faster than each after it. If not, the rates vary as much within a
    phase as between phases, as those of a file system on a busy machine do."""
    rates = [each.write.mb_s for each in figures if each.write and each.write.mb_s]
    first = phases[0].end
    return min(rates[:first]) > max(rates[first:])


def _size(tested: DriveTests, *, alone: bool) -> str:
    """The size of the cache: what the drive took before its first drop, as a range if it was tested more than once."""
    of = "" if alone else f"{tested.label}: "
    found = [_phases(run) for run in tested.runs]
    if any(len(phases) > 1 and not _is_apart(run, phases) for run, phases in zip(tested.runs, found, strict=True)):
        return f"{of}rates vary too much to tell an SLC cache"
    sizes = [
        sum(each.written_bytes for each in run[: phases[0].end])
        for run, phases in zip(tested.runs, found, strict=True)
        if len(phases) > 1
    ]
    whole_bytes = sum(each.written_bytes for each in tested.runs[0])
    if len(sizes) < len(tested.runs):
        none = f"{of}no SLC cache shows" if of else "No SLC cache shows"
        return f"{of}an SLC cache shows in {len(sizes)} of its tests" if sizes else none
    slice_bytes = format_bytes(tested.runs[0][0].written_bytes)
    if any(phases[0].end == 1 for phases in found):
        return f"{of}The speed drops within a slice of {slice_bytes}: a write buffer, or an SLC cache smaller than that"
    least, most = format_bytes(min(sizes)), format_bytes(max(sizes))
    size = least if least == most else f"{least} to {most}"
    # The size of a scaled drive says little without its share.
    share = format_share(sum(sizes) / len(sizes) / whole_bytes, 2)
    return f"{of}SLC cache of {size}, {share} of the drive, measured in slices of {slice_bytes}"


PROTOCOL = Protocol(
    name="slc-cache-size",
    title="Amount that a purged drive accepts sequentially before its speed drops",
    source="reviewers' practice: the whole drive written once sequentially, with the rate of each slice",
    quick_gives_up="resolution: slices of a twentieth of the drive, rather than a fiftieth",
    points=points,
    columns=("write_mb_s", "waf"),
    conclude=conclude,
    draw=draw,
)
