"""A point's steps as workloads: one job file or one script, with the steps as stages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ssdlab.experiments.protocols.contract import Point, Step
from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import Reporting
from ssdlab.simulator.workloads import filesystem, jobs
from ssdlab.simulator.workloads.filesystem.script import Command, Script
from ssdlab.simulator.workloads.filesystem.session import Session
from ssdlab.simulator.workloads.jobs import JobFile


def job_file(point: Point) -> JobFile:
    """A job file with one section per step, each after a stonewall. Idle time is the section's `startdelay`."""
    sections = []
    for step in point.steps:
        delay = f"startdelay={step.idle_seconds:g}\n" if step.idle_seconds else ""
        sections.append(f"[{step.name}]\nstonewall\n{delay}{step.text}")
    return jobs.parse("".join(sections), point.label or "protocol")


def script(point: Point) -> Script:
    """A script with one command per step, without idle time, for which see `rest`."""
    return filesystem.parse("\n".join(step.text for step in point.steps), point.label or "protocol")


def rest(step: Step, before: Command) -> list[Command]:
    """The script's `sleep` command for a step's idle time; empty without idle time."""
    return [Command(before.where, "sleep", (f"{step.idle_seconds:g}",))] if step.idle_seconds else []


@dataclass
class Engine:
    """The first steps of a point as a workload for the engine, like a job file.

    `io_bytes` replaces the bytes that the jobs of some steps transfer, by the index of the step.
    """

    point: Point
    count: int
    io_bytes: Mapping[int, int]
    seed: int = 1

    def __post_init__(self) -> None:
        self.global_options: dict[str, str] = {}
        self.step_of_stage: list[int] = []

    def notes(self, *, timed: bool) -> tuple[str, ...]:
        """None: `Point` checks the options."""
        del timed
        return ()

    def resolve(self, user_bytes: int, *, seed: int, scale: Fraction | int = 1) -> list[plain.Job]:
        """The engine's jobs. Also sets `step_of_stage`, the index of the step for each stage."""
        del scale
        made = self._script(user_bytes, seed) if self.point.is_script else self._jobs(user_bytes, seed)
        for job in made:
            step = self.step_of_stage[job["stage"]]
            if step in self.io_bytes:
                job["io_bytes"] = self.io_bytes[step]
        return made

    def _jobs(self, user_bytes: int, seed: int) -> list[plain.Job]:
        made = job_file(self.point).resolve(user_bytes, seed=seed)
        self.step_of_stage = list(range(self.count))
        return [job for job in made if job["stage"] < self.count]

    def _script(self, user_bytes: int, seed: int) -> list[plain.Job]:
        session = Session(user_bytes, seed, Fraction(1))
        self.step_of_stage = []
        commands: Sequence[Command] = script(self.point).commands
        for number, (command, step) in enumerate(zip(commands, self.point.steps, strict=True)):
            if number >= self.count:
                break
            for each in [*rest(step, command), command]:
                session.do(each)
            stages = session.jobs[-1]["stage"] + 1 if session.jobs else 0
            self.step_of_stage += [number] * (stages - len(self.step_of_stage))
        return session.jobs

    def reporting(self, engine_jobs: Sequence[plain.Job]) -> list[Reporting]:
        return [Reporting({}, job["stage"]) for job in engine_jobs]
