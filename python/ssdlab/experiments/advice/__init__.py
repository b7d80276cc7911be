"""How much spare area does a workload need? The smallest that meets the user's limits, with the runs that show it.

`limits` are the user's limits, `described` and `recorded` the workloads, `setting` the drive. `trials` executes runs at
given spare areas and stores them as evidence, `search` finds the smallest spare area that meets the limits,
`alternatives` are further options, `words` makes the text and `page` the page. `fit`, `fit_drive` and `fit_measured`
find the values of a drive file that reproduce measurements.
"""
