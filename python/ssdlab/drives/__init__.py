"""Drive models: the language of drive files, the catalogue, and how a drive is resolved for a run.

`load` reads a file, `resolve` applies what an experiment varies; the rest is what these give back.
"""

from ssdlab.drives.capacity import Capacity
from ssdlab.drives.loader import load, names
from ssdlab.drives.resolve import ResolvedDrive, resolve
from ssdlab.drives.schema import DriveFile, Source
from ssdlab.drives.writer import to_toml

__all__ = ["Capacity", "DriveFile", "ResolvedDrive", "Source", "load", "names", "resolve", "to_toml"]
