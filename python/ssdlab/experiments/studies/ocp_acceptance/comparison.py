"""Runs the acceptance test on drives, judges its limits, and finds what each failing request waited for."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.errors import Note
from ssdlab.evidence.estimate import SEEDS_DIFFER
from ssdlab.experiments.protocols.catalogue.ocp import limits, workloads
from ssdlab.experiments.protocols.catalogue.ocp.limits import PERCENT, Limit
from ssdlab.experiments.protocols.catalogue.ocp.workloads import WORKLOADS, Place, Workload
from ssdlab.experiments.protocols.steps import Engine
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Row, StudyResult, Table
from ssdlab.foundation.quantities import format_share
from ssdlab.presentation.report import wording
from ssdlab.simulator.drives import load, names, resolve
from ssdlab.simulator.results import breakdown
from ssdlab.simulator.results.latency import merged
from ssdlab.simulator.workloads.specifying import specify

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.drives import DriveFile, ResolvedDrive
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.results.job_result import JobResult
    from ssdlab.simulator.specification import Specification

UNITS_MAX = 1 << 22
"""The maximum number of mapping units of flash at the default scale: a workload takes seconds."""
WAF_UNITS_MAX = 1 << 24
"""The same for the figures of write amplification, which come from drives that are larger."""


@dataclass(frozen=True)
class Remedy:
    """What is tried on a drive that fails."""

    over_provisioning: float | None = None
    """None for the drive's own."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keys of the drive file."""
    handles: bool = False
    """Whether each job that writes names a placement handle of its own."""

    def applies(self, file: "DriveFile") -> bool:
        """Whether it changes the drive: one with as much spare area, or that suspends already, is not run again."""
        if self.over_provisioning is not None:
            return file.capacity.over_provisioning < self.over_provisioning
        return not ("nand.suspend" in self.settings and file.nand.suspend)


REMEDIES: Mapping[str, Remedy] = {
    "28 % of spare area": Remedy(0.28),
    "60 % of spare area": Remedy(0.6),
    "garbage collection in small steps": Remedy(settings={"ftl.gc_throttling": '"proportional"'}),
    "a placement handle for each job that writes": Remedy(
        settings={"ftl.placement": f'{{ name = "host-streams", identifiers = {workloads.HANDLES} }}'}, handles=True
    ),
    # Typical times: nand.program_suspend_us and nand.erase_suspend_us of the catalogue's drives are 20 to 100.
    "reads that suspend programs and erases": Remedy(
        settings={"nand.suspend": "true", "nand.program_suspend_us": "30", "nand.erase_suspend_us": "100"}
    ),
}
WEARING = ("4K_L2R6DWPD_wTRIM", "4K_L2R9DWPD_wTRIM")
_WEARING = [each for each in WORKLOADS if each.name in WEARING]
NO_REMEDY = "none of those tried"


@dataclass(frozen=True)
class Judged:
    """One limit on one drive. `value` is None if too few requests were made."""

    limit: Limit
    value: float | None
    bound: float
    cause: str

    @property
    def is_kept(self) -> bool | None:
        """None for a limit that is not judged, as `Limit.verdict`."""
        return self.limit.verdict(self.value, self.bound / self.limit.value)


@dataclass(frozen=True)
class DriveTests:
    """One workload on one drive."""

    drive: str
    workload: str
    judged: Sequence[Judged]
    waf: float | None

    @property
    def failed(self) -> list[Judged]:
        """The limits that the drive does not keep."""
        return [each for each in self.judged if each.is_kept is False]


def run(context: Context) -> StudyResult:
    """Tests all drives, or one, and once more with each remedy where a limit failed."""
    files = [load(context.drive)] if context.drive else [load(name) for name in names() if is_meant(load(name))]
    by_name = {file.name: file for file in files}
    found = test(context, by_name, WORKLOADS)
    again = remedied(context, files, found)
    # Write amplification is that of larger drives; a drive at full size has it already.
    wearing = found if context.full else test(context, by_name, _WEARING, units_max=WAF_UNITS_MAX)
    worn = [each for each in wearing if each.workload in WEARING]
    return StudyResult(
        finding=_finding(found, again),
        rows=[Row(f"WAF, {each.workload}", None, each.waf, "", group=each.drive) for each in worn],
        figures=[_picture(worn)],
        tables=[_passes(files, found), _failures(found, again), _limits()],
        notes=[
            "A percentile is judged with ten requests above it; 99.9999 % needs ten million. A maximum is that of the "
            "requests made: one that holds may not hold in the test's own hour. A limit that is missed by at most "
            f"{format_share(SEEDS_DIFFER)} is not judged: another seed may keep it.",
            "Limits of trims of 64 MiB and 3 GB are not judged: how long a drive works on a trim is not known. Rates "
            "of trims are judged with --full only, because shorter trims of a smaller drive wait as long as long ones.",
            "Write amplification rises with the scale, because writes in sequence are long beside a small erase unit: "
            "that of samsung-pm9a3-960gb at 6 drive writes a day is 1.26 at 1/512, 1.75 at 1/64, 1.82 at 1/32, 1.86 at "
            "1/16, 1.88 at 1/4, and 1.90 at full size. It is given for drives four times as large as those of the "
            "limits, 1/32 for this drive, and is some percent too low.",
            "The same on a real drive: ssdlab measure --protocol ocp --on DEVICE.",
        ],
    )


def is_meant(file: "DriveFile") -> bool:
    """Whether the test is for such a drive: a data-centre drive, not of SATA."""
    words = file.description.lower()
    return ("data-centre nvme" in words or "enterprise nvme" in words) and "sata" not in file.host_link.interface


def scale_of(file: "DriveFile", units_max: int = UNITS_MAX) -> Fraction:
    """The largest power of 1/2 with at most `units_max` mapping units of flash, as far as erase units shrink."""
    units, parts = file.capacity.flash_units, 1
    while units > units_max * parts and file.nand.pages_per_block // (2 * parts) >= file.nand.pages_per_program:
        parts *= 2
    return Fraction(1, parts)


def resolved(
    file: "DriveFile",
    *,
    full: bool,
    op: float | None = None,
    settings: Mapping[str, str] | None = None,
    units_max: int = UNITS_MAX,
) -> "ResolvedDrive":
    """The drive with at most `units_max` mapping units, or `full`."""
    with warnings.catch_warnings():
        # The page says what depends on the scale.
        warnings.simplefilter("ignore", Note)
        return resolve(file, over_provisioning=op, settings=settings, scale=None if full else scale_of(file, units_max))


def test(
    context: Context,
    files: "Mapping[str, DriveFile]",
    chosen: Sequence[Workload],
    remedy: str | None = None,
    only: "set[tuple[str, str]] | None" = None,
    units_max: int = UNITS_MAX,
) -> list[DriveTests]:
    """Every workload on every drive, by drive; `only` selects pairs of drive and workload."""
    tried = REMEDIES[remedy] if remedy else Remedy()
    op, settings = tried.over_provisioning, tried.settings
    pairs = [(file, each) for file in files.values() for each in chosen if not only or (file.name, each.name) in only]
    drives = {
        file.name: resolved(file, full=context.full, op=op, settings=settings, units_max=units_max) for file, _ in pairs
    }
    # A drive with more spare area is held to the limits of what is left.
    differs = remedy or ("" if units_max == UNITS_MAX else "larger")
    made = {
        f"{file.name}: {each.name}{f', {differs}' if differs else ''}": specification(
            context, drives[file.name], each, handles=tried.handles
        )
        for file, each in pairs
    }
    results = context.simulate(made)
    return [
        judge(file.name, each, place_of(drives[file.name]), result)
        for (file, each), result in zip(pairs, results.values(), strict=True)
    ]


def place_of(drive: "ResolvedDrive") -> Place:
    """What a workload runs on."""
    return Place(drive.capacity.user_bytes, drive.scale)


def specification(
    context: Context, drive: "ResolvedDrive", workload: Workload, *, handles: bool = False
) -> "Specification":
    """The run of a workload, with what comes before it."""
    point = workloads.point(workload, place_of(drive), handles=handles)
    return specify(Engine(point, len(point.steps), {}), drive, seed=context.seed)


def judge(drive: str, workload: Workload, place: Place, result: "Result") -> DriveTests:
    """The limits of a workload on the result of its run, whose last stage is measured."""
    jobs = [job for job in result.jobs if job.stage == result.jobs[-1].stage]
    judged = []
    for limit in limits.of(workload.name):
        value, cause = _value(limit, jobs)
        if limit.direction == "trim" and place.scale != 1:
            # Trims of a smaller drive are shorter but wait as long, so that their rate is too low.
            value = None
        judged.append(Judged(limit, value, limit.for_capacity(place.terabytes), cause))
    return DriveTests(drive, workload.name, judged, result.last_stage_ledger.waf)


def _value(limit: Limit, jobs: "Sequence[JobResult]") -> tuple[float | None, str]:
    """The figure of a limit, and the parts of the latency of the requests at and above it."""
    directions = [job.direction(limit.direction) for job in jobs]
    seconds = max(job.seconds or 0.0 for job in jobs)
    if limit.is_minimum:
        return sum(each.io_bytes for each in directions) / seconds / 2**20, ""
    latency = merged([each.latency for each in directions if each.latency and each.latency.count])
    percent = PERCENT.get(limit.quantity)
    value_ns = latency.max_ns if percent is None else latency.percentile_ns(percent)
    parts = breakdown.merged([each.breakdown for each in directions if each.breakdown])
    if value_ns is None or parts is None:
        return None, ""
    return value_ns / 1000, breakdown.shares_text(parts.mean_ns(100.0 if percent is None else percent))


def remedied(
    context: Context, files: "Sequence[DriveFile]", found: Sequence[DriveTests]
) -> dict[tuple[str, str, str], DriveTests]:
    """The failing pairs once more with each remedy, by drive, workload and remedy."""
    failing = {(each.drive, each.workload) for each in found if each.failed}
    made: dict[tuple[str, str, str], DriveTests] = {}
    for remedy, tried in REMEDIES.items():
        meant = {file.name: file for file in files if tried.applies(file)}
        chosen = {pair for pair in failing if pair[0] in meant}
        tested = test(context, meant, WORKLOADS, remedy, chosen) if chosen else []
        made |= {(each.drive, each.workload, remedy): each for each in tested}
    return made


def _finding(found: Sequence[DriveTests], again: Mapping[tuple[str, str, str], DriveTests]) -> str:
    drives = list(dict.fromkeys(each.drive for each in found))
    failing = {drive: [each for each in found if each.drive == drive and each.failed] for drive in drives}
    passing = [drive for drive in drives if not failing[drive]]
    quantities = [
        f"{judged.limit.direction} {judged.limit.quantity}"
        for each in found
        for judged in each.failed
        if not judged.limit.is_minimum
    ]
    said = f"{len(passing)} of {len(drives)} drives keep every limit that can be judged."
    if len(drives) == 1:
        count = sum(len(_judged(each)) for each in found)
        said = (
            f"{drives[0]} keeps {count - sum(len(each.failed) for each in found)} of {count} limits that can be judged."
        )
    if quantities:
        most = max(dict.fromkeys(quantities), key=quantities.count)
        said += f" The limit that fails most often is {most}, in {quantities.count(most)} of {len(found)} runs."
    helping = [_helping(each, judged, again) for each in found for judged in each.failed]
    if helping:
        by_remedy = {remedy: sum(remedy in some for some in helping) for remedy in REMEDIES}
        passed = ", ".join(f"{count} with {remedy}" for remedy, count in by_remedy.items() if count)
        none = sum(not some for some in helping)
        said += " Of 1 limit that fails, " if len(helping) == 1 else f" Of {len(helping)} limits that fail, "
        said += (
            f"{passed} would pass, each alone; {none} with {NO_REMEDY}."
            if passed
            else "none passes with what was tried."
        )
    workloads_failing = [each.workload for each in found if each.failed]
    if workloads_failing:
        by_workload = sorted(dict.fromkeys(workloads_failing), key=workloads_failing.count, reverse=True)
        counted = ", ".join(f"{name} ({workloads_failing.count(name)})" for name in by_workload)
        # Of one drive each count is 1.
        alone = f" It fails in {wording.listed(by_workload)}."
        said += alone if len(drives) == 1 else f" Drives that fail, by workload: {counted}."
    return said


def _passes(files: "Sequence[DriveFile]", found: Sequence[DriveTests]) -> Table:
    by_pair = {(each.drive, each.workload): each for each in found}
    rows = [
        [file.name, *(_verdict_sentence(by_pair[file.name, workload.name]) for workload in WORKLOADS)]
        for file in files
    ]  # fmt: skip
    return Table(
        "Which drive passes what",
        ("drive", *(workload.name.removesuffix("_wTRIM") for workload in WORKLOADS)),
        rows,
        "All limits that can be judged are kept, or the first that fails, and how many more. The suite calls workloads "
        "with trims NAME_wTRIM.",
        wraps=False,
    )


def _verdict_sentence(tested: DriveTests) -> str:
    failed = tested.failed
    if not failed:
        return f"all {len(_judged(tested))}"
    more = f" +{len(failed) - 1}" if failed[1:] else ""
    return f"{failed[0].limit.direction} {failed[0].limit.quantity}{more}"


def _judged(tested: DriveTests) -> list[Judged]:
    return [each for each in tested.judged if each.is_kept is not None]


def _failures(found: Sequence[DriveTests], again: Mapping[tuple[str, str, str], DriveTests]) -> Table:
    rows = []
    for tested in found:
        for judged in tested.failed:
            limit, passing = judged.limit, _helping(tested, judged, again)
            rows.append(
                [
                    tested.drive, tested.workload, f"{limit.direction} {limit.quantity}, {limit.unit}",
                    f"{judged.bound:,.0f}", f"{judged.value:,.0f}", judged.cause,
                    ", ".join(passing) or NO_REMEDY,
                ]
            )  # fmt: skip
    return Table(
        "What fails, why, and what would pass it",
        ("drive", "workload", "limit", "allowed", "simulated", "those requests waited for", "passes with"),
        rows,
        f"Tried: {'; '.join(REMEDIES)}, each for the whole workload, held to the rates of the capacity that is left.",
        sentences=(5, 6),
        wraps=False,
    )


def _helping(tested: DriveTests, judged: Judged, again: Mapping[tuple[str, str, str], DriveTests]) -> list[str]:
    """The remedies with which a limit that fails would pass."""
    helping = []
    for remedy in REMEDIES:
        other = again.get((tested.drive, tested.workload, remedy))
        if other is None:
            continue
        (same,) = (each for each in other.judged if each.limit == judged.limit)
        if same.is_kept:
            helping.append(remedy)
    return helping


def _limits() -> Table:
    said = {
        "both": "suite and specification",
        "suite": "suite",
        "specification": "specification, in a machine transcription",
        "differ": "differ",
        "beyond-demand": "not judged",
    }
    rows = [
        [
            each.workload, f"{each.direction} {each.quantity}", f"{each.value:,g}",
            each.unit + (f" for each {each.scope}" if each.scope else ""), said[each.checked], each.note,
        ]
        for each in limits.LIMITS
    ]  # fmt: skip
    return Table(
        "The limits and where they were found",
        ("workload", "limit", "value", "unit", "found in", "note"),
        rows,
        sentences=(4, 5),
        wraps=False,
    )


def _picture(worn: Sequence[DriveTests]) -> "Figure":
    from ssdlab.presentation.report.charts.published import Bar, published_bars

    bars = [
        Bar(each.drive, f"{6 if each.workload == WEARING[0] else 9} drive writes a day", each.waf)
        for each in worn
        if each.waf is not None
    ]
    least, most = min(bar.value for bar in bars), max(bar.value for bar in bars)
    return published_bars(
        name="waf-with-trims",
        title=f"With trims, writes at 6 and 9 drive writes a day are amplified {least:.2f} to {most:.2f} times",
        caption="The workloads 4K_L2R6DWPD_wTRIM and 4K_L2R9DWPD_wTRIM, predicted: nothing was fitted to them.",
        bars=bars,
        x_title="write amplification",
    )
