"""Where a drive stands among others: distributions of what thousands of drives in the field report, by model.

`field.parquet` is made from reports of the EnterpriseDrive collection of linuxhw (CC BY 4.0), by `ssdlab atlas build`.
"""
