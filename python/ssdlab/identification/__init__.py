"""A model of a drive from outside: experiments on a black box, and the drive file that explains what they show.

A `box.Box` takes jobs and gives completed requests; nothing here knows what is inside. `boxes/` makes one of a
simulated drive, of a real device or of a file. `experiments/` has a file each: what is asked of the box, what it shows,
and how far the value may be off. `identify.py` carries them out in order, `drive.py` makes the drive file, `output.py`
the files and the report.
"""
