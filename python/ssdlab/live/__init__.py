"""The live page: a running drive, shown in a browser on this machine and changed while it runs.

`session` runs the drives. `workbench` is controlled by the page: drives and workloads, recorded as one growing job
file, so that every session is also a command line. `guard` authorises requests, `server` answers them, and `page/` is
the code in the browser.

Promise: the page shows what the engine computed, the same as `ssdlab run` to the last digit. Users get `ssdlab live`.

Imports from: foundation, evidence, presentation, simulator, theory, serving, experiments.
"""
