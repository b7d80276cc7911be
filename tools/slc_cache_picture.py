"""Draws docs/pictures/slc-cache-*.svg from runs: the speed of sequential writes to a fresh drive with a static, a
dynamic and no SLC cache, over the data written. usage: slc_cache_picture.py FOLDER"""

import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import ssdlab
from ssdlab.presentation.report.charts.published import Line, Marks, published_lines
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.results import Result
from ssdlab.simulator.workloads import jobs

DRIVE = "generic-tlc-480"
SCALE = Fraction(1, 16)
WRITTEN_GIB = 60
STATIC_GIB, DYNAMIC_GIB = 12, 32
SLC_PROGRAM_US = 200.0
BLOCK_BYTES = 128 * 1024
STRETCH_BYTES = 2**29
STATIC = {"slc_cache.static_bytes": f"{STATIC_GIB}GiB"}
SETTINGS = {
    "no cache": {},
    f"static, {STATIC_GIB} GiB, written past when full": STATIC,
    f"static, {STATIC_GIB} GiB, folded when full": STATIC | {"slc_cache.when_full": "fold"},
    f"dynamic, {DYNAMIC_GIB} GiB": {"slc_cache.dynamic_bytes_max": f"{DYNAMIC_GIB}GiB"},
}
JOB = "[write]\nrw=write\nbs=128k\niodepth=64\nsize={size}G\n"


def main(folder: Path) -> None:
    """Runs all drives, in worker processes, and writes the picture in both themes."""
    drives = {
        label: ssdlab.drive(
            DRIVE, op=0.07, scale=SCALE, settings=settings | {"slc_cache.program_us": str(SLC_PROGRAM_US)}
        )
        for label, settings in SETTINGS.items()
    }
    with TemporaryDirectory() as scratch:
        job = Path(scratch) / "write.fio"
        job.write_text(JOB.format(size=WRITTEN_GIB), encoding="utf-8")
        specifications = [ssdlab.specify(jobs.load(job), drive, seed=1) for drive in drives.values()]
    results = dict(ssdlab.run_many(specifications))
    lines = [Line(label, _speeds(results[index])) for index, label in enumerate(drives)]
    nand = drives["no cache"].file.nand
    program_us = mean_us(nand.program_us)
    planes = nand.channels * nand.dies_per_channel * nand.planes_per_die
    transfer_us = nand.planes_per_die * nand.page_bytes / nand.channel_mb_s

    def closed_form(program_us: float) -> float:
        """MB/s of dies that alternate between transfer and program, limited by the channels."""
        dies_mb_s = planes * nand.page_bytes / (transfer_us + program_us)
        return min(dies_mb_s, nand.channels * float(nand.channel_mb_s))

    figure = published_lines(
        name="slc-cache",
        title="An SLC cache is fast until it is full; folding as one writes is slower than no cache",
        caption=f"Sequential writes of 128 KiB, 64 at a time, to a fresh {DRIVE} (simulated at 1/16), by what has been "
        f"written. In SLC mode a page is programmed in {SLC_PROGRAM_US:.0f} us instead of {program_us:.0f}.",
        lines=lines,
        marks=[Marks("closed form", [(2, closed_form(SLC_PROGRAM_US)), (50, closed_form(program_us))])],
        x_title="written, GiB",
        y_title="sequential writes, MB/s",
        number_format=",.0f",
    )
    for name, content in figure.files():
        if isinstance(content, str):
            (folder / name).write_text(content, encoding="utf-8")


def _speeds(result: Result) -> list[tuple[float, float]]:
    """GiB of the full drive written up to the middle of each half GiB, and the speed there in MB/s."""
    frame = result.timing_series
    assert frame is not None, "the runs have a clock"
    points, written, gathered, elapsed = [], 0.0, 0.0, 0.0
    for iops, seconds in frame.select("write_iops", "interval_seconds").iter_rows():
        gathered += (iops or 0.0) * seconds * BLOCK_BYTES
        elapsed += seconds
        if gathered >= STRETCH_BYTES * SCALE:
            points.append(((written + gathered / 2) / float(SCALE) / 2**30, gathered / elapsed / 1e6))
            written, gathered, elapsed = written + gathered, 0.0, 0.0
    return points


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: {Path(sys.argv[0]).name} FOLDER")
    main(Path(sys.argv[1]))
