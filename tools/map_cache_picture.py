"""Draws docs/pictures/map-cache-*.svg from runs: the speed of random reads over the size of the range read, for a drive
whose map cache holds a sixteenth of its map. usage: map_cache_picture.py FOLDER"""

import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import ssdlab
from ssdlab.presentation.report.charts.published import Line, Marks, published_lines
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.workloads import jobs

DRIVE = "generic-nvme-960"
SCALE = Fraction(1, 64)
ROOM = Fraction(1, 16)
# Percent of the drive that the reads cover.
SHARES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 45, 65, 100)
# For the full drive; the scale divides them.
WARM_UP, READS = 20_000 * SCALE.denominator, 10_000 * SCALE.denominator
JOB = """[fill]
rw=write
bs=1m
iodepth=4

[warm-up]
stonewall
rw=randread
bs=4k
norandommap
size={share}%
number_ios={warm_up}
randseed=2

[reads]
stonewall
rw=randread
bs=4k
norandommap
size={share}%
number_ios={reads}
"""
ENTRIES, ENTRY_BYTES, UNIT_BYTES = 1024, 4, 4096


def main(folder: Path) -> None:
    """Runs both drives over all shares, in worker processes, and writes the picture in both themes."""
    whole = ssdlab.drive(DRIVE, scale=SCALE)
    map_bytes = -(-whole.capacity.user_units // ENTRIES) * ENTRIES * ENTRY_BYTES
    # Settings apply to the full drive; the scale reduces the cache together with the map.
    cache = {"map_cache.bytes": str(int(map_bytes * ROOM / SCALE))}
    drives = {
        "whole map in memory": whole,
        "room for 1/16 of the map": ssdlab.drive(DRIVE, scale=SCALE, settings=cache),
    }
    with TemporaryDirectory() as scratch:
        specifications = []
        for share in SHARES:
            job = Path(scratch) / f"{share}.fio"
            job.write_text(JOB.format(share=share, warm_up=WARM_UP, reads=READS), encoding="utf-8")
            specifications += [ssdlab.specify(jobs.load(job), drive, seed=1) for drive in drives.values()]
    iops = {index: result.jobs[-1].read.iops or 0.0 for index, result in ssdlab.run_many(specifications)}
    full_gib = whole.capacity.user_bytes / float(SCALE) / 2**30
    at_gib = [share / 100 * full_gib for share in SHARES]
    lines = [
        Line(label, [(gib, iops[len(drives) * index + place]) for index, gib in enumerate(at_gib)])
        for place, label in enumerate(drives)
    ]
    nand = whole.file.nand
    read_us = mean_us(nand.read_us) + UNIT_BYTES / nand.channel_mb_s
    in_memory_gib = float(ROOM) * full_gib
    expected = [(gib, 1e6 / (read_us * (2 - min(1.0, in_memory_gib / gib)))) for gib in at_gib]
    figure = published_lines(
        name="map-cache",
        title="Random reads lose up to half their speed where the map no longer fits",
        caption=f"4 KiB random reads, one at a time, on {DRIVE} ({full_gib:.0f} GiB, simulated at 1/64) with all of its"
        f" map in memory and with room for the map of {in_memory_gib:.0f} GiB.",
        lines=lines,
        marks=[Marks("closed form: a miss costs one page read more", expected)],
        x_title="part of the drive that is read, GiB",
        y_title="4 KiB random reads a second",
        number_format=",.0f",
    )
    for name, content in figure.files():
        if isinstance(content, str):
            (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(f"usage: {Path(sys.argv[0]).name} FOLDER")
    main(Path(sys.argv[1]))
