"""The study's steps as a model for a fit: takes values of keys and returns the seconds of the readings."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.internal_fragmentation.drives import CELLS, Fragmented
from ssdlab.experiments.studies.internal_fragmentation.reading import SCALE, readings, specification
from ssdlab.simulator.drives import resolve
from ssdlab.simulator.targets import simulated

if TYPE_CHECKING:
    from ssdlab.experiments.advice.fit import Model
    from ssdlab.simulator.drives import DriveFile


def model(drive: "DriveFile", each: Fragmented, cells: Sequence[str]) -> "Model":
    """A function that returns the seconds of these cells for values of the keys that are free in `each`; each call runs
    the engine."""

    def seconds(values: Sequence[float]) -> list[float]:
        found = {key.name: repr(float(value)) for key, value in zip(each.free, values, strict=True)}
        settings = {**each.as_read, **found}
        result = simulated.run(specification(resolve(drive, settings=settings, scale=Fraction(SCALE))))
        taken = readings(result).cells
        return [taken[CELLS.index(cell)] for cell in cells]

    return seconds
