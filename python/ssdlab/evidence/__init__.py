"""What may be said of a figure: its interval, where that comes from, and whether two figures differ.

Every sentence that compares goes through `comparing`, so that pages, the terminal and Python say the same. Not for
drawing or printing.

Imports from: foundation.
"""

from ssdlab.evidence.estimate import Estimate

__all__ = ["Estimate"]
