"""What is the matter with a file or drive, without changing it: where it lies, how fast it reads in order, TRIM.

`extents` and `space_map` ask the file system where data lie, `read_speed` reads them in order, `clock` times that in
the drive's own time where it is simulated, `trim` finds out what a drive does with trims, `check` draws conclusions.
"""
