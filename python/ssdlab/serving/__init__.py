"""Simulated drives that real programs use: as a file (FUSE), as a loop device, over NBD.

`drive` opens one and reports its state, `mounting` and `loop` present it to programs, `guardian` cleans up after a
process that was killed. The requests themselves never touch Python: `crates/blockdev` serves them.
"""
