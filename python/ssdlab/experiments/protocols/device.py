"""Runs a protocol on a real drive or file, step by step. Finished steps are stored, so that a run can be resumed."""

import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step
from ssdlab.experiments.protocols.figures import Figures, Rates, Round, Sample, flushes_of, rates_of, thinned
from ssdlab.experiments.protocols.steady import ROUNDS, is_steady
from ssdlab.experiments.protocols.steps import job_file, rest, script
from ssdlab.experiments.protocols.store import Store
from ssdlab.hardware.device import health, jobtext, programs, purging, run, series
from ssdlab.hardware.device.health import Health, ReadOut
from ssdlab.hardware.device.jobtext import Stage
from ssdlab.hardware.device.measured import MeasuredStage, direction_of, flush_of
from ssdlab.hardware.device.place import Place
from ssdlab.hardware.device.sysbench import SysbenchReport, sysbench_report
from ssdlab.hardware.device.volume import Volume, volume
from ssdlab.simulator.results.fio_schema import DIRECTIONS
from ssdlab.simulator.workloads.specifying import DRIVE_WRITES_MAX

Tell = Callable[[int, float, int], None]


@dataclass(frozen=True)
class _Round:
    """One call of fio, or a step without fio, with the SMART readings before and after it."""

    before: ReadOut
    after: ReadOut
    stage: MeasuredStage | None
    commands: Sequence[str]
    sysbench: SysbenchReport | None = None


class _Runner:
    """Runs the steps of a protocol on a place."""

    def __init__(self, place: Place, source: Health, seed: int, tell: Tell | None) -> None:
        self._place = place
        self._source = source
        self._seed = seed
        self._tell = tell
        self._calls = 0

    def point(self, index: int, point: Point, store: Store) -> list[Figures]:
        """The figures of a point: takes the stored steps and runs the others. Raises InputError if some, but not all,
        steps are stored and the place is a file, which no longer exists."""
        found = store.finished(index)
        if len(found) == len(point.steps):
            return found
        with ExitStack() as stack:
            stages: Sequence[Stage] = ()
            files: Volume | None = None
            if point.is_script:
                files = stack.enter_context(volume(self._place, seed=self._seed))
                if found:
                    files.mount()
            else:
                logs = any(step.over_time for step in point.steps)
                stages = jobtext.stages(job_file(point), self._place.path_of, seed=self._seed, logs=logs)
            if not found:
                self._purge(stages)
            elif not self._place.is_device:
                raise InputError(
                    f"{self._place.path}: the file does not survive an interrupted run; run without --resume"
                )
            for number in range(len(found), len(point.steps)):
                step = point.steps[number]
                rounds = self._step(index, number, point, stages, files)
                figures = _figures(point, step, rounds)
                store.keep(index, number, figures)
                found.append(figures)
                if self._tell:
                    self._tell(index, (number + 1) / len(point.steps), sum(each.written_bytes for each in found))
        return found

    def _purge(self, stages: Sequence[Stage]) -> None:
        """Trims a whole device; a file is created again."""
        place = self._place
        if place.is_device:
            purging.purge(place)
            return
        place.remove()
        files = sorted({file for stage in stages for file in stage.files})
        place.make(dict.fromkeys(files, place.size_bytes // max(1, len(files))))

    def _step(
        self, index: int, number: int, point: Point, stages: Sequence[Stage], files: Volume | None
    ) -> list[_Round]:
        step = point.steps[number]
        if step.end == "job":
            return [self._round(index, number, point, stages, files, None)]
        rounds: list[_Round] = []
        while len(rounds) < DRIVE_WRITES_MAX and not is_steady(_to_settle(rounds)):
            rounds.append(self._round(index, number, point, stages, files, len(rounds)))
        return rounds

    def _round(
        self,
        index: int,
        number: int,
        point: Point,
        stages: Sequence[Stage],
        files: Volume | None,
        of_steady: int | None,
    ) -> _Round:
        step = point.steps[number]
        try:
            self._place.claim.recheck()
            self._place.check()
        except RunFailed as error:
            raise RunFailed(f"{step.name}: {error}") from None
        before = self._source.read()
        if files is None:
            stage = stages[number]
            return self._fio(step, stage if of_steady is None else self._one_round(stage, of_steady), before, index)
        command = script(point).commands[number]
        rested = [said for pause in rest(step, command) for said in files.do(pause).commands]
        deed = files.do(command)
        if deed.stage is None:
            output = sysbench_report(deed.output) if "sysbench" in command.text else None
            return _Round(before, self._source.read(), None, [*rested, *deed.commands], output)
        return self._fio(
            step, deed.stage if of_steady is None else self._one_round(deed.stage, of_steady), before, index
        )

    def _one_round(self, stage: Stage, number: int) -> Stage:
        """The stage for one round: it writes the drive's size, with a different seed in each round."""
        seed = re.search(r"^randseed=([0-9]+)$", stage.text, re.MULTILINE)
        assert seed is not None
        text = stage.text.replace(seed[0], f"randseed={(int(seed[1]) + 7919 * number) % (1 << 62)}")
        text = re.sub(r"^io_size=.*\n", "", text, flags=re.MULTILINE)
        return replace(stage, text=f"{text}io_size={self._place.size_bytes}\n")

    def _fio(self, step: Step, stage: Stage, before: ReadOut, index: int) -> _Round:
        del index
        self._calls += 1
        with tempfile.TemporaryDirectory(prefix="ssdlab-measure-") as folder:
            done = run.run_stage(stage, self._calls, Path(folder), before, self._source, self._place, None)
        if done.interrupted:
            raise KeyboardInterrupt
        if done.measured.error:
            raise RunFailed(f"{step.name}: {done.measured.error}")
        return _Round(before, done.after, done.measured, done.measured.commands)


def run_protocol(
    protocol: Protocol,
    place: Place,
    source: Health,
    store: Store,
    *,
    quick: bool = False,
    seed: int = 1,
    tell: Tell | None = None,
) -> list[Figures]:
    """Runs all points in order. Returns the figures of every step, including those finished by an earlier run.

    Raises InputError if the protocol needs a device and the place is none, RunFailed if a step fails, KeyboardInterrupt
    on Ctrl-C; finished steps are then in `store`.
    """
    if protocol.needs_device and not place.is_device:
        raise InputError(
            f"{protocol.name} needs a device, not a folder: it leaves space of the drive unused, or trims it"
        )
    programs.check("fio")
    runner = _Runner(place, source, seed, tell)
    found: list[Figures] = []
    for index, point in enumerate(protocol.points(Setting(place.size_bytes, quick))):
        found += runner.point(index, point, store)
    return found


def _to_settle(rounds: Sequence[_Round]) -> list[float]:
    """The values that have to become steady: write amplification of each round, or IOPS if a round has none."""
    wafs = [health.between(each.before, each.after).waf for each in rounds]
    known = [waf for waf in wafs if waf is not None]
    if len(known) == len(rounds):
        return known
    return [_iops(each) for each in rounds]


def _iops(each: _Round) -> float:
    jobs = each.stage.report["jobs"] if each.stage and each.stage.report else []
    return sum(float(job[name]["iops"]) for job in jobs for name in DIRECTIONS)


def _figures(point: Point, step: Step, rounds: Sequence[_Round]) -> Figures:
    window = rounds[-ROUNDS:] if step.end == "steady" else rounds
    phase = health.between(window[0].before, window[-1].after)
    stages = [each.stage for each in window if each.stage and each.stage.report]
    jobs = [job for stage in stages if stage.report for job in stage.report["jobs"]]
    sides = {name: [direction_of(job[name]) for job in jobs] for name in DIRECTIONS}
    # Jobs of a stage run side by side.
    lasting = [
        max(job[name]["runtime"] for job in stage.report["jobs"] for name in DIRECTIONS) / 1000
        for stage in stages
        if stage.report
    ]
    seconds = sum(lasting) if jobs else None
    everything = [job for each in rounds if each.stage and each.stage.report for job in each.stage.report["jobs"]]
    if (said := rounds[-1].sysbench) is not None:
        return _of_sysbench(point, step, said, phase, rounds[-1].commands)
    is_steady_step = step.end == "steady"
    return Figures(
        point.label,
        step.name,
        step.shown,
        phase.waf,
        phase.reason,
        sum(int(job["write"]["io_bytes"]) for job in everything),
        sum(int(job["read"]["io_bytes"]) for job in everything),
        seconds,
        rates_of(sides["read"], seconds),
        rates_of(sides["write"], seconds),
        len(rounds) if is_steady_step else None,
        is_steady(_to_settle(rounds)) if is_steady_step else None,
        [command for each in rounds for command in each.commands],
        [each.stage.job_text or "" for each in rounds if each.stage],
        flushes_of([flush_of(job["sync"]) for job in jobs], seconds),
        rates_of(sides["trim"], seconds),
        _by_round(rounds) if is_steady_step else (),
        _over_time(step, [each.stage for each in rounds if each.stage]),
    )


def _by_round(rounds: Sequence[_Round]) -> list[Round]:
    return [Round(health.between(each.before, each.after).waf, _iops(each)) for each in rounds]


def _over_time(step: Step, stages: Sequence[MeasuredStage]) -> list[Sample]:
    """The rates of each second of a step; empty if it does not ask for them, or ended within the first second."""
    if not step.over_time or (frame := series.frame(stages)) is None:
        return []
    return thinned([Sample(*row) for row in frame.select("seconds", "read_mb_s", "write_mb_s").iter_rows()])


def _of_sysbench(
    point: Point, step: Step, said: SysbenchReport, phase: health.Phase, commands: Sequence[str]
) -> Figures:
    """The figures of a run of sysbench, which reports rates, and one mean latency for all requests."""
    written, read = int(said.write_mib_s * said.seconds * 2**20), int(said.read_mib_s * said.seconds * 2**20)

    def side(ios_per_second: float, mib_s: float) -> Rates | None:
        if not ios_per_second:
            return None
        moved = int(mib_s * said.seconds * 2**20)
        mean_us = None if said.mean_ms is None else 1000 * said.mean_ms
        return Rates(
            round(ios_per_second * said.seconds), moved, ios_per_second, mib_s * 2**20 / 1e6, mean_us, None, None
        )

    return Figures(
        point.label, step.name, step.shown, phase.waf, phase.reason, written, read, said.seconds,
        side(said.reads_per_second, said.read_mib_s), side(said.writes_per_second, said.write_mib_s),
        commands=list(commands),
    )  # fmt: skip
