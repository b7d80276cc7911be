#!/usr/bin/env python3
"""The blind test of `ssdlab identify`: compares the values inferred for random simulated drives with the true values.

    tools/blind.py 20 --seed 1 --output out/blind.json

Drives vary in dies, channels, planes, pages, times, links, buffers, caches, spare area and policies. Host noise is
added to all times. Prints a row for each value: the number of drives for which it was determined, its error, and the
share of the 90 % intervals that contain the true value.
"""

import argparse
import json
import math
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError, RunFailed
from ssdlab.hardware.identification import choices
from ssdlab.hardware.identification.bench import Limits
from ssdlab.hardware.identification.box import Box, Completed, Counters
from ssdlab.hardware.identification.boxes.simulated import SimulatedBox
from ssdlab.hardware.identification.drive import model_of
from ssdlab.hardware.identification.evidence import Outcome
from ssdlab.hardware.identification.identify import Found, identify, plan
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.drives.resolve import ResolvedDrive
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import jobs, specifying

TARGETS = {
    "ftl.mapping_unit_bytes": 0.10,
    "nand.page_bytes": 0.10,
    "nand.planes_per_die": 0.10,
    "parallel_units": 0.10,
    "nand.channels": 0.10,
    "nand.read_us": 0.10,
    "nand.program_us": 0.10,
    "nand.erase_us": 0.10,
    "nand.channel_mb_s": 0.10,
    "host_link.mb_s": 0.10,
    "buffer_bytes": 0.10,
    "slc_cache_bytes": 0.10,
    "erase_unit_bytes": 0.10,
    "over_provisioning": 0.015,
    "write_buffer.power_loss_protection": 0.0,
    "ftl.victim": 0.0,
    "ftl.placement": 0.0,
    "parity.units_per_stripe": 0.10,
}
"""The allowed error: relative; absolute for over-provisioning; none for words."""


class NoisyBox:
    """A box that adds a host's delays to each request: a small delay, jitter, and occasional outliers. With
    `other_requests` it draws other random requests than a simulation does, as fio would."""

    def __init__(self, box: Box, seed: int, *, other_requests: bool = False) -> None:
        import numpy as np

        self._box = box
        self._other_requests = other_requests
        self._random = np.random.default_rng(seed)

    @property
    def capacity_bytes(self) -> int:
        return self._box.capacity_bytes

    @property
    def sector_bytes(self) -> int:
        return self._box.sector_bytes

    @property
    def draws_as_simulated(self) -> bool:
        return not self._other_requests

    def run(self, sections: Sequence[str]) -> list[Completed]:
        if self._other_requests:
            sections = [each.replace("randseed=", "randseed=1000") for each in sections]
        return [self._noisy(each) for each in self._box.run(sections)]

    def counters(self) -> Counters | None:
        return self._box.counters()

    def _noisy(self, done: Completed) -> Completed:
        import numpy as np

        draw, count = self._random, len(done.latency_us)
        extra = draw.exponential(0.7, count) + np.abs(draw.normal(0, 0.005, count)) * done.latency_us
        outlier = draw.random(count) < 0.001
        extra = extra + outlier * draw.uniform(50, 400, count)
        # With several outstanding requests, each delays only a part of the others.
        depth = max(1.0, float(done.latency_us.sum()) / max(1e-3, done.seconds * 1e6))
        ends = done.end_s + np.cumsum(extra) / depth / 1e6
        return replace(
            done,
            seconds=done.seconds + float(extra.sum()) / depth / 1e6,
            end_s=np.maximum.accumulate(ends),
            latency_us=done.latency_us + extra,
            flush_us=None if done.flush_us is None else done.flush_us + float(draw.exponential(0.7)),
        )


class Nowhere:
    """A store that keeps no outcomes."""

    def finished(self, name: str) -> Outcome | None:
        del name
        return None

    def keep(self, name: str, outcome: Outcome) -> None:
        pass


def drawn(
    seed: int, *, capacity_bytes_min: int = 1 << 30, capacity_bytes_max: int = 6 << 30
) -> tuple[ResolvedDrive, dict[str, Any]]:
    """A random drive, and the true values that can be inferred."""
    draw = random.Random(seed)
    while True:
        settings, spare, truth = _settings(draw)
        try:
            drive = resolve(load("generic-tlc-480"), settings=settings, over_provisioning=spare)
        except InputError:
            continue
        if capacity_bytes_min <= drive.capacity.user_bytes <= capacity_bytes_max:
            return drive, truth | _truth(drive)


def _settings(draw: random.Random) -> tuple[dict[str, str], float, dict[str, Any]]:
    def logarithmic(low: float, high: float) -> float:
        return math.exp(draw.uniform(math.log(low), math.log(high)))

    channels, dies = draw.choice((2, 4, 4, 8)), draw.choice((1, 2, 2, 4))
    planes, page = draw.choice((1, 2, 4)), draw.choice((8192, 16384, 16384))
    unit = draw.choice((4096, 4096, 4096, 8192))
    pages = draw.choice((24, 32, 48, 64, 96))
    dies = max(dies, 4 // channels)
    stripe = channels * dies * planes * page
    read = logarithmic(25, 110)
    settings: dict[str, Any] = {
        "nand.channels": channels,
        "nand.dies_per_channel": dies,
        "nand.planes_per_die": planes,
        "nand.page_bytes": page,
        "nand.pages_per_block": pages,
        "nand.blocks_per_plane": draw.randint(110, 260),
        "nand.read_us": round(read, 2),
        "nand.program_us": round(logarithmic(max(200, 3 * read), 2000), 1),
        "nand.erase_us": round(logarithmic(2000, 9000), 1),
        "nand.channel_mb_s": round(logarithmic(200, 1600), 1),
        "nand.suspend": str(draw.random() < 0.3).lower(),
        "ftl.mapping_unit_bytes": unit,
        "ftl.reserve_erase_units": draw.choice((2, 2, 3)),
        "ftl.victim": draw.choice(("greedy", "greedy", "fifo", "cost-benefit", "d-choices")),
        "ftl.placement": draw.choice(("single", "host-gc-split", "host-gc-split")),
        "controller.command_us": round(logarithmic(3, 15), 2),
        "write_buffer.bytes": 0,
    }
    truth: dict[str, Any] = {"link": draw.choice(("none", "sata-6g", "pcie3x4", "pcie4x4", "pcie3x2"))}
    settings["host_link.interface"] = truth["link"]
    if draw.random() < 0.85:
        buffer = int(logarithmic(max(1 << 20, 2.5 * stripe), max(16 << 20, 5 * stripe))) // 4096 * 4096
        settings["write_buffer.bytes"] = buffer
        settings["write_buffer.power_loss_protection"] = str(draw.random() < 0.5).lower()
    if draw.random() < 0.25:
        settings["parity.units_per_stripe"] = draw.choice((16, 32, 64, 128))
    if draw.random() < 0.35:
        raw = stripe * pages * settings["nand.blocks_per_plane"]
        kind = draw.choice(("slc_cache.static_bytes", "slc_cache.dynamic_bytes_max"))
        settings[kind] = int(raw * draw.uniform(0.03, 0.15))
        settings["slc_cache.program_us"] = round(settings["nand.program_us"] * draw.uniform(0.15, 0.35), 1)
        settings["slc_cache.read_us"] = round(read * draw.uniform(0.4, 0.9), 2)
        settings["ftl.placement"] = "host-gc-split"
    spare = round(logarithmic(0.05, 0.35), 4)
    return {key: str(value) for key, value in settings.items()}, spare, truth


_LINKS = {"none": None, "sata-6g": 560.0, "pcie3x2": 1801.0, "pcie3x4": 3602.0, "pcie4x4": 7204.0}


def _truth(drive: ResolvedDrive) -> dict[str, Any]:
    file, nand, capacity = drive.file, drive.file.nand, drive.capacity
    dies = nand.channels * nand.dies_per_channel
    unit_bytes = capacity.units_per_erase_unit * capacity.mapping_unit_bytes
    stripe = file.parity.units_per_stripe
    buffer = file.write_buffer.bytes
    cache = max(file.slc_cache.static_bytes, file.slc_cache.dynamic_bytes_max)
    return {
        "ftl.mapping_unit_bytes": file.ftl.mapping_unit_bytes,
        "nand.page_bytes": nand.page_bytes,
        "nand.planes_per_die": nand.planes_per_die,
        "nand.channels": nand.channels,
        "nand.dies_per_channel": nand.dies_per_channel,
        "nand.pages_per_block": nand.pages_per_block,
        "parallel_units": dies,
        "nand.read_us": nand.read_us,
        "nand.program_us": nand.program_us,
        "nand.erase_us": nand.erase_us,
        "nand.channel_mb_s": nand.channel_mb_s,
        "host_link.mb_s": _LINKS[file.host_link.interface],
        "controller.command_us": file.controller.command_us,
        "buffer_bytes": buffer,
        "write_buffer.power_loss_protection": file.write_buffer.power_loss_protection if buffer else None,
        "slc_cache_bytes": cache or None,
        "slc_cache.program_us": file.slc_cache.program_us if cache else None,
        "erase_unit_bytes": unit_bytes,
        "over_provisioning": (capacity.physical_units - capacity.user_units) / capacity.user_units,
        "parity.units_per_stripe": stripe or None,
        "ftl.victim": file.ftl.victim.name,
        "ftl.placement": file.ftl.placement.name,
    }


def identified(drive: ResolvedDrive, seed: int, *, policies: bool = False, other_requests: bool = False) -> Found:
    """Identifies the drive through a noisy box, with at most two drive writes; with `policies` also by simulation."""
    with tempfile.TemporaryDirectory(prefix="ssdlab-blind-") as folder:
        box = NoisyBox(SimulatedBox(drive, Path(folder), seed=seed), seed, other_requests=other_requests)
        found = identify(box, plan(box.capacity_bytes, Limits(2 * box.capacity_bytes)), Nowhere())
    if policies:
        found.add(choices.NAME, choices.choose(found))
    return found


UNSEEN = {
    "zipf": "rw=randwrite\nbs=16k\niodepth=32\nrandom_distribution=zipf:1.1",
    "pareto": "rw=randwrite\nbs=8k\niodepth=16\nrandom_distribution=pareto:0.2",
    "mixed": "rw=randrw\nrwmixread=50\nbs=16k\niodepth=8",
    "half": "rw=randwrite\nbs=8k\niodepth=32\nsize=50%",
    "64k": "rw=randwrite\nbs=64k\niodepth=4",
}
"""Workloads that resemble no experiment."""
PREDICTED = 0.04, 0.15
"""Allowed median and worst relative error of a prediction."""


@dataclass(frozen=True)
class Predicted:
    """An unseen workload: the prediction from the identified drive file, and the result on the true drive."""

    seed: int
    workload: str
    waf: tuple[float, float]
    """The true and the predicted value."""
    mb_s: tuple[float, float]

    @property
    def errors(self) -> tuple[float, float]:
        """Relative errors of WAF and speed."""
        return tuple(abs(own / true - 1) for true, own in (self.waf, self.mb_s))  # type: ignore[return-value]


def predicted(drive: ResolvedDrive, seed: int, found: Found) -> list[Predicted]:
    """Fills both drives once, runs each workload to steady state, and measures its last part, 0.3 capacities."""
    try:
        model = resolve(model_of(found.inferred, found.capacity_bytes, "identified", choices.nearest(found)).file)
    except (InputError, RunFailed):
        return []
    results = []
    for name, options in UNSEEN.items():
        wafs, rates = zip(*(_steady(each, options, seed) for each in (drive, model)), strict=True)
        results.append(Predicted(seed, name, wafs, rates))
    return results


def _steady(drive: ResolvedDrive, options: str, seed: int) -> tuple[float, float]:
    """WAF and MB/s at the end of a workload."""
    size = drive.capacity.user_bytes
    mixed = 2 if "randrw" in options else 1

    def part(name: str, share: float, randseed: int) -> str:
        written = int(share * mixed * size) // 65536 * 65536
        return f"[{name}]\nstonewall\n{options}\nnorandommap\nio_size={written}\nrandseed={randseed}\n"

    fill = "[fill]\nrw=write\nbs=256k\niodepth=32\n"
    text = fill + part("before", 0.9, 1) + part("steady", 0.3, 2)
    exact = replace(drive, scale=Fraction(1))
    result = simulated.run(specifying.specify(jobs.parse(text, "unseen"), exact, seed=seed, series_points_max=2))
    if result.failure:
        raise RunFailed(result.failure)
    last = result.jobs[-1]
    moved = last.write.io_bytes + last.read.io_bytes
    return last.waf or 1.0, moved / (last.seconds or 1.0) / 1e6


def predictions_table(rows: Sequence[Predicted]) -> str:
    """Median and worst error of WAF and speed, by workload and overall."""
    lines = [f"{'unseen workload':20}{'drives':>7}{'WAF median':>12}{'worst':>8}{'speed median':>14}{'worst':>8}"]
    for name in [*UNSEEN, "all"]:
        errors = [row.errors for row in rows if name in (row.workload, "all")]
        if not errors:
            continue
        waf, speed = ([100 * each[index] for each in errors] for index in (0, 1))
        lines.append(
            f"{name:20}{len(errors):7}{statistics.median(waf):11.1f}%{max(waf):7.1f}%"
            f"{statistics.median(speed):13.1f}%{max(speed):7.1f}%"
        )
    within = sum(max(row.errors) <= PREDICTED[1] for row in rows)
    lines.append(f"targets: median {100 * PREDICTED[0]:.0f} %, worst {100 * PREDICTED[1]:.0f} %; "
                 f"{within} of {len(rows)} predictions are within the latter")  # fmt: skip
    return "\n".join(lines)


@dataclass(frozen=True)
class Judged:
    """One value of one drive: inferred and true."""

    seed: int
    key: str
    truth: Any
    value: Any
    low: Any
    high: Any

    @property
    def error(self) -> float | None:
        """The relative error, absolute for over-provisioning, 0 or 1 for words; None if the value was not
        determined."""
        if self.value is None:
            return None
        if isinstance(self.truth, str | bool) or isinstance(self.value, str | bool):
            return float(self.truth != self.value)
        if self.key == "over_provisioning":
            return float(abs(self.value - self.truth))
        return float(abs(self.value - self.truth) / self.truth) if self.truth else float(self.value != 0)

    @property
    def covered(self) -> bool:
        return self.value is not None and (
            self.truth == self.value
            if isinstance(self.truth, str | bool)
            else self.low * (1 - 1e-9) <= self.truth <= self.high * (1 + 1e-9)
        )


def judged(seed: int, truth: dict[str, Any], found: Found) -> list[Judged]:
    """Every value that the drive has, determined or not, and values that were determined although the drive has
    none."""
    rows = []
    for key, true in truth.items():
        each = found.inferred.get(key)
        if key == "link" or (true is None and each is None):
            continue
        if true is None:
            rows.append(Judged(seed, key, "none", each.value, each.low, each.high) if each else None)
            continue
        rows.append(
            Judged(seed, key, true, each.value, each.low, each.high)
            if each
            else Judged(seed, key, true, None, None, None)
        )
    return [row for row in rows if row is not None]


def table(rows: Sequence[Judged]) -> str:
    """A line for each key."""
    lines = [f"{'value':36}{'drives':>7}{'told':>6}{'median':>9}{'worst':>9}{'target':>8}{'met':>6}{'covered':>9}"]
    for key in dict.fromkeys(row.key for row in rows):
        of_key = [row for row in rows if row.key == key]
        errors = [row.error for row in of_key if row.error is not None]
        target = TARGETS.get(key)
        if not errors:
            lines.append(f"{key:36}{len(of_key):7}{0:6}")
            continue
        met = sum(error <= (target if target is not None else 0.10) + 1e-9 for error in errors)
        covered = sum(row.covered for row in of_key if row.value is not None)
        lines.append(
            f"{key:36}{len(of_key):7}{len(errors):6}{100 * statistics.median(errors):8.2f}%{100 * max(errors):8.1f}%"
            f"{'' if target is None else f'{100 * target:.1f}%':>8}{met:6}{covered:6}/{len(errors)}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drives", type=int, help="how many drives")
    parser.add_argument("--seed", type=int, default=1, help="of the first drive")
    parser.add_argument("--output", type=Path, help="a JSON file for every value of every drive")
    parser.add_argument("--verbose", action="store_true", help="a line for each value that misses its target")
    parser.add_argument("--policies", action="store_true", help="tell policies too, by many simulations of each drive")
    parser.add_argument(
        "--other-requests", action="store_true", help="other random requests than simulations write, as fio has them"
    )
    parser.add_argument("--no-predictions", action="store_true", help="leave out the five unseen workloads")
    options = parser.parse_args()
    rows: list[Judged] = []
    unseen: list[Predicted] = []
    for seed in range(options.seed, options.seed + options.drives):
        begun = time.monotonic()
        drive, truth = drawn(seed)
        found = identified(drive, seed, policies=options.policies, other_requests=options.other_requests)
        own = judged(seed, truth, found)
        rows += own
        if not options.no_predictions:
            unseen += predicted(drive, seed, found)
        writes = found.written_bytes / found.capacity_bytes
        print(f"drive {seed}: {drive.capacity.user_bytes / 1e9:.2f} GB, {writes:.2f} drive writes, "
              f"{time.monotonic() - begun:.0f} s", flush=True)  # fmt: skip
        if options.verbose:
            for row in own:
                missed = row.error is None or row.error > TARGETS.get(row.key, 0.1)
                if missed:
                    why = next((each.reason for each in found.undetermined if each.key == row.key), "")
                    print(f"    {row.key}: true {row.truth}, inferred {row.value} [{row.low}, {row.high}] {why}")
    print(table(rows))
    if unseen:
        print(predictions_table(unseen))
    if options.output:
        content = {"values": [vars(row) for row in rows], "unseen": [vars(row) for row in unseen]}
        options.output.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
