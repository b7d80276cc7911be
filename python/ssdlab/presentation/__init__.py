"""Results as people see them: `report` has pages, pictures and tables, `terminal` tables that fit a terminal.

Promise: the input is plain data. No drive, job, engine or result is known here, so that a simulated drive, a real one
and a fleet are drawn by the same code. Users get self-contained HTML pages, SVG and PNG pictures, and tables.

Imports from: foundation, evidence.
"""
