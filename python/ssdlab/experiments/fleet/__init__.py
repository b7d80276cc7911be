"""Simulates many volumes, each on its own drive or packed on shared ones: their wear, their life, the most important.

`volumes` finds them, `requests` converts a Parquet data set to traces, `packing` assigns them to drives, `plan` creates
the runs, `summary` computes the figures, `page` draws. The runs are executed as a sweep, stored under their hashes, on
this machine or on a cluster.

For tenants, the namespaces of a drive with the jobs that use them, `tenants` creates the runs of shared and split
drives, `layouts` computes the figures, `layouts_page` draws.
"""
