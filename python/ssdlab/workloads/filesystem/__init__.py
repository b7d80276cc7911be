"""File-system workloads: scripts of files written, copied, removed, trimmed, and sysbench's fileio, as jobs.

`parse(text)` gives a `Script`, which resolves to the engine's jobs as a fio job file does. `volume.py` lays files out
as ext4 does, `session.py` carries the script out on such a volume, `requests.py` makes the jobs.
"""

from ssdlab.workloads.filesystem.script import Script, load, parse

__all__ = ["Script", "load", "parse"]
