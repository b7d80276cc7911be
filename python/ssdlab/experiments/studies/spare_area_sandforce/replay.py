"""The three desktop workloads on new, full and dirty drives, as a percentage of the new state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from ssdlab.evidence.estimate import Estimate, of_samples
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Row, StudyResult, Table
from ssdlab.experiments.studies.spare_area_sandforce.drives import (
    BAREFOOT,
    C300,
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
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.engine.types import Nand
from ssdlab.simulator.workloads.specifying import specify as specify_run

if TYPE_CHECKING:
    from ssdlab.presentation.report.charts.published import Bar
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.results.job_result import DirectionResult, JobResult
    from ssdlab.simulator.specification import Specification


@dataclass(frozen=True)
class Workload:
    """A workload as published: counts, sizes, percentage of random requests, mean queue depth (rounded), duration.

    The gaming test's random percentage is not published."""

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
"""Choices of the study that affect the figures of dirty drives; the points are the three workloads."""
SEEDS = {"light": 24, "heavy": 28, "gaming": 32}
"""As many as bring half of the interval of the mean near the tolerance of half a point: dirty drives
differ by 0.8 to 1.6 points from seed to seed."""
CHOICE_SEEDS = 8
"""Of each other choice."""
# The number of requests without a pause; the drive is then idle for the burst's share of the published duration. It is
# scaled with the drive, like the pool and all times.
BURST = 32_768
# The idle time of a dirty drive before a run.
REST_SECONDS = 600
_STRAIGHT = "Intel X25-M G2, dirty, heavy, without a rest before"
_STRAIGHT_WITHOUT_POOL = "Intel X25-M G2, dirty, heavy, without a rest before and without a pool"
_FASTER_LINK = "RealSSD C300, new, heavy, at 6 Gb/s"
STORAGE_BENCH_LINK = {"host_link.interface": "sata-3g"}
"""The article ran the C300's workloads at 3 Gb/s, although the drive has 6."""
POOL_MIB = 256
POOLS_MIB = (0, 64, 128, POOL_MIB, 512, 1024)
BURSTS = (16_384, BURST, 65_536)
COMPRESS_PERCENTS = (25, COMPRESS_PERCENT, 60)
SPEED_IS = "Speed is what a closed loop of the published mean depth does while it runs: depth / mean latency."

Key = tuple[str, str, str, int]
"""Drive, state, workload, seed."""


@dataclass(frozen=True)
class Choice:
    """Parameters that the source leaves open and that affect the figures of dirty drives."""

    pool_mib: int = POOL_MIB
    """The size of the pool that is kept erased during idle time."""
    burst: int = BURST
    """The number of requests without a pause."""
    compress_percent: int = COMPRESS_PERCENT

    def label(self, drive: str, state: str, workload: str, seed: int) -> str:
        """The label of a run with this choice."""
        return (
            f"{drive}, {state}, {workload}, pool of {self.pool_mib} MiB, bursts of {self.burst}, "
            f"{self.compress_percent} % compressed, seed {seed}"
        )


STATED = Choice()
CHOICES = (
    *(Choice(pool_mib=pool) for pool in POOLS_MIB if pool != POOL_MIB),
    *(Choice(burst=burst) for burst in BURSTS if burst != BURST),
    *(Choice(compress_percent=percent) for percent in COMPRESS_PERCENTS if percent != COMPRESS_PERCENT),
)
WITHOUT_POOL = Choice(pool_mib=0)


def run(context: Context) -> StudyResult:
    """Simulates all drives in all states, and the two SandForce drives with each choice changed."""
    keys: list[Key] = [
        (drive, state, workload, seed)
        for workload in WORKLOADS
        for seed in context.seeds(SEEDS[workload])
        for drive in (DRIVES if seed == context.seed else SANDFORCE)
        for state in STATES
    ]
    labels = {key: f"{key[0]}, {key[1]}, {key[2]}, seed {key[3]}" for key in keys}
    results = context.simulate(
        {labels[key]: specify(context, *key) for key in keys}
        | _specifications_of_choices(context)
        | {
            _STRAIGHT: specify(context, INTEL, "dirty", "heavy", context.seed, first_rest_seconds=0),
            _STRAIGHT_WITHOUT_POOL: specify(
                context, INTEL, "dirty", "heavy", context.seed, WITHOUT_POOL, first_rest_seconds=0
            ),
            _FASTER_LINK: specify(context, C300, "new", "heavy", context.seed, is_own_link=True),
        }
    )
    found = {key: results[label] for key, label in labels.items()}
    percent = {key: 100 * speed(job_of(result, "replay")) / _new_speed(found, key) for key, result in found.items()}
    chosen = _gains_of_choices(context, results, found, percent)
    return StudyResult(
        finding=f"Full, 13 % and 28 % of spare area differ by at most {_widest(percent, context):.1f} points; "
        f"{_of_dirty_drives({workload: chosen[STATED, workload] for workload in WORKLOADS})}.",
        rows=[
            *_rows(context, percent, chosen, results[_STRAIGHT], results[_STRAIGHT_WITHOUT_POOL]),
            Row(
                "RealSSD C300, new, heavy: at 3 Gb/s over 6 Gb/s",
                None,
                100
                * _new_speed(found, (C300, "new", "heavy", context.seed))
                / speed(job_of(results[_FASTER_LINK], "replay")),
                "% of the speed",
                group="All drives",
                note="The workloads ran at 3 Gb/s, as in the article; the synthetic tests at the drive's 6 Gb/s.",
            ),
        ],
        figures=[_states(context, percent), *_choices(chosen)],
        tables=[_why(context, found)],
        notes=[SPEED_IS],
    )


def _specifications_of_choices(context: Context) -> "dict[str, Specification]":
    """Runs of the heavy workload on SandForce drives with each choice changed, and of the others without a pool.

    A new drive's free space is erased, so a pool has no effect on it; bursts and compressibility have.
    """
    runs = [(choice, "heavy", state) for choice in CHOICES for state in _states_of(choice)]
    runs += [(WITHOUT_POOL, workload, "dirty") for workload in WORKLOADS if workload != "heavy"]
    return {
        choice.label(drive, state, workload, seed): specify(context, drive, state, workload, seed, choice)
        for choice, workload, state in runs
        for drive in SANDFORCE
        for seed in context.seeds(CHOICE_SEEDS)
    }


def _states_of(choice: Choice) -> tuple[str, ...]:
    return ("dirty",) if choice.pool_mib != POOL_MIB else ("new", "dirty")


def _gains_of_choices(
    context: Context, results: "Mapping[str, Result]", found: "dict[Key, Result]", percent: dict[Key, float]
) -> "Gains":
    def of_new(choice: Choice, drive: str, workload: str, seed: int) -> float:
        dirty = speed(job_of(results[choice.label(drive, "dirty", workload, seed)], "replay"))
        if "new" not in _states_of(choice):
            return 100 * dirty / _new_speed(found, (drive, "dirty", workload, seed))
        return 100 * dirty / speed(job_of(results[choice.label(drive, "new", workload, seed)], "replay"))

    gains = {(STATED, name): of_samples(_gain(percent, context, "dirty", name), "seeds") for name in WORKLOADS}
    for choice in CHOICES:
        for workload in WORKLOADS if choice == WITHOUT_POOL else ("heavy",):
            apart = [
                of_new(choice, LARGE_SPARE, workload, seed) - of_new(choice, SMALL_SPARE, workload, seed)
                for seed in context.seeds(CHOICE_SEEDS)
            ]
            gains[choice, workload] = of_samples(apart, "seeds")
    return gains


Gains = dict[tuple[Choice, str], Estimate]
"""The speed of dirty drives with 28 % of spare area minus that with 13 %, in points of new, by choice and workload."""


def specify(
    context: Context,
    drive: str,
    state: str,
    workload: str,
    seed: int,
    choice: Choice = STATED,
    first_rest_seconds: int = REST_SECONDS,
    *,
    is_own_link: bool = False,
) -> "Specification":
    """The run of a workload on a drive after it is brought into a state."""
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
        THINK_US=str(round(profile.seconds * 1_000_000 * choice.burst / requests * scale)),
        BURST=str(max(1, round(choice.burst * scale))),
        COMPRESS_PERCENT=str(choice.compress_percent),
        FIRST_REST=f"{first_rest_seconds}s",
        REST=f"{REST_SECONDS}s",
    )
    settings = {} if choice.pool_mib == POOL_MIB else {"background.erased_pool_bytes": f"{choice.pool_mib}MiB"}
    if drive == C300 and not is_own_link:
        settings |= STORAGE_BENCH_LINK
    return specify_run(job, drive_of(DRIVES[drive], scale=scale, settings=settings), seed=seed)


def job_of(result: "Result", name: str) -> "JobResult":
    """The job of that name."""
    (job,) = (job for job in result.jobs if job.name == name)
    return job


def speed(job: "JobResult") -> float:
    """1 / mean latency over reads and writes: requests per second for each outstanding request."""
    return (job.read.total_ios + job.write.total_ios) / _latency_seconds(job)


def _latency_seconds(job: "JobResult") -> float:
    """The sum of the latencies of all requests, in seconds."""
    return sum(direction.total_ios * _mean_us(direction) / 1e6 for direction in (job.read, job.write))


def _mean_us(direction: "DirectionResult") -> float:
    latency = direction.latency
    return latency.mean_ns / 1000 if latency is not None and latency.mean_ns is not None else 0.0


def _new_speed(found: "dict[Key, Result]", key: Key) -> float:
    drive, _, workload, seed = key
    return speed(job_of(found[drive, "new", workload, seed], "replay"))


def _gain(percent: dict[Key, float], context: Context, state: str, workload: str) -> list[float]:
    """The speed with 28 % of spare area minus that with 13 %, in points, by seed."""
    return [
        percent[LARGE_SPARE, state, workload, seed] - percent[SMALL_SPARE, state, workload, seed]
        for seed in context.seeds(SEEDS[workload])
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _of_dirty_drives(gains: Mapping[str, Estimate]) -> str:
    """Which workloads tell the spare areas apart, by their intervals."""
    apart = {name: each for name, each in gains.items() if not each.low <= 0 <= each.high}
    parts = [
        f"28 % is ahead by {each.value:.1f} points ({each.low:.1f} to {each.high:.1f}) under the {name} workload"
        for name, each in apart.items()
    ]
    if alike := [name for name in gains if name not in apart]:
        parts.append(f"no difference is seen under the {' and the '.join(alike)} workload")
    return f"dirty, {', and '.join(parts)}"


def _widest(percent: dict[Key, float], context: Context) -> float:
    return max(abs(_mean(_gain(percent, context, "full", workload))) for workload in WORKLOADS)


def _second_over_first(result: "Result") -> float:
    """The speed of the second run of the workload in percent of that of the first."""
    return 100 * speed(job_of(result, "again")) / speed(job_of(result, "replay"))


def _rows(
    context: Context, percent: dict[Key, float], chosen: Gains, straight: "Result", without_pool: "Result"
) -> list[Row]:
    rows = []
    for state, group in (("full", "Full: 28 % against 13 %"), ("dirty", "Dirty: 28 % against 13 %")):
        for workload in WORKLOADS:
            gains = of_samples(_gain(percent, context, state, workload), "seeds")
            name = "full" if state == "full" else f"dirty {workload}"
            of_source = figure(f"{name}: 28 % against 13 %")
            rows.append(
                Row(
                    f"{workload}: ahead by",
                    of_source.value,
                    gains.value,
                    "points of new",
                    tolerance=of_source.tolerance_points,
                    in_points=True,
                    printed=of_source.printed,
                    fitted=CHOSEN if state == "dirty" else None,
                    unfitted=chosen[WITHOUT_POOL, workload].value if state == "dirty" else None,
                    spread=(gains.low, gains.high),
                    group=group,
                    note=f"The mean of {gains.n} seeds and, in brackets, its interval of 95 %.",
                )
            )
    least = figure("least: 28 % against 13 %")
    rows.append(
        Row(
            "the least of the six: ahead by",
            least.value,
            min(row.simulated for row in rows if row.simulated is not None),
            "points of new",
            tolerance=least.tolerance_points,
            in_points=True,
            printed=least.printed,
            fitted=CHOSEN,
            group="Full and dirty: 28 % against 13 %",
            note="Published: 28 % are never worse. It is the least of six means, each with the interval above.",
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
            is_input=True,
            group="The other drives",
            note="Its spare area is static: it never used the free space.",
        )
    )
    rows.append(
        Row(
            "Intel, heavy, dirty: the second run after a rest",
            intel.value,
            _second_over_first(straight),
            "% of the first",
            tolerance=intel.tolerance_points,
            in_points=True,
            printed=intel.printed,
            fitted=Fitted(("erased pool",), 1),
            unfitted=_second_over_first(without_pool),
            group="The other drives",
            note="The first straight after the dirtying, the second ten minutes later. Published without a number: it"
            " improves, since it collects garbage in the background. To what point is not published: the pool of a GiB"
            " is a choice. Unfitted: without a pool, so that nothing is cleaned between the runs.",
        )
    )
    rows += [
        Row(what, None, None, "", group="Not compared", note=note)
        for what, note in (
            (
                "synthetic tests, new and dirty",
                "the article's figures are not among the published data; what is simulated is in the tables",
            ),
            ("PCMark", "neither its disk trace nor the article's figures are among the published data; not run"),
        )
    ]
    rows += [
        _row_of(context, percent, drive, state, workload)
        for drive in DRIVES
        for state in ("full", "dirty")
        for workload in WORKLOADS
    ]
    return rows


def _row_of(context: Context, percent: dict[Key, float], drive: str, state: str, workload: str) -> Row:
    """The speed of a drive in a state: the mean over the seeds, which the other drives have one of."""
    own = [
        percent[drive, state, workload, seed]
        for seed in context.seeds(SEEDS[workload])
        if (drive, state, workload, seed) in percent
    ]
    what = f"{drive}, {workload}: {state}"
    if len(own) == 1:
        return Row(what, None, own[0], "% of new", group="All drives")
    mean = of_samples(own, "seeds")
    return Row(
        what,
        None,
        mean.value,
        "% of new",
        spread=(mean.low, mean.high),
        group="All drives",
        note=f"The mean of {mean.n} seeds and, in brackets, its interval of 95 %.",
    )


def _why(context: Context, found: "dict[Key, Result]") -> Table:
    rows: list[tuple[str | float | None, ...]] = []
    for drive in SANDFORCE:
        for state in STATES:
            for workload in WORKLOADS:
                result = found[drive, state, workload, context.seed]
                job = job_of(result, "replay")
                written = job.ledger.host_written_bytes
                nand = msgspec.convert(result.specification.drive["nand"], Nand)
                program_seconds = job.ledger.programmed_bytes / _programmed_per_second(nand)
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


def _programmed_per_second(nand: Nand) -> float:
    """Bytes programmed per second if all planes of all dies program all the time."""
    planes = nand.planes_per_die * nand.channels * nand.dies_per_channel
    return planes * nand.page_bytes / (mean_us(nand.program_us) / 1e6)


def _states(context: Context, percent: dict[Key, float]) -> "Figure":
    from ssdlab.presentation.report.charts.published import published_bars

    bars = [
        _bar(context, percent, drive, state, workload)
        for workload in WORKLOADS
        for state in ("full", "dirty")
        for drive in SANDFORCE
    ]
    return published_bars(
        name="states",
        title="Being full costs both spare areas the same; being dirty costs the smaller one more under heavy load",
        caption=f"Speed of the two SandForce drives as a percentage of the new state; means of "
        f"{min(SEEDS.values())} to {max(SEEDS.values())} seeds, each with its interval of 95 %.",
        bars=bars,
        x_title="speed, % of new",
    )


def _bar(context: Context, percent: dict[Key, float], drive: str, state: str, workload: str) -> "Bar":
    from ssdlab.presentation.report.charts.published import Bar

    mean = of_samples([percent[drive, state, workload, seed] for seed in context.seeds(SEEDS[workload])], "seeds")
    return Bar(f"{workload}, {state}", drive, mean.value, spread=(mean.low, mean.high))


def _choices(chosen: Gains) -> "list[Figure]":
    """Figures of the heavy workload's row as a function of each of the three choices."""
    return [
        _choice(
            chosen,
            "erased-pool",
            "What idle time keeps erased decides how much the smaller spare area loses",
            "the erased pool that idle time refills, in MiB of the full drive",
            "erased pool, MiB",
            {float(pool): Choice(pool_mib=pool) for pool in POOLS_MIB},
        ),
        _choice(
            chosen,
            "burst",
            "Longer bursts make the smaller spare area fall behind",
            "the requests that come without a pause",
            "requests a burst",
            {float(burst): Choice(burst=burst) for burst in BURSTS},
        ),
        _choice(
            chosen,
            "compressibility",
            "Data that compresses less makes the smaller spare area fall behind",
            "the share by which the workload's data compresses",
            "compressed by, %",
            {float(percent): Choice(compress_percent=percent) for percent in COMPRESS_PERCENTS},
        ),
    ]


def _choice(
    chosen: Gains, name: str, title: str, against: str, x_title: str, choices: Mapping[float, Choice]
) -> "Figure":
    from ssdlab.presentation.report.charts.published import Line, Marks, published_lines

    (at,) = (x for x, choice in choices.items() if choice == STATED)
    gains = {x: chosen[choice, "heavy"] for x, choice in choices.items()}
    published = figure("dirty heavy: 28 % against 13 %").value
    assert isinstance(published, float)
    return published_lines(
        name=f"choice-of-the-{name}",
        title=title,
        caption="Points of the new state by which 28 % is ahead of 13 % on dirty drives under the heavy workload, "
        f"against {against}: means of {SEEDS['heavy']} seeds at the choice and of {CHOICE_SEEDS} elsewhere, with their "
        "intervals of 95 %. The diamond is published, at the choice.",
        lines=[
            Line(
                "simulated",
                [(x, each.value) for x, each in gains.items()],
                [(x, each.low, each.high) for x, each in gains.items()],
                dotted=True,
            )
        ],
        marks=[Marks("published", [(at, published)])],
        x_title=x_title,
        y_title="ahead by, points of new",
    )
