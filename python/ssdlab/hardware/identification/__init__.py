"""Builds a model of a drive from the outside: experiments on a black box, and a drive file that explains the results.

A `box.Box` runs jobs and returns completed requests; no code here has access to its interior. `boxes/` wraps a
simulated drive, a real device or a file as a box. Each file in `experiments/` is one experiment: the requests that it
sends, the values that it infers, and their possible error. `identify.py` runs the experiments in order, `drive.py`
builds the drive file, `output.py` writes the files and the report.
"""
