"""Distributions of values that thousands of drives in the field report, by model, to compare a drive with others.

`field.parquet` is built from reports of the EnterpriseDrive collection of linuxhw (CC BY 4.0), by `ssdlab atlas build`.
"""
