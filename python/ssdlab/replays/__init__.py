"""Recorded traces replayed on drives: which runs a command asks for, what they gave, and what theory expects of them.

`plan` makes the runs, `variant` is one with its result, `theory` and `profile_text` describe a trace without a drive.
Reading traces is the part of `ssdlab.workloads.traces`.
"""
