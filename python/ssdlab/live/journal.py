"""The session as a job file: the host's actions so far, stage by stage, in fio's language.

Each change of the workload ends a stage and begins another. A stage that was ended early is written with `number_ios`,
the number of requests it had issued, so that `ssdlab run` of the text reproduces the drive shown on the page. The page
therefore offers only actions that can be written as sections of a job file.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.jobfile import JobFile, Section, parse
from ssdlab.simulator.workloads.jobs.table import BY_NAME

# Options for the amount of a job; once the number of its requests is known, it replaces them.
_AMOUNTS = ("loops", "io_size", "number_ios", "runtime", "time_based")
_SOURCE = "session.fio"


@dataclass(frozen=True)
class Written:
    """One section: its name, and its options as written, in order."""

    name: str
    options: tuple[tuple[str, str | None], ...]

    @property
    def keys(self) -> list[str]:
        """The keys under which its options are stored after parsing."""
        return [BY_NAME[name].key for name, _ in self.options]

    def text(self, more: Sequence[tuple[str, str | None]] = ()) -> str:
        lines = [
            f"[{self.name}]",
            *(key if value is None else f"{key}={value}" for key, value in (*self.options, *more)),
        ]
        return "\n".join(lines) + "\n"

    def cut(self, issued: int, scale: Fraction) -> "Written":
        """The section limited to this number of requests; counts in a job file are those of the full-size drive."""
        kept = tuple(option for option in self.options if option[0] not in _AMOUNTS)
        return Written(self.name, (*kept, ("io_size", "1p"), ("number_ios", str(round(issued / scale)))))


@dataclass(frozen=True)
class Entry:
    """One section of the session, the corresponding job of the engine, and its result."""

    section: Written
    job: int
    """The index among the engine's jobs."""
    issued: int | None = None
    """The number of requests it has issued; None if it was not ended early."""


@dataclass(frozen=True)
class Journal:
    """The stages of a session, oldest first, each a list of sections that run in parallel."""

    stages: tuple[tuple[Entry, ...], ...] = ()

    def appended(self, sections: Sequence[Written], first_job: int) -> "Journal":
        """A journal with a new stage, which begins when all before it have ended; its jobs begin at `first_job`."""
        stage = tuple(Entry(section, first_job + place) for place, section in enumerate(sections))
        return Journal((*self.stages, stage))

    def settled(self, issued: Sequence[int | None]) -> "Journal":
        """A journal with the number of requests after which each of the engine's jobs was ended early, or None.

        Jobs that are not in the list have not begun, and are left out.
        """
        stages = (
            tuple(
                replace(entry, issued=issued[entry.job] if entry.issued is None else entry.issued)
                for entry in stage
                if entry.job < len(issued)
            )
            for stage in self.stages
        )
        return Journal(tuple(stage for stage in stages if stage))

    def text(self, scale: Fraction) -> str:
        """The text of the job file. Its counts are those of the full-size drive; `scale` is that of the session."""
        wall: tuple[tuple[str, None], ...] = (("stonewall", None),)
        texts: list[str] = []
        for stage in self.stages:
            for place, entry in enumerate(stage):
                section = entry.section if entry.issued is None else entry.section.cut(entry.issued, scale)
                has_wall = any(key == "stonewall" for key, _ in section.options)
                texts.append(section.text(wall if place == 0 and texts and not has_wall else ()))
        return "\n".join(texts)

    def job_file(self) -> JobFile:
        """The job file for the engine: all sections in full, so that each continues until it is ended."""
        whole = (tuple(replace(entry, issued=None) for entry in stage) for stage in self.stages)
        return parse(Journal(tuple(whole)).text(Fraction(1)), _SOURCE)

    def last_jobs(self, user_bytes: int, *, seed: int, scale: Fraction) -> list[plain.Job]:
        """The engine's jobs of the last stage on a drive of `user_bytes`, as in the whole file.

        A job's seed depends on its position in the file, so the whole file is resolved.
        """
        count = len(self.stages[-1])
        return self.job_file().resolve(user_bytes, seed=seed, scale=scale)[-count:]


def written(text: str, source: str) -> list[Written]:
    """The sections of a job file, each with all settings that apply to it, so that it can be moved to another file.

    Raises InputError as the command line does, with `source` and the line. Clones become separate sections.
    """
    sections: list[Written] = []
    for section in parse(text, source).sections:
        clones = _clones(section, source)
        for clone in range(clones):
            name = section.name if clones == 1 else f"{section.name}.{clone + 1}"
            alone = Written(name, _options(section))
            _same(section, alone, source)
            sections.append(alone)
    if not sections:
        raise InputError(f"{source}: contains no job; a job is a section such as [randwrite]")
    first = sections[0]
    sections[0] = Written(first.name, tuple(option for option in first.options if option[0] != "stonewall"))
    return sections


def _same(section: Section, alone: Written, source: str) -> None:
    """Raises InputError if the separate section has another meaning, for example with a value merged from two lines."""
    again = parse(alone.text(), source).sections[0]
    for key in alone.keys:
        if again.settings[key].value != section.settings[key].value:
            raw = section.settings[key].raw
            raise InputError(f"{raw.where}: {raw.key} is assembled from several lines; write it in one line")


def _clones(section: Section, source: str) -> int:
    count = section.settings.get("numjobs")
    if count is None:
        return 1
    if count.value > 1 and "offset_increment" in section.settings:
        raise InputError(
            f"{source}, line {count.raw.line}: numjobs with offset_increment is not supported on the live "
            f"page; write one section per job"
        )
    return int(count.value)


def _options(section: Section) -> tuple[tuple[str, str | None], ...]:
    """The settings that apply to a section, by fio's names. Watched jobs write no logs, and clones become sections."""
    dropped = {"numjobs", "group_reporting", "new_group", "name"}
    settings = sorted(section.settings.values(), key=lambda setting: setting.order)
    named = [(BY_NAME[setting.raw.key].name, setting.raw.text) for setting in settings]
    return tuple((name, text) for name, text in named if name not in dropped and not name.startswith("write_"))
