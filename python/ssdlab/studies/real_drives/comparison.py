"""Compares every published figure of the real drives with the simulated one, with a picture of all on a diagonal."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ssdlab.drives import load
from ssdlab.studies.context import Context
from ssdlab.studies.contract import Fitted, Row, StudyResult, Table, Verdict, published
from ssdlab.studies.real_drives import fitted, loads, measuring
from ssdlab.studies.real_drives.loads import FOLDER
from ssdlab.studies.real_drives.measuring import Measured

if TYPE_CHECKING:
    from ssdlab.report.figure import Figure

FIGURES = published(FOLDER / "figures.csv")
UNITS = {"host_write_mib_s": "MiB/s", "datasheet_mib_s": "MiB/s", "waf": ""}
"""Units by figure; all others are in microseconds."""
_GIB = 1 << 30
Key = tuple[str, str, str]
"""Drive, GiB in use and workload, which identify one run."""


def run(context: Context) -> StudyResult:
    """Simulates all runs and returns the rows, with the largest deviation first within each kind of figure."""
    measured = _measured(context, list(dict.fromkeys(_key(figure) for figure in FIGURES)))
    fits = _fits()
    rows = [_row(figure, measured[_key(figure)], fits) for figure in FIGURES]
    rows.sort(key=lambda row: (_ORDER.index(row.group), -abs(row.deviation or 0.0)))
    return StudyResult(
        finding=_finding(rows),
        rows=rows,
        figures=[_diagonal(rows)],
        tables=[_errors(rows), _degrees_of_freedom(fits)],
        notes=[
            "A figure is a prediction unless the drive's file was fitted to it. Numbers and choices (placement, "
            "victim) count as parameters alike. The 7450 MAX has the parameters of the 7450 PRO.",
            "Compare your own measurement: ssdlab study real-drives --drive NAME --workload WORKLOAD --in-use SIZE.",
        ],
    )


def _key(figure: Mapping[str, str]) -> Key:
    return figure["drive"], figure["in_use_gib"], figure["workload"]


def _measured(context: Context, keys: Sequence[Key]) -> dict[Key, Measured]:
    specifications = {}
    for name, in_use_gib, workload in keys:
        drive = load(name)
        scale = None if context.full else measuring.scale_of(drive)
        specifications[f"{name}, {in_use_gib} GiB in use, {workload}"] = measuring.specify(
            drive, loads.parse(workload), int(in_use_gib) * _GIB, seed=context.seed, scale=scale
        )
    results = context.simulate(specifications)
    return {
        key: measuring.measured(result, loads.parse(key[2])) for key, result in zip(keys, results.values(), strict=True)
    }


THROUGHPUT, INITIAL_STATE = "Steady writes, 4 KiB", "State before the writes, write amplification"
DATA_SHEET = "Data sheets, sequential and uniform writes"
ZONES, LATENCY = "Zones kept by the host, write amplification", "Latency under load"
_ORDER = (THROUGHPUT, INITIAL_STATE, DATA_SHEET, ZONES, LATENCY)


def _fits() -> dict[tuple[str, str], Fitted]:
    """The parameters and the number of figures they were fitted to, by drive and group of figures."""
    parameters: dict[str, Mapping[str, tuple[str, ...]]] = {
        THROUGHPUT: fitted.THROUGHPUT,
        INITIAL_STATE: fitted.INITIAL_STATE,
        DATA_SHEET: fitted.DATA_SHEET,
        LATENCY: fitted.LATENCY,
    }
    marked = [(figure["drive"], _group(figure)) for figure in FIGURES if figure["fitted"] == "yes"]
    return {
        (drive, group): Fitted(names, marked.count((drive, group)))
        for group, drives in parameters.items()
        for drive, names in drives.items()
        if names
    }


def _group(figure: Mapping[str, str]) -> str:
    match loads.parse(figure["workload"]).kind:
        case "zones":
            return ZONES
        case "latency":
            return LATENCY
        case "writes":
            return {"waf": INITIAL_STATE, "datasheet_mib_s": DATA_SHEET}.get(figure["figure"], THROUGHPUT)


def _row(figure: Mapping[str, str], measured: Measured, fits: Mapping[tuple[str, str], Fitted]) -> Row:
    drive, in_use_gib, workload = _key(figure)
    is_fitted = figure["fitted"] == "yes"
    group = _group(figure)
    rank = "" if group != LATENCY else f", {figure['figure'].removesuffix('_us')}"
    return Row(
        f"{drive}, {in_use_gib} GiB, {workload}{rank}",
        float(figure["value"]),
        _value(measured, figure["figure"]),
        UNITS.get(figure["figure"], "us"),
        tolerance=float(figure["tolerance"]),
        fitted=fits.get((drive, group)),
        is_left_out=not is_fitted,
        group=group,
        note="" if is_fitted else "predicted",
    )


def _value(measured: Measured, figure: str) -> float | None:
    direction, _, rank = figure.removesuffix("_us").partition("_")
    match figure:
        case "host_write_mib_s" | "datasheet_mib_s":
            return measured.host_write_mib_s
        case "waf":
            return measured.waf
        case _:
            of = measured.read_us if direction == "read" else measured.write_us
            return None if of is None else of[rank]


def _finding(rows: Sequence[Row]) -> str:
    predicted = [abs(row.deviation or 0.0) for row in rows if row.group == THROUGHPUT and row.is_left_out]
    if not predicted:
        return "No throughput was predicted."
    met = sum(row.verdict is Verdict.MET for row in rows if row.group == LATENCY)
    latencies = sum(row.group == LATENCY for row in rows)
    return (
        f"The throughputs that no drive file was fitted to ({len(predicted)}) come within "
        f"{100 * statistics.median(predicted):.1f} % (median) and {100 * max(predicted):.1f} % (worst); of {latencies} "
        f"latencies {met} are within their tolerance."
    )


def _errors(rows: Sequence[Row]) -> Table:
    cells: list[Sequence[str | float | None]] = []
    for group in _ORDER:
        for what, is_left_out in (("fitted", False), ("predicted", True)):
            errors = [
                100 * abs(row.deviation or 0.0) for row in rows if (row.group, row.is_left_out) == (group, is_left_out)
            ]
            if errors:
                cells.append((group, what, f"{len(errors)}", statistics.median(errors), max(errors)))
    return Table("Errors", ("figures", "fitted or predicted", "count", "median, %", "worst, %"), cells)


def _degrees_of_freedom(fits: Mapping[tuple[str, str], Fitted]) -> Table:
    cells: list[Sequence[str | float | None]] = [
        (drive, group, f"{fit.points}", f"{len(fit.parameters)}", ", ".join(fit.parameters))
        for (drive, group), fit in fits.items()
    ]
    return Table(
        "What was fitted to how many figures",
        ("drive", "figures", "count", "parameters", "which"),
        cells,
        "With as many parameters as figures the agreement with these figures says nothing of the model.",
    )


def _diagonal(rows: Sequence[Row]) -> "Figure":
    from ssdlab.report.charts.published import Line, Marks, published_lines

    at = {
        group: [
            (float(row.published), row.simulated)
            for row in rows
            if row.group == group and row.simulated and isinstance(row.published, float)
        ]
        for group in _ORDER
    }
    every = [value for points in at.values() for point in points for value in point]
    ends = [(min(every), min(every)), (max(every), max(every))]
    return published_lines(
        name="simulated-against-measured",
        title="Each figure of a real drive, measured and simulated: on the diagonal they agree",
        caption="MiB/s of steady writes, write amplification of initial states and zones, microseconds of latencies, "
        "fitted and predicted together.",
        lines=[Line("agreement", ends)],
        marks=[Marks(group, points) for group, points in at.items() if points],
        x_title="measured",
        y_title="simulated",
        scale="log",
        scale_x="log",
    )
