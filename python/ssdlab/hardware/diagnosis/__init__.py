"""Diagnoses a file or drive without changing it: the location of its data, its sequential read speed, TRIM.

`extents` and `space_map` query the file system for the location of data, `read_speed` reads in sequence, `clock`
selects the simulated drive's clock if there is one, `trim` reads the drive's TRIM behaviour, `check` draws conclusions.
"""
