"""The simulated drive: from a job file and a drive file to a result.

Promise: the same specification and seed give the same bytes, on any machine and with any number of workers. `drives`
is the language of drive files, with the catalogue; `workloads` are the languages of jobs, scripts, databases and
traces; `specification` is both, fully resolved; `engine` alone calls the native module; `targets` runs one
specification and `runs` many in worker processes; `results` is what a run gave, in fio's JSON schema. Users get
`ssdlab.drive`, `ssdlab.specify`, `ssdlab.run` and `ssdlab.run_many`.

Imports from: foundation, evidence, presentation.
"""
