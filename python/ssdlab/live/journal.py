"""The session as a job file: what the host has done so far, stage by stage, in fio's language.

Each change of the workload ends a stage and begins another. A stage that was ended early is written with `number_ios`,
the requests that it had issued, so that `ssdlab run` of the text gives the drive that the page shows. What cannot be
said as a section of a job file cannot happen on the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ssdlab.engine import plain
from ssdlab.errors import InputError
from ssdlab.workloads.jobs.jobfile import JobFile, Section, parse
from ssdlab.workloads.jobs.table import BY_NAME

# These say how much a job does; its count of requests says it better once it is known.
_AMOUNTS = ("loops", "io_size", "number_ios", "runtime", "time_based")
_SOURCE = "session.fio"


@dataclass(frozen=True)
class Written:
    """One section: its name, and its options as written, in order."""

    name: str
    options: tuple[tuple[str, str | None], ...]

    @property
    def keys(self) -> list[str]:
        """What its options are stored as once they are parsed."""
        return [BY_NAME[name].key for name, _ in self.options]

    def text(self, more: Sequence[tuple[str, str | None]] = ()) -> str:
        lines = [
            f"[{self.name}]",
            *(key if value is None else f"{key}={value}" for key, value in (*self.options, *more)),
        ]
        return "\n".join(lines) + "\n"

    def cut(self, issued: int, scale: Fraction) -> "Written":
        """The same for so many requests; a job file's counts are those of the full drive."""
        kept = tuple(option for option in self.options if option[0] not in _AMOUNTS)
        return Written(self.name, (*kept, ("io_size", "1p"), ("number_ios", str(round(issued / scale)))))


@dataclass(frozen=True)
class Entry:
    """One section of the session, the engine's job that it became, and what came of it."""

    section: Written
    job: int
    """The place among the engine's jobs."""
    issued: int | None = None
    """The requests that it has issued; None where it did all that it says."""


@dataclass(frozen=True)
class Journal:
    """The stages of a session, oldest first, each a list of sections that belong together."""

    stages: tuple[tuple[Entry, ...], ...] = ()

    def appended(self, sections: Sequence[Written], first_job: int) -> "Journal":
        """With a new stage, which begins when all before it has ended; the engine's jobs from `first_job` on."""
        stage = tuple(Entry(section, first_job + place) for place, section in enumerate(sections))
        return Journal((*self.stages, stage))

    def settled(self, issued: Sequence[int | None]) -> "Journal":
        """With the requests after which each of the engine's jobs was ended; None for one that did all, or had ended.

        Jobs that are not in the list did not begin, and are left out.
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
        """The job file. Its counts are those of the full drive, of which the session's has the share `scale`."""
        wall: tuple[tuple[str, None], ...] = (("stonewall", None),)
        texts: list[str] = []
        for stage in self.stages:
            for place, entry in enumerate(stage):
                section = entry.section if entry.issued is None else entry.section.cut(entry.issued, scale)
                has_wall = any(key == "stonewall" for key, _ in section.options)
                texts.append(section.text(wall if place == 0 and texts and not has_wall else ()))
        return "\n".join(texts)

    def job_file(self) -> JobFile:
        """What the engine is given of: all sections in full, so that each goes on until it is ended."""
        whole = (tuple(replace(entry, issued=None) for entry in stage) for stage in self.stages)
        return parse(Journal(tuple(whole)).text(Fraction(1)), _SOURCE)

    def last_jobs(self, user_bytes: int, *, seed: int, scale: Fraction) -> list[plain.Job]:
        """The engine's jobs of the last stage on a drive of so many bytes, as they would be in the whole file.

        A job's seed depends on its place in the file, which is why the whole of it is read.
        """
        count = len(self.stages[-1])
        return self.job_file().resolve(user_bytes, seed=seed, scale=scale)[-count:]


def written(text: str, source: str) -> list[Written]:
    """The sections of a job file, each with all that holds for it, so that it means the same among others.

    Raises InputError as the command line does, with `source` and the line. Clones become sections of their own.
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
    """Raises InputError where a section means something else once it stands alone, as a value merged from two lines."""
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
    """What holds for a section, by fio's names. A watched job writes no logs, and its clones are sections."""
    dropped = {"numjobs", "group_reporting", "new_group", "name"}
    settings = sorted(section.settings.values(), key=lambda setting: setting.order)
    named = [(BY_NAME[setting.raw.key].name, setting.raw.text) for setting in settings]
    return tuple((name, text) for name, text in named if name not in dropped and not name.startswith("write_"))
