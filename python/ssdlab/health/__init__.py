"""What drives report of themselves, in any number: read, judged, laid out as a table, a page, data and metrics.

`contents` finds reports in files, folders and archives, `scanning` has them read by several processes, `drive` judges
one of them, `survey` brings together the reports of a drive. What an attribute means is `ssdlab.smart`'s work.
"""
