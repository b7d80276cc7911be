"""Recorded block traces: what they hold, and a run that replays one on a simulated drive.

`recording` finds the files and their volumes, `specification` says a replay so that it can be run again, `profile`
describes a trace without a drive. Reading and placing requests is the native module's work.
"""
