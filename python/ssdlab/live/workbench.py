"""The state that the page controls: drives, a workload and the resulting session, one change at a time.

Not for sockets. Each change is recorded in the journal, so that the session remains a job file.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from ssdlab.errors import InputError, near
from ssdlab.live import choices
from ssdlab.live.bench import Bench, drive_status, labels, resolve_to_watch
from ssdlab.live.journal import Journal, Written, written
from ssdlab.live.messages import EraseUnit, MomentStatus, PowerLoss, PowerLossSteps, Status
from ssdlab.live.messages import Workload as WorkloadShown
from ssdlab.live.recovery import Recovery, power_loss_steps
from ssdlab.live.session_contract import Session
from ssdlab.live.theory import Theory
from ssdlab.simulator import engine
from ssdlab.simulator.drives import names
from ssdlab.simulator.engine import plain
from ssdlab.simulator.results import Result
from ssdlab.simulator.specification import Reporting, Specification
from ssdlab.simulator.workloads import controls, specifying
from ssdlab.simulator.workloads.controls import Controls
from ssdlab.simulator.workloads.jobs import parse

StartSession = Callable[[Sequence[Specification]], Session]


@dataclass(frozen=True)
class Start:
    """The options of the command line, to which a reset returns."""

    drives: tuple[choices.DriveChoice, ...]
    settings: dict[str, str] = field(default_factory=dict)
    scale: Fraction | None = None
    seed: int = 1
    timed: bool = True


@dataclass(frozen=True)
class Settled:
    """The state of a drive after its jobs were ended."""

    job_file: str
    result: Result


@dataclass(frozen=True)
class Now:
    """The current session with its drives, which belong together."""

    benches: list[Bench]
    session: Session
    generation: int
    """Increases with every new session, whose figures start again."""

    @property
    def theories(self) -> list[Theory]:
        return [bench.theory for bench in self.benches]


@dataclass(frozen=True)
class Moment:
    """A moment named by the user, with its position on the axis of every drive."""

    name: str
    host_written_bytes: tuple[int, ...]
    simulated_seconds: tuple[float | None, ...]

    def plain(self) -> MomentStatus:
        """The moment for the page."""
        return {
            "name": self.name,
            "host_written_bytes": list(self.host_written_bytes),
            "simulated_seconds": list(self.simulated_seconds),
        }


class Workbench:
    """One session at a time. Changes from any thread are serialised."""

    rests_unwatched = True

    def __init__(self, start: Start, start_session: StartSession) -> None:
        """Makes the drives of `start`. Raises InputError for an invalid drive."""
        self.start = start
        self.workload: Controls | None = Controls()
        self.job_name: str | None = None
        self.partition_percent = 100
        self.requests_per_second: float | None = None
        self.moments: list[Moment] = []
        self.tour: tuple[str, int] | None = None
        """The name of the tour and its current step."""
        self.recovery: Recovery | None = None
        """A power loss that the page is showing; the drives stand still meanwhile."""
        self._power_cuts = 0
        self._is_watched = True
        # Only known drives, so that a page cannot make this program read arbitrary files.
        self._known_drives = {*names(), *(choice.name for choice in start.drives)}
        self._start_session = start_session
        self._lock = threading.RLock()
        self._numbers = 0
        self._job_text: list[Written] = []
        benches = self._benches(start.drives)
        self.now = Now(benches, self._new_session(benches), 0)
        """Replaced as a whole, so that other threads never read an inconsistent state."""

    @property
    def benches(self) -> list[Bench]:
        return self.now.benches

    @property
    def session(self) -> Session:
        return self.now.session

    def close(self) -> None:
        self.session.close()

    def set_watched(self, is_watched: bool) -> None:
        """Sets whether a page is open. Without one the drives stand still, also those of later sessions."""
        with self._lock:
            self._is_watched = is_watched
            self.session.set_watched(is_watched)

    def reset(self) -> None:
        """Replaces the drives with new ones of the same kind, and starts the workload from the beginning."""
        with self._lock:
            self._replace(self._benches([bench.choice for bench in self.benches]))

    def set_drives(self, drives: Sequence[choices.DriveChoice]) -> None:
        """Replaces the drives. If a new one is invalid, the current ones stay."""
        with self._lock:
            self._replace(self._benches(drives))

    def set_speed(self, requests_per_second: float | None) -> None:
        self.requests_per_second = requests_per_second
        self.session.set_speed(requests_per_second)

    def set_workload(self, chosen: Controls) -> None:
        """Ends the current jobs and continues with this workload."""
        with self._lock:
            self.workload, self.job_name = chosen, None
            self._go_on_with([self._current_sections()])

    def start_job(self, name: str, text: str) -> None:
        """Ends the current jobs and starts a job file. Raises InputError for an invalid one and changes nothing."""
        sections = written(text, name)
        with self._lock:
            for bench in self.benches:
                # First checked on its own, so that errors have its own lines.
                user_bytes = bench.drive.capacity.user_bytes
                parse(text, name).resolve(user_bytes, seed=self.start.seed, scale=bench.drive.scale)
            self.workload, self.job_name, self._job_text = None, name, sections
            self._go_on_with([sections])

    def set_partition(self, percent: int) -> None:
        """Sets the first `percent` of the drive as the host's partition. If it shrinks, the rest is trimmed."""
        with self._lock:
            smaller = percent < self.partition_percent
            self.partition_percent = percent
            behind = [[self._named("trim", lambda name: controls.trim_behind(name, percent))]] if smaller else []
            self._go_on_with([*behind, self._current_sections()])

    def fill(self) -> None:
        """Writes the partition once sequentially, then continues with the previous workload."""
        with self._lock:
            filling = self._named("fill", lambda name: controls.fill(name, self.partition_percent))
            self._go_on_with([[filling], self._current_sections()])

    def mark(self, name: str) -> Moment:
        """Records the current moment under this name, or under a number if it is empty."""
        with self._lock:
            outcomes = [self.session.outcome(index) for index in range(len(self.benches))]
            moment = Moment(
                name or f"moment {len(self.moments) + 1}",
                tuple(_host_written_bytes(outcome) for outcome in outcomes),
                tuple(_simulated_seconds(outcome) for outcome in outcomes),
            )
            self.moments.append(moment)
            return moment

    def run(self) -> None:
        """Continues, and ends the display of a recovery."""
        with self._lock:
            self.recovery = None
            self.session.run()

    def pause(self) -> None:
        with self._lock:
            if self.recovery is not None:
                self.recovery = replace(self.recovery, goes_on=False)
            self.session.pause()

    def cut_power(self) -> None:
        """Stops the drives and shows the steps of their recovery until `power_on`."""
        with self._lock:
            goes_on = self.session.is_running or (self.recovery is not None and self.recovery.goes_on)
            self.session.pause()
            losses = self.session.cut_power()
            self._power_cuts += 1
            self.mark(f"power cut {self._power_cuts}")
            drives = [self._loss_steps(index, loss) for index, loss in enumerate(losses)]
            self.recovery = Recovery(self._power_cuts, False, goes_on, tuple(drives))

    def power_on(self) -> None:
        """Ends the display of a recovery; the drives continue if they were running."""
        with self._lock:
            recovery, self.recovery = self.recovery, None
            if recovery is not None and recovery.goes_on:
                self.session.run()

    def _loss_steps(self, index: int, loss: PowerLoss) -> PowerLossSteps:
        cells, drive = self.session.cells, self.specification(index).engine["drive"]
        return power_loss_steps(loss, cells(index, "state"), cells(index, "age"), drive)

    def specification(self, index: int) -> Specification:
        """The specification of a drive's session with all jobs so far, which its outcome belongs to."""
        bench = self.benches[index]
        assert bench.specification is not None
        return bench.specification

    def erase_unit(self, index: int, erase_unit: int) -> EraseUnit:
        """One erase unit of a drive. Raises InputError if an index is out of range."""
        if index >= len(self.benches) or erase_unit >= self.benches[index].drive.capacity.erase_units:
            raise InputError(f"drive {index + 1} has no erase unit {erase_unit}")
        return self.session.erase_unit(index, erase_unit)

    @contextlib.contextmanager
    def settled(self) -> Iterator[list["Settled"]]:
        """The state of every drive after its current jobs are ended; they begin again afterwards as a new stage.

        Only then does a command line reproduce the figures. Raises InputError if the end of a job cannot be expressed.
        """
        with self._lock:
            was_running, had_more = self.session.is_running, not self.session.is_finished
            self._end_all()
            try:
                yield [self._settled(index) for index in range(len(self.benches))]
            finally:
                if had_more:
                    self._append([self._current_sections()])
                if was_running:
                    self.session.run()

    def _settled(self, index: int) -> "Settled":
        bench = self.benches[index]
        specification = self.specification(index)
        reporting = tuple(Reporting({}, group=job["stage"]) for job in specification.jobs)
        outcome = self.session.outcome(index)
        result = Result(replace(specification, reporting=reporting), outcome, version=engine.native().version())
        return Settled(bench.journal.text(bench.drive.scale), result)

    def title(self) -> str:
        """The title of the session."""
        return Path(self.job_name).stem if self.job_name else "A session"

    def labels(self) -> list[str]:
        """Short labels that distinguish the drives."""
        return labels(self.benches)

    def status(self) -> Status:
        """The status of the session for the page, without its figures, as plain JSON values."""
        now = self.now
        session = now.session
        return {
            "watched": None,
            "generation": now.generation,
            "running": session.is_running,
            "finished": session.is_finished,
            "failure": session.failure,
            "requests_per_second": self.requests_per_second,
            "workload": _workload(self.workload) if self.workload else None,
            "job": self.job_name,
            "partition_percent": self.partition_percent,
            "timed": self.start.timed,
            "seed": self.start.seed,
            "drives": [
                drive_status(bench, label, self.partition_percent)
                for bench, label in zip(now.benches, labels(now.benches), strict=True)
            ],
            "moments": [moment.plain() for moment in self.moments],
            "tour": {"name": self.tour[0], "step": self.tour[1]} if self.tour else None,
            "recovery": self.recovery.plain() if self.recovery else None,
        }

    def policies_of(self, choice: choices.DriveChoice) -> dict[str, str]:
        """The policies chosen in addition to the drive's file, by key of the drive file."""
        policies = {"ftl.victim": choice.victim, "ftl.placement": choice.placement}
        return {key: name for key, name in policies.items() if name is not None}

    def _benches(self, drives: Sequence[choices.DriveChoice]) -> list[Bench]:
        benches = []
        for choice in drives:
            if choice.name not in self._known_drives:
                raise InputError(f"no drive {choice.name!r} in the catalogue{near(choice.name, self._known_drives)}")
            settings = self.start.settings | self.policies_of(choice)
            drive = resolve_to_watch(choice, settings, self.start.scale)
            benches.append(Bench(choice, drive, Theory(drive.specification())))
        return benches

    def _replace(self, benches: list[Bench]) -> None:
        before = self.partition_percent, self._numbers
        was_running = self.session.is_running or (self.recovery is not None and self.recovery.goes_on)
        self.partition_percent, self._numbers = 100, 0
        try:
            session = self._new_session(benches)
        except BaseException:
            self.partition_percent, self._numbers = before
            raise
        self.session.close()
        self.now = Now(benches, session, self.now.generation + 1)
        self.moments, self.recovery = [], None
        if was_running:
            session.run()

    def _new_session(self, benches: Sequence[Bench]) -> Session:
        sections = self._current_sections()
        specifications = []
        for bench in benches:
            bench.journal = Journal().appended(sections, 0)
            bench.specification = specifying.specify(
                bench.journal.job_file(), bench.drive, seed=self.start.seed, timed=self.start.timed
            )
            bench.theory.set_jobs(bench.specification.jobs)
            specifications.append(bench.specification)
        session = self._start_session(specifications)
        session.set_speed(self.requests_per_second)
        session.set_watched(self._is_watched)
        return session

    def _current_sections(self) -> list[Written]:
        if self.workload is None:
            return self._job_text
        chosen, percent = self.workload, self.partition_percent
        texts = chosen.sections(self._next_name("work"), percent)
        return [section for text in texts for section in written(text, "the page")]

    def _named(self, kind: str, text: Callable[[str], str]) -> Written:
        (section,) = written(text(self._next_name(kind)), "the page")
        return section

    def _next_name(self, kind: str) -> str:
        self._numbers += 1
        return f"{kind}-{self._numbers}"

    def _go_on_with(self, stages: Sequence[list[Written]]) -> None:
        """Ends the current jobs and appends stages, for every drive. The session continues if it was running."""
        was_running = self.session.is_running
        self._end_all()
        self._append(stages)
        if was_running:
            self.session.run()

    def _end_all(self) -> None:
        """Ends all jobs and records their numbers of requests in the journals."""
        self.session.pause()
        self.session.end_jobs()
        for index, bench in enumerate(self.benches):
            requested, ended = self.specification(index), self.session.specification(index)
            before, now = ([job.get("number_ios") for job in each.engine["jobs"]] for each in (requested, ended))
            issued = [None if count == before[job] else count for job, count in enumerate(now)]
            bench.journal = bench.journal.settled(issued)
            bench.specification = ended

    def _append(self, stages: Sequence[list[Written]]) -> None:
        self.session.append([self._appended(bench, stages) for bench in self.benches])

    def _appended(self, bench: Bench, stages: Sequence[list[Written]]) -> list[plain.Job]:
        """The engine's jobs of the new stages, which are also added to the bench's journal and specification."""
        assert bench.specification is not None
        jobs = list(bench.specification.engine["jobs"])
        before = len(jobs)
        for sections in stages:
            bench.journal = bench.journal.appended(sections, len(jobs))
            user_bytes = bench.drive.capacity.user_bytes
            jobs += bench.journal.last_jobs(user_bytes, seed=self.start.seed, scale=bench.drive.scale)
        # Earlier stages do not count: each stage of the page covers the live data.
        last = jobs[-1]["stage"] if jobs else 0
        bench.theory.set_jobs([job for job in jobs if job["stage"] == last])
        bench.specification = replace(bench.specification, engine={**bench.specification.engine, "jobs": jobs})
        return jobs[before:]


def _simulated_seconds(outcome: plain.Outcome) -> float | None:
    return outcome["timing"]["simulated_ns"] / 1e9 if outcome["timing"] else None


def _workload(chosen: Controls) -> WorkloadShown:
    return {
        "kind": chosen.kind,
        "block_bytes": chosen.block_bytes,
        "read_percent": chosen.read_percent,
        "skew": chosen.skew,
        "trim_percent": chosen.trim_percent,
        "iodepth": chosen.iodepth,
    }


def _host_written_bytes(outcome: plain.Outcome) -> int:
    return outcome["ledger"]["host_written_bytes"]
