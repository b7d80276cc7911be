"""Protocols: standard experiments as data, with the same steps on simulated and on real drives.

A protocol is a file of `catalogue/` with one object `PROTOCOL` (`contract.Protocol`) and a line in `registry.py`. It
has points, each a series of steps that starts on a purged drive: fio jobs, idle time, or a file-system script.
`simulated` runs them on a drive of the catalogue, `device` on a real one, step by step and resumable. `figures` has the
results of a step for both, `output` prints and writes them.
"""
