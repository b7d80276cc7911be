"""Compares the published writes of drives that are only read with simulated refresh, one number for each drive."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, StudyResult, Table, published
from ssdlab.experiments.studies.read_wear import slow_reads
from ssdlab.simulator.drives import drive
from ssdlab.simulator.workloads.specifying import specify
from ssdlab.theory.read_disturb import reads_of

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
FIGURES = published(FOLDER / "figures.csv")
READ_GIB_A_DAY = {
    "ADATA SP550 120GB": 6.37 / 0.00564,
    "ADATA SU800 128GB": 32.30 / 0.02469,
    "Seagate BarraCuda 250GB": 1_009_755 / 196,
    "WD Blue 250GB": 1_273_619 / 224,
}
"""Totals over days. Of the ADATA drives, which were read at two rates, the rate of the first days from their own writes
and the share of all reads that all days wrote, 0.564 and 2.469 %."""
FASTER = "ADATA SU800 128GB"
"""The drive whose last month says how much faster both were read."""
READ_BYTES = 16384
REWRITES = 4
"""How often the simulated drive is rewritten."""
DRIVE_PAGES_A_PAUSE = 64
EXAMPLE_PAGES_PER_BLOCK = 768
"""Pages of a block of 3D TLC, to state the reads that a block endures; the geometry is not published."""


def run(context: Context) -> StudyResult:
    """Simulates each drive with its number, and returns the rows in the order of the figures."""
    names = list(READ_GIB_A_DAY)
    made = {name: specification(context, name) for name in names}
    made |= {f"{name}, slow reads": slow_reads.specification(context, name) for name in slow_reads.ROUNDS_IN_ONE}
    results = context.simulate(made)
    slow = slow_reads.rows({name: results[f"{name}, slow reads"] for name in slow_reads.ROUNDS_IN_ONE})
    shares = {name: programmed_share(results[name]) for name in names}
    rows = [_row(figure, shares) for figure in FIGURES]
    predicted = [row for row in rows if row.is_left_out]
    apart = [100 * (row.deviation or 0.0) for row in predicted]
    return StudyResult(
        finding=f"Of what is read, a drive writes {100 * min(shares.values()):.1f} to "
        f"{100 * max(shares.values()):.1f} % again. With one number for each of {len(shares)} drives, fitted to its "
        f"first days, the writes of the days after deviate by {min(apart):+.0f} to {max(apart):+.0f} %. "
        f"{_of_slow(slow)}",
        rows=rows + slow,
        tables=[_numbers(shares), slow_reads.table()],
        notes=[
            "The BarraCuda writes all of its data within a day, every 3.8 days: reads that come to each address once "
            "in a pass bring all blocks to their number at the same time.",
            "A Samsung 850 of 120 GB wrote at most 0.03 % of what was read from it: refresh by reads is off, or its "
            "number is so large that other reasons come first.",
        ],
    )


def specification(context: Context, name: str) -> "Specification":
    """A fill, and passes of reads until the drive has been rewritten `REWRITES` times."""
    small = drive(FOLDER / "drive.toml").file.nand
    reads = reads_of(fitted_share(name), small.pages_per_block, small.page_bytes, READ_BYTES)
    passes = round(REWRITES * reads / small.pages_per_block) + 1
    job = context.job(FOLDER / "reads.fio", PASSES=str(passes), PAUSE_EVERY=str(DRIVE_PAGES_A_PAUSE * 8))
    resolved = drive(FOLDER / "drive.toml", settings={"background.read_disturb_reads": str(reads)})
    return specify(job, resolved, seed=context.seed)


def fitted_share(name: str) -> float:
    """Bytes written for each byte read in the drive's first days."""
    (first, *_) = (float(each["value"]) for each in FIGURES if each["drive"] == name and each["use"] == "fit")
    return first / READ_GIB_A_DAY[name]


def programmed_share(result: "Result") -> float:
    """Bytes that the simulated drive programmed for each byte read in its last stage."""
    ledger = result.last_stage_ledger
    return ledger.programmed_bytes / ledger.host_read_bytes


def _row(figure: Mapping[str, str], shares: Mapping[str, float]) -> Row:
    name, use = figure["drive"], figure["use"]
    a_day = shares[name] * READ_GIB_A_DAY[name]
    if use == "faster" or (name == FASTER and figure["from_day"] == "169"):
        a_day *= _faster()
    is_interval = figure["what"] == "interval_days"
    fitted = Fitted(("background.read_disturb_reads",), 1)
    if use == "faster" or (name == FASTER and figure["from_day"] == "169"):
        fitted = Fitted(("background.read_disturb_reads", "rate of reads"), 2)
    return Row(
        "days between rewrites of all data" if is_interval else f"days {figure['from_day']} to {figure['to_day']}",
        float(figure["value"]),
        float(figure["capacity_gib"]) / a_day if is_interval else a_day,
        "days" if is_interval else "GiB/day",
        tolerance=float(figure["tolerance"]),
        fitted=fitted,
        is_left_out=use != "fit",
        group=name,
        note="" if use == "fit" else "predicted",
    )


def _of_slow(rows: Sequence[Row]) -> str:
    predicted = [row for row in rows if row.is_left_out]
    main = [row for row in predicted if row.what.endswith("over 1 ms")]
    within = sum(map(slow_reads.within_factor, main))
    others = sum(map(slow_reads.within_factor, predicted)) - within
    return (
        f"Of the shares of reads beyond a millisecond that were not fitted, {within} of {len(main)} are within a "
        f"factor of {slow_reads.FACTOR}, of those beyond other limits {others} of {len(predicted) - len(main)}."
    )


def _faster() -> float:
    """How much faster the ADATA drives were read in their last month, by the writes of one of them."""
    first, last = (float(each["value"]) for each in FIGURES if each["drive"] == FASTER and each["use"] == "fit")
    return last / first


def _numbers(shares: Mapping[str, float]) -> Table:
    rows: Sequence[Sequence[str | float]] = [
        [
            name,
            100 * share,
            1 / fitted_share(name),
            reads_of(fitted_share(name), EXAMPLE_PAGES_PER_BLOCK, READ_BYTES, READ_BYTES),
        ]
        for name, share in shares.items()
    ]
    return Table(
        "The number of each drive",
        ("drive", "written of what is read, %", "reads of the whole drive", "background.read_disturb_reads"),
        rows,
        f"Between two rewrites. The last column is for blocks of {EXAMPLE_PAGES_PER_BLOCK} pages of 16 KiB, which are "
        "not published.",
    )
