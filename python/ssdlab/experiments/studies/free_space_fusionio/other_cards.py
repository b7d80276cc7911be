"""The same analysis on other cards, as the source announces it: what its author published of two, and predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.experiments.advice.fit_drive import METRICS
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Printed, Range, Row, StudyResult, published
from ssdlab.experiments.studies.free_space_fusionio.curve import DRIVE, FOLDER
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.workloads.jobs import JobFile

FIGURES = published(FOLDER / "other-cards.csv")
SCALE = "1/64"
BYTES_PER_GIB = 2**30
FIRST, SECOND, PARTITIONED = "first", "second", "second in 120 GB"
STATES = {
    FIRST: "free space was never written",
    SECOND: "the files a second time, without a trim",
    PARTITIONED: "a second time, in a partition of 120 GB",
}
"""The states of a card before a file is written, as in other-cards.csv."""
OLDER_GIB = {SECOND: 140, PARTITIONED: 110}
"""The largest file of the first time, whose data lies on the card during the second."""
SHARES = (0.1, 1 / 3, 1 / 2, 2 / 3, 0.9)
"""Shares of what is sold, for cards of which nothing was published."""


@dataclass(frozen=True)
class Card:
    """A card with the sizes of files that are written on it."""

    name: str
    drive: str | Path
    sold_gb: int
    state: str = FIRST
    fitted: Fitted | None = None
    """Parameters of its drive file that were fitted to its figures."""
    inputs: tuple[int, ...] = ()
    """The spaces whose figure the drive file was given."""
    fitted_to: tuple[int, ...] = ()
    """The spaces whose figure they were fitted to."""
    spaces: tuple[float, ...] = ()
    """The sizes of the files, where not those of the published figures alone."""

    @property
    def figures(self) -> list[dict[str, str]]:
        """What was published of it."""
        return [row for row in FIGURES if (row["card"], row["state"]) == (Path(self.drive).stem, self.state)]

    @property
    def spaces_gib(self) -> tuple[float, ...]:
        """The sizes of the files, those with a published figure among them."""
        published = tuple(float(row["space_gib"]) for row in self.figures)
        return self.spaces or published or tuple(share * self.sold_gib for share in SHARES)

    @property
    def sold_gib(self) -> float:
        return self.sold_gb * 10**9 / BYTES_PER_GIB

    @property
    def label(self) -> str:
        """Its name, with the state of its free space if that is not the usual one."""
        return self.name if self.state == FIRST else f"{self.name}, {STATES[self.state]}"


DUO = Card("Fusion-io 320 GB SLC, two cards", DRIVE, 320)
MLC = Card(
    "Fusion-io 320 GB MLC, one card",
    FOLDER / "iodrive-320gb-mlc.toml",
    320,
    fitted=Fitted(("flash that the card hides",), 1),
    inputs=(10,),
    fitted_to=(290,),
)
INTEL_320, INTEL_320_AGAIN, INTEL_320_PARTITIONED = (
    Card("Intel 320, 160 GB", FOLDER / "intel-320-160gb.toml", 160, state, spaces=spaces)
    for state, spaces in ((FIRST, ()), (SECOND, (10, 30, 60, 100, 140)), (PARTITIONED, (10, 30, 60, 110)))
)
X25M = Card("Intel X25-M G2, 160 GB", "x25m-g2-160gb", 160)
UNPUBLISHED = (
    X25M,
    Card("Intel X25-E, 64 GB", FOLDER / "x25-e-64gb.toml", 64),
    Card("SandForce (Agility 2), 100 GB", "agility2-100gb", 100),
)
CARDS = (MLC, INTEL_320, INTEL_320_AGAIN, INTEL_320_PARTITIONED, *UNPUBLISHED)
NOTES = {
    MLC.label: "The program time is set to the highest reading, and the flash that is not sold is fitted to the full "
    "card; a copy costs what it costs on the SLC cards. The half full card is predicted.",
    X25M.label: "Sold with 100 MB/s of sequential writes (AnandTech 3965), which its drive file does not keep: its "
    "fall counts, not its height.",
    INTEL_320.label: "Nothing is fitted to these figures.",
    INTEL_320_AGAIN.label: "Published: below 40 from just after 50 GiB. Formatting the file system did not help, only "
    "a secure erase, so that the data of the first time is taken to lie on the drive still.",
    INTEL_320_PARTITIONED.label: "Published: about 50, and never below 40.",
}


def run(context: Context, duo: Sequence[tuple[float, float]]) -> StudyResult:
    """Simulates all cards; `duo` are GiB in use and MiB/s of the study's own two cards."""
    scale = context.scale(SCALE)
    runs = {
        (card.label, space): specify(
            _job(context, card.state, space),
            drive_of(card.drive, scale=scale),
            seed=context.seed,
        )
        for card in CARDS
        for space in card.spaces_gib
    }
    results = context.simulate({_label(*key): specification for key, specification in runs.items()})
    speeds = {key: _speed(results[_label(*key)]) for key in runs}
    return StudyResult(
        finding=_finding(speeds),
        rows=[row for card in CARDS for row in _rows(card, speeds)],
        figures=[_figure(speeds, duo)],
        notes=[
            "The published curves fall earlier than the simulated ones: the half full MLC card writes at 293 to 322 "
            "MiB/s, where few copies are made. That is the sign of the residuals of the two SLC cards too, of whose "
            "points a closed form asks 3.7, 3.3 and 3.0 host writes a copy: something slows writes down that does not "
            "go with copies, and no mechanism for it was published.",
        ],
    )


def _job(context: Context, state: str, space_gib: float) -> "JobFile":
    size = {"SPACE": str(round(space_gib * BYTES_PER_GIB) // 16384 * 16384)}
    if state == FIRST:
        return context.job(FOLDER / "random-writes.fio", **size)
    return context.job(FOLDER / "random-writes-on-used.fio", OLDER=str(OLDER_GIB[state] * BYTES_PER_GIB), **size)


def _label(card: str, space: float) -> str:
    return f"{card}, {space:.4g} GiB in use"


def _speed(result: "Result") -> float:
    return METRICS["write_mib_s"](result, "")


def _finding(speeds: Mapping[tuple[str, float], float]) -> str:
    half = MLC.spaces_gib[1]
    first, again = (speeds[card.label, 100] for card in (INTEL_320, INTEL_320_AGAIN))
    return (
        f"With 100 GiB in use an Intel 320 writes {first:.0f} MiB/s the first time and {again:.0f} the second, and "
        f"{speeds[INTEL_320_PARTITIONED.label, 110]:.0f} the second time with 110 GiB in a partition of 120 GB; a half "
        f"full card of MLC is predicted to write at {speeds[MLC.label, half]:.0f} MiB/s."
    )


def _rows(card: Card, speeds: Mapping[tuple[str, float], float]) -> list[Row]:
    if not card.figures:
        return [
            Row(
                f"{card.name}, {100 * share:.0f} % in use",
                None,
                speeds[card.label, space],
                "MiB/s",
                group="Other cards, predicted: nothing was published of them",
                note=NOTES.get(card.label, ""),
            )
            for share, space in zip(SHARES, card.spaces_gib, strict=True)
        ]
    rows = []
    for figure in card.figures:
        space = float(figure["space_gib"])
        low, high = float(figure["low"]), float(figure["high"])
        printed: Printed = "ours" if figure["printed"] == "ours" else "text"
        rows.append(
            Row(
                f"{space:g} GiB in use",
                low if low == high else Range(low, high),
                speeds[card.label, space],
                "MiB/s",
                tolerance=float(figure["tolerance"]),
                printed=printed,
                is_input=space in card.inputs,
                fitted=card.fitted,
                is_left_out=space not in card.fitted_to,
                group=f"{card.name}, {STATES[card.state]}",
                note=NOTES[card.label],
            )
        )
    return rows


def _figure(speeds: Mapping[tuple[str, float], float], duo: Sequence[tuple[float, float]]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    lines = [Line(DUO.label, [(100 * gib / DUO.sold_gib, speed) for gib, speed in duo])]
    marks = []
    for card in CARDS:
        points = [(100 * space / card.sold_gib, speeds[card.label, space]) for space in card.spaces_gib]
        lines.append(Line(card.label, points))
        if card.figures and card.state == FIRST:
            middles = [(float(row["low"]) + float(row["high"])) / 2 for row in card.figures]
            at = [100 * space / card.sold_gib for space in card.spaces_gib]
            marks.append(Marks(card.label, list(zip(at, middles, strict=True))))
    first, again = (speeds[card.label, 100] for card in (INTEL_320, INTEL_320_AGAIN))
    return published_lines(
        name="other-cards",
        title="Every card slows down as it fills; with 100 GiB in use an Intel 320 writes at "
        f"{first:.0f} MiB/s the first time, and at {again:.0f} the second",
        caption="16 KiB random writes against the share of the sold space in use. Lines are simulated; marks are what "
        "the same author published of two of the cards written for the first time, with the middle of a range.",
        lines=lines,
        marks=marks,
        x_title="space in use, % of what is sold",
        y_title="random writes, MiB/s",
        scale="log",
    )
