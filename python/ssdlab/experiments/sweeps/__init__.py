"""Many runs over a space of drives, spare areas, policies, workloads and seeds; each result is stored by its hash.

`file` reads the sweep file, `points` makes the points of its space, `plan` turns points into specifications, `dataset`
stores results, `execution` executes missing runs, locally or on a cluster (`cluster`), `pictures` draws.
"""
