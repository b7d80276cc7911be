"""Two variants, equal or 3 % apart: does a comparison say so?

`SSDLAB_PAIRS=200` tries that many pairs; docs/steady-state.md has the counts.
"""

import os
import random
from pathlib import Path

import ssdlab
from ssdlab.drives import ResolvedDrive
from ssdlab.evidence import Estimate
from ssdlab.evidence.comparing import differ
from ssdlab.specification import Specification
from ssdlab.theory.expectation import expected
from ssdlab.workloads import jobs

PAIRS = int(os.environ.get("SSDLAB_PAIRS", "16"))
DRIVE, SCALE = "generic-tlc-480", "1/384"
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


def _run(folder: Path, workload: str, drive: ResolvedDrive, draw: random.Random) -> Specification:
    seed = draw.randrange(1, 2**31)
    return ssdlab.specify(_job(folder, workload), drive, seed=seed, until="steady", precondition="fill", timed=False)


def _job(folder: Path, workload: str) -> jobs.JobFile:
    path = folder / f"{WORKLOADS.index(workload)}.fio"
    path.write_text(f"[write]\nrw=randwrite\nbs=4k\n{workload}\n")
    return jobs.load(path)
