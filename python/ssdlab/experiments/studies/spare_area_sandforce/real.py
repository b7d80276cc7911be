"""The light and the heavy workload on a new, full and dirty drive, as shares of the speed of the new drive."""

from collections.abc import Sequence
from fractions import Fraction

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.contract import Row
from ssdlab.experiments.studies.real import Real, ratio, step, steps
from ssdlab.experiments.studies.spare_area_sandforce.drives import COMPRESS_PERCENT, FOLDER
from ssdlab.experiments.studies.spare_area_sandforce.replay import STATES, WORKLOADS

DRIVE_BYTES = 100 * 10**9
NAMES = ("light", "heavy")


def points(setting: Setting) -> Sequence[Point]:
    scale = Fraction(setting.size_bytes, DRIVE_BYTES)
    found = []
    for name in NAMES[:1] if setting.quick else NAMES:
        workload = WORKLOADS[name]
        ios = workload.reads + workload.writes
        for state in STATES:
            variables = {
                "READ_PERCENT": str(round(100 * workload.reads / ios)),
                "IOS": str(ios * (10 if setting.quick else 100)),
                "SIZES": workload.sizes,
                "RANDOM_PERCENT": str(workload.random_percent),
                "DEPTH": str(workload.depth),
                "COMPRESS_PERCENT": str(COMPRESS_PERCENT),
                "THINK_US": "0",
                "BURST": "1",
                "FIRST_REST": "0",
                "REST": "0",
            }
            made = [each for each in steps(FOLDER / f"{state}.fio", scale, variables) if each.name != "again"]
            found.append(Point(f"{name}, {state}", made))
    return found


def rows(figures: Sequence[Figures]) -> list[Row]:
    found = []
    for name in NAMES:
        if not any(each.point.startswith(f"{name},") for each in figures):
            continue
        new = _speed(step(figures, "replay", f"{name}, new"))
        for state in STATES[1:]:
            share = ratio(_speed(step(figures, "replay", f"{name}, {state}")), new)
            percent = None if share is None else 100 * share
            note = "published of two drives of different spare area, which one drive cannot repeat"
            found.append(Row(f"{name}, {state}", None, percent, "% of new", note=note))
    return found


def _speed(figures: Figures) -> float | None:
    sides = [side.mb_s for side in (figures.read, figures.write) if side and side.mb_s is not None]
    return sum(sides) if sides else None


REAL = Real(
    Protocol(
        name="spare-area-sandforce",
        title="How fast is a drive that is full, or dirty, against a new one?",
        source="the distributions of the published desktop workloads, scaled from a drive of 100 GB",
        quick_gives_up="the heavy workload, and nine tenths of the requests",
        points=points,
        needs_device=True,
        columns=("read_mb_s", "write_mb_s", "waf"),
    ),
    rows,
)
