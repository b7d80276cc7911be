"""Many runs over a space of drives, spare areas, policies, workloads and seeds; every result kept under its hash.

`file` reads the sweep file, `points` lays out its space, `plan` turns points into specifications, `dataset` keeps
results, `execution` runs what is missing, here or on a cluster (`cluster`), `pictures` draws.
"""
