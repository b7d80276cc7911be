"""Reports as people paste them: the files in `cases`, and texts made from a few values. All serial numbers are
invented."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ssdlab.field.health.drive import row_of
from ssdlab.hardware.smart import formats, reading

CASES = Path(__file__).parent / "cases"

Attribute = tuple[int, str, int, str]
"""Number, smartctl's name, normalized value, raw value."""


def rows(data: str | bytes, where: str = "paste") -> list[dict[str, Any]]:
    """The drives of a text, as `ssdlab health` reads them."""
    content = data.encode() if isinstance(data, str) else data
    return [row_of(reading.parse(report, where), where) for report in formats.recognised(content, where)]


def case(name: str) -> bytes:
    """The content of the file in `cases` that begins with the name."""
    (path,) = CASES.glob(f"{name}-*")
    return path.read_bytes()


def attribute_lines(attributes: Sequence[Attribute]) -> str:
    """The lines of smartctl's table of attributes, without its head."""
    return "".join(
        f"{number:3} {name:<23} 0x0032   {level:03}   {level:03}   000    Old_age   Always       -       {raw}\n"
        for number, name, level, raw in attributes
    )


HEAD = "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE\n"


def unknown_drive(model: str, firmware: str, attributes: Sequence[Attribute], wwn: str = "5 000000 000000000") -> str:
    """smartctl's text of a drive that its database does not know."""
    return f"""smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.15.0] (local build)

=== START OF INFORMATION SECTION ===
Device Model:     {model}
Serial Number:    SN00001
LU WWN Device Id: {wwn}
Firmware Version: {firmware}
User Capacity:    480,103,981,056 bytes [480 GB]
Sector Size:      512 bytes logical/physical
Rotation Rate:    Solid State Device
Device is:        Not in smartctl database 7.3/5319
Local Time is:    Tue Jan  9 10:00:00 2024 UTC

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

{HEAD}{attribute_lines([(9, "Power_On_Hours", 100, "9000"), *attributes])}"""
