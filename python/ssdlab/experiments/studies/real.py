"""A study's experiment on a real drive or file: its steps as a protocol, scaled to the size of the place.

Absolute speeds of another drive are not comparable, so the published figures are compared with ratios, such as after
over before or full over empty. A study's `real.py` has one object `REAL`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ssdlab.errors import InputError
from ssdlab.experiments.protocols.contract import Protocol, Step
from ssdlab.experiments.protocols.figures import Figures
from ssdlab.experiments.studies.contract import Row, Study
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.jobs import JobFile
from ssdlab.simulator.workloads.jobs.table import BY_NAME, STONEWALL
from ssdlab.simulator.workloads.jobs.values import Amount


@dataclass(frozen=True)
class Real:
    """The steps, and the function that computes rows from their figures."""

    protocol: Protocol
    rows: Callable[[Sequence[Figures]], Sequence[Row]]
    """`simulated` of a row is the measured value; None, with a note, if it could not be measured."""


def real(study: Study) -> Real:
    """The steps of the study on a real drive. Raises InputError if the study has none."""
    module = f"ssdlab.experiments.studies.{study.name.replace('-', '_')}.real"
    if find_spec(module) is None:
        raise InputError(
            f"--on: {study.name} compares catalogue drives with published figures; it cannot run on another drive"
        )
    found: Real = import_module(module).REAL
    return found


def steps(path: Path, scale: Fraction, variables: Mapping[str, str] | None = None) -> list[Step]:
    """The jobs of a study's job file as steps. Absolute sizes, in multiples of 4 KiB, and counts are scaled."""
    job_file: JobFile = jobs.load(path, environment=variables or {})
    found = []
    for section in job_file.sections:
        lines = []
        idle = 0.0
        for setting in sorted(section.settings.values(), key=lambda entry: entry.order):
            name = BY_NAME[setting.raw.key].name
            if name == "startdelay":
                idle = setting.value.least_ns / 1e9
            elif name == "number_ios":
                lines.append(f"number_ios={max(1, round(setting.value * scale))}")
            elif isinstance(setting.value, Amount) and setting.value.size_bytes and name != "bs":
                lines.append(f"{name}={max(1, round(setting.value.size_bytes * scale / 4096)) * 4096}")
            elif name not in (STONEWALL.name, "randseed"):
                lines.append(setting.written)
        found.append(Step(section.name, "\n".join(lines) + "\n", idle_seconds=idle))
    return found


def step(figures: Sequence[Figures], name: str, point: str | None = None) -> Figures:
    """The figures of the step of this name. Raises InputError if there are none."""
    for each in figures:
        if each.step == name and (point is None or each.point == point):
            return each
    raise InputError(f"no step {name!r} was carried out")


def ratio(one: float | None, other: float | None) -> float | None:
    """The ratio, or None if either was not measured or `other` is 0."""
    return one / other if one is not None and other else None
