"""How much spare area does a workload need? The least that holds the user's limits, with the runs that say so.

`limits` are what the user wants held, `described` and `recorded` what is run, `setting` the drive it runs on, `trials`
runs it at spare areas and keeps the evidence, `search` finds the least that holds, `alternatives` are the what-ifs,
`words` says it, `page` draws it. `fit`, `fit_drive` and `fit_measured` find the keys of a drive file that repeat what
was measured.
"""
