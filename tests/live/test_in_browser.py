"""The live page without a server: its worker sends the engine the same input as `ssdlab live`.

Needs node. `make site`, which builds the engine for the browser, checks that it returns the same bytes there.
"""

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from browser_edition import ELSEWHERE, SEEDS, controls_as_files, rows_table, shipped_job, theory
from ssdlab.live import catalogue
from ssdlab.live.samples import History, row_of
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.results.ledger import PARTS
from ssdlab.simulator.workloads import controls
from ssdlab.simulator.workloads.controls import Controls
from ssdlab.simulator.workloads.jobs import parse
from ssdlab.simulator.workloads.jobs.seeds import clone_seed
from ssdlab.theory import expectation

ROOT = Path(__file__).parents[2]
NODE = shutil.which("node")
# Chosen so that each control has more than one value.
WORKLOADS = [
    Controls(),
    Controls(kind="sequential", block_bytes=131072, iodepth=1),
    Controls(read_percent=95, skew=1.0, trim_percent=50, iodepth=5),
    Controls(block_bytes=16384, skew=1.5, trim_percent=5, iodepth=256),
    Controls(kind="sequential", read_percent=30, trim_percent=10, iodepth=25),
]
PARTITIONS = [100, 77, 30]
USER_BYTES = 7_501_623_296
SCALES = [Fraction(1), Fraction(1, 64)]

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


def in_node(script: str, given: object) -> Any:
    """Runs a script in node with an input and returns its output, both as JSON."""
    assert NODE is not None
    text = f"import {{ exactly }} from '{ROOT}/site/live/engine.js';\n{script}"
    command = [NODE, "--input-type=module", "--eval", text]
    ended = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_jobs_are_those_of_the_job_files(scale: Fraction) -> None:
    seeds = [[str(clone_seed(1, None, place, 0)) for place in range(8)]]
    cases = [(workload, percent) for workload in WORKLOADS for percent in PARTITIONS]
    script = f"""
import {{ filling, resolved, trimmingBehind, working }} from '{ROOT}/site/live/jobs.js';
import {{ readFileSync }} from 'node:fs';
const {{ cases, seeds, bytes, scale, files }} = JSON.parse(readFileSync(0, 'utf-8'));
const all = cases.map(([workload, percent]) => {{
  const of = (file, index, stage) => resolved(file, bytes, scale, {{ index, stage, seeds }});
  const jobs = of(working(files, workload, 'work', percent, 4096), 0, 0);
  jobs.push(...of(filling(files, 'fill', percent), jobs.length, 1));
  if (percent < 100) jobs.push(...of(trimmingBehind(files, 'trim', percent), jobs.length, 2));
  return jobs;
}});
process.stdout.write(JSON.stringify(all).replace(/"#(\\d+)"/g, '$1'));
"""
    given = {
        "cases": [(case.model_dump(), percent) for case, percent in cases],
        "seeds": seeds,
        "bytes": USER_BYTES,
        "scale": str(scale),
        "files": controls_as_files(),
    }
    for (workload, percent), jobs in zip(cases, in_node(script, given), strict=True):
        sections = [*workload.sections("work", percent), controls.fill("fill", percent)]
        if percent < 100:
            sections.append(controls.trim_behind("trim", percent))
        expected = parse("\n".join(sections), "the page").resolve(USER_BYTES, seed=1, scale=scale)
        for job, other in zip(jobs, expected, strict=True):
            # The worker counts its stages itself.
            job["stage"] = other["stage"]
        assert jobs == expected, (workload, percent)


def test_spare_areas_are_those_of_the_command_line() -> None:
    file = load("generic-tlc-480")
    full, small = file.capacity, resolve(file, scale=Fraction(1, 64)).capacity
    shares = [0.07, 0.14, 0.28, 0.5, 1, 0.15]
    script = f"""
import {{ userUnits }} from '{ROOT}/site/live/workbench.js';
import {{ readFileSync }} from 'node:fs';
const {{ drive, shares }} = JSON.parse(readFileSync(0, 'utf-8'));
process.stdout.write(JSON.stringify(shares.map((share) => userUnits(drive, share))));
"""
    drive = {"full_physical_units": full.physical_units, "physical_units": small.physical_units}
    expected = [resolve(file, over_provisioning=share, scale=Fraction(1, 64)).capacity.user_units for share in shares]
    assert in_node(script, {"drive": drive, "shares": shares}) == expected


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_shipped_job_files_are_those_of_the_package(scale: Fraction) -> None:
    shipped = list(catalogue.shipped_jobs().values())
    seeds = [[str(clone_seed(1, None, place, clone)) for place in range(SEEDS)] for clone in range(4)]
    script = f"""
import {{ resolved }} from '{ROOT}/site/live/jobs.js';
import {{ readFileSync }} from 'node:fs';
const {{ files, seeds, sizes, scale }} = JSON.parse(readFileSync(0, 'utf-8'));
const all = files.map((file) => sizes.map((bytes) => resolved(file, bytes, scale, {{ index: 0, stage: 0, seeds }})));
process.stdout.write(JSON.stringify(all).replace(/"#(\\d+)"/g, '$1'));
"""
    sizes = [USER_BYTES, USER_BYTES - 4096 * 7, 1_000_000 * 4096]
    given = {"files": [shipped_job(job) for job in shipped], "seeds": seeds, "sizes": sizes, "scale": str(scale)}
    for job, computed in zip(shipped, in_node(script, given), strict=True):
        file = parse(job.text, job.name)
        for user_bytes, jobs in zip(sizes, computed, strict=True):
            assert jobs == file.resolve(user_bytes, seed=1, scale=scale), (job.name, user_bytes)


def test_rows_are_joined_as_the_server_joins_them() -> None:
    random = Random(1)

    def latency() -> dict[str, int] | None:
        ranks = ("count", "p50_ns", "p99_ns", "p999_ns")
        return {name: random.randrange(1, 1000) for name in ranks} if random.random() < 0.7 else None

    def ledger() -> dict[str, Any]:
        programmed = {part: random.randrange(9) for part in PARTS[:3]}
        return {"host_written_bytes": 4096, "host_read_bytes": random.randrange(9), "programmed_units": programmed}

    def figures() -> Any:
        since = {"simulated_seconds": random.random(), "requests": random.randrange(1, 9), "ledger": ledger()}
        since |= {"read_latency": latency(), "write_latency": latency()}
        capacity = {"counted_unit_bytes": 4096, "effective_over_provisioning": random.random()}
        erases = {"min": 0, "mean": 1.5, "max": 3}
        whole = {"simulated_seconds": None, "requests": 9, "ledger": ledger(), "waf": random.random()}
        return whole | {"capacity": capacity, "free_erase_units": 7, "erase_count": erases, "since": since}

    told = [figures() for _ in range(29)]
    history = History(rows_max=8, requests_min=6)
    for each in told:
        history.add(row_of(each, 1.25))
    script = f"""
import {{ History }} from '{ROOT}/site/live/history.js';
import {{ readFileSync }} from 'node:fs';
const {{ table, told }} = JSON.parse(readFileSync(0, 'utf-8'));
const history = new History(table);
for (const each of told) history.add(each, 1.25);
process.stdout.write(JSON.stringify([history.rows, history.epoch]));
"""
    rows, epoch = in_node(script, {"table": {**rows_table(), "rows_max": 8, "requests_min": 6}, "told": told})
    assert (rows, epoch) == (history.rows, history.epoch) and epoch > 0


def test_the_line_of_theory_is_that_of_the_installed_program() -> None:
    """Where the browser has a line; it has none for skewed writes."""
    drive = resolve(load("generic-tlc-480"), scale=Fraction(1, 64))
    specification = drive.specification()
    victims = ["greedy", "fifo", "random", "d-choices", "cost-benefit"]
    spare_areas = [0.004, 0.0701, 0.1234, 0.5, 3.0]
    workloads = [*WORKLOADS, Controls(trim_percent=25), Controls(read_percent=50, iodepth=3)]
    chosen = [
        (workload.model_dump(), percent, parse("\n".join(workload.sections("w-1", percent)), "the page"))
        for workload in workloads
        for percent in PARTITIONS
    ]
    shipped = {job.name: parse(job.text, job.name) for job in catalogue.shipped_jobs().values()}
    data_units, parity_factor, open_blocks = expectation.shape(specification)
    script = f"""
import {{ resolved, working }} from '{ROOT}/site/live/jobs.js';
import {{ expected }} from '{ROOT}/site/live/theory.js';
import {{ readFileSync }} from 'node:fs';
const {{ tables, shape, bytes, files, workloads, ftls, spare }} = JSON.parse(readFileSync(0, 'utf-8'));
const chosen = workloads.map(([workload, percent]) => working(files, workload, 'w-1', percent, 4096));
const all = [...chosen, ...files.shipped].map((file) => {{
  const jobs = resolved(file, bytes, '1', {{ index: 0, stage: 0, seeds: [['1'], ['1'], ['1'], ['1']] }});
  const last = Math.max(...jobs.map((job) => job.stage));
  const live = jobs.find((job) => job.stage === last && job.direction.includes('write'))?.size_bytes;
  return ftls.map((ftl) => spare.map((each) => expected(tables, shape, {{ ftl }}, file.refusal, live, each)));
}});
process.stdout.write(JSON.stringify(all));
"""
    ftls = [
        {**specification["ftl"], "victim": {"name": victim}, "placement": {"name": placement}}
        for victim in victims
        for placement in ("single", "host-gc-split", "host-streams")
    ]
    given = {
        "tables": theory({data_units}),
        "shape": {"data_units": data_units, "parity_factor": parity_factor, "open_blocks": open_blocks},
        "bytes": USER_BYTES,
        "files": {**controls_as_files(), "shipped": [shipped_job(job) for job in catalogue.shipped_jobs().values()]},
        "workloads": [(workload, percent) for workload, percent, _ in chosen],
        "ftls": ftls,
        "spare": spare_areas,
    }
    have_one = set()
    files = [*(file for _, _, file in chosen), *shipped.values()]
    for file, of_file in zip(files, in_node(script, given), strict=True):
        jobs = file.resolve(USER_BYTES, seed=1)
        running = [job for job in jobs if job["stage"] == jobs[-1]["stage"]]
        for ftl, of_ftl in zip(ftls, of_file, strict=True):
            for spare, line in zip(spare_areas, of_ftl, strict=True):
                own = expectation.expected(running, {**specification, "ftl": {**ftl, "user_bytes": USER_BYTES}}, spare)
                if line["reason"] == ELSEWHERE:
                    assert own.value or "skewed writes" in str(own.reason)
                elif own.value is None:
                    assert line == {"value": None, "formula": None, "reason": own.reason}
                else:
                    assert line["value"] == pytest.approx(own.value, rel=0.002)
                    assert line["formula"] == own.formula
                    have_one.add((ftl["victim"]["name"], spare))
    assert len(have_one) == 4 * len(spare_areas)
