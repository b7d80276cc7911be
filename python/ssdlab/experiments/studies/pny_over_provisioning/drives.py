"""The two drives of the white paper, and code that the parts of the study share."""

from pathlib import Path

from ssdlab.experiments.studies.contract import published

FOLDER = Path(__file__).parent
DRIVES = {"PNY 120 GB, 7 % OP": "pny-120gb", "competitor 128 GB, 0 % OP": "competitor-128gb"}
PNY, COMPETITOR = DRIVES
BYTES_PER_GB = 10**9
RESERVE_GB = 3.0
"""Flash that the drive files keep from data, `ftl.reserved_bytes`: fitted, with the share in `endurance`."""


def figure(what: str) -> tuple[float, float | None]:
    """The published figure of that name as (low, high): equal for a single number; high is None for "over"."""
    (row,) = (row for row in published(FOLDER / "figures.csv") if row["what"] == what)
    return float(row["low"]), float(row["high"]) if row["high"] else None


def _tolerance() -> float:
    """The tolerance of all figures, as a share."""
    (tolerance,) = {float(row["tolerance"]) for row in published(FOLDER / "figures.csv")}
    return tolerance


TOLERANCE = _tolerance()


def written_gb(drive: str) -> tuple[float, float]:
    """Published gigabytes written (to NAND, by the host) of a drive of `DRIVES`."""
    name = drive.split(",")[0].replace(" GB", "GB")
    return figure(f"NAND writes {name}")[0], figure(f"host writes {name}")[0]


def reserving(gb: float) -> dict[str, str]:
    """The setting of a drive that keeps so much flash from data."""
    return {"ftl.reserved_bytes": str(round(gb * BYTES_PER_GB))}
