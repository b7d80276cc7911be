"""Health data of real drives: counters of host and NAND writes from `smartctl -j` and nvme-cli's OCP log.

`families.toml` lists, per drive family, the attributes that count writes, their units and their sources. `reading`
reads a report, `change` compares two reports.
"""
