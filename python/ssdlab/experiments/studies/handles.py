"""Code that the studies of placement handles share: a figure of write amplification with and without handles, with the
published points."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ssdlab.simulator.drives import load

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure

Points = Sequence[tuple[float, float]]


def waf_figure(
    name: str, curves: Mapping[str, Points], published: Mapping[str, Points], *, title: str, caption: str, x_title: str
) -> "Figure":
    """A figure of write amplification over `x_title`, with simulated curves as lines and published points as marks."""
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    return published_lines(
        name=name,
        title=title,
        caption=caption,
        lines=[Line(label, points) for label, points in curves.items()],
        marks=[Marks(label, points) for label, points in published.items()],
        x_title=x_title,
        y_title="write amplification",
    )


def reclaim_unit_bytes(drive: str) -> int:
    """The size in bytes of a superblock of a catalogue drive: one block of each plane."""
    nand = load(drive).nand
    planes = nand.channels * nand.dies_per_channel * nand.planes_per_die
    return nand.pages_per_block * nand.page_bytes * planes
