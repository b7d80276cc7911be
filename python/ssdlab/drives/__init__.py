"""Drive models: the language of drive files, the catalogue, and how a drive is resolved for a run.

`load` reads a file, `resolve` applies what an experiment varies; the rest is what these give back.
"""

from ssdlab.drives.loader import load, names
from ssdlab.drives.resolve import ResolvedDrive, drive, resolve
from ssdlab.drives.schema import DriveFile, Source
from ssdlab.drives.writer import new_file, to_toml

__all__ = ["DriveFile", "ResolvedDrive", "Source", "drive", "load", "names", "new_file", "resolve", "to_toml"]
