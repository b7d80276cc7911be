"""How much spare area does a workload need? The least that holds the user's limits, with the runs that say so.

`limits` are what the user wants held, `workload` what is run, `trials` runs it at spare areas and keeps the evidence,
`search` finds the least that holds, `alternatives` are the what-ifs, `words` says it, `page` draws it.
"""
