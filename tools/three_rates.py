#!/usr/bin/env -S .venv/bin/python
"""Fits drives to their latencies at three rates and predicts their other rates, with `ssdlab fit`.

    tools/three_rates.py skhynix-pe8110-960gb --output out/three-rates

Each drive begins with its geometry, its data sheet, and the same generic values as the others: nothing that was fitted
to its published latencies or throughputs remains. The rates are chosen by one rule from the data sheet: 20,000 writes a
second, the rate nearest to 0.7 of its random writes, and the lowest rate at least a quarter above them. What is free is
the same for all drives; where the 99th percentile of writes at the middle rate, which the drive sustains, is above a
millisecond, it is also how garbage collection holds writes back. Writes DIR/DRIVE with points.csv, job files,
start.toml, the command, what it printed and its result, and prints a table. Takes 8 to 30 minutes per drive, on one
processor.
"""

import argparse
import csv
import json
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ssdlab.experiments.advice import fit_drive
from ssdlab.experiments.studies.contract import published
from ssdlab.experiments.studies.real_drives.loads import FOLDER
from ssdlab.simulator.drives import DriveFile, load
from ssdlab.simulator.drives import settings as drive_settings
from ssdlab.simulator.drives.writer import to_toml

FIGURES = published(FOLDER / "figures.csv")
SCALES = {
    "skhynix-pe8110-960gb": 128,
    "solidigm-p5520-1920gb": 96,
    "micron-7450-max-800gb": 24,
    "kioxia-cm7-r-3840gb": 56,
}
"""The drives with a ladder of rates; the scale leaves erase units that hold the largest batch of `STALLING`."""
FITTED_RANKS = ("p50", "p99", "p99_9")
PREDICTED_RANKS = ("p50", "p99")
SAMPLES = 128
RAMP_SECONDS = 1
RUNTIME_SECONDS, COSTLY_RUNTIME_SECONDS = 4.0, 2.2
"""The 99.9th percentile needs 10,000 reads, which take 2 s. Drives above the rate below are run hardly longer."""
COSTLY_WRITES_PER_SECOND = 200_000
LOW, MIDDLE_SHARE, HIGH_SHARE = 20_000, 0.7, 1.25

GENERIC = {
    "nand.read_us": "50",
    "nand.copy_read_us": "20",
    "nand.copy_pages_together": "12",
    "nand.erase_us": "5000",
    "nand.erase_by_plane": "false",
    "nand.suspend": "true",
    "nand.program_suspend_us": "50",
    "nand.erase_suspend_us": "50",
    "nand.suspend_spread_us": "50",
    "nand.suspend_repeats_us": "0",
    "nand.background_us": "0",
    "nand.background_per_second": "0",
    "ftl.victim": "greedy",
    "ftl.placement": "host-gc-split",
    "ftl.wear_leveling": "none",
    "ftl.gc_throttling": '{ name = "in-batches", units = 48 }',
    "write_buffer.close_bytes": "0",
    "write_buffer.closed_per_second": "0",
    "write_buffer.resume_bytes": "0",
    "write_buffer.bytes": "8MiB",
    "write_buffer.free_at_program": "false",
    "write_buffer.programs_first": "false",
    "write_buffer.paced": "false",
    "write_buffer.gc_admission_share": "0",
    "background.idle_after_ms": "100",
    "background.erased_pool_bytes": "0",
    "controller.command_us": "5",
    "controller.command_slots": "0",
    "controller.slots_in_turn": "false",
    "controller.program_us": "0",
    "controller.delay_us": "0",
    "controller.delayed_share": "0",
}
"""The values that replace all that was fitted: usual times of TLC flash of about 2021, mechanisms off."""
FREE = (
    "nand.read_us=30..120",
    "nand.copy_read_us=4..120",
    "nand.program_suspend_us=5..200",
    "nand.suspend_spread_us=5..600",
    "controller.command_us=2..20",
    "controller.program_us=0.5..80",
    "write_buffer.bytes=4MiB..48MiB",
    "write_buffer.paced=false,true",
)
NOT_STALLING = ("controller.command_slots=0,32,256", "write_buffer.programs_first=false,true")
STALLING = (
    "write_buffer.gc_admission_share=0.5..1",
    "write_buffer.closed_per_second=5000..500000",
    "ftl.gc_throttling.units=48,4800,19200",
    "write_buffer.free_at_program=false,true",
)
STALLING_SETTINGS = {"write_buffer.resume_bytes": "2MiB", "write_buffer.closed_per_second": "50000"}
_DIE_BYTES = 64 << 30
_MIB = 1 << 20
_STALL_US = 1000.0


@dataclass(frozen=True)
class Ladder:
    """The published latencies of a drive, by rate and figure, and its data sheet."""

    drive: str
    us: Mapping[int, Mapping[str, float]]
    sequential_bytes_per_second: float
    random_writes_per_second: float

    @property
    def fitted_rates(self) -> tuple[int, int, int]:
        """The three rates that the drive is fitted to."""
        rated = self.random_writes_per_second
        middle = min(self.us, key=lambda rate: abs(rate - MIDDLE_SHARE * rated))
        high = min(rate for rate in self.us if rate >= HIGH_SHARE * rated)
        return LOW, middle, high

    @property
    def stalls(self) -> bool:
        """Whether writes stall at the middle rate, which the drive sustains."""
        middle = self.us[self.fitted_rates[1]]
        return middle["write_p99_us"] > _STALL_US


def ladder(drive: str) -> Ladder:
    """The ladder of a drive, from the study's figures."""
    of_drive = [figure for figure in FIGURES if figure["drive"] == drive]
    us: dict[int, dict[str, float]] = {}
    sheet: dict[str, float] = {}
    for figure in of_drive:
        kind, _, rate = figure["workload"].partition(" ")
        if kind == "latency":
            us.setdefault(int(rate), {})[figure["figure"]] = float(figure["value"])
        elif figure["figure"] == "datasheet_mib_s":
            sheet[kind] = float(figure["value"]) * _MIB
    return Ladder(drive, us, sheet["sequential"], sheet["uniform"] / 4096)


def start(of: Ladder) -> DriveFile:
    """The drive before the fit. The time of a program follows from the sequential writes of the data sheet."""
    drive = load(of.drive)
    nand = drive.nand
    group_bytes = nand.planes_per_die * nand.pages_per_program * nand.page_bytes
    dies = nand.channels * nand.dies_per_channel
    program_us = dies * group_bytes / of.sequential_bytes_per_second * 1e6 - group_bytes / nand.channel_mb_s
    own = {"nand.program_us": f"{program_us:.0f}", "nand.blocks_per_plane": f"{_blocks(drive)}"}
    return drive_settings.apply(drive, GENERIC | (STALLING_SETTINGS if of.stalls else {}) | own)


def _blocks(drive: DriveFile) -> int:
    nand = drive.nand
    return -(-_DIE_BYTES // (nand.planes_per_die * nand.pages_per_block * nand.page_bytes))


def free(of: Ladder) -> list[str]:
    """What is free: the spare area within what dies of this size have, and the rest as for all drives."""
    blocks = _blocks(load(of.drive))
    area = f"nand.blocks_per_plane={round(0.96 * blocks)}..{round(1.15 * blocks)}"
    return [area, *FREE, *(STALLING if of.stalls else NOT_STALLING)]


def write_points(of: Ladder, folder: Path, scale: int) -> None:
    """Writes points.csv, with the job file of each rate."""
    is_costly = of.random_writes_per_second > COSTLY_WRITES_PER_SECOND
    seconds = COSTLY_RUNTIME_SECONDS if is_costly else RUNTIME_SECONDS
    with (folder / "points.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("workload", "space_in_use", "rate", "job", "metric", "value", "use"))
        for rate, figures in sorted(of.us.items()):
            name = f"latency-{rate}.fio"
            (folder / name).write_text(job(rate, scale, seconds), encoding="utf-8")
            is_fitted = rate in of.fitted_rates
            for side in ("read", "write"):
                for rank in FITTED_RANKS if is_fitted else PREDICTED_RANKS:
                    value = f"{figures[f'{side}_{rank}_us']:g}"
                    use = "fit" if is_fitted else "predict"
                    writer.writerow((name, "", rate, f"probe-{side}s", f"{side}_us_{rank}", value, use))


def job(rate: int, scale: int, seconds: float) -> str:
    """The study's job file at this rate, without the fill: the drive begins in its steady state."""
    text = (FOLDER / "latency.fio").read_text(encoding="utf-8")
    head, _, load_jobs = text.partition("[fill]")
    load_jobs = "[load]" + load_jobs.partition("[load]")[2].replace("stonewall\n", "", 1)
    values = {
        "SPACE": "100%",
        "WRITES_PER_THREAD": str(round(0.99 * (rate - 5000) / 6)),
        "READS": str(round(0.01 * (rate - 5000))),
        "RAMP": f"{RAMP_SECONDS * scale}s",
        "RUNTIME": f"{round(1000 * seconds * scale)}ms",
    }
    return re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], head + load_jobs)


def command(of: Ladder, folder: Path, scale: int) -> list[str]:
    """The command that fits and predicts."""
    options = [f"--free={each}" for each in free(of)]
    runs = f"--samples {SAMPLES} --until job --precondition steady --scale 1/{scale} --workers 1".split()
    drive = ["--drive", str(folder / "start.toml"), *options]
    return ["ssdlab", "fit", str(folder / "points.csv"), *drive, *runs, "--output", str(folder / "fit")]


def row(folder: Path) -> dict[str, float | int]:
    """The errors of the predictions of one drive."""
    predicted = json.loads((folder / "fit" / "result.json").read_text(encoding="utf-8"))["held_out"]
    found: dict[str, float | int] = {}
    for metric in (f"{side}_us_{rank}" for side in ("read", "write") for rank in PREDICTED_RANKS):
        of_metric = [each for each in predicted if each["metric"] == metric]
        found |= {f"{metric} {name}": value for name, value in _errors(of_metric).items()}
    return found | {f"all {name}": value for name, value in _errors(predicted).items()}


def of_the_catalogue(of: Ladder, folder: Path, scale: int) -> list[float]:
    """The deviations of the catalogue's drive, which was fitted to the whole ladder, at the predicted points."""
    points = [point for point in fit_drive.read_points(folder / "points.csv") if point.is_predicted]
    runs = fit_drive.Runs(scale=Fraction(1, scale), workers=1, steady=False, precondition="steady")
    values = fit_drive.simulate(load(of.drive), points, runs)
    return [abs(value / point.value - 1) for value, point in zip(values, points, strict=True)]


def _errors(predicted: Sequence[Mapping[str, object]]) -> dict[str, float | int]:
    off = [abs(float(str(each["deviation"]))) for each in predicted]
    decided = [error for error, each in zip(off, predicted, strict=True) if each["decided"]]
    inside = sum(_is_inside(each) for each in predicted)
    return {
        "mean": statistics.mean(off),
        "median": statistics.median(off),
        "decided": len(decided),
        "mean of decided": statistics.mean(decided) if decided else float("nan"),
        "inside": inside,
        "count": len(predicted),
    }


def _is_inside(each: Mapping[str, object]) -> bool:
    interval = each["interval"]
    assert isinstance(interval, dict)
    return bool(interval["min"] <= each["measured"] <= interval["max"])


def main() -> None:
    """Fits each drive and prints a line for each kind of figure."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("drives", nargs="*", metavar="DRIVE", help=f"of {', '.join(SCALES)}; all by default")
    parser.add_argument(
        "--output", type=Path, default=Path("out/three-rates"), metavar="DIR", help="default: %(default)s"
    )
    options = parser.parse_args()
    for name in options.drives:
        if name not in SCALES:
            parser.error(f"{name}: no drive with a published ladder of rates; these are {', '.join(SCALES)}")
    for name in options.drives or SCALES:
        folder, of, scale = options.output / name, ladder(name), SCALES[name]
        folder.mkdir(parents=True, exist_ok=True)
        write_points(of, folder, scale)
        (folder / "start.toml").write_text(to_toml(start(of)), encoding="utf-8")
        asked = command(of, folder, scale)
        (folder / "command").write_text(shlex.join(asked) + "\n", encoding="utf-8")
        with (folder / "printed").open("w", encoding="utf-8") as printed:
            subprocess.run([str(Path(sys.executable).with_name("ssdlab")), *asked[1:]], check=True, stdout=printed)
        found = row(folder)
        sys.stdout.write(f"{name}, fitted at {', '.join(map(str, of.fitted_rates))} writes a second\n")
        for key in ("read_us_p50", "read_us_p99", "write_us_p50", "write_us_p99", "all"):
            sys.stdout.write(
                f"  {key:13} mean error {found[f'{key} mean']:8.1%}, median {found[f'{key} median']:7.1%}; "
                f"decided {found[f'{key} decided']} of {found[f'{key} count']}, "
                f"mean error of these {found[f'{key} mean of decided']:7.1%}; inside {found[f'{key} inside']}\n"
            )
        off = of_the_catalogue(of, folder, scale)
        sys.stdout.write(
            f"  catalogue     mean error {statistics.mean(off):8.1%}, median {statistics.median(off):7.1%}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
