"""Real drives and files: measured, checked, rewritten and inferred from outside.

Promise: no data is destroyed without a claim (`safety`), and what cannot be measured is null, with a reason. `smart`
reads what drives count, `device` runs fio on a path and returns a result of the same form as a simulated one,
`diagnosis` looks without changing anything, `refresh` rewrites files and devices in place, `identification` infers a
drive file. Users get `ssdlab.measure` and the commands `measure`, `check`, `refresh` and `identify`.

Imports from: foundation, evidence, presentation, simulator.
"""
