"""The experiments, in the order of execution. Each file has one object `EXPERIMENT`."""

from ssdlab.hardware.identification.bench import Experiment
from ssdlab.hardware.identification.experiments import fill, overwrite, parallelism, random_writes, reads, write_buffer

EXPERIMENTS: tuple[Experiment, ...] = (
    fill.EXPERIMENT,
    reads.EXPERIMENT,
    parallelism.EXPERIMENT,
    write_buffer.EXPERIMENT,
    overwrite.EXPERIMENT,
    random_writes.EXPERIMENT,
)
