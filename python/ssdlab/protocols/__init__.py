"""Protocols: the standard experiments on a drive as data, the same steps on simulated and on real ones.

A protocol is a file of `catalogue/` with one object `PROTOCOL` (`contract.Protocol`) and a line in `registry.py`. It
gives points, each a series of steps that begins on a purged drive: fio jobs, idle time, or a script of a file system.
`simulated` runs them on a drive of the catalogue, `device` on a real one, step by step and resumable; `figures` is what
both give of a step, `output` how it is printed and written.
"""
