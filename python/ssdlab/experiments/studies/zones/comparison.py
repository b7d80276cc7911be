"""The published zones on an ordinary drive, a zoned drive compared with arithmetic, and a host's garbage collection."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Printed, Row, StudyResult, Table, published
from ssdlab.experiments.studies.real_drives import loads, measuring
from ssdlab.experiments.studies.zones import commands
from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.drives import drive, load
from ssdlab.simulator.workloads.specifying import specify
from ssdlab.theory import closed_forms

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
FIGURES = published(FOLDER / "figures.csv")
ORDINARY_DRIVE, IN_USE_GIB, ZONE_GIB = "micron-7450-max-800gb", 745, 8
SCALE = "1/64"
STRIPE = 64
"""Units of a parity stripe of the zoned drive, including one of parity."""
MIB, GIB = 1 << 20, 1 << 30
ZONES, CAPACITY_MIB = 300, 756
SHORT_CAPACITY_MIB = 567
"""Three quarters of an erase unit's data."""
OPEN = (1, 4, 14)
SPARE_AREAS = (0.07, 0.15, 0.28, 0.50)
VICTIMS = ("greedy", "fifo")
SETTLING_WRITES, MEASURED_WRITES = 6, 2
"""Host writes before and during the measurement, in multiples of its data."""


def run(context: Context) -> StudyResult:
    """Simulates all runs and returns the rows in the order of the figures."""
    ordinary = {_ordinary_label(figure): _ordinary(context, figure) for figure in FIGURES}
    on_zones = {label: zoned(context, rw, count, mib) for label, (rw, count, mib) in _zoned_runs().items()}
    logs = {_log_label(victim, spare): host_log(context, victim, spare) for victim in VICTIMS for spare in SPARE_AREAS}
    of_commands = {commands.label(figure): commands.specify_commands(context, figure) for figure in commands.FIGURES}
    results = context.simulate(ordinary | on_zones | logs | of_commands)
    found = {label: _waf(results[label]) for label in (*on_zones, *logs)}
    rows = [_row(figure, results[_ordinary_label(figure)]) for figure in FIGURES]
    rows += [_parity_row(label, found[label]) for label, (_, _, mib) in _zoned_runs().items() if mib == CAPACITY_MIB]
    finding = _finding(rows, found)
    of_drive = commands.rows(results)
    rows += of_drive
    return StudyResult(
        finding=f"{finding} {commands.finding(of_drive)}",
        rows=rows,
        figures=[_over_spare_area(found)],
        tables=[_host_gc(found), _short_zones(found)],
        notes=[
            "A zoned drive moves nothing, so that what its flash programs is what the host writes and parity. What a "
            "host that overwrites at random saves there, it writes itself when it collects garbage in its zones: the "
            "product is that of an ordinary drive with the same spare area.",
        ],
    )


def _ordinary_label(figure: Mapping[str, str]) -> str:
    return f"{ORDINARY_DRIVE}, {figure['open_zones']} zones open"


def _ordinary(context: Context, figure: Mapping[str, str]) -> "Specification":
    file = load(ORDINARY_DRIVE)
    asked = loads.parse(f"zones {figure['open_zones']} x {ZONE_GIB} GiB")
    scale = None if context.full else measuring.scale_of(file, asked)
    return measuring.specify(file, asked, IN_USE_GIB * GIB, seed=context.seed, scale=scale)


def _zoned_runs() -> dict[str, tuple[str, int, int]]:
    """fio's `rw`, zones open at a time, and MiB per zone, by label."""
    runs = {"in sequence": ("write", 1, CAPACITY_MIB)}
    runs |= {f"at random, {count} open": ("randwrite", count, CAPACITY_MIB) for count in OPEN}
    return runs | {"three quarters of an erase unit": ("randwrite", OPEN[-1], SHORT_CAPACITY_MIB)}


def zoned(context: Context, rw: str, open_zones: int, capacity_mib: int) -> "Specification":
    """A run on the zoned drive with fio's `rw`, the number of zones open at a time, and their capacity in MiB."""
    settings = {"zones.capacity_bytes": str(capacity_mib * MIB)}
    resolved = drive(FOLDER / "zoned.toml", scale=context.scale(SCALE), settings=settings)
    variables = {"RW": rw, "OPEN": str(open_zones), "WRITTEN": str(3 * ZONES * capacity_mib * MIB)}
    job = context.job(FOLDER / "writes.fio", **variables)
    return specify(job, resolved, seed=context.seed, timed=False)


def _log_label(victim: str, spare_area: float) -> str:
    return f"the host collects garbage, {victim}, spare {format_share(spare_area)}"


def host_log(context: Context, victim: str, spare_area: float) -> "Specification":
    """A run of a host log with garbage collection by a victim policy. `spare_area` is a share of the host's data."""
    resolved = drive(FOLDER / "host-log.toml", op=spare_area, settings={"ftl.victim": victim})
    user_bytes = resolved.capacity.user_bytes
    variables = {"SETTLING": str(SETTLING_WRITES * user_bytes), "MEASURED": str(MEASURED_WRITES * user_bytes)}
    job = context.job(FOLDER / "log.fio", **variables)
    return specify(job, resolved, seed=context.seed, timed=False, precondition="fill")


def _waf(result: "Result") -> float:
    waf = result.settled_waf
    assert waf is not None, "the last stage writes"
    return waf


def _row(figure: Mapping[str, str], result: "Result") -> Row:
    count = figure["open_zones"]
    return Row(
        f"{count} of {ZONE_GIB} GiB open",
        float(figure["value"]),
        measuring.measured(result, loads.parse(f"zones {count} x {ZONE_GIB} GiB")).waf,
        "",
        tolerance=float(figure["tolerance"]),
        printed=cast(Printed, figure["printed"]),
        is_left_out=True,
        group="Zones that the host keeps on an ordinary drive, write amplification",
        note="predicted",
    )


def _parity_row(label: str, waf: float) -> Row:
    parity = STRIPE / (STRIPE - 1)
    return Row(
        label,
        parity,
        waf,
        "",
        tolerance=0.001,
        printed="ours",
        group="A zoned drive, write amplification against parity alone",
        note="64/63",
    )


def closed_form(victim: str, spare_area: float) -> float:
    """The write amplification of the host's log in closed form."""
    if victim == "fifo":
        return closed_forms.fifo(spare_area)
    units = load(str(FOLDER / "host-log.toml")).capacity.units_per_erase_unit
    return closed_forms.greedy(spare_area, units)


def _host_gc(found: Mapping[str, float]) -> Table:
    rows: list[list[str | float]] = []
    for victim in VICTIMS:
        for spare in SPARE_AREAS:
            host = found[_log_label(victim, spare)]
            drive_waf = found["in sequence"]
            cells = [host, closed_form(victim, spare), drive_waf, host * drive_waf]
            rows.append([victim, format_share(spare), *cells])
    return Table(
        "What the host's own garbage collection costs",
        ("victim", "spare zones", "host, simulated", "host, closed form", "drive", "both"),
        rows,
        "Bytes written by the host's garbage collection and its user for each byte of its user, under uniform "
        "overwrites; bytes programmed for each that reaches the zoned drive; and their product. Spare zones are a "
        "share of the data.",
    )


def _short_zones(found: Mapping[str, float]) -> Table:
    label = "three quarters of an erase unit"
    rows: list[list[str | float]] = [
        ["one erase unit", found[f"at random, {OPEN[-1]} open"], STRIPE / (STRIPE - 1)],
        [label, found[label], STRIPE / (STRIPE - 1) * CAPACITY_MIB / SHORT_CAPACITY_MIB],
    ]
    return Table(
        "What a zone should hold",
        ("a zone holds", "write amplification", "by hand"),
        rows,
        "Where a zone ends inside an erase unit, the rest of that is padded.",
    )


def _finding(rows: list[Row], found: Mapping[str, float]) -> str:
    deviations = [100 * (row.deviation or 0.0) for row in rows if row.note == "predicted"]
    log = found[_log_label("greedy", SPARE_AREAS[0])]
    return (
        f"Zones that the host keeps on an ordinary drive deviate by {min(deviations):+.1f} to {max(deviations):+.1f} % "
        f"from the measured write amplification. A zoned drive comes to {found['in sequence']:.4f}, parity alone; a "
        f"host that overwrites at random and collects garbage in its zones writes {log:.1f} times as much with "
        f"{format_share(SPARE_AREAS[0])} of spare zones."
    )


def _over_spare_area(found: Mapping[str, float]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    least, most = (round(100 * spare) for spare in (SPARE_AREAS[0], SPARE_AREAS[-1]))
    curves = {
        victim: [(float(percent), closed_form(victim, percent / 100)) for percent in range(least, most + 1)]
        for victim in VICTIMS
    }
    lines = [Line(victim, curve) for victim, curve in curves.items()]
    marks = [
        Marks(victim, [(100 * spare, found[_log_label(victim, spare)]) for spare in SPARE_AREAS]) for victim in VICTIMS
    ]
    apart = max(high / low - 1 for (_, low), (_, high) in zip(*curves.values(), strict=True))
    few, many = (found[_log_label("greedy", spare)] for spare in (SPARE_AREAS[0], SPARE_AREAS[-1]))
    return published_lines(
        name="host-gc",
        title=f"A host that collects garbage in its zones writes {few:.1f} times its user's bytes with {least} % of "
        f"spare zones, {many:.1f} times with {most} %",
        caption="Bytes written for each byte of the user, uniform overwrites: marks simulated, lines closed forms. "
        f"FIFO and greedy coincide: the closed forms are at most {100 * apart:.1f} % apart.",
        lines=lines,
        marks=marks,
        x_title="spare zones, %",
        y_title="write amplification on the host",
    )
