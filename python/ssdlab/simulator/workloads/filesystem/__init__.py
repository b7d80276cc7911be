"""File-system workloads as jobs: scripts that write, copy, remove and trim files, and sysbench's fileio.

`parse(text)` returns a `Script`, which resolves to jobs of the engine, as a fio job file does. `volume.py` allocates
files as ext4 does, `session.py` executes the script on a volume, `requests.py` makes the jobs.
"""

from ssdlab.simulator.workloads.filesystem.script import Script, load, parse

__all__ = ["Script", "load", "parse"]
