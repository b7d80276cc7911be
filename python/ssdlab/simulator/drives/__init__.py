"""Drive models: the format of drive files, the catalogue, and resolving a drive for a run.

`load` reads a file, `resolve` applies the changes of an experiment; the other names are types that these return.
"""

from ssdlab.simulator.drives.loader import load, names
from ssdlab.simulator.drives.resolve import ResolvedDrive, drive, left_empty_sentences, resolve
from ssdlab.simulator.drives.schema import DriveFile, Source

__all__ = [
    "DriveFile",
    "ResolvedDrive",
    "Source",
    "drive",
    "left_empty_sentences",
    "load",
    "names",
    "resolve",
]
