"""The study's pictures: the readings of the ten drives, and the reason why some of them slow down."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.internal_fragmentation.drives import DRIVES, STEPS, Fragmented
from ssdlab.experiments.studies.internal_fragmentation.reading import Readings

if TYPE_CHECKING:
    from ssdlab.experiments.studies.internal_fragmentation.readers import Contribution
    from ssdlab.presentation.report.figure import Figure

SLOWED = ("toshiba-xg5-512gb", "samsung-pm963-960gb", "samsung-pm981-1tb", "samsung-pm1725b-1600gb")
EXPLAINED = "toshiba-xg5-512gb"
FILE_MIB = 4096


def figures(taken: Mapping[str, Readings]) -> "list[Figure]":
    """Figures of the drives that slow down, of those whose link hides it, and of the flash accesses per MiB read."""
    slowed = [each for each in DRIVES if each.drive in SLOWED]
    hidden = [each for each in DRIVES if each.drive not in SLOWED]
    factors = [taken[each.drive].cells[-1] / taken[each.drive].cells[0] for each in slowed]
    return [
        _readings(
            "slowed",
            f"Four NVMe drives take {min(factors):.1f} to {max(factors):.1f} times as long to read a rewritten file",
            slowed,
            taken,
        ),
        _readings(
            "hidden",
            "Six simulated drives hardly slow down: what reaches the host at a time is their limit",
            hidden,
            taken,
            " The real 5200 takes 31 % longer after 800 MiB, which is not explained.",
        ),
        _why(taken),
    ]


def readers_figure(readers: "Sequence[Contribution]", taken: Mapping[str, Readings]) -> "Figure":
    """The readers' drives beside those of the study that slow down."""
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    at = scattered_percent()
    slowed = [each for each in DRIVES if each.drive in SLOWED]
    worst = max(readers, key=lambda each: each.slowdowns[-1])
    return published_lines(
        name="readers",
        title=f"Of the readers' drives, {worst.label} slows down most, {worst.slowdowns[-1]:.1f} times",
        caption="The time of reading the file over that of the fresh file. Lines are simulated drives of the article, "
        "marks were measured by readers.",
        lines=[
            Line(
                _label(each),
                [(x, cell / taken[each.drive].cells[0]) for x, cell in zip(at, taken[each.drive].cells, strict=True)],
            )
            for each in slowed
        ],
        marks=[Marks(each.label, list(zip(at, each.slowdowns, strict=True))) for each in readers],
        x_title="blocks of the file that were rewritten at random, %",
        y_title="time over that of the fresh file",
    )


def scattered_percent() -> list[float]:
    """The share of the file's blocks, in percent by step, that are no longer where they were first written."""
    kept, percent = 1.0, []
    for step in STEPS:
        kept *= 1 - step / FILE_MIB
        percent.append(100 * (1 - kept))
    return percent


def _readings(
    name: str, title: str, drives: Sequence[Fragmented], taken: Mapping[str, Readings], more: str = ""
) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    at = scattered_percent()
    return published_lines(
        name=name,
        title=title,
        caption="Seconds for a 4 GiB file in sequence, fresh and after 50, 200, 800 and 4000 MiB of random rewrites. "
        f"Lines are simulated, marks are published.{more}",
        lines=[Line(_label(each), list(zip(at, taken[each.drive].cells, strict=True))) for each in drives],
        marks=[Marks(_label(each), list(zip(at, each.seconds, strict=True))) for each in drives],
        x_title="blocks of the file that were rewritten at random, %",
        y_title="seconds to read the file",
    )


def _why(taken: Mapping[str, Readings]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Bar, published_bars

    (each,) = (each for each in DRIVES if each.drive == EXPLAINED)
    touched = taken[each.drive].touched
    what = {
        "pages": "pages read",
        "dies": "dies asked, segment by segment",
        "busiest_die_pages": "pages on the busiest die, one after another",
        "segments": "segments read ahead",
        "map_pages": "map pages fetched before them",
    }
    bars = [
        Bar(words, label, at[key])
        for key, words in what.items()
        for label, at in (("fresh", touched[0]), ("after 50 MiB", touched[1]), ("after 4000 MiB", touched[-1]))
    ]
    pages = touched[-1]["pages"] / touched[0]["pages"]
    return published_bars(
        name="why",
        title=f"Rewritten, each MiB takes {pages:.1f} times the pages, and a map page for every segment",
        caption=f"What a sequential reading of 1 MiB touches on the {_label(each)}. The first rewrites break half of "
        "the segments, which costs a map page each; the later ones scatter the units over pages and dies.",
        bars=bars,
        x_title="for each MiB of the file",
        own_axes=True,
    )


def _label(each: Fragmented) -> str:
    return each.published_as.split(" (")[0].removesuffix(" 480GB").removesuffix(" 960GB")
