"""Simulated drives for real programs: as a file (FUSE), as a loop device, over NBD, or as an NVMe
controller.

`drive` opens a drive and reports its state, `mounting`, `loop`, `nbd` and `nvme` make it accessible to programs,
`guardian` cleans up after a killed process. Requests are served in `crates/blockdev`, without Python.

Promise: what was flushed is there after a loss of power or a kill. Users get `ssdlab.mount` and the commands `mount`
and `serve`.

Imports from: foundation, evidence, presentation, simulator, hardware.
"""
