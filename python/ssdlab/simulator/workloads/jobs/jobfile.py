"""A fio job file, read and checked: every option is known, every value is parsed, and ignored options are noted once.

`resolve.py` applies the values to a drive of a given size.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from ssdlab.errors import InputError, near
from ssdlab.simulator.drives.namespaces import Namespace
from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import Reporting
from ssdlab.simulator.workloads.jobs import access, command_line, markdown, odd_lengths, verification
from ssdlab.simulator.workloads.jobs.lines import RawOption, RawSection, read_text, split_sections
from ssdlab.simulator.workloads.jobs.logs import output
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.shell import is_script
from ssdlab.simulator.workloads.jobs.table import (
    BLOCKALIGN,
    BS,
    BSSPLIT,
    BY_NAME,
    GROUP_REPORTING,
    KB_BASE,
    NAME,
    RW,
    RWMIXREAD,
    RWMIXWRITE,
)
from ssdlab.simulator.workloads.jobs.values import Refused

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """An option's parsed value, with its place in the file. `order` increases through the file."""

    value: Any
    raw: RawOption
    order: int

    @property
    def written(self) -> str:
        """`key=value`, as in the file."""
        return self.raw.key if self.raw.text is None else f"{self.raw.key}={self.raw.text}"


@dataclass(frozen=True)
class Section:
    """One job of the file: its own options as written, and all settings that apply to it, with those of `[global]`."""

    name: str
    line: int
    options: dict[str, str]
    """The section's own options by fio's name, as text; "" for an option without a value. fio reports them so."""
    settings: Mapping[str, Setting]

    def get(self, option: Option[T]) -> T:
        """The value of an option, or its default."""
        setting = self.settings.get(option.name)
        value: T = option.default if setting is None else setting.value
        return value

    def setting(self, option: Option[Any]) -> Setting | None:
        """The value of an option with its place in the file; None if the file does not set it."""
        return self.settings.get(option.name)

    @property
    def group_reporting(self) -> bool:
        """Whether clones and other jobs of the group are reported together."""
        return self.get(GROUP_REPORTING)


@dataclass(frozen=True)
class JobFile:
    """A job file."""

    source: str
    sections: tuple[Section, ...]
    global_options: dict[str, str]
    parse_notes: tuple[str, ...]
    clock_notes: tuple[str, ...]
    """What the options that need a clock do without one."""
    # The keys, in order of appearance; the values are not used.
    _drive_notes: dict[str, None] = field(default_factory=dict, init=False, repr=False, compare=False)

    def notes(self, *, timed: bool) -> tuple[str, ...]:
        """The options that are ignored in a run with or without a clock, with the reason, and values from outside the
        file, one sentence each.

        Notes that depend on the drive are added when the file is resolved.
        """
        return (*self.parse_notes, *(() if timed else self.clock_notes), *self._drive_notes)

    def options_of(self, job_name: str) -> dict[str, str]:
        """The own options of the first job with this name, as fio reports them; empty if there is none."""
        return next((section.options for section in self.sections if section.name == job_name), {})

    def group_reporting(self, job_name: str) -> bool:
        """Whether a job with this name is reported together with its group."""
        return any(section.group_reporting for section in self.sections if section.name == job_name)

    def resolve(
        self,
        user_bytes: int,
        *,
        seed: int,
        scale: Fraction | int = 1,
        namespaces: Sequence[Namespace] = (),
        zone_bytes: int = 0,
    ) -> list[plain.Job]:
        """The jobs in the format of the engine's specification, for a drive of `user_bytes`; see `resolve.resolve`."""
        # Imported here because of a cycle: resolve.py uses the types of this module.
        from ssdlab.simulator.workloads.jobs.resolve import resolve

        jobs, notes = resolve(
            self, user_bytes, seed=seed, scale=Fraction(scale), namespaces=namespaces, zone_bytes=zone_bytes
        )
        self.add_notes(notes)
        return jobs

    def add_notes(self, notes: Iterable[str]) -> None:
        """Adds notes that depend on the drive."""
        self._drive_notes.update(dict.fromkeys(notes))

    def reporting(self, engine_jobs: Sequence[plain.Job]) -> list[Reporting]:
        """What fio would report for each job besides its numbers, in the order of the jobs returned by `resolve`."""
        reporting: list[Reporting] = []
        sections = iter(self.sections)
        group = -1
        stage = None
        section = None
        for number, job in enumerate(engine_jobs, start=1):
            # Clones count from 0, so that each 0 begins a section, even if names repeat.
            if job["clone"] == 0:
                section = next(sections)
            assert section is not None
            if job["stage"] != stage or (job["clone"] == 0 and "new_group" in section.settings):
                group, stage = group + 1, job["stage"]
            # fio reports only options with a value: not `stonewall`, not `group_reporting`.
            options = {name: text for name, text in section.options.items() if text}
            reporting.append(Reporting(options, group, section.group_reporting, output(section, number)))
        return reporting


def load(path: str | Path, *, environment: Mapping[str, str] | None = None) -> JobFile:
    """Reads and checks a job file, a script with calls of fio, or one such call (`fio --name=a ...`).

    Raises InputError, which names the file, the line, the option and what is allowed.

    `${VARIABLES}` are read from `environment`, by default that of the process.
    """
    if command_line.is_command_line(str(path)):
        return parse(str(path), command_line.SOURCE, environment=environment)
    path = Path(path)
    return parse(read_text(path), str(path), environment=environment)


def parse(text: str, source: str = "job file", *, environment: Mapping[str, str] | None = None) -> JobFile:
    """Checks the text of a job file, or of a script with calls of fio.

    `source` names it in errors and notes; included files are read from its folder.
    """
    environment = os.environ if environment is None else environment
    text, notes = markdown.plain(text)
    if is_script(text):
        raw_sections, left_out = command_line.sections_of(text, source, environment)
        notes += left_out
    else:
        raw_sections = split_sections(text, source, environment)
    inherited: dict[str, Setting] = {}
    global_options: dict[str, str] = {}
    sections: list[Section] = []
    order = 0
    for raw_section in raw_sections:
        own = _settings(raw_section, inherited, order)
        order += len(raw_section.options)
        options = {_option(raw).name: raw.text or "" for raw in raw_section.options}
        if raw_section.is_global:
            inherited = {**inherited, **own}
            global_options |= options
            continue
        # fio names a job after its section, even if [global] sets a name.
        name = own[NAME.name].value if NAME.name in own else raw_section.name
        section = Section(name, raw_section.line, options, {**inherited, **own})
        verification.check(section, section.get(RW))
        odd_lengths.check(section, (BS, BSSPLIT, BLOCKALIGN))
        sections.append(section)
        if raw_section.is_nearly_global:
            notes.append(
                f"{source}, line {raw_section.line}: [{raw_section.name}] is a job, as in fio, and its options are its"
                " own; a section for all jobs is [global], in small letters and without a blank before"
            )
    every_setting = [setting for section in sections for setting in section.settings.values()]
    lines = _first_lines(every_setting, source)
    without_clock = tuple(_effects(effect, named) for effect, named in lines.items() if effect.needs_clock)
    always = [_effects(effect, named) for effect, named in lines.items() if not effect.needs_clock]
    always += [
        *notes,
        *access.notes(sections),
        *odd_lengths.notes(sections, (BS, BSSPLIT)),
        *_of_values(every_setting, source),
    ]
    return JobFile(source, tuple(sections), global_options, tuple(always), without_clock)


def _settings(section: RawSection, inherited: Mapping[str, Setting], order: int) -> dict[str, Setting]:
    """The section's own settings, merged with inherited ones if the option defines it. The last of a name counts."""
    settings: dict[str, Setting] = {}
    triples = [(_option(raw), raw, order + place) for place, raw in enumerate(section.options)]
    kilobyte = inherited[KB_BASE.name].value if KB_BASE.name in inherited else KB_BASE.default
    # The kilobyte is read first, because it applies to every size in the section (fio sorts its options the same way).
    for option, raw, _ in triples:
        if option is KB_BASE:
            kilobyte = _value(option, raw, kilobyte)
    for option, raw, place in sorted(triples, key=lambda triple: triple[0].stored_as is not None):
        value = _value(option, raw, kilobyte)
        if option.merge is not None:
            before = settings.get(option.key) or inherited.get(option.key)
            value = option.merge(option.default if before is None else before.value, value)
        settings[option.key] = Setting(value, raw, place)
    return settings


def _option(raw: RawOption) -> Option[Any]:
    option = BY_NAME.get(raw.key)
    if option is None:
        suggestion = near(raw.key.lower(), BY_NAME) or "; see `fio --cmdhelp` for those that fio has"
        raise InputError(f"{raw.where}: {raw.key!r} is not an option of fio's job language{suggestion}")
    return option


def _value(option: Option[Any], raw: RawOption, kilobyte: int) -> Any:
    where = f"{raw.where}: {raw.key}" + ("" if raw.text is None else f"={raw.text}")
    try:
        value = option.parse(raw.text, kilobyte)
    except Refused as refused:
        unset = ", ".join(name for name, text in raw.replaced.items() if not text)
        hint = f" ({unset} is not set)" if unset else ""
        raise InputError(f"{where}: allowed is {refused}{hint}") from None
    if option.effect is Effect.UNSUPPORTED and value not in option.neutral:
        raise InputError(
            f"{where}: {option.name} ({option.meaning}) is not supported on the simulated drive: {option.reason}; "
            f"{option.hint.replace('{text}', raw.text or '')}"
        )
    return value


def _first_lines(settings: Iterable[Setting], source: str) -> dict[Effect, dict[str, str]]:
    """For each effect with a note its options, each with the first line that sets it."""
    first_lines: dict[Effect, dict[str, str]] = {}
    for setting in sorted(settings, key=lambda setting: setting.order):
        raw = setting.raw
        option = BY_NAME[raw.key]
        effect = option.effect
        if effect in (Effect.PACE, Effect.LIMIT, Effect.CONTENT) and (
            setting.value == option.default or raw.text == "0"
        ):
            continue
        if option is verification.VERIFY and raw.text == "0":
            continue
        if effect.value and effect is not Effect.UNSUPPORTED:
            first_lines.setdefault(effect, {}).setdefault(raw.key, _line(setting, source))
    return first_lines


def _line(setting: Setting, source: str) -> str:
    """The place of a setting. Only a line of an included file needs the name of its file."""
    return f"line {setting.raw.line}" if setting.raw.source == source else setting.raw.where


def _effects(effect: Effect, lines: Mapping[str, str]) -> str:
    """One sentence on all options with this effect."""
    return f"{effect.value}: {', '.join(f'{key} ({line})' for key, line in lines.items())}"


def _of_values(settings: Iterable[Setting], source: str) -> Iterable[str]:
    """Notes on values from outside the file, and on values that fio would misread."""
    spaced: list[str] = []
    dashed: list[str] = []
    signed: list[str] = []
    timed: list[str] = []
    replaced: dict[str, str] = {}
    for setting in sorted(settings, key=lambda setting: setting.order):
        raw, line = setting.raw, _line(setting, source)
        if raw.blank_before_value and BY_NAME[raw.key].effect is Effect.ACTS and line not in spaced:
            spaced.append(line)
        if BY_NAME[raw.key] is BS and "," not in (raw.text or "") and re.search("[:-]", raw.text or ""):
            dashed.append(f"{setting.written} ({line})")
        if BY_NAME[raw.key] in (RWMIXREAD, RWMIXWRITE) and re.search("[0-9]%$", raw.text or ""):
            signed.append(f"{setting.written} ({line})")
        if BY_NAME[raw.key].effect.needs_clock and _misread_time(BY_NAME[raw.key], raw, setting.value):
            timed.append(f"{setting.written} ({line})")
        for name, text in raw.replaced.items():
            replaced.setdefault(f"{name} = {text!r}" if name[:1] != "$" else f"{name} = {text}", line)
    if dashed:
        yield f"lengths of reads and of writes, as in fio, and not a range, which is bsrange: {', '.join(dashed)}"
    if signed:
        yield (
            "read as the percentage; fio 3.33 itself misreads one with its sign, and such a job only reads: "
            f"{', '.join(signed)}"
        )
    if timed:
        yield (
            "read with the unit of the time; fio 3.33 itself ignores a unit behind a blank, and takes a number before "
            f"sec as microseconds: {', '.join(timed)}"
        )
    if replaced:
        named = ", ".join(f"{what} ({line})" for what, line in replaced.items())
        yield f"taken from the environment or this machine, so the job may differ on another machine: {named}"
    if spaced:
        yield (
            "the blank after '=' is skipped here, but fio itself would misread the value: "
            f"{', '.join(spaced).replace(', line ', ', ')}"
        )


def _misread_time(option: Option[Any], raw: RawOption, value: Any) -> bool:
    """Whether fio takes a time for another one than its unit says: behind a blank it ignores a unit, and `sec` has none
    of its units."""
    text = raw.text or ""
    if re.search(r"[0-9]sec$", text, re.IGNORECASE):
        return True
    number = re.fullmatch(r"([0-9]+)[ \t]+(?:[um]?s|[um]?sec|[mhd])", text, re.IGNORECASE)
    return number is not None and bool(option.parse(number[1], 1024) != value)
