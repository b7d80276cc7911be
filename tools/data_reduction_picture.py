"""Draws docs/pictures/data-reduction-*.svg from runs: write amplification over the compressibility of the data, with
the closed form. usage: data_reduction_picture.py FOLDER"""

import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import ssdlab
from ssdlab.presentation.report.charts.published import Line, Marks, published_lines
from ssdlab.simulator.drives import ResolvedDrive
from ssdlab.simulator.workloads import jobs
from ssdlab.theory import closed_forms

DRIVE = "textbook"
SCALE = Fraction(1, 4)
PERCENTS = (0, 12, 25, 37, 50, 62, 75, 87)
OVER_PROVISIONING = (0.07, 0.28)
SETTINGS = {"data_reduction.compression": "true", "ftl.reserve_erase_units": "2"}
RESERVE_ERASE_UNITS = 2.5
UNIT_PLACES = 8
JOB = """[fill]
rw=write
bs=128k
buffer_compress_percentage={percent}

[random]
stonewall
rw=randwrite
bs=4k
norandommap
loops=6
buffer_compress_percentage={percent}

[steady]
stonewall
rw=randwrite
bs=4k
norandommap
loops=2
buffer_compress_percentage={percent}
"""


def main(folder: Path) -> None:
    """Runs both spare areas with all compressibilities and writes the picture in both themes."""
    drives = [ssdlab.drive(DRIVE, op=op, scale=SCALE, settings=SETTINGS) for op in OVER_PROVISIONING]
    with TemporaryDirectory() as scratch:
        specifications = []
        for percent in PERCENTS:
            job = Path(scratch) / f"{percent}.fio"
            job.write_text(JOB.format(percent=percent), encoding="utf-8")
            specifications += [ssdlab.specify(jobs.load(job), drive, seed=1, timed=False) for drive in drives]
    wafs = {index: result.jobs[-1].ledger.waf or 0.0 for index, result in ssdlab.run_many(specifications)}
    lines, marks = [], []
    for place, (op, drive) in enumerate(zip(OVER_PROVISIONING, drives, strict=True)):
        points = [(float(percent), wafs[len(drives) * index + place]) for index, percent in enumerate(PERCENTS)]
        lines.append(Line(f"OP {op:.0%}", points))
        marks.append(Marks(f"OP {op:.0%}", [(float(percent), _closed_form(drive, percent)) for percent in PERCENTS]))
    figure = published_lines(
        name="data-reduction",
        title="Data that compresses is written less, and moved far less: what it leaves free is spare area",
        caption=f"4 KiB random writes in the steady state on the drive {DRIVE}, packed in sectors of 512 B; the marks"
        " are the closed form for greedy garbage collection with the spare area that compression makes.",
        lines=lines,
        marks=marks,
        x_title="compressed away, %",
        y_title="write amplification",
    )
    for name, content in figure.files():
        if isinstance(content, str):
            (folder / name).write_text(content, encoding="utf-8")


def _closed_form(drive: ResolvedDrive, percent: int) -> float:
    """The stored share multiplied by the write amplification at alpha = T / (U x stored share)."""
    places = -(-UNIT_PLACES * (100 - percent) // 100)
    capacity = drive.capacity
    of_erase_unit = capacity.units_per_erase_unit * UNIT_PLACES // places
    usable = (capacity.erase_units - RESERVE_ERASE_UNITS) * of_erase_unit
    moved = closed_forms.greedy(usable / capacity.user_units - 1, of_erase_unit)
    return moved * capacity.units_per_erase_unit / of_erase_unit


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: {Path(sys.argv[0]).name} FOLDER")
    main(Path(sys.argv[1]))
