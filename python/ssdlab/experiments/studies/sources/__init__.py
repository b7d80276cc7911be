"""Every claim, procedure, number and question of the five documents that the laboratory exists to repeat, line by line.

`claims.toml` has the lines: what the document says, in our words, the command that shows it, and the rows, pictures and
tables of the study that do. The verdict of a line is that of its rows, never a text of the file: `lines.py`. For a page
without a run, `judged.csv` has the rows of one (`tools/judged_rows.py`).
"""

from ssdlab.experiments.studies.sources.judged import Judged, judge, kept
from ssdlab.experiments.studies.sources.lines import Document, Line, counted, documents

__all__ = ["Document", "Judged", "Line", "counted", "documents", "judge", "kept"]
