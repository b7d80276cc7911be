"""The ten drives: their names in the source, their tolerances, and which of their values were fitted.

`tools/fit_fragmentation.py` computes the fitted values from the definitions in this file. Those of the drive are in the
catalogue with the points they were fitted to, those of the reader and its host in `as_read.toml`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ssdlab.experiments.advice.fit import Parameter
from ssdlab.experiments.studies.contract import Fitted, published

FOLDER = Path(__file__).parent
AS_READ = "as_read.toml"
OF_THE_READER = "host_link."
"""What begins so is a value of the reader and its host in this study, not of the drive."""
STEPS = (0, 50, 200, 800, 4000)
"""MiB rewritten in each pass; 0 before the first reading."""
CELLS = ("fresh", "after_50", "after_200", "after_800", "after_4000")

KIB = 1024
# The read buffer is assumed to be 768 KiB for all controllers unless a drive sets it, fetched in segments of 256 KiB.
SEGMENT_BYTES = 256 * KIB
WINDOW_BYTES = 768 * KIB
EXTENTS = {"map_cache.bytes": 1024 * KIB, "map_cache.entries_per_map_page": 64, "map_cache.form": "extent"}


@dataclass(frozen=True)
class Fragmented:
    """A drive of the study. `free` are the parameters fitted to the published times of `cells`."""

    drive: str
    published_as: str
    free: tuple[Parameter, ...]
    before: Mapping[str, float]
    """The values of the fitted keys before the fit: the rated ones, or those usual for the flash."""
    cells: tuple[str, ...] = CELLS
    window_bytes: int = WINDOW_BYTES
    has_extents: bool = False
    """Whether segments with a rewritten unit need a map page."""
    note: str = ""
    unexplained: tuple[str, ...] = ()
    """Cells with a published time whose cause is missing in the model; `note` describes it."""
    choices: tuple[str, ...] = ()
    """Choices between a few values that the fit also made."""

    @property
    def as_read(self) -> Mapping[str, str]:
        """Settings of the drive in this study: what its reader gets of the link, which is less than its rate."""
        return {key: repr(value) for key, value in _as_read()[self.drive].items()}

    @property
    def fitted(self) -> Fitted:
        """The parameters fitted, including choices, and the number of published times."""
        numbers = tuple(parameter.name for parameter in self.free)
        return Fitted(numbers + self.choices, len(self.cells))

    @property
    def tolerance(self) -> float:
        """The allowed deviation of each time, as a share."""
        return float(self._published["tolerance"])

    @property
    def is_flat(self) -> bool:
        """Whether one link rate alone brings all published times within the tolerance, so that no model can miss."""
        mean = sum(self.seconds) / len(self.seconds)
        is_one_rate = [parameter.name for parameter in self.free] == ["host_link.mb_s"]
        return is_one_rate and all(abs(seconds / mean - 1) <= self.tolerance for seconds in self.seconds)

    @property
    def seconds(self) -> list[float]:
        """The published seconds, one per cell."""
        return [float(self._published[cell]) for cell in CELLS]

    @property
    def _published(self) -> dict[str, str]:
        (row,) = (row for row in published(FOLDER / "figures.csv") if row["drive"] == self.published_as)
        return row

    def unfitted(self) -> dict[str, str]:
        """Settings that reset everything fitted: the rated link, the usual flash, a map in memory."""
        settings = {**self.as_read, **{key: repr(value) for key, value in self.before.items()}}
        settings["read_ahead.window_bytes"] = str(WINDOW_BYTES)
        return settings | ({"map_cache.bytes": "0"} if self.has_extents else {})


@cache
def _as_read() -> dict[str, dict[str, float]]:
    return tomllib.loads((FOLDER / AS_READ).read_text(encoding="utf-8"))


def _link(low: float, high: float) -> Parameter:
    return Parameter("host_link.mb_s", low, high)


_FORM, _WINDOW = "map_cache.form", "read_ahead.window_bytes"
_READ = Parameter("nand.read_us", 15.0, 150.0, 50.0)
_COMMAND = Parameter("host_link.command_us", 1.0, 300.0, 40.0)
_MISS = Parameter("map_cache.miss_us", 1.0, 300.0, 45.0)

DRIVES = (
    Fragmented(
        "intel-s3510-480gb",
        "Intel S3510 480GB (SSDSC2BB480G6)",
        (_link(300, 560),),
        {"host_link.mb_s": 500.0},
    ),
    Fragmented(
        "toshiba-xg5-512gb",
        "Toshiba XG5 512GB (KXG50ZNV512G)",
        (_READ, _link(1500, 3500), _MISS),
        {"nand.read_us": 75.0, "host_link.mb_s": 3000.0, "map_cache.miss_us": 0.0},
        has_extents=True,
        choices=(_FORM,),
    ),
    Fragmented(
        "samsung-pm963-960gb",
        "Samsung PM963 960GB (MZQLW960HMJP)",
        (_READ, _link(1000, 2500), _MISS),
        {"nand.read_us": 60.0, "host_link.mb_s": 2000.0, "map_cache.miss_us": 0.0},
        window_bytes=512 * KIB,
        has_extents=True,
        choices=(_FORM, _WINDOW),
    ),
    Fragmented(
        "samsung-pm983-960gb",
        "Samsung PM983 960GB (MZQLB960HAJR)",
        (_link(800, 3500),),
        {"host_link.mb_s": 3000.0},
        cells=("fresh", "after_50"),
        window_bytes=1024 * KIB,
        choices=(_WINDOW,),
        unexplained=("after_50",),
        note="Not explained: why 50 MiB cost more than all that came after. The model's times do not fall when more is "
        "rewritten.",
    ),
    Fragmented(
        "samsung-pm981-1tb",
        "Samsung PM981 1TB (MZVLB1T0HALR)",
        (_READ, _COMMAND),
        {"nand.read_us": 60.0, "host_link.command_us": 0.0},
    ),
    Fragmented(
        "samsung-pm1725b-1600gb",
        "Samsung PM1725b 1.6TB (MZPLL1T6HAJQ)",
        (_READ, _link(1000, 6500)),
        {"nand.read_us": 60.0, "host_link.mb_s": 6200.0},
    ),
    Fragmented(
        "micron-5200-eco-960gb",
        "Micron 5200 ECO",
        (_link(300, 560),),
        {"host_link.mb_s": 540.0},
        unexplained=("after_200", "after_800", "after_4000"),
        note="Not explained: the rise to 12.2 s and the fall to 10.7 s. Nothing in this drive's model is slower after "
        "800 MiB than after 4000.",
    ),
    Fragmented(
        "samsung-pm883-1920gb",
        "Samsung PM883 1.92TB (MZ7LH1T9HMLT)",
        (_link(300, 600),),
        {"host_link.mb_s": 550.0},
    ),
    Fragmented("intel-p3520-2tb", "Intel P3520", (_link(500, 1800),), {"host_link.mb_s": 1700.0}),
    Fragmented("intel-p4500-2tb", "Intel P4500", (_link(500, 3500),), {"host_link.mb_s": 3200.0}),
)
