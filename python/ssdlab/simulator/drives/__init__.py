"""Drive models: the format of drive files, the catalogue, and resolving a drive for a run.

`load` reads a file, `resolve` applies the changes of an experiment; the other names are types that these return.
"""

from ssdlab.simulator.drives.loader import load, names
from ssdlab.simulator.drives.resolve import ResolvedDrive, drive, resolve, said_of_left_empty
from ssdlab.simulator.drives.schema import DriveFile, Source
from ssdlab.simulator.drives.writer import new_file, to_toml

__all__ = [
    "DriveFile",
    "ResolvedDrive",
    "Source",
    "drive",
    "load",
    "names",
    "new_file",
    "resolve",
    "said_of_left_empty",
    "to_toml",
]
