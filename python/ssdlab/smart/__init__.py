"""What real drives say of themselves: counters of host and NAND writes from `smartctl -j` and nvme-cli's OCP log.

`families.toml` says which attribute of which family counts what, in which unit and on whose word; `reading` reads a
report, `change` compares two of them.
"""
