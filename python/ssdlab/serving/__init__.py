"""Simulated drives that real programs use: as a file (FUSE), as a loop device, over NBD.

`drive` opens one and tells how it is, `mounting` and `loop` put it before programs, `guardian` cleans up after a
process that was killed. The requests themselves never touch Python: `crates/blockdev` serves them.
"""
