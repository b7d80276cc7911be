"""The five drives of the article, and what the parts of the study share."""

from pathlib import Path

from ssdlab.studies.contract import Range, published

FOLDER = Path(__file__).parent
SCALE = "1/32"

DRIVES = {
    "Agility 2, 28 %": "agility2-100gb",
    "Agility 2, 13 %": "agility2-120gb",
    "Intel X25-M G2": "x25m-g2-160gb",
    "Nova V128 (Barefoot)": "nova-v128",
    "RealSSD C300": "c300-128gb",
}
LARGE_SPARE, SMALL_SPARE, INTEL, BAREFOOT, _C300 = DRIVES
SANDFORCE = (LARGE_SPARE, SMALL_SPARE)

# Data of a desktop, as far as a SandForce drive can reduce it.
COMPRESS_PERCENT = 46


def figure(what: str) -> Range:
    """The published figure of that name."""
    (row,) = (row for row in published(FOLDER / "figures.csv") if row["what"] == what)
    return Range(float(row["low"]), float(row["high"]) if row["high"] else None)
