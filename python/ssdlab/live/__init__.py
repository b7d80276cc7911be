"""The live page: a drive at work, seen in a browser on this machine and changed while it runs.

`session` keeps drives at work. `workbench` is what the page steers: drives and workloads, written down as one growing
job file, so that every session is a command line too. `guard` says who is answered, `server` answers, and `page/` is
what the browser runs.
"""
