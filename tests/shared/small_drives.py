"""Drive files of a single die for tests."""

_DRIVE = """
name = "{name}"
description = "for tests"
[nand]
cell = "slc"
channels = 1
dies_per_channel = 1
planes_per_die = 1
blocks_per_plane = {blocks}
pages_per_block = {pages}
page_bytes = 4096
read_us = 25.0
program_us = 200.0
erase_us = 1500.0
channel_mb_s = 200
endurance_cycles = 3000
[ftl]
user_bytes = {user_bytes}
mapping_unit_bytes = 4096
erase_unit = "block"
victim = "greedy"
placement = "single"
reserve_erase_units = 1
wear_leveling = "none"
spare_area = "dynamic"
[sources]
"nand.*" = {{ kind = "assumed", source = "made up for a test" }}
"ftl.*" = {{ kind = "assumed", source = "made up for a test" }}
"""


def drive_file(name: str, *, blocks: int, pages: int, user_bytes: int) -> str:
    """The text of a drive file with this number of blocks, and of pages of 4 KiB per block."""
    return _DRIVE.format(name=name, blocks=blocks, pages=pages, user_bytes=user_bytes)
