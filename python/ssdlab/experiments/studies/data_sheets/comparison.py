"""Compares every row of every data sheet that the simulator can answer, with a picture of the deviations."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, StudyResult, Table
from ssdlab.experiments.studies.data_sheets import simulating
from ssdlab.foundation.quantities import format_bytes_binary, format_count, format_share, rounded
from ssdlab.simulator.drives import load, names
from ssdlab.simulator.drives.data_sheet import SPEEDS, Rated
from ssdlab.simulator.drives.standing import NEAR, TOLERANCE

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.drives import DriveFile


def run(context: Context, drive: str | None = None) -> StudyResult:
    """Simulates every row: of one drive, a name or a file, or of all drives of the catalogue.

    Raises InputError if the drive has no data sheet.
    """
    files = [load(drive)] if drive else [load(name) for name in names()]
    rows = compare(context, files)
    if not rows:
        raise InputError(
            f"{drive}: has no row of [datasheet] that can be simulated; docs/simulate/fitting.md shows how to write one"
        )
    return StudyResult(
        finding=finding(rows),
        rows=rows,
        figures=[_picture(rows)],
        tables=[_by_drive(rows), _facts(files)],
        notes=[
            "A row is fitted if a value of the drive's file was chosen with it in view; the others are predictions.",
            "Another drive, also a file of your own: ssdlab study data-sheets --drive NAME|FILE.",
        ],
    )


def compare(context: Context, files: "Sequence[DriveFile]") -> list[Row]:
    """Every row of the drives' data sheets, rated and simulated."""
    return [_row(file, row, value) for (file, row), value in simulate(context, files)]


def simulate(context: Context, files: "Sequence[DriveFile]") -> "list[tuple[tuple[DriveFile, Rated], float]]":
    """The simulated value of each row of each drive, in order."""
    asked = [(file, row) for file in files for row in file.data_sheet if row.quantity in SPEEDS]
    specifications = {
        f"{file.name}: {label(row, file)}": simulating.specify(
            simulating.resolved(file, row, full=context.full), row, seed=context.seed
        )
        for file, row in asked
    }
    results = context.simulate(specifications)
    return [
        ((file, row), simulating.simulated(result, row))
        for (file, row), result in zip(asked, results.values(), strict=True)
    ]


def label(row: Rated, file: "DriveFile") -> str:
    """The quantity and its condition in a few words."""
    block, depth = simulating.condition(row, file)
    state = "" if "read" in row.quantity and row.state == "filled" else f", {row.state}"
    return f"{row.quantity}, {format_bytes_binary(block)}, depth {format_count(depth)}{state}"


def _row(file: "DriveFile", row: Rated, value: float) -> Row:
    points = sum(bool(set(other.fitted) & set(row.fitted)) for other in file.data_sheet)
    return Row(
        label(row, file),
        float(row.value),
        value,
        row.unit,
        tolerance=TOLERANCE,
        fitted=Fitted(row.fitted, points) if row.fitted else None,
        group=file.name,
        note=row.source,
    )


def finding(rows: Sequence[Row]) -> str:
    """How many rows are met, in a sentence."""
    off = [abs(row.deviation or 0.0) for row in rows]
    within = sum(each <= NEAR for each in off)
    tolerated = sum(each <= TOLERANCE for each in off)
    drives = len({row.group for row in rows})
    fitted = sum(row.fitted is not None and row.fitted.is_saturated for row in rows)
    said = "1 of the rows was fitted to, and tests" if fitted == 1 else f"{fitted} of the rows were fitted to, and test"
    of_fitted = f" {said} nothing." if fitted else ""
    return (
        f"{within} of {len(rows)} rows of the data sheets of {drives} drive{'s' if drives > 1 else ''} are met within"
        f" {format_share(NEAR)}, {tolerated} within {format_share(TOLERANCE)}; the median deviation is"
        f" {100 * statistics.median(off):.0f} %.{of_fitted}"
    )


def _by_drive(rows: Sequence[Row]) -> Table:
    cells: list[list[str | float]] = []
    for name in dict.fromkeys(row.group for row in rows):
        off = {row.what: abs(row.deviation or 0.0) for row in rows if row.group == name}
        worst = max(off, key=lambda what: off[what])
        near, tolerated = (sum(each <= limit for each in off.values()) for limit in (NEAR, TOLERANCE))
        cells.append([name, f"{len(off)}", f"{near}", f"{tolerated}", f"{100 * off[worst]:.0f} %, {worst}"])
    return Table("Drives", ("drive", "rows", "within 10 %", "within 15 %", "worst"), cells)


def _facts(files: "Sequence[DriveFile]") -> Table:
    cells = [
        [file.name, row.quantity, _fact(row), row.source]
        for file in files
        for row in file.data_sheet
        if row.quantity not in SPEEDS
    ]
    return Table("Rows that are not simulated", ("drive", "quantity", "value", "source"), cells, sentences=(3,))


def _fact(row: Rated) -> str:
    if isinstance(row.value, bool):
        return "yes" if row.value else "no"
    return f"{rounded(row.value, 6)} {row.unit}"


def _picture(rows: Sequence[Row]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    by_unit: Mapping[str, list[tuple[float, float]]] = {
        unit: [(float(row.published), row.simulated) for row in rows if row.unit == unit and _is_drawn(row)]  # type: ignore[arg-type, misc]
        for unit in dict.fromkeys(row.unit for row in rows)
    }
    every = [value for points in by_unit.values() for point in points for value in point]
    ends = [(min(every), min(every)), (max(every), max(every))]
    return published_lines(
        name="rated-and-simulated",
        title="Each row of a data sheet, rated and simulated: on the diagonal they agree",
        caption="MB/s of sequential requests, IOPS of random ones, microseconds of latencies at depth 1.",
        lines=[Line("agreement", ends)],
        marks=[Marks(unit, points) for unit, points in by_unit.items() if points],
        x_title="rated",
        y_title="simulated",
        scale="log",
        scale_x="log",
    )


def _is_drawn(row: Row) -> bool:
    return isinstance(row.published, float) and row.simulated is not None
