"""Health reports of any number of drives: reads and judges them, and outputs a table, a page, data and metrics.

`contents` finds reports in files, folders and archives, `scanning` reads them in several processes, `drive` judges a
single report, `survey` combines the reports of a drive. `ssdlab.hardware.smart` interprets the attributes.
"""
