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

FIGURES = published(FOLDER / "other-cards.csv")
SCALE = "1/64"
BYTES_PER_GIB = 2**30
ERASED, USED = "free space was never written", "full of older data before"
JOBS = {ERASED: "random-writes.fio", USED: "random-writes-on-used.fio"}
SHARES = (0.1, 1 / 3, 1 / 2, 2 / 3, 0.9)
"""Shares of what is sold, for cards of which nothing was published."""


@dataclass(frozen=True)
class Card:
    """A card with the sizes of files that are written on it."""

    name: str
    drive: str | Path
    sold_gb: int
    state: str = ERASED
    fitted: Fitted | None = None
    """Parameters of its drive file that were fitted to its figures."""
    inputs: tuple[int, ...] = ()
    """The spaces whose figure the drive file was given."""
    fitted_to: tuple[int, ...] = ()
    """The spaces whose figure they were fitted to."""

    @property
    def figures(self) -> list[dict[str, str]]:
        """What was published of it."""
        return [row for row in FIGURES if isinstance(self.drive, Path) and row["card"] == self.drive.stem]

    @property
    def spaces_gib(self) -> tuple[float, ...]:
        """The sizes of the files."""
        return tuple(float(row["space_gib"]) for row in self.figures) or tuple(
            share * self.sold_gib for share in SHARES
        )

    @property
    def sold_gib(self) -> float:
        return self.sold_gb * 10**9 / BYTES_PER_GIB

    @property
    def label(self) -> str:
        """Its name, with the state of its free space if that is not the usual one."""
        return self.name if self.state == ERASED else f"{self.name}, {self.state}"


DUO = Card("Fusion-io 320 GB SLC, two cards", DRIVE, 320)
MLC = Card(
    "Fusion-io 320 GB MLC, one card",
    FOLDER / "iodrive-320gb-mlc.toml",
    320,
    fitted=Fitted(("flash that the card hides",), 1),
    inputs=(10,),
    fitted_to=(290,),
)
INTEL_320 = Card("Intel 320, 160 GB", FOLDER / "intel-320-160gb.toml", 160)
INTEL_320_USED = Card("Intel 320, 160 GB", FOLDER / "intel-320-160gb.toml", 160, USED)
X25M = Card("Intel X25-M G2, 160 GB", "x25m-g2-160gb", 160)
UNPUBLISHED = (
    X25M,
    Card("Intel X25-E, 64 GB", FOLDER / "x25-e-64gb.toml", 64),
    Card("SandForce (Agility 2), 100 GB", "agility2-100gb", 100),
)
CARDS = (MLC, INTEL_320, INTEL_320_USED, *UNPUBLISHED)
NOTES = {
    MLC.label: "The program time is set to the highest reading, and the flash that is not sold is fitted to the full "
    "card; a copy costs what it costs on the SLC cards. The half full card is predicted.",
    X25M.label: "Sold with 100 MB/s of sequential writes (AnandTech 3965), which its drive file does not keep: its "
    "fall counts, not its height.",
    INTEL_320.label: "Nothing is fitted to these figures. The source says that it formatted the file system, and not "
    "whether the free space was trimmed.",
    INTEL_320_USED.label: "Nothing is fitted to these figures either; the spare area is then what the drive hides.",
}


def run(context: Context, duo: Sequence[tuple[float, float]]) -> StudyResult:
    """Simulates all cards; `duo` are GiB in use and MiB/s of the study's own two cards."""
    scale = context.scale(SCALE)
    runs = {
        (card.label, space): specify(
            context.job(FOLDER / JOBS[card.state], SPACE=str(round(space * BYTES_PER_GIB) // 16384 * 16384)),
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


def _label(card: str, space: float) -> str:
    return f"{card}, {space:.4g} GiB in use"


def _speed(result: "Result") -> float:
    return METRICS["write_mib_s"](result, "")


def _finding(speeds: Mapping[tuple[str, float], float]) -> str:
    between = [
        speeds[INTEL_320_USED.label, space] <= float(figure["low"]) <= speeds[INTEL_320.label, space]
        for space, figure in zip(INTEL_320.spaces_gib, INTEL_320.figures, strict=True)
    ]
    half = MLC.spaces_gib[1]
    return (
        f"Of an Intel 320 {sum(between)} of {len(between)} published speeds lie between those of a drive whose free "
        "space was never written and of one that was full before; a half full card of MLC is predicted to write at "
        f"{speeds[MLC.label, half]:.0f} MiB/s."
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
        space = int(figure["space_gib"])
        low, high = float(figure["low"]), float(figure["high"])
        printed: Printed = "ours" if figure["printed"] == "ours" else "text"
        rows.append(
            Row(
                f"{space} GiB in use",
                low if low == high else Range(low, high),
                speeds[card.label, space],
                "MiB/s",
                tolerance=float(figure["tolerance"]),
                printed=printed,
                is_input=space in card.inputs,
                fitted=card.fitted,
                is_left_out=space not in card.fitted_to,
                group=f"{card.name}, {card.state}",
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
        if card.figures and card.state == ERASED:
            middles = [(float(row["low"]) + float(row["high"])) / 2 for row in card.figures]
            at = [100 * space / card.sold_gib for space in card.spaces_gib]
            marks.append(Marks(card.label, list(zip(at, middles, strict=True))))
    used = {card.state: speeds[card.label, 140] for card in (INTEL_320, INTEL_320_USED)}
    return published_lines(
        name="other-cards",
        title="Every card slows down as it fills; the fullest Intel 320 writes at "
        f"{used[ERASED]:.0f} MiB/s if its free space was never written, at {used[USED]:.0f} if it was full before",
        caption="16 KiB random writes against the share of the sold space in use. Lines are simulated; marks are what "
        "the same author published of two of the cards, with the middle of a range.",
        lines=lines,
        marks=marks,
        x_title="space in use, % of what is sold",
        y_title="random writes, MiB/s",
        scale="log",
    )
