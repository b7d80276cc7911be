"""The five drives of the article, and code that the parts of the study share."""

from dataclasses import dataclass
from pathlib import Path

from ssdlab.experiments.studies.contract import Printed, Range, published

FOLDER = Path(__file__).parent
SCALE = "1/32"

DRIVES = {
    "Agility 2, 28 %": "agility2-100gb",
    "Agility 2, 13 %": "agility2-120gb",
    "Intel X25-M G2": "x25m-g2-160gb",
    "Nova V128 (Barefoot)": "nova-v128",
    "RealSSD C300": "c300-128gb",
}
LARGE_SPARE, SMALL_SPARE, INTEL, BAREFOOT, C300 = DRIVES
SANDFORCE = (LARGE_SPARE, SMALL_SPARE)

# The percentage by which a SandForce drive can compress a desktop's data.
COMPRESS_PERCENT = 46


@dataclass(frozen=True)
class Figure:
    """A published figure of the article, how it is printed, and its tolerance in points."""

    value: float | Range
    printed: Printed
    tolerance_points: float


def figure(what: str) -> Figure:
    """The published figure of that name."""
    (row,) = (row for row in published(FOLDER / "figures.csv") if row["what"] == what)
    low, high = float(row["low"]), float(row["high"]) if row["high"] else None
    printed: Printed = "text" if row["printed"] == "text" else "ours"
    return Figure(low if low == high else Range(low, high), printed, float(row["tolerance_points"]))
