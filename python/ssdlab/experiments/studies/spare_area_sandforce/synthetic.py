"""The article's synthetic tests, aligned and unaligned, and the effect of data reduction."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Row, StudyResult, Table, published
from ssdlab.experiments.studies.spare_area_sandforce.drives import (
    BAREFOOT,
    C300,
    COMPRESS_PERCENT,
    DRIVES,
    FOLDER,
    INTEL,
    SANDFORCE,
    SCALE,
)
from ssdlab.experiments.studies.spare_area_sandforce.replay import job_of
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.workloads.specifying import specify as specify_run

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

SECONDS = 180
STATES = ("new", "dirty")
ALIGNMENTS = {"4k": "4 KiB", "512": "512 B"}
BY_SECTOR = "512 B, mapped by sector"
"""As "512", on a drive whose mapping unit is the sector, so that nothing is read and changed."""
MAPPED_BY_SECTOR = {"ftl.mapping_unit_bytes": "512"}


@dataclass(frozen=True)
class Mapping:
    """How a drive was seen to take writes that are not aligned, and the mapping that this makes likely."""

    seen: str
    is_by_sector: bool
    source: str


_AT_2944 = "AnandTech 2944, page 10"
MAPPINGS = {
    SANDFORCE[0]: Mapping("slower", False, f"{_AT_2944}: a Vertex LE with an SF-1500; AnandTech 3667 for an SF-1200"),
    SANDFORCE[1]: Mapping("slower", False, f"{_AT_2944}: a Vertex LE with an SF-1500; AnandTech 3667 for an SF-1200"),
    INTEL: Mapping("nearly level", True, f"{_AT_2944}; Intel's word in The Tech Report 16979"),
    BAREFOOT: Mapping("nearly level", True, f"{_AT_2944}; The Tech Report 16979 supposes the opposite of a used drive"),
    C300: Mapping("slower", False, f"{_AT_2944}: its controller does not rearrange them"),
}
"""What was measured is whether a drive slows down. That the mapping is the reason is assumed."""
COMPRESSIBLE = {0: "random data", COMPRESS_PERCENT: "a desktop's data", 75: "text"}


def run(context: Context) -> StudyResult:
    """Simulates all drives, new and dirty, with random data; the SandForce drives also with compressible data."""
    keys = [(drive, state, align, 0) for drive in DRIVES for state in STATES for align in ALIGNMENTS]
    keys += [(drive, state, BY_SECTOR, 0) for drive in DRIVES if drive not in SANDFORCE for state in STATES]
    keys += [
        (drive, state, "4k", percent) for drive in SANDFORCE for state in STATES for percent in COMPRESSIBLE if percent
    ]
    keys += [(SANDFORCE[1], "new", "4k", percent) for percent in _removed_percents() if percent not in COMPRESSIBLE]
    data = {percent: COMPRESSIBLE.get(percent, f"data reduced by {percent} %") for *_, percent in keys}
    labels = {key: f"{key[0]}, {key[1]}, aligned to {ALIGNMENTS.get(key[2], key[2])}, {data[key[3]]}" for key in keys}
    results = context.simulate({label: specify(context, *key) for key, label in labels.items()})
    found = {key: results[label] for key, label in labels.items()}
    new, dirty = (found[SANDFORCE[1], state, "4k", COMPRESS_PERCENT] for state in STATES)
    saved = job_of(new, "sequential").ledger.waf
    return StudyResult(
        finding=f"Data reduction brings a fresh drive's write amplification to {saved:.2f} for a desktop's data.",
        rows=_held_out(found),
        figures=[_reduction(found)],
        tables=[_table(found), _mappings(found), _reduction_table(found)],
        notes=[
            "Sequential writes go over the drive in 2 MiB for three minutes, random ones over 8 GiB with three"
            " outstanding. The article's figures of these tests are not among the published data.",
            f"What a dirty drive programs a byte of a desktop's data: {job_of(dirty, 'random').ledger.waf:.2f}.",
        ],
    )


def _removed_percents() -> list[int]:
    return [int(row["removed_percent"]) for row in published(FOLDER / "sf-2281.csv")]


def _held_out(found: "Found") -> list[Row]:
    """A later drive with a controller of the same maker, which the reduction's parameters were not chosen for."""
    return [
        Row(
            f"SF-2281, writes in sequence, {row['what']}",
            round(float(row["flash_tb"]) / float(row["host_tb"]), 3),
            job_of(found[SANDFORCE[1], "new", "4k", int(row["removed_percent"])], "sequential").ledger.waf,
            "WAF",
            tolerance=float(row["tolerance"]),
            group="Data reduction held out: another drive, written for months",
            note="Predicted by the drive file of the SF-1200 with 13 % of spare area. The Tech Report, 2013 to 2015; "
            "what the 46 % of Anvil's test are of is not published, and the prediction takes them as of each 4 KiB.",
        )
        for row in published(FOLDER / "sf-2281.csv")
    ]


def specify(context: Context, drive: str, state: str, align: str, compress_percent: int) -> "Specification":
    """The run of both tests on a drive in a state."""
    scale = context.scale(SCALE)
    job = context.job(
        FOLDER / f"synthetic-{state}.fio",
        ALIGN="512" if align == BY_SECTOR else align,
        COMPRESS_PERCENT=str(compress_percent),
        SECONDS=str(SECONDS),
    )
    settings = MAPPED_BY_SECTOR if align == BY_SECTOR else {}
    return specify_run(job, drive_of(DRIVES[drive], scale=scale, settings=settings), seed=context.seed)


Found = dict[tuple[str, str, str, int], "Result"]


def _rate(result: "Result", name: str) -> float:
    job = job_of(result, name)
    return job.write.total_ios / job.seconds if job.seconds else 0.0


def _table(found: Found) -> Table:
    rows = [
        (
            f"{drive}, {state}",
            _rate(found[drive, state, "4k", 0], "sequential") * 2,
            _rate(found[drive, state, "4k", 0], "random"),
            _rate(found[drive, state, "512", 0], "random"),
            None if drive in SANDFORCE else _rate(found[drive, state, BY_SECTOR, 0], "random"),
            job_of(found[drive, state, "4k", 0], "random").ledger.waf,
        )
        for drive in DRIVES
        for state in STATES
    ]
    return Table(
        "Synthetic tests with random data",
        (
            "drive, state",
            "2 MiB sequential, MiB/s",
            "4 KiB aligned, IOPS",
            "not aligned, IOPS",
            "mapped by sector",
            "WAF, aligned",
        ),
        rows,
        "Not aligned: to 512 B only, as Windows XP does. A controller that maps pages of 4 KiB reads, changes and "
        "writes them; one that maps sectors of 512 B stays level. The same drives mapped by sector stand beside it, "
        "but for SandForce's, which pack reduced data; which drive is of which kind says the next table.",
    )


def _mappings(found: Found) -> Table:
    """Each drive's kind of mapping with its source, and what either kind would give."""

    def kept(drive: str, align: str) -> float:
        return 100 * _rate(found[drive, "new", align, 0], "random") / _rate(found[drive, "new", "4k", 0], "random")

    rows = [
        (
            drive,
            each.seen,
            "sectors" if each.is_by_sector else "pages",
            kept(drive, "512"),
            None if drive in SANDFORCE else kept(drive, BY_SECTOR),
            each.source,
        )
        for drive, each in MAPPINGS.items()
    ]
    return Table(
        "How the drives map writes that are not aligned",
        ("new drive", "seen", "maps (assumed)", "by page, % of aligned", "by sector, % of aligned", "who saw it"),
        rows,
        "Seen: what the reviews say of random writes that are aligned to 512 B against 4 KiB; their figures are "
        "pictures. That the kind of mapping is the reason is assumed.",
        sentences=(5,),
    )


def _reduction_table(found: Found) -> Table:
    rows = [
        (
            f"{drive}, {state}, {data}",
            _rate(found[drive, state, "4k", percent], "sequential") * 2,
            job_of(found[drive, state, "4k", percent], "sequential").ledger.waf,
            _rate(found[drive, state, "4k", percent], "random"),
            job_of(found[drive, state, "4k", percent], "random").ledger.waf,
        )
        for drive in SANDFORCE
        for state in STATES
        for percent, data in COMPRESSIBLE.items()
    ]
    return Table(
        "Data reduction at work",
        ("drive, state, data", "sequential, MiB/s", "WAF", "random, IOPS", "WAF"),
        rows,
        caption=f"A desktop's data shrinks by {COMPRESS_PERCENT} %, text by 75 %; stored in whole sectors of 512 B with"
        " an index entry of 16 B each, and parity.",
    )


def _reduction(found: Found) -> "Figure":
    from ssdlab.presentation.report.charts.published import Bar, published_bars

    bars = []
    for drive in SANDFORCE:
        for percent, data in COMPRESSIBLE.items():
            waf = job_of(found[drive, "dirty", "4k", percent], "random").ledger.waf
            bars.append(Bar(data, drive, waf or 0.0))
    return published_bars(
        name="data-reduction",
        title="Data that compresses is worth spare area: it programs less and collects less garbage",
        caption="Write amplification of 4 KiB random writes over 8 GiB of dirty drives, by what the data is like.",
        bars=bars,
        x_title="write amplification",
    )
