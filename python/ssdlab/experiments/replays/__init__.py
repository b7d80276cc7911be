"""Replays of recorded traces on drives: the runs of a command, their results, and what theory predicts for them.

`plan` makes the runs, `variant` is one with its result, `theory` and `profile_text` describe a trace without a drive.
`ssdlab.simulator.workloads.traces` reads traces.
"""
