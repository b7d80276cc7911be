"""Precomputed data for the live page in the browser, as plain JSON: drives, policies, job files, tours, theory.

The page's worker (`site/live/`) has no Python, so everything that needs more than simple arithmetic is computed here.
`website.py` builds the pages.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from itertools import product
from typing import Any

from ssdlab.live import catalogue
from ssdlab.live.bench import resolve_to_watch
from ssdlab.live.choices import VIEWS, DriveChoice
from ssdlab.live.samples import COLUMNS, REQUESTS_MIN, ROWS_MAX
from ssdlab.live.tours import tours
from ssdlab.simulator import engine
from ssdlab.simulator.drives import load, names, resolve
from ssdlab.simulator.results.ledger import PARTS
from ssdlab.simulator.workloads import controls
from ssdlab.simulator.workloads.controls import Controls
from ssdlab.simulator.workloads.jobs import parse
from ssdlab.simulator.workloads.jobs.seeds import clone_seed
from ssdlab.simulator.workloads.jobs.table import IO_SIZE, LOOPS, NORANDOMMAP, NUMBER_IOS, OFFSET, RW, SIZE
from ssdlab.theory import expectation

# A session's jobs before seeds repeat, and the largest number of clones in the shipped job files.
SEEDS = 64
CLONES = 4
ELSEWHERE = "closed forms of skewed writes are shown by ssdlab live on your own machine"
# What theory says of a workload does not depend on these, as long as uniform writes have a line.
_UNIFORM = {"victim": {"name": "greedy"}, "placement": {"name": "single"}, "wear_leveling": {"name": "none"}}
# Commands that the browser's live page lacks (`site/live/worker.js`); tours that use them are left out.
ONLY_INSTALLED = {"dropped-job", "share", "report"}

# The range of over-provisioning of theory's lines. The worker interpolates them linearly in logarithms, with an error
# of at most 0.1 %.
OVER_PROVISIONING_MIN, OVER_PROVISIONING_MAX = 0.002, 20.0
# Points per victim's curve; a value for d-choices takes 20 ms.
PLACES = {"fifo": 320, "greedy": 320, "random": 320, "d-choices": 80}
# Their formulas do not depend on the size of an erase unit.
_OF_ANY_SIZE = {"fifo", "random"}
UNIT_BYTES = 4096
# Jobs are resolved for a drive of this many bytes; the worker recomputes the values that depend on the size.
_ANY_BYTES = 1 << 40


def in_browser() -> dict[str, Any]:
    """All data; drives at the scale that is fast enough to watch."""
    drives = [_drive(name) for name in names()]
    return {
        "version": engine.native().version(),
        "views": list(VIEWS),
        "policies": catalogue.catalogue()["policies"],
        "seeds": [[str(clone_seed(1, None, place, clone)) for place in range(SEEDS)] for clone in range(CLONES)],
        "drives": drives,
        "jobs": [shipped_job(job) for job in catalogue.shipped_jobs().values()],
        "controls": controls_as_files(),
        "rows": rows_table(),
        "parts": PARTS,
        "workload": Controls().model_dump(),
        "theory": theory({drive["theory"]["data_units"] for drive in drives}),
        "tours": [
            {**tour.plain(), "steps": [{**step.plain(), "do": step.actions} for step in tour.steps]}
            for tour in tours().values()
            if not ONLY_INSTALLED & {action for step in tour.steps for action, _ in step.actions}
        ],
    }


def _drive(name: str) -> Mapping[str, Any]:
    full = load(name)
    drive = resolve_to_watch(DriveChoice(name=name), {}, None)
    capacity, specification = drive.capacity, drive.specification()
    if specification["ftl"]["mapping_unit_bytes"] != UNIT_BYTES:
        raise ValueError(f"{name} has a mapping unit for which theory's refusals of workloads were not computed")
    data_units, parity_factor, open_blocks = expectation.shape(specification)
    return {
        "name": name,
        "description": full.description,
        "cell": full.nand.cell,
        "scale": str(Fraction(drive.scale)),
        "full_physical_units": full.capacity.physical_units,
        "physical_units": capacity.physical_units,
        "erase_units": capacity.erase_units,
        "units_per_erase_unit": capacity.units_per_erase_unit,
        "endurance_cycles": drive.endurance_cycles,
        "specification": specification,
        "theory": {"data_units": data_units, "parity_factor": parity_factor, "open_blocks": open_blocks},
    }


def shipped_job(job: catalogue.ShippedJob) -> dict[str, Any]:
    """A shipped job file, with its name and summary."""
    return {"name": job.name, "summary": job.summary, **job_file(job.text, f"{job.name}.fio")}


def controls_as_files() -> dict[str, Any]:
    """The job files that the controls of the page stand for (`ControlFiles` of `site/live/jobs.js`)."""
    workloads, refusals = {}, {}
    for kind, reads, is_skewed in product(("random", "sequential"), (0, 50), (0.0, 1.2)):
        key = f"{kind},{str(reads > 0).lower()},{str(is_skewed > 0).lower()}"
        chosen = Controls.model_validate({"kind": kind, "read_percent": reads, "skew": is_skewed, "trim_percent": 50})
        workloads[key] = job_file("\n".join(chosen.sections("work", 100)), "the page")
        for block_bytes, trims in product((UNIT_BYTES, 4 * UNIT_BYTES), (0, 50)):
            other = chosen.model_copy(update={"block_bytes": block_bytes, "trim_percent": trims})
            file = job_file("\n".join(other.sections("work", 100)), "the page")
            refusals[f"{key},{str(block_bytes == UNIT_BYTES).lower()},{str(trims > 0).lower()}"] = file["refusal"]
    fill, trim = (job_file(text, "the page") for text in (controls.fill("fill", 100), controls.trim_behind("trim", 50)))
    return {"workloads": workloads, "refusals": refusals, "fill": fill, "trim": trim}


def job_file(text: str, source: str) -> dict[str, Any]:
    """A job file: the engine's jobs, for each the source of its sizes (`site/live/jobs.js`), and theory's refusal."""
    file = parse(text, source)
    engine_jobs = file.resolve(_ANY_BYTES, seed=1)
    places = {section.name: place for place, section in enumerate(file.sections)}
    jobs = []
    for engine_job in engine_jobs:
        section = file.sections[places[engine_job["name"]]]
        offset, size, io_size = section.get(OFFSET), section.get(SIZE), section.get(IO_SIZE)
        if offset.size_bytes or size.size_bytes or io_size.percent or engine_job["clone"] >= CLONES:
            raise ValueError(f"{source} has a size that site/live/jobs.js does not compute")
        follows = {
            "offset_percent": offset.percent or 0,
            "size_percent": size.percent or 0,
            "io_size_bytes": io_size.size_bytes or 0,
            "number_ios": section.get(NUMBER_IOS) or 0,
            "loops": max(1, section.get(LOOPS)),
            "visits_freely": section.get(NORANDOMMAP) and not section.get(RW).sequential,
        }
        jobs.append({"section": places[engine_job["name"]], "job": {**engine_job, "seed": None}, "follows": follows})
    return {"refusal": _refusal(engine_jobs), "jobs": jobs}


def _refusal(jobs: Sequence[Mapping[str, Any]]) -> str | None:
    """Why the last stage of the jobs has no line in the browser, on a drive where uniform writes have one."""
    last = max(job["stage"] for job in jobs)
    drive: Mapping[str, Any] = resolve(load("generic-tlc-480")).specification()
    drive = {**drive, "ftl": {**drive["ftl"], **_UNIFORM, "user_bytes": _ANY_BYTES}}
    reason = expectation.expected([job for job in jobs if job["stage"] == last], drive, 0.3).reason
    return ELSEWHERE if reason and reason.startswith("no closed form for skewed writes") else reason


def rows_table() -> dict[str, Any]:
    """What the rows of charts are made of (`RowTable` of `site/live/history.js`)."""
    return {
        "columns": {name: asdict(column) for name, column in COLUMNS.items()},
        "rows_max": ROWS_MAX,
        "requests_min": REQUESTS_MIN,
    }


def theory(data_units: set[int]) -> dict[str, Any]:
    """Write amplification of uniform writes over spare area, by victim policy and size of erase units.

    Null: no value. Size 0: any size.
    """
    curves: dict[str, dict[str, list[float | None]]] = {}
    for victim, places in PLACES.items():
        step = math.log(OVER_PROVISIONING_MAX / OVER_PROVISIONING_MIN) / (places - 1)
        spare_areas = [OVER_PROVISIONING_MIN * math.exp(step * place) for place in range(places)]
        sizes = [0] if victim in _OF_ANY_SIZE else sorted(data_units)
        curves[victim] = {
            str(units): [_value(spare_area, victim, units) for spare_area in spare_areas] for units in sizes
        }
    formulas = {victim: expectation.uniform(0.1, {"name": victim}, 64).formula for victim in PLACES}
    return {"min": OVER_PROVISIONING_MIN, "max": OVER_PROVISIONING_MAX, "curves": curves, "formulas": formulas}


def _value(over_provisioning: float, victim: str, units: int) -> float | None:
    try:
        value = expectation.write_amplification(over_provisioning, {"name": victim}, units)
    except (ArithmeticError, ValueError):
        return None
    return None if value is None else float(f"{value:.6g}")
