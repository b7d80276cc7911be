"""Recorded block traces: what they contain, and how one is replayed on a simulated drive.

`recording` finds the files and their volumes, `specification` describes a repeatable replay, `profile` describes a
trace without a drive. The native module reads and places the requests.
"""
