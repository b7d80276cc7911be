"""Compares every published figure of the real drives with the simulated one, with a picture of all on a diagonal."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, StudyResult, Table, Verdict, published
from ssdlab.experiments.studies.real_drives import fitted, loads, measuring
from ssdlab.experiments.studies.real_drives.loads import FOLDER
from ssdlab.experiments.studies.real_drives.measuring import Measured
from ssdlab.simulator.drives import load

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure

FIGURES = published(FOLDER / "figures.csv")
UNITS = {"host_write_mib_s": "MiB/s", "datasheet_mib_s": "MiB/s", "waf": ""}
"""Units by figure; shares of reads are in percent, all others in microseconds."""
SHARE, RATIO = "reads_over_", "ratio_of_reads_over_"
"""Percent of the reads above so many microseconds; and the ratio to the same with the most space in use."""
_DRAWN_MIN = 0.01
"""Shares simulated below this many percent are left out of the picture, whose axes they would stretch."""
_GIB = 1 << 30
Key = tuple[str, str, str]
"""Drive, GiB in use and workload, which identify one run."""


def run(context: Context) -> StudyResult:
    """Simulates all runs and returns the rows, with the largest deviation first within each kind of figure."""
    measured = _measured(context, list(dict.fromkeys(_key(figure) for figure in FIGURES)))
    fits = _fits()
    rows = [_row(figure, _value(figure, measured), fits) for figure in FIGURES]
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
        drive, asked = load(name), loads.parse(workload)
        scale = None if context.full else measuring.scale_of(drive, asked)
        specifications[f"{name}, {in_use_gib} GiB in use, {workload}"] = measuring.specify(
            drive, asked, int(in_use_gib) * _GIB, seed=context.seed, scale=scale
        )
    results = context.simulate(specifications)
    return {
        key: measuring.measured(result, loads.parse(key[2])) for key, result in zip(keys, results.values(), strict=True)
    }


THROUGHPUT, INITIAL_STATE = "Steady writes, 4 KiB", "State before the writes, write amplification"
DATA_SHEET = "Data sheets, sequential and uniform writes"
ZONES, LATENCY = "Zones kept by the host, write amplification", "Latency under load"
ACT = "Aerospike's ACT, slow reads"
_ORDER = (THROUGHPUT, INITIAL_STATE, DATA_SHEET, ZONES, ACT, LATENCY)


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
        case "act":
            return ACT
        case "writes":
            return {"waf": INITIAL_STATE, "datasheet_mib_s": DATA_SHEET}.get(figure["figure"], THROUGHPUT)


def _row(figure: Mapping[str, str], simulated: float | None, fits: Mapping[tuple[str, str], Fitted]) -> Row:
    drive, in_use_gib, workload = _key(figure)
    is_fitted = figure["fitted"] == "yes"
    group = _group(figure)
    return Row(
        f"{drive}, {in_use_gib} GiB, {workload}{_which(figure['figure'])}",
        float(figure["value"]),
        simulated,
        _unit(figure["figure"]),
        tolerance=float(figure["tolerance"]),
        fitted=fits.get((drive, group)),
        is_left_out=not is_fitted,
        group=group,
        note=_note(figure["figure"], simulated, is_fitted=is_fitted),
    )


def _note(figure: str, simulated: float | None, *, is_fitted: bool) -> str:
    if simulated is None and figure.startswith(RATIO):
        return "no read of the simulation is that slow"
    return "" if is_fitted else "predicted"


def _which(figure: str) -> str:
    """What the label of a row adds to its workload."""
    if figure in UNITS:
        return ""
    words = figure.removesuffix("_us").replace("_", " ")
    return f", {words} us" if SHARE in figure else f", {figure.removesuffix('_us')}"


def _unit(figure: str) -> str:
    if figure.startswith(RATIO):
        return ""
    return "%" if figure.startswith(SHARE) else UNITS.get(figure, "us")


def _value(figure: Mapping[str, str], measured: Mapping[Key, Measured]) -> float | None:
    """The simulated value of a figure."""
    key, name = _key(figure), figure["figure"]
    found = measured[key]
    if name in ("host_write_mib_s", "datasheet_mib_s"):
        return found.host_write_mib_s
    if name == "waf":
        return found.waf
    if SHARE in name:
        us = name.removesuffix("_us").rpartition("_")[2]
        share = (found.reads_over_us or {}).get(us)
        if name.startswith(SHARE):
            return share
        most = max((other for other in measured if (other[0], other[2]) == (key[0], key[2])), key=lambda of: int(of[1]))
        of_most = (measured[most].reads_over_us or {}).get(us)
        return share / of_most if share is not None and of_most else None
    direction, _, rank = name.removesuffix("_us").partition("_")
    of = found.read_us if direction == "read" else found.write_us
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
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    at = {
        group: [
            (float(row.published), row.simulated)
            for row in rows
            if row.group == group
            and isinstance(row.published, float)
            and row.simulated is not None
            and row.simulated >= _DRAWN_MIN
        ]
        for group in _ORDER
    }
    every = [value for points in at.values() for point in points for value in point]
    ends = [(min(every), min(every)), (max(every), max(every))]
    return published_lines(
        name="simulated-against-measured",
        title="Each figure of a real drive, measured and simulated: on the diagonal they agree",
        caption="MiB/s of steady writes, write amplification of initial states and zones, percent of slow reads, "
        "microseconds of latencies, fitted and predicted together. "
        f"Shares of slow reads simulated below {_DRAWN_MIN} % are not drawn.",
        lines=[Line("agreement", ends)],
        marks=[Marks(group, points) for group, points in at.items() if points],
        x_title="measured",
        y_title="simulated",
        scale="log",
        scale_x="log",
    )
