"""Logs of rates: what `iostat`, `sar -d`, `collectl`, `zpool iostat`, `nmon`, Performance Monitor, readings of
/proc/diskstats and PostgreSQL's pg_stat_io say of a load.

They are no traces: they have numbers and sizes of requests for each interval, not their places. `log` is what all of
them give, `reading` recognises and reads them (a file for each program), `drawing` makes requests or
a job of them and says what is guessed.
"""
