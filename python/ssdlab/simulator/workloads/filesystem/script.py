"""File-system scripts: one command on each line, in shell syntax, with blank lines and `#` comments.

    mkfs 238GiB
    sysbench fileio --file-total-size=140G prepare
    cp test_file.[1-8]? copies/
    rm copies/*
    repeat 36 sysbench fileio --file-total-size=140G --file-test-mode=rndwr run
    fstrim

This module checks the lines, as far as possible without a drive; `session.py` executes them.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from ssdlab.errors import InputError, near
from ssdlab.foundation.quantities import parse_bytes, parse_share
from ssdlab.simulator.engine import plain
from ssdlab.simulator.specification import Reporting
from ssdlab.simulator.workloads.filesystem.sysbench import Fileio, parse_arguments
from ssdlab.simulator.workloads.jobs.lines import read_text

SUFFIX = ".files"
REPEAT_MAX = 10_000
_SECOND_NS = 10**9


@dataclass(frozen=True)
class Size:
    """A size in bytes, which is reduced by the scale, or as a share of the drive."""

    size_bytes: int = 0
    share: Fraction | None = None

    def on(self, drive_bytes: int, scale: Fraction) -> int:
        """The size in bytes on this drive: at least 1, or 0 if the size is 0."""
        wanted = self.share * drive_bytes if self.share is not None else self.size_bytes * scale
        return max(1, int(wanted)) if self.size_bytes or self.share else 0


@dataclass(frozen=True)
class Command:
    """A parsed line: the command, its files, and its options."""

    where: str
    name: str
    files: tuple[str, ...] = ()
    size: Size | None = None
    options: Mapping[str, int] = field(default_factory=dict)
    fileio: Fileio | None = None
    text: str = ""


@dataclass(frozen=True)
class Script:
    """A file-system workload, which can be used in place of a job file."""

    source: str
    commands: tuple[Command, ...]
    _untimed_notes: dict[str, None] = field(default_factory=dict, init=False, repr=False, compare=False)
    _options: list[dict[str, str]] = field(default_factory=list, init=False, repr=False, compare=False)

    def notes(self, *, timed: bool) -> tuple[str, ...]:
        """Notes on a run with or without a clock, one sentence each, after `resolve`."""
        return () if timed else tuple(self._untimed_notes)

    @property
    def global_options(self) -> dict[str, str]:
        """Empty: a script has no options for all of its commands."""
        return {}

    def resolve(self, user_bytes: int, *, seed: int, scale: Fraction | int = 1) -> list[plain.Job]:
        """The engine's jobs for a drive of `user_bytes`. Raises InputError, which names the line that cannot run."""
        # Imported here because of a cycle: session.py uses the types of this module.
        from ssdlab.simulator.workloads.filesystem.session import Session

        session = Session(user_bytes, seed, Fraction(scale))
        for command in self.commands:
            session.do(command)
        if not session.jobs:
            raise InputError(f"{self.source}: contains no request to the drive; add a command such as write")
        self._untimed_notes.update(dict.fromkeys(session.untimed_notes))
        self._options[:] = session.options
        return session.jobs

    def reporting(self, engine_jobs: Sequence[plain.Job]) -> list[Reporting]:
        """The reporting of each job: each stage is a group, and the options are those of the line."""
        options = self._options
        return [Reporting(said, group=job["stage"]) for job, said in zip(engine_jobs, options, strict=True)]


def load(path: str | Path) -> Script:
    """Reads and checks a script. Raises InputError, which names the file, the line and what is allowed."""
    return parse(read_text(Path(path)), str(path))


def parse(text: str, source: str = "script") -> Script:
    """Checks the text of a script; `source` names it in errors."""
    commands: list[Command] = []
    for number, line in enumerate(text.split("\n"), start=1):
        where = f"{source}, line {number}"
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise InputError(f"{where}: {line.strip()!r}: {error}") from None
        if words:
            commands.extend(_commands(words, where))
    if not commands:
        raise InputError(f"{source}: contains no command; {_KNOWN}")
    return Script(source, tuple(commands))


def _commands(words: Sequence[str], where: str) -> list[Command]:
    if words[0] != "repeat":
        return [_command(words, where)]
    if len(words) < 3 or not re.fullmatch(r"[0-9]{1,5}", words[1]) or not 1 <= int(words[1]) <= REPEAT_MAX:
        raise InputError(f"{where}: allowed is repeat N and a command, N from 1 to {REPEAT_MAX:,}")
    return int(words[1]) * [_command(words[2:], where)]


def _command(words: Sequence[str], where: str) -> Command:
    name, *rest = words
    text = shlex.join(words)
    if name == "sysbench":
        return Command(where, name, fileio=parse_arguments(rest, where), text=text)
    if name not in _FORMS:
        raise InputError(f"{where}: {name!r} is not a command{near(name, [*_FORMS, 'sysbench', 'repeat'])}; {_KNOWN}")
    form = _FORMS[name]
    options: dict[str, int] = {}
    plain = []
    for word in rest:
        key, equals, value = word.partition("=")
        if key in form.options and (equals or form.options[key] is None):
            options[key] = _option(key, value, form, where)
        else:
            plain.append(word)
    size = None
    if form.has_size and plain and _looks_like_a_size(plain[-1]):
        size = _size(plain.pop(), where)
    if form.needs_size and size is None:
        raise InputError(f"{where}: {text}: a size is missing; allowed is {form.usage}")
    if not form.files_min <= len(plain) <= form.files_max:
        raise InputError(f"{where}: {text}: allowed is {form.usage}")
    return Command(where, name, tuple(plain), size, options, text=text)


@dataclass(frozen=True)
class _Form:
    usage: str
    files_min: int = 0
    files_max: int = 0
    has_size: bool = False
    needs_size: bool = False
    options: Mapping[str, str | None] = field(default_factory=dict)
    """The kind of value of each option, by name; None for an option without a value."""


_IO = {"bs": "block", "depth": "count"}
_FORMS: dict[str, _Form] = {
    "mkfs": _Form("mkfs [SIZE] [nodiscard]", has_size=True, options={"nodiscard": None}),
    "mount": _Form("mount [discard]", options={"discard": None}),
    "write": _Form("write NAME SIZE [count=N]", 1, 1, True, True, _IO | {"count": "count"}),
    "append": _Form("append FILES SIZE", 1, 1000, True, True, _IO),
    "overwrite": _Form(
        "overwrite FILES [SIZE] [random] [bs=4KiB] [depth=N] [fsync=N]", 1, 1000, True,
        options=_IO | {"random": None, "fsync": "count"},
    ),
    "read": _Form("read FILES [SIZE] [random] [bs=128KiB] [depth=N]", 1, 1000, True, options=_IO | {"random": None}),
    "cp": _Form("cp FILES FOLDER/, or cp FILE NAME", 2, 1000),
    "rm": _Form("rm FILES", 1, 1000),
    "fstrim": _Form("fstrim"),
    "resize": _Form("resize SIZE", has_size=True, needs_size=True),
    "sleep": _Form("sleep SECONDS", 1, 1),
}  # fmt: skip
_KNOWN = f"known are {', '.join(_FORMS)}, sysbench and repeat"


def _option(key: str, value: str, form: _Form, where: str) -> int:
    kind = form.options[key]
    if kind is None:
        return True
    if kind == "count":
        if not re.fullmatch(r"[0-9]{1,6}", value) or not int(value):
            raise InputError(f"{where}: {key}={value}: allowed is a whole number from 1 to 999,999")
        return int(value)
    block_bytes = _size(value, where).size_bytes
    if not block_bytes or block_bytes % 512 or block_bytes >= 1 << 32:
        raise InputError(f"{where}: {key}={value}: allowed is a multiple of 512 bytes below 4GiB, such as 4KiB")
    return block_bytes


def _looks_like_a_size(word: str) -> bool:
    return bool(re.fullmatch(r"[0-9][0-9_.]*\s*([A-Za-z]+|%)?", word))


def _size(word: str, where: str) -> Size:
    try:
        if word.endswith("%"):
            share = Fraction(parse_share(word)).limit_denominator(10**6)
            if not 0 < share <= 1:
                raise InputError("allowed is a share of the drive above 0% and up to 100%")
            return Size(share=share)
        return Size(parse_bytes(word))
    except InputError as error:
        raise InputError(f"{where}: {word}: {error}") from None


def seconds_ns(command: Command) -> int:
    """The duration of a `sleep` command, in nanoseconds."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(s|m|h)?", command.files[0])
    if not match:
        raise InputError(f"{command.where}: {command.text}: allowed is a time such as 10, 0.5s, 5m or 1h")
    return int(Fraction(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2] or "s"] * _SECOND_NS)
