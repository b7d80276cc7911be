"""SNIA's IOPS test: reads and writes in seven mixes and several block sizes, in the steady state of random writes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ssdlab.experiments.protocols import drawing
from ssdlab.experiments.protocols.contract import (
    DriveTests,
    Matrix,
    Point,
    Protocol,
    Setting,
    Step,
    fill,
    job,
    random_writes,
)
from ssdlab.foundation.quantities import measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.experiments.protocols.drawing import Points
    from ssdlab.experiments.protocols.figures import Figures
    from ssdlab.presentation.report.figure import Figure

MIXES = (100, 95, 65, 50, 35, 5, 0)
SIZES = ("4k", "8k", "16k", "32k", "64k", "128k", "1024k")
QUICK_MIXES = (100, 65, 0)
QUICK_SIZES = ("4k", "64k")


def points(setting: Setting) -> Sequence[Point]:
    mixes, sizes, seconds = (QUICK_MIXES, QUICK_SIZES, 5) if setting.quick else (MIXES, SIZES, 60)
    timed = ("norandommap", "time_based", f"runtime={seconds}s")
    cells = [
        Step(_name(size, mix), job("randrw", size, 32, f"rwmixread={mix}", *timed))
        for size in reversed(sizes)
        for mix in mixes
    ]
    return [Point("", [fill(loops=1 if setting.quick else 2), random_writes(quick=setting.quick), *cells])]


def _name(size: str, mix: int) -> str:
    return f"{size}, {mix} % reads"


def _iops(figures: Sequence[Figures]) -> Mapping[str, float]:
    """The reads and writes per second of each cell, by the name of its step."""
    found = {}
    for each in figures:
        rates = [side.iops for side in (each.read, each.write) if side is not None]
        known = [rate for rate in rates if rate is not None]
        if each.shown and known and len(known) == len(rates):
            found[each.step] = sum(known)
    return found


def conclude(figures: Sequence[Figures]) -> str | None:
    """The reads and writes per second of the smallest blocks; None without both."""
    iops = _iops(figures)
    for size in SIZES:
        reads, writes = iops.get(_name(size, 100)), iops.get(_name(size, 0))
        if reads is not None and writes is not None:
            kib = size.removesuffix("k")
            return f"{measured(reads)} reads or {measured(writes)} writes of {kib} KiB per second"
    return None


def tabulate(figures: Sequence[Figures]) -> list[Matrix]:
    """SNIA's table of a measurement window: a row for each block size, a column for each mix, writes first."""
    iops = _iops(figures)
    mixes = [mix for mix in reversed(MIXES) if any(_name(size, mix) in iops for size in SIZES)]
    rows = [
        (f"{size.removesuffix('k')} KiB", [iops.get(_name(size, mix)) for mix in mixes])
        for size in SIZES
        if any(_name(size, mix) in iops for mix in mixes)
    ]
    return [Matrix("IOPS", "block size", [f"{mix} % reads" for mix in mixes], rows)] if rows else []


def draw(tested: Sequence[DriveTests]) -> list[Figure]:
    """IOPS over block sizes with a line for each mix, of several drives a picture for each mix; and the rounds."""
    from ssdlab.presentation.report.charts.published import published_lines

    mixes = [mix for mix in MIXES if len(_over_sizes(tested[0].runs[0], mix)) > 1]
    named = [(f"{mix} % reads", partial(_over_sizes, mix=mix)) for mix in mixes]
    drawn: list[Figure] = []
    for name, lines in drawing.lines_of(tested, named):
        caption = ["Reads and writes together, after random writes", drawing.repetitions(tested)]
        drawn.append(
            published_lines(
                name="-".join(["iops-over-sizes", *name.split()[:1]]),
                title=f"IOPS over block sizes{f', {name}' if name else ' and mixes'}",
                caption=". ".join(filter(None, caption)) + ".",
                lines=lines,
                x_title="block size, KiB",
                y_title="IOPS",
                scale="log",
                scale_x="log",
                x_ticks=[float(size.removesuffix("k")) for size in SIZES],
            )
        )
    return [*drawn, *drawing.rounds(tested)]


def _over_sizes(figures: Sequence[Figures], mix: int) -> Points:
    iops = _iops(figures)
    return [(float(size.removesuffix("k")), iops[_name(size, mix)]) for size in SIZES if iops.get(_name(size, mix))]


PROTOCOL = Protocol(
    name="snia-iops",
    title="IOPS over block sizes and mixes of reads and writes, in the steady state",
    source="SNIA Solid State Storage Performance Test Specification, IOPS test; here the cells are measured once, in "
    "the steady state of 4 KiB random writes, rather than in each round",
    quick_gives_up="most mixes and sizes, the steady state (two passes of random writes instead), all but 5 s per cell",
    points=points,
    columns=("read_iops", "write_iops", "waf"),
    conclude=conclude,
    draw=draw,
    tabulate=tabulate,
)
