"""The reports of a single drive, in whatever form `ssdlab health` takes them, in chronological order."""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.errors import InputError
from ssdlab.field.health import contents, drive
from ssdlab.field.health.drive import Row
from ssdlab.field.health.survey import is_device
from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.smart import formats, reading
from ssdlab.hardware.smart.formats.nvme_cli import LOGS
from ssdlab.hardware.smart.reading import Reading


@dataclass(frozen=True)
class Report:
    """A reading and its row."""

    reading: Reading
    row: Row


def reports_of(places: Sequence[str], log_place: str | None = None) -> list[Report]:
    """The reports in files, folders and archives, or standard input. `log_place` is a file with a log that belongs to
    each of them.

    Raises InputError if a place cannot be read, has none or is a device, which has no past.
    """
    device = next((place for place in places if is_device(place)), None)
    if device:
        raise InputError(f"{device}: is a device; give files with its reports, as of smartctl -x {device} > FILE")
    logs: JsonObject = {}
    for content in contents.found([log_place]) if log_place else ():
        for part in formats.recognised(content.read(), content.name):
            logs |= {key: value for key, value in part.items() if key in LOGS}
    found = []
    for content in contents.found(list(places)):
        for part in formats.recognised(content.read(), content.name):
            parsed = reading.parse(part | logs, content.name)
            found.append(Report(parsed, drive.row_of(parsed, content.name)))
    if not found:
        raise InputError(f"{', '.join(places)}: contains no report")
    by_row = {id(report.row): report for report in found}
    return [by_row[id(row)] for row in drive.in_order(report.row for report in found)]


def row_of(rows: Sequence[Row], where: str, else_use: str) -> Row:
    """The row of the drive that all reports are of. Reports without a serial number are of it if the model is the same.

    Raises InputError if they are of several drives, with the command to use instead, or if a counter fell.
    """
    serials = {row["serial"] for row in rows if row["serial"]}
    if len({row["model"] for row in rows}) > 1 or len(serials) > 1:
        raise InputError(f"{where}: contains reports of several drives; use {else_use}")
    fallen = drive.fall_of(rows)
    if fallen:
        raise InputError(
            f"{where}: counters fell between the reports: {fallen}. Either they began anew, or a clock was wrong and "
            "the reports are in the wrong order, or they are of two drives; give those on one side of it"
        )
    return drive.combined(rows)
