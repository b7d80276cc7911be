"""Runs a protocol on a simulated drive: each point is a run of the engine on a fresh, and so purged, drive."""

from collections.abc import Callable, Container
from contextlib import closing
from typing import TYPE_CHECKING

from ssdlab.errors import RunFailed
from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step
from ssdlab.experiments.protocols.figures import Figures, Round, Sample, flushes_of, rates, rates_of, thinned
from ssdlab.experiments.protocols.steps import Engine
from ssdlab.simulator.results.fio_schema import DIRECTIONS
from ssdlab.simulator.results.ledger import Ledger
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.targets.side_by_side import Work, side_by_side, workers_for
from ssdlab.simulator.workloads import specifying

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.results.steady_state import SteadyState

Tell = Callable[[int, float, int], None]
"""Called with the index of a point, the share done, and the host bytes written."""


def run(
    protocol: Protocol,
    drive: "ResolvedDrive",
    *,
    quick: bool = False,
    seed: int = 1,
    workers: int | None = None,
    tell: Tell | None = None,
) -> list[Figures]:
    """Runs all points, at most `workers` at a time. Returns the figures of every step, in order. Raises InputError and
    RunFailed as runs do."""
    points = protocol.points(Setting(drive.capacity.user_bytes, quick, drive.scale))
    # Each point is at most one run at a time, of the same drive.
    first = [specifying.specify(Engine(point, 1, {}), drive, seed=seed) for point in points]
    count = workers_for(first, workers)
    works = [_work_of(point, drive, seed) for point in points]
    with closing(side_by_side(works, count, tell or (lambda *_: None))) as finished:
        found = dict(finished)
    return [figures for index in range(len(points)) for figures in found[index]]


def _work_of(point: Point, drive: "ResolvedDrive", seed: int) -> Work[list[Figures]]:
    return lambda tell: run_point(point, drive, seed=seed, tell=tell)


def run_point(
    point: Point, drive: "ResolvedDrive", *, seed: int = 1, tell: Callable[[float, int], None] | None = None
) -> list[Figures]:
    """Runs a point. If a step before the last one ends when steady, a separate run first finds its number of rounds."""
    io_bytes: dict[int, int] = {}
    steady: dict[int, Figures] = {}
    last = len(point.steps) - 1
    for number, step in enumerate(point.steps):
        if step.end == "steady" and number < last:
            workload = Engine(point, number + 1, io_bytes)
            result = _run(workload, drive, seed, "steady", tell)
            steady[number] = _steady(point, number, result)
            rounds = steady[number].rounds or 1
            io_bytes[number] = rounds * drive.capacity.user_bytes
    workload = Engine(point, len(point.steps), io_bytes)
    until: specifying.Until = "steady" if point.steps[last].end == "steady" else "job"
    result = _run(workload, drive, seed, until, tell)
    if until == "steady":
        steady[last] = _steady(point, last, result)
    return [steady.get(number) or _of_step(point, number, result, workload) for number in range(len(point.steps))]


def _run(
    workload: Engine,
    drive: "ResolvedDrive",
    seed: int,
    until: specifying.Until,
    tell: Callable[[float, int], None] | None,
) -> "Result":
    result = simulated.run(specifying.specify(workload, drive, seed=seed, until=until), tell)
    if result.failure:
        raise RunFailed(f"{workload.point.label or 'protocol'}: {result.failure}")
    return result


def _steady(point: Point, number: int, result: "Result") -> Figures:
    found = result.steady_state
    assert found is not None
    timing = found.timing
    step = point.steps[number]
    sides = {
        name: rates(timing.ios[name], timing.moved_bytes[name], timing.window_seconds, timing.latency[name])
        if timing
        else None
        for name in ("read", "write")
    }
    jobs = [job for job in result.jobs if job.stage == result.jobs[-1].stage]
    return Figures(
        point.label,
        step.name,
        step.shown,
        found.window_waf,
        None,
        sum(job.write.io_bytes for job in jobs),
        sum(job.read.io_bytes for job in jobs),
        timing.window_seconds if timing else None,
        sides["read"],
        sides["write"],
        len(found.round_waf),
        found.reached,
        by_round=_by_round(found),
        over_time=_over_time(step, result, {job.stage for job in jobs}),
    )


def _by_round(found: "SteadyState") -> list[Round]:
    iops = found.timing.round_iops if found.timing else [None] * len(found.round_waf)
    return [Round(waf, rate) for waf, rate in zip(found.round_waf, iops, strict=True)]


def _over_time(step: Step, result: "Result", stages: Container[int]) -> list[Sample]:
    """The rates over the time of a step's stages; empty if the step does not ask for them."""
    series = result.timing_series
    if not step.over_time or series is None:
        return []
    found, seconds = [], 0.0
    for stage, interval, read, write in series.select(
        "stage", "interval_seconds", "read_mb_s", "write_mb_s"
    ).iter_rows():
        if stage in stages:
            seconds += interval
            found.append(Sample(seconds, read, write))
    return thinned(found)


def _of_step(point: Point, number: int, result: "Result", workload: Engine) -> Figures:
    step = point.steps[number]
    jobs = [job for job in result.jobs if workload.step_of_stage[job.stage] == number]
    ledgers: list[Ledger] = [job.ledger for job in jobs]
    ledger = sum(ledgers[1:], ledgers[0]) if ledgers else None
    stages = {job.stage: [other.seconds or 0.0 for other in jobs if other.stage == job.stage] for job in jobs}
    # Jobs of a stage run side by side.
    seconds = sum(max(each) for each in stages.values()) if jobs and jobs[0].seconds is not None else None
    sides = {name: rates_of([getattr(job, name) for job in jobs], seconds) for name in DIRECTIONS}
    waf = ledger.waf if ledger else None
    return Figures(
        point.label,
        step.name,
        step.shown,
        waf,
        "nothing was written" if waf is None else None,
        sum(job.write.io_bytes for job in jobs),
        sum(job.read.io_bytes for job in jobs),
        seconds,
        sides["read"],
        sides["write"],
        flush=flushes_of([job.flush for job in jobs], seconds),
        trim=sides["trim"],
        over_time=_over_time(step, result, {job.stage for job in jobs}),
    )
