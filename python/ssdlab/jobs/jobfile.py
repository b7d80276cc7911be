"""A fio job file, read and checked: every option known, every value parsed, what is left aside said once.

What the values amount to on a drive of a given size is `resolve.py`'s work.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from ssdlab.errors import InputError, near
from ssdlab.jobs.lines import RawOption, RawSection, read_text, split_sections
from ssdlab.jobs.option import Effect, Option
from ssdlab.jobs.table import BY_NAME, FILENAME, GROUP_REPORTING, KB_BASE, NAME
from ssdlab.jobs.values import Refused

T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """An option's parsed value, with where it was said. `order` counts up through the file."""

    value: Any
    raw: RawOption
    order: int

    @property
    def written(self) -> str:
        """`key=value`, as in the file."""
        return self.raw.key if self.raw.text is None else f"{self.raw.key}={self.raw.text}"


@dataclass(frozen=True)
class Section:
    """One job of the file: its own options as written, and all that hold for it, those of `[global]` included."""

    name: str
    line: int
    options: dict[str, str]
    """The section's own options by fio's name for them, as text; "" where none was given. fio reports them so."""
    settings: Mapping[str, Setting]

    def get(self, option: Option[T]) -> T:
        """The value of an option, or its default."""
        setting = self.settings.get(option.name)
        value: T = option.default if setting is None else setting.value
        return value

    def setting(self, option: Option[Any]) -> Setting | None:
        """The value of an option with where it was said; None where the file says nothing."""
        return self.settings.get(option.name)

    @property
    def group_reporting(self) -> bool:
        """Whether clones and neighbours in the group are reported together."""
        return self.get(GROUP_REPORTING)


@dataclass(frozen=True)
class JobFile:
    """A job file. `notes` says what was left aside and why, a sentence each."""

    source: str
    sections: tuple[Section, ...]
    global_options: dict[str, str]
    notes: tuple[str, ...]

    def options_of(self, job_name: str) -> dict[str, str]:
        """The own options of the job so called, as fio reports them; nothing when there is none. The first counts."""
        return next((section.options for section in self.sections if section.name == job_name), {})

    def group_reporting(self, job_name: str) -> bool:
        """Whether the job so called is reported together with its group."""
        return any(section.group_reporting for section in self.sections if section.name == job_name)

    def resolve(self, user_bytes: int, *, seed: int, scale: Fraction | int = 1) -> list[dict[str, Any]]:
        """The jobs as the engine's specification has them, for a drive of `user_bytes`; see `resolve.resolve`."""
        from ssdlab.jobs.resolve import resolve

        return resolve(self, user_bytes, seed=seed, scale=Fraction(scale))


def load(path: str | Path) -> JobFile:
    """Read and check a job file. InputError names the file, the line, the option and what is allowed."""
    path = Path(path)
    return parse(read_text(path), str(path))


def parse(text: str, source: str = "job file") -> JobFile:
    """Check the text of a job file; `source` names it in errors and notes."""
    inherited: dict[str, Setting] = {}
    global_options: dict[str, str] = {}
    sections: list[Section] = []
    order = 0
    for raw_section in split_sections(text, source):
        own = _settings(raw_section, inherited, order, source)
        order += len(raw_section.options)
        options = {_option(raw, source).name: raw.text or "" for raw in raw_section.options}
        if raw_section.is_global:
            inherited = {**inherited, **own}
            global_options |= options
            continue
        # fio names a job after its section, whatever [global] says.
        name = own[NAME.name].value if NAME.name in own else raw_section.name
        sections.append(Section(name, raw_section.line, options, {**inherited, **own}))
    every_setting = [setting for section in sections for setting in section.settings.values()]
    _require_one_file(every_setting, source)
    return JobFile(source, tuple(sections), global_options, tuple(_notes(every_setting)))


def _settings(section: RawSection, inherited: Mapping[str, Setting], order: int, source: str) -> dict[str, Setting]:
    """The section's own settings, merged with inherited ones where an option says how. The last of a name counts."""
    settings: dict[str, Setting] = {}
    pairs = [(_option(raw, source), raw) for raw in section.options]
    kilobyte = inherited[KB_BASE.name].value if KB_BASE.name in inherited else KB_BASE.default
    # The kilobyte is looked up first, because it rules every size in the section (fio sorts its options so).
    for option, raw in pairs:
        if option is KB_BASE:
            kilobyte = _value(option, raw, kilobyte, source)
    for place, (option, raw) in enumerate(pairs):
        value = _value(option, raw, kilobyte, source)
        if option.merge is not None:
            before = settings.get(option.name) or inherited.get(option.name)
            value = option.merge(option.default if before is None else before.value, value)
        settings[option.name] = Setting(value, raw, order + place)
    return settings


def _option(raw: RawOption, source: str) -> Option[Any]:
    option = BY_NAME.get(raw.key)
    if option is None:
        suggestion = near(raw.key, BY_NAME) or "; see `fio --cmdhelp` for those that fio has"
        raise InputError(f"{source}, line {raw.line}: {raw.key!r} is not an option of fio's job language{suggestion}")
    return option


def _value(option: Option[Any], raw: RawOption, kilobyte: int, source: str) -> Any:
    where = f"{source}, line {raw.line}: {raw.key}" + ("" if raw.text is None else f"={raw.text}")
    if raw.text is not None and "${" in raw.text:
        if option.effect not in (Effect.ACTS, Effect.UNSUPPORTED):
            return raw.text
        raise InputError(f"{where}: variables are not supported yet; write the value itself")
    try:
        value = option.parse(raw.text, kilobyte)
    except Refused as refused:
        raise InputError(f"{where}: allowed is {refused}") from None
    if option.effect is Effect.UNSUPPORTED and value not in option.neutral:
        raise InputError(
            f"{where}: {option.name} ({option.meaning}) is not supported on the simulated drive yet; "
            "without it the run would mean something else, so take it out or run the job on a real drive"
        )
    return value


def _require_one_file(settings: Iterable[Setting], source: str) -> None:
    files = [setting for setting in settings if BY_NAME[setting.raw.key] is FILENAME]
    for setting in files[1:]:
        if setting.value != files[0].value:
            raise InputError(
                f"{source}, line {setting.raw.line}: {setting.written} is a second file beside {files[0].value} "
                f"(line {files[0].raw.line}); all jobs work on the one simulated drive"
            )


def _notes(settings: Iterable[Setting]) -> Iterable[str]:
    """A sentence for each reason, which names every option once, with the first line that gives it."""
    first_lines: dict[Effect, dict[str, int]] = {}
    spaced: list[int] = []
    for setting in sorted(settings, key=lambda setting: setting.order):
        effect = BY_NAME[setting.raw.key].effect
        if effect.value and effect is not Effect.UNSUPPORTED:
            first_lines.setdefault(effect, {}).setdefault(setting.raw.key, setting.raw.line)
        if setting.raw.blank_before_value and effect is Effect.ACTS and setting.raw.line not in spaced:
            spaced.append(setting.raw.line)
    for effect, lines in first_lines.items():
        named = ", ".join(f"{key} (line {line})" for key, line in lines.items())
        yield f"{effect.value}: {named}"
    if spaced:
        yield (
            "the blank after '=' is skipped here, but fio itself would misread the value: "
            f"line {', '.join(str(line) for line in spaced)}"
        )
