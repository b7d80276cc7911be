"""Questions answered by many runs, on simulated and on real drives.

Promise: each run has a complete specification, so that any figure can be computed again. `comparison` puts variants
side by side, `protocols` are standard procedures as data, `replays` are recorded traces, `sweeps` are spaces of runs
that resume where they stopped, `advice` finds spare area, placement and the values of drive files, `studies` repeat
published experiments, `blame` finds the program and the writes that wear a drive, `fleet` simulates many volumes. Users
get `ssdlab.compare`, `replay`, `sweep`, `advise`, `fit` and `study`.

Imports from: foundation, evidence, presentation, simulator, theory, hardware, field.
"""
