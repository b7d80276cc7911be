"""Drives in the field: what many of them report, and what that says about one.

Promise: a report is only read, and unknown is a state of its own, never "fine". `health` finds, reads and judges
reports, as tables, pages and metrics; `atlas` has the distributions over drives in use; `wear_rate` is the remaining
life at the rate between two readings. Users get the commands `health`, `export`, `atlas` and `lifetime`.

Imports from: foundation, evidence, presentation, simulator, theory, hardware, serving.
"""
