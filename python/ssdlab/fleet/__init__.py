"""Many volumes, each on a drive of its own or packed on shared ones: what they wear, how long they last, which matter.

`volumes` finds them, `requests` turns a Parquet data set into traces, `packing` places them, `plan` says the runs,
`summary` counts, `page` draws. The runs themselves are a sweep's: kept under their hashes, here or on a cluster.
"""
