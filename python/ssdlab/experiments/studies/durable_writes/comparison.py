"""Compares durable writes with the published ones: each within a factor, and the drives in their order."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Printed, Row, StudyResult, Table, published
from ssdlab.experiments.studies.data_sheets import simulating
from ssdlab.simulator.drives import load
from ssdlab.simulator.results.durability import took_us
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.host import with_host

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
FIGURES = published(FOLDER / "figures.csv")
FACTOR = 1.5
"""A simulated figure is met within this factor: the drives are of the same class, not the same products."""
WRITES = 2_000
"""Of each job: enough for a 99th percentile."""
TESTS: Mapping[str, Mapping[str, str]] = {
    "sync": {"BLOCK": "4k", "DIRECT": "1", "SYNC": "1", "FDATASYNC": "0"},
    "plain": {"BLOCK": "4k", "DIRECT": "1", "SYNC": "0", "FDATASYNC": "0"},
    "etcd": {"BLOCK": "2300", "DIRECT": "0", "SYNC": "0", "FDATASYNC": "1"},
}
_SAID = {"sync": "4 KiB, sync=1", "plain": "4 KiB, not durable", "etcd": "2,300 bytes, fdatasync after each"}


def run(context: Context) -> StudyResult:
    """Simulates each test once and returns the rows in the order of the figures."""
    asked = {label(figure): figure for figure in FIGURES}
    results = context.simulate({name: specify(context, figure) for name, figure in asked.items()})
    rows = [_row(figure, value(results[label(figure)], figure["quantity"])) for figure in FIGURES]
    return StudyResult(
        finding=_finding(rows),
        rows=rows,
        figures=[_picture(rows)],
        tables=[_flushes(results)],
        notes=[
            "No parameter is fitted: the drives are those of the catalogue, and every row is a prediction.",
            "ssdlab measure --protocol fsync asks the same of a drive of your own.",
        ],
    )


def label(figure: Mapping[str, str]) -> str:
    """The drive, the test and the number of jobs."""
    jobs = int(figure["jobs"])
    return f"{figure['drive']}, {_SAID[figure['test']]}, {jobs} job{'s' if jobs > 1 else ''}"


def specify(context: Context, figure: Mapping[str, str]) -> "Specification":
    """The run of a test, with the host's share of each command."""
    drive = simulating.resolved(load(figure["drive"]), full=context.full)
    # Counts of requests are scaled with the drive.
    writes = round(WRITES / drive.scale)
    variables = {**TESTS[figure["test"]], "JOBS": figure["jobs"], "WRITES": str(writes)}
    job = context.job(FOLDER / "writes.fio", **variables)
    return with_host(specifying.specify(job, drive, seed=context.seed), "linux")


def value(result: "Result", quantity: str) -> float | None:
    """A figure of the only job."""
    (job,) = result.jobs
    if quantity == "IOPS":
        return job.write.iops
    if quantity == "p99 of a flush":
        took = took_us(job.flush.latency)
        return took["p99"] if took else None
    latency = job.write.latency
    return None if latency is None or latency.mean_ns is None else latency.mean_ns / 1000


def _row(figure: Mapping[str, str], simulated: float | None) -> Row:
    measured = float(figure["value"])
    above = simulated is not None and simulated > measured
    return Row(
        f"{_SAID[figure['test']]}, {figure['jobs']} job{'s' if figure['jobs'] != '1' else ''}: {figure['quantity']}",
        measured,
        simulated,
        figure["unit"],
        tolerance=FACTOR - 1 if above else 1 - 1 / FACTOR,
        printed=cast(Printed, figure["printed"]),
        group=f"{figure['measured']}, simulated by {figure['drive']}",
        note=figure["source"],
    )


def _rates(rows: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """By group: the published and the simulated rate of durable writes of one job."""
    found: dict[str, tuple[float, float]] = {}
    for row in rows:
        if "1 job:" not in row.what or "not durable" in row.what or row.simulated is None:
            continue
        assert isinstance(row.published, float)
        if row.unit == "IOPS":
            found.setdefault(row.group, (row.published, row.simulated))
        elif row.what.endswith("mean of a write"):
            found.setdefault(row.group, (1e6 / row.published, 1e6 / row.simulated))
    return found


def in_order(rates: Mapping[str, tuple[float, float]]) -> bool:
    """Whether the drives come in the same order, published and simulated."""
    by_published, by_simulated = (sorted(rates, key=lambda name: rates[name][index]) for index in (0, 1))
    return by_published == by_simulated


def _finding(rows: Sequence[Row]) -> str:
    within = sum(row.is_within_tolerance is True for row in rows)
    missed = [f"{row.what} of {row.group.partition(',')[0]}" for row in rows if row.is_within_tolerance is False]
    rates = _rates(rows)
    order = "in the published order" if in_order(rates) else "not in the published order"
    return (
        f"{within} of {len(rows)} published figures are met within a factor of {FACTOR:g}, with no parameter fitted; "
        f"the {len(rates)} drives are {order} of durable writes a second"
        + (f". Missed: {'; '.join(missed)}." if missed else ".")
    )


def _flushes(results: "Mapping[str, Result]") -> Table:
    cells: list[list[str | float | None]] = []
    for name, result in results.items():
        (job,) = result.jobs
        written, parts = job.write.latency, job.waf
        took = took_us(job.flush.latency)
        mean = None if written is None or written.mean_ns is None else written.mean_ns / 1000
        cells.append([name, mean, *((took["mean"], took["p99"]) if took else (None, None)), parts])
    return Table(
        "What a write and a flush took",
        ("test", "write, mean us", "flush, mean us", "flush, 99 % us", "write amplification"),
        cells,
        "Write amplification counts the padding of partly filled program groups and the units of the map's journal.",
    )


def _picture(rows: Sequence[Row]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    group = rows[0].group
    points = [(row, float(row.what.partition("sync=1, ")[2].split()[0])) for row in rows if row.group == group]
    measured = [(jobs, cast(float, row.published) / 1000) for row, jobs in points]
    simulated = [(jobs, row.simulated / 1000) for row, jobs in points if row.simulated is not None]
    return published_lines(
        name="sync-writes-by-jobs",
        title="Durable writes a second of a drive with capacitors, by the number of jobs",
        caption=f"4 KiB with sync=1 on SATA: {group}.",
        lines=[Line("simulated", simulated)],
        marks=[Marks("measured", measured)],
        x_title="jobs",
        y_title="thousand writes a second",
    )
