"""The three desktop workloads on new, full and dirty drives, as a percentage of the new state."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.drives import drive as drive_of
from ssdlab.studies.context import Context
from ssdlab.studies.contract import Fitted, Row, StudyResult, Table
from ssdlab.studies.spare_area_sandforce.drives import (
    BAREFOOT,
    COMPRESS_PERCENT,
    DRIVES,
    FOLDER,
    INTEL,
    LARGE_SPARE,
    SANDFORCE,
    SCALE,
    SMALL_SPARE,
    figure,
)
from ssdlab.workloads.specifying import specify as specify_run

if TYPE_CHECKING:
    from ssdlab.report.charts.published import Bar
    from ssdlab.report.figure import Figure
    from ssdlab.results import Result
    from ssdlab.results.job_result import DirectionResult, JobResult
    from ssdlab.specification import Specification


@dataclass(frozen=True)
class Workload:
    """As published: counts, sizes, share that is not sequential, mean depth rounded. The gaming test's is not."""

    reads: int
    writes: int
    depth: int
    sizes: str
    random_percent: int
    seconds: int


WORKLOADS = {
    "light": Workload(37_501, 20_268, 6, "4k/31:8k/12:16k/11:32k/22:64k/13:128k/11", 71, 300),
    "heavy": Workload(128_895, 72_411, 4, "4k/30:8k/12:16k/12:32k/14:64k/20:128k/12", 56, 1320),
    "gaming": Workload(75_206, 4_592, 8, "4k/20:8k/7:16k/7:32k/20:64k/39:128k/7", 31, 600),
}
STATES = ("new", "full", "dirty")
CHOSEN = Fitted(("erased pool", "requests a burst", "compressibility"), 3)
"""What the study chose and the dirty drives' figures depend on; the three workloads are the points."""
SEEDS = 4
# Requests that come without a pause between them; then the drive has its share of the published duration to itself.
# Like the pool and all times these shrink with the drive.
BURST = 32_768
# What a dirty drive has to itself before a run.
REST_SECONDS = 600
_STRAIGHT = "Intel X25-M G2, dirty, heavy, without a rest before"
POOLS_MIB = (0, 64, 128, 192, 256, 384, 512, 768, 1024)
SPEED_IS = "Speed is what a closed loop of the published mean depth does while it runs: depth / mean latency."

Key = tuple[str, str, str, int]
"""Drive, state, workload, seed."""


def run(context: Context) -> StudyResult:
    """All drives in all states, and the two SandForce drives with erased pools of other sizes."""
    keys: list[Key] = [
        (drive, state, workload, seed)
        for seed in context.seeds(SEEDS)
        for drive in (DRIVES if seed == context.seed else SANDFORCE)
        for state in STATES
        for workload in WORKLOADS
    ]
    pools = [(drive, pool) for drive in SANDFORCE for pool in POOLS_MIB]
    labels = {key: f"{key[0]}, {key[1]}, {key[2]}, seed {key[3]}" for key in keys}
    pool_labels = {key: f"{key[0]}, dirty, heavy, pool of {key[1]} MiB" for key in pools}
    results = context.simulate(
        {labels[key]: specify(context, *key) for key in keys}
        | {
            pool_labels[drive, pool]: specify(
                context, drive, "dirty", "heavy", context.seed, {"background.erased_pool_bytes": f"{pool}MiB"}
            )
            for drive, pool in pools
        }
        | {_STRAIGHT: specify(context, INTEL, "dirty", "heavy", context.seed, first_rest_seconds=0)}
    )
    found = {key: results[label] for key, label in labels.items()}
    percent = {key: 100 * speed(job_of(result, "replay")) / _new_speed(found, key) for key, result in found.items()}
    with_pool = {
        (drive, pool): 100
        * speed(job_of(results[label], "replay"))
        / _new_speed(found, (drive, "dirty", "heavy", context.seed))
        for (drive, pool), label in pool_labels.items()
    }
    heavy = _mean(_gain(percent, context, "dirty", "heavy"))
    return StudyResult(
        finding=f"Full, 13 % and 28 % of spare area differ by at most {_widest(percent, context):.1f} points; dirty,"
        f" the heavy workload loses {heavy:.1f} points with 13 %, the others less.",
        rows=_rows(context, percent, results[_STRAIGHT]),
        figures=[_states(context, percent), _pools(with_pool)],
        tables=[_why(context, found)],
        notes=[SPEED_IS],
    )


def specify(
    context: Context,
    drive: str,
    state: str,
    workload: str,
    seed: int,
    settings: dict[str, str] | None = None,
    first_rest_seconds: int = REST_SECONDS,
) -> "Specification":
    """One drive brought into a state, and the workload on it."""
    profile = WORKLOADS[workload]
    scale = context.scale(SCALE) or Fraction(1)
    requests = profile.reads + profile.writes
    job = context.job(
        FOLDER / f"{state}.fio",
        READ_PERCENT=f"{100 * profile.reads / requests:.0f}",
        IOS=str(requests),
        SIZES=profile.sizes,
        RANDOM_PERCENT=str(profile.random_percent),
        DEPTH=str(profile.depth),
        THINK_US=str(round(profile.seconds * 1_000_000 * BURST / requests * scale)),
        BURST=str(max(1, round(BURST * scale))),
        COMPRESS_PERCENT=str(COMPRESS_PERCENT),
        FIRST_REST=f"{first_rest_seconds}s",
        REST=f"{REST_SECONDS}s",
    )
    return specify_run(job, drive_of(DRIVES[drive], scale=scale, settings=settings or {}), seed=seed)


def job_of(result: "Result", name: str) -> "JobResult":
    """The job of that name."""
    (job,) = (job for job in result.jobs if job.name == name)
    return job


def speed(job: "JobResult") -> float:
    """Requests a second of one outstanding request: 1 / mean latency over reads and writes."""
    return (job.read.total_ios + job.write.total_ios) / _latency_seconds(job)


def _latency_seconds(job: "JobResult") -> float:
    """The sum of the latencies of all requests."""
    return sum(direction.total_ios * _mean_us(direction) / 1e6 for direction in (job.read, job.write))


def _mean_us(direction: "DirectionResult") -> float:
    latency = direction.latency
    return latency.mean_ns / 1000 if latency is not None and latency.mean_ns is not None else 0.0


def _new_speed(found: "dict[Key, Result]", key: Key) -> float:
    drive, _, workload, seed = key
    return speed(job_of(found[drive, "new", workload, seed], "replay"))


def _gain(percent: dict[Key, float], context: Context, state: str, workload: str) -> list[float]:
    """Points by which 28 % is ahead of 13 %, by seed."""
    return [
        percent[LARGE_SPARE, state, workload, seed] - percent[SMALL_SPARE, state, workload, seed]
        for seed in context.seeds(SEEDS)
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _widest(percent: dict[Key, float], context: Context) -> float:
    return max(abs(_mean(_gain(percent, context, "full", workload))) for workload in WORKLOADS)


def _rows(context: Context, percent: dict[Key, float], straight: "Result") -> list[Row]:
    rows = []
    for state, group in (("full", "Full: 28 % against 13 %"), ("dirty", "Dirty: 28 % against 13 %")):
        for workload in WORKLOADS:
            gains = _gain(percent, context, state, workload)
            name = "full" if state == "full" else f"dirty {workload}"
            of_source = figure(f"{name}: 28 % against 13 %")
            rows.append(
                Row(
                    f"{workload}: ahead by",
                    of_source.value,
                    _mean(gains),
                    "points of new",
                    tolerance=of_source.tolerance_points,
                    in_points=True,
                    printed=of_source.printed,
                    fitted=CHOSEN if state == "dirty" else None,
                    spread=(min(gains), max(gains)),
                    group=group,
                )
            )
    seed = context.seed
    barefoot, intel = figure("Barefoot: full"), figure("Intel: second run")
    rows.append(
        Row(
            "Barefoot, heavy: full",
            barefoot.value,
            percent[BAREFOOT, "full", "heavy", seed],
            "% of new",
            tolerance=barefoot.tolerance_points,
            in_points=True,
            printed=barefoot.printed,
            group="The other drives",
            note="Its spare area is static: it never used the free space.",
        )
    )
    rows.append(
        Row(
            "Intel, heavy, dirty: the second run after a rest",
            intel.value,
            100 * speed(job_of(straight, "again")) / speed(job_of(straight, "replay")),
            "% of the first",
            tolerance=intel.tolerance_points,
            in_points=True,
            printed=intel.printed,
            group="The other drives",
            note="The first straight after the dirtying, the second ten minutes later. Published without a number: it"
            " improves, since it cleans up in the background.",
        )
    )
    rows += [
        Row(
            f"{drive}, {workload}: {state}", None, percent[drive, state, workload, seed], "% of new", group="All drives"
        )
        for drive in DRIVES
        for state in ("full", "dirty")
        for workload in WORKLOADS
    ]
    return rows


def _why(context: Context, found: "dict[Key, Result]") -> Table:
    rows: list[tuple[str | float | None, ...]] = []
    for drive in SANDFORCE:
        for state in STATES:
            for workload in WORKLOADS:
                result = found[drive, state, workload, context.seed]
                job = job_of(result, "replay")
                written = job.ledger.host_written_bytes
                program_seconds = job.ledger.programmed_bytes / _programmed_per_second(
                    result.specification.engine["drive"]["nand"]
                )
                busy = _latency_seconds(job) / WORKLOADS[workload].depth
                rows.append(
                    (
                        f"{drive}, {state}, {workload}",
                        written / 2**20,
                        job.waf,
                        _mean_us(job.read),
                        _mean_us(job.write),
                        100 * program_seconds / busy,
                    )
                )
    return Table(
        "Where the difference comes from",
        (
            "drive, state, workload",
            "MiB written",
            "WAF",
            "read, us",
            "write, us",
            "die time of programs, % of busy time",
        ),
        rows,
        caption="WAF counts all programs during the replay and its pauses. The last column is the time that all "
        "programs take if every die works at them, as a share of the time with requests outstanding.",
    )


def _programmed_per_second(nand: dict[str, float]) -> float:
    """Bytes, when every plane of every die does nothing but program."""
    planes = nand["planes_per_die"] * nand["channels"] * nand["dies_per_channel"]
    return planes * nand["page_bytes"] / (nand["program_us"] / 1e6)


def _states(context: Context, percent: dict[Key, float]) -> "Figure":
    from ssdlab.report.charts.published import published_bars

    bars = [
        _bar(context, percent, drive, state, workload)
        for workload in WORKLOADS
        for state in ("full", "dirty")
        for drive in SANDFORCE
    ]
    return published_bars(
        name="states",
        title="Being full costs both spare areas the same; being dirty costs the smaller one more",
        caption=f"Speed of the two SandForce drives as a percentage of the new state; means of {SEEDS} seeds, and"
        " their spread.",
        bars=bars,
        x_title="speed, % of new",
    )


def _bar(context: Context, percent: dict[Key, float], drive: str, state: str, workload: str) -> "Bar":
    from ssdlab.report.charts.published import Bar

    own = [percent[drive, state, workload, seed] for seed in context.seeds(SEEDS)]
    return Bar(f"{workload}, {state}", drive, _mean(own), spread=(min(own), max(own)))


def _pools(with_pool: dict[tuple[str, int], float]) -> "Figure":
    from ssdlab.report.charts.published import Line, published_lines

    return published_lines(
        name="erased-pool",
        title="What idle time keeps erased decides how much the smaller spare area loses",
        caption="Heavy workload on dirty drives, against the erased pool that idle time refills, in MiB of the full "
        "drive.",
        lines=[Line(drive, [(pool, with_pool[drive, pool]) for pool in POOLS_MIB]) for drive in SANDFORCE],
        x_title="erased pool, MiB",
        y_title="speed, % of new",
    )
