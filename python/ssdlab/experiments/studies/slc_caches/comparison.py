"""Compares second drops and mean rates with a law without a fit, and with the simulation."""

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Range, Row, StudyResult, Table, published
from ssdlab.experiments.studies.slc_caches import simulating
from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.drives import drive, load, names
from ssdlab.theory.slc_cache import fill_rate, phases_of, second_drop_bytes

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result

FIGURES = published(Path(__file__).parent / "figures.csv")
QLC, TLC = "generic-nvme-qlc-2000", "generic-nvme-tlc-1000"
TOLERANCE = 0.15
LAW, FILL = "Second drop by the law C - (b - 1) S, GB written", "Mean of the whole fill from its phases, MB/s"
DROP, THIRD = "Second drop, simulated, GB written", "Rate after the second drop, simulated, MB/s"

CACHE_SHARE, DROP_SHARE = "its cache, of the capacity", "second drop, of the capacity"


def run(context: Context) -> StudyResult:
    """Simulates the fill of each TLC drive whose review has a third rate, and of the generic QLC drive."""
    asked = [figure for figure in FIGURES if figure["third_mb_s"]]
    scale = None if context.full else simulating.SCALE
    specifications = {
        figure["drive"]: simulating.specify(simulating.resolved(reviewed(figure), scale), context.seed)
        for figure in asked
    }
    of_catalogue = [name for name in names() if load(name).has_slc_cache]
    specifications |= {name: simulating.specify(drive(name, scale=scale), context.seed) for name in of_catalogue}
    results = context.simulate(specifications)
    rows = [*_law_rows(), *_fill_rows(), *_simulated_rows(results), *_qlc_rows(results[QLC]), *_tlc_rows(results[TLC])]
    shown = [figure["drive"] for figure in asked] + [QLC]
    return StudyResult(
        finding=_finding(rows),
        rows=rows,
        figures=[_picture({name: simulating.rates(result) for name, result in results.items() if name in shown})],
        tables=[_catalogue_table({name: results[name] for name in of_catalogue})],
        notes=[
            "The law has no parameter. Of the simulated drives the cache and the first two rates are inputs, the flash "
            "kept erased is fitted to the three second drops, and the third rate is predicted.",
            "ssdlab measure --protocol slc-cache-size measures the same on a drive of your own.",
        ],
    )


def reviewed(figure: Mapping[str, str]) -> simulating.Reviewed:
    return simulating.Reviewed(
        float(figure["capacity_gb"]),
        int(figure["bits"]),
        float(figure["first_gb"]),
        float(figure["first_mb_s"]),
        float(figure["second_mb_s"]),
    )


def law_gb(figure: Mapping[str, str]) -> float | None:
    """The second drop by the law, in GB written."""
    of = reviewed(figure)
    return second_drop_bytes(of.capacity, of.cache, of.bits)


def fill_mb_s(figure: Mapping[str, str]) -> float:
    """The mean rate of the fill from its published phases; a second drop without a published place is by the law."""
    of = reviewed(figure)
    if not figure["third_mb_s"]:
        return fill_rate([(of.cache, of.first), (of.capacity - of.cache, of.second)])
    second = float(figure["second_gb"]) if figure["second_gb"] else law_gb(figure)
    assert second is not None, "a drive with three rates has room for three phases"
    ends = (of.cache, second - of.cache, of.capacity - second)
    return fill_rate(list(zip(ends, (of.first, of.second, float(figure["third_mb_s"])), strict=True)))


def _law_rows() -> list[Row]:
    return [
        Row(
            figure["drive"], float(figure["second_gb"]), law_gb(figure), "GB", tolerance=TOLERANCE, printed="text",
            group=LAW, note=figure["source"],
        )
        for figure in FIGURES
        if figure["second_gb"]
    ]  # fmt: skip


def _fill_rows() -> list[Row]:
    return [
        Row(
            figure["drive"], float(figure["fill_mb_s"]), fill_mb_s(figure), "MB/s", tolerance=TOLERANCE, printed="text",
            group=FILL, note=figure["source"],
        )
        for figure in FIGURES
        if figure["fill_mb_s"]
    ]  # fmt: skip


def _simulated_rows(results: "Mapping[str, Result]") -> list[Row]:
    drops, thirds = [], []
    with_drop = sum(bool(figure["second_gb"]) for figure in FIGURES)
    for figure in FIGURES:
        if figure["drive"] not in results:
            continue
        found = phases_of(simulating.rates(results[figure["drive"]]))
        has_third = len(found) > 2
        part_gb = float(figure["capacity_gb"]) / simulating.PARTS
        if figure["second_gb"]:
            end = part_gb * found[1].end if has_third else None
            fitted = Fitted(("ftl.reserved_bytes",), with_drop)
            drops.append(
                Row(
                    figure["drive"], float(figure["second_gb"]), end, "GB", tolerance=TOLERANCE, printed="text",
                    fitted=fitted, group=DROP, note=figure["source"],
                )
            )  # fmt: skip
        thirds.append(
            Row(
                figure["drive"], float(figure["third_mb_s"]), found[2].rate if has_third else None, "MB/s",
                tolerance=TOLERANCE, printed="text", group=THIRD, note=figure["source"],
            )
        )  # fmt: skip
    return [*drops, *thirds]


def _qlc_rows(result: "Result") -> list[Row]:
    """Past its cache the generic drive lies between the reviewed ones."""
    past = phases_of(simulating.rates(result))[1].rate
    known = [float(figure["second_mb_s"]) for figure in FIGURES if figure["bits"] == "4"]
    return [
        Row(
            QLC, Range(min(known), max(known)), past, "MB/s", tolerance=TOLERANCE, printed="text",
            fitted=Fitted(("nand.program_us",), len(known)), group="Past the cache of a QLC drive, MB/s",
            note="between Crucial P1 and Solidigm P41 Plus",
        )
    ]  # fmt: skip


def _tlc_rows(result: "Result") -> list[Row]:
    """Whether the generic TLC drive is in the middle of the reviewed ones: its rates, and the places of its drops."""

    def reviewed_ones(column: str, share_of: str | None = None) -> list[float]:
        own = [figure for figure in FIGURES if figure["bits"] == "3" and figure[column]]
        return [float(figure[column]) / (float(figure[share_of]) / 100 if share_of else 1) for figure in own]

    rates = simulating.rates(result)
    cache, direct, folding = phases_of(rates)[:3]
    step = 100 / simulating.PARTS
    group, note = "The generic TLC drive and the median of the reviewed ones", "no value was chosen for it"
    return [
        Row(
            f"{TLC}: {what}", statistics.median(known), simulated, unit, tolerance=TOLERANCE, printed="text",
            group=group, note=f"{note}; {len(known)} drives, {min(known):,.0f} to {max(known):,.0f}",
        )
        for what, known, simulated, unit in (
            ("in its cache", reviewed_ones("first_mb_s"), cache.rate, "MB/s"),
            (CACHE_SHARE, reviewed_ones("first_gb", "capacity_gb"), step * cache.end, "%"),
            ("past its cache", reviewed_ones("second_mb_s"), direct.rate, "MB/s"),
            (DROP_SHARE, reviewed_ones("second_gb", "capacity_gb"), step * direct.end, "%"),
            ("after the second drop", reviewed_ones("third_mb_s"), folding.rate, "MB/s"),
            ("mean of the whole fill", reviewed_ones("fill_mb_s"), fill_rate([(1.0, rate) for rate in rates]), "MB/s"),
        )
    ]  # fmt: skip


def _catalogue_table(results: "Mapping[str, Result]") -> Table:
    """The phases of a fill of the drives as the catalogue has them."""
    cells: list[list[str | float | None]] = []
    for name, result in results.items():
        part_gb = load(name).capacity.user_bytes / 1e9 / simulating.PARTS
        phases = phases_of(simulating.rates(result))
        known = [value for phase in phases[:3] for value in (phase.rate, part_gb * phase.end)]
        cells.append([name, *known, *[None] * (6 - len(known))])
    return Table(
        "Fills of the catalogue's drives with an SLC cache",
        ("drive", "first, MB/s", "until, GB", "second, MB/s", "until, GB", "third, MB/s", "until, GB"),
        cells,
        "New drives, filled in sequence. The cache of samsung-pm981-1tb (50 GB) and its rate in it are inputs; past it "
        "its flash alone counts.",
    )


def _finding(rows: list[Row]) -> str:
    def met(group: str) -> str:
        own = [row for row in rows if row.group == group]
        return f"{sum(row.is_within_tolerance is True for row in own)} of {len(own)}"

    return (
        f"Where the speed drops a second time is told within {format_share(TOLERANCE)} for {met(LAW)} drives by their "
        f"capacity and SLC cache alone. Also within {format_share(TOLERANCE)}: the place of {met(DROP)} second drops "
        f"simulated with one number fitted, {met(FILL)} mean rates of a whole fill computed from its phases, and "
        f"{met(THIRD)} simulated rates after the second drop."
    )


def _picture(rates: Mapping[str, list[float]]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    step = 100 / simulating.PARTS
    lines = [Line(name, [(step * (index + 1), rate) for index, rate in enumerate(own)]) for name, own in rates.items()]
    # In the colours of their drives.
    drops = [
        Marks(
            figure["drive"],
            [(100 * float(figure["second_gb"]) / float(figure["capacity_gb"]), float(figure["third_mb_s"]))],
        )
        for figure in FIGURES
        if figure["second_gb"]
    ]
    return published_lines(
        name="fills",
        title="Rates of a sequential fill: in the SLC cache, past it, and while it is folded",
        caption="Lines are simulated. Marks: second drops of three of them as reviewed, at the rate after them.",
        lines=lines,
        marks=drops,
        x_title="written, % of the capacity",
        y_title="MB/s",
        scale="log",
    )
