"""fio job files: read, checked, and resolved into jobs of the engine.

`load(path)` returns a `JobFile`; its `resolve()` returns the jobs for the engine. The options are in `table.py`.
"""

from ssdlab.simulator.workloads.jobs.jobfile import JobFile, Section, load, parse
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.table import OPTIONS

__all__ = ["OPTIONS", "Effect", "JobFile", "Option", "Section", "load", "parse"]
