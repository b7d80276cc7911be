"""Two variants, equal or 3 % apart: does a comparison say so?

`SSDLAB_PAIRS=200` tries that many pairs; docs/theory/steady-state.md has the counts.
"""

import os
import random
from pathlib import Path

import ssdlab
from ssdlab.evidence import Estimate
from ssdlab.evidence.comparing import differ
from ssdlab.simulator.drives import ResolvedDrive
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.results import Result
from ssdlab.simulator.results.speed import Speed, speed
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.workloads import jobs
from ssdlab.theory.expectation import expected

PAIRS = int(os.environ.get("SSDLAB_PAIRS", "16"))
DRIVE, SCALE, TIMED_SCALE = "generic-tlc-480", "1/384", "1/384"
UNIFORM = "norandommap"
WORKLOADS = (UNIFORM, "random_distribution=zipf:1.1", "random_distribution=zoned:90/10:10/90", "size=60%")
TIMES = 1.03


def test_a_difference_is_said_where_there_is_one_and_only_there(tmp_path: Path) -> None:
    draw = random.Random(34)
    equal = [each for _ in range(PAIRS // 2) for each in _equal(tmp_path, draw)]
    apart = [each for _ in range(PAIRS // 2) for each in _apart(tmp_path, draw)]
    results = dict(ssdlab.run_many([*equal, *apart]))
    known = [_known(results[index].waf_estimate) for index in range(len(results))]
    said = [differ(known[index], known[index + 1]) for index in range(0, len(known), 2)]
    false, found = sum(said[: PAIRS // 2]), sum(said[PAIRS // 2 :])
    print(f"{false} of {PAIRS // 2} equal pairs are said to differ, {found} of as many that are 3 % apart")
    assert false <= max(1, 0.05 * PAIRS / 2)
    assert found >= 0.9 * PAIRS / 2


def test_rates_and_tails_too(tmp_path: Path) -> None:
    """In the other pairs everything that takes time takes 3 % more: requests per second and percentiles differ by that.

    Few requests are above a percentile, so that only false differences count there.
    """
    draw = random.Random(35)
    pairs = max(3, PAIRS // 5)
    equal = [each for _ in range(pairs) for each in _timed(tmp_path, draw, 1.0)]
    apart = [each for _ in range(pairs) for each in _timed(tmp_path, draw, TIMES)]
    results = dict(ssdlab.run_many([*equal, *apart]))
    found = [_speed(results[index]) for index in range(len(results))]
    rates = [differ(found[index].estimate, found[index + 1].estimate) for index in range(0, len(found), 2)]
    tails = [differ(_p99(found[index]), _p99(found[index + 1])) for index in range(0, 2 * pairs, 2)]
    print(
        f"rates: {sum(rates[:pairs])} of {pairs} equal pairs are said to differ, {sum(rates[pairs:])} of as many apart"
    )
    print(f"99th percentiles: {sum(tails)} of {pairs} equal pairs")
    assert max(sum(rates[:pairs]), sum(tails)) <= max(1, 0.05 * pairs)
    assert sum(rates[pairs:]) >= 0.9 * pairs


def _timed(folder: Path, draw: random.Random, times: float) -> list[Specification]:
    """The same drive, workload and spare area, with two seeds; the second takes `times` as long for everything."""
    workload, op = draw.choice(WORKLOADS), draw.uniform(0.05, 0.4)
    nand = ssdlab.drive(DRIVE).file.nand
    slower = {f"nand.{key}": f"{mean_us(getattr(nand, key)) * times}" for key in ("read_us", "program_us", "erase_us")}
    slower["nand.channel_mb_s"] = f"{nand.channel_mb_s / times}"
    drives = [ssdlab.drive(DRIVE, op=op, settings=settings, scale=TIMED_SCALE) for settings in ({}, slower)]
    return [_run(folder, workload, drive, draw, timed=True) for drive in drives]


def _speed(result: Result) -> Speed:
    found = speed(result)
    assert found is not None
    return found


def _p99(found: Speed) -> Estimate:
    return _known(found.write.latency.estimate(99))


def _known(estimate: Estimate | None) -> Estimate:
    assert estimate is not None
    return estimate


def _equal(folder: Path, draw: random.Random) -> list[Specification]:
    """The same drive and workload, with two seeds."""
    workload, drive = draw.choice(WORKLOADS), _drive(draw.uniform(0.05, 0.4))
    return [_run(folder, workload, drive, draw) for _ in range(2)]


def _apart(folder: Path, draw: random.Random) -> list[Specification]:
    """Two spare areas whose write amplifications differ by TIMES in closed form."""
    more = draw.uniform(0.06, 0.4)
    least, most = more / 2, more
    wanted = TIMES * _theory(folder, _drive(more))
    for _ in range(20):
        middle = (least + most) / 2
        least, most = (middle, most) if _theory(folder, _drive(middle)) > wanted else (least, middle)
    return [_run(folder, UNIFORM, _drive(over_provisioning), draw) for over_provisioning in (more, most)]


def _theory(folder: Path, drive: ResolvedDrive) -> float:
    capacity = drive.capacity
    held_back = capacity.reserve_erase_units + 0.5 * capacity.open_erase_units
    effective = (capacity.data_units - held_back * capacity.data_units_per_erase_unit) / capacity.user_units - 1
    specification = ssdlab.specify(_job(folder, UNIFORM), drive)
    value = expected(specification.jobs, drive.specification(), effective).value
    assert value is not None
    return value


def _drive(over_provisioning: float) -> ResolvedDrive:
    return ssdlab.drive(DRIVE, op=over_provisioning, scale=SCALE)


def _run(
    folder: Path, workload: str, drive: ResolvedDrive, draw: random.Random, *, timed: bool = False
) -> Specification:
    seed = draw.randrange(1, 2**31)
    return ssdlab.specify(_job(folder, workload), drive, seed=seed, until="steady", precondition="fill", timed=timed)


def _job(folder: Path, workload: str) -> jobs.JobFile:
    path = folder / f"{WORKLOADS.index(workload)}.fio"
    path.write_text(f"[write]\nrw=randwrite\nbs=4k\niodepth=32\n{workload}\n")
    return jobs.load(path)
