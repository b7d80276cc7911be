"""The errors and notes that a user sees, and helpers for their messages."""

import difflib
import errno
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Error numbers of writes that say nothing about the file itself, such as a full disk."""

# Shorter parts of a name are in many others.
_PART_CHARACTERS_MIN = 3


class InputError(Exception):
    """The input is wrong; exit code 2. The message names the file, the key or line, the value and what is allowed."""


class RunFailed(Exception):
    """The input is right, but the run failed; exit code 1."""


class NoRoom(RunFailed):
    """A file could not be written, because its disk is full or because of another reason that is not the file's."""


class Note(UserWarning):
    """The command succeeds, but not in the way that the user probably expects. Printed on stderr."""


def notify(notes: Iterable[str]) -> None:
    """Issues each note as a warning: the command line prints it on stderr, and a program can filter it."""
    for note in notes:
        warnings.warn(note, Note, stacklevel=_level_of_the_program())


def _level_of_the_program() -> int:
    """The stack level, as its caller counts it, of the code that called the library: a warning names that line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals["__name__"].split(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level


_OPTION = re.compile(r"--([a-z][a-z-]*[a-z]|[a-z])(?![\w-])")
_ARGUMENTS = {
    "set": "settings",
    "drive": "drives",
    "untimed": "timed",
    "trace-format": "format_name",
    "volume": "volumes",
}
"""Arguments whose names differ from that of the command's option."""


def speaking_python(function: Callable[P, T]) -> Callable[P, T]:
    """The function with the messages of its errors in terms of its arguments (`left_empty`) instead of the options of
    the command (`--left-empty`). Options that the function does not have stay as they are."""
    arguments = signature(function).parameters

    def argument(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return next((each for each in (name, _ARGUMENTS.get(option[1], name)) if each in arguments), str(option[0]))

    @wraps(function)
    def called(*given: P.args, **named: P.kwargs) -> T:
        try:
            return function(*given, **named)
        except InputError as error:
            error.args = (_OPTION.sub(argument, str(error)),)
            raise

    return called


_OF_LIBRARY = re.compile(r"\(os error (\d+)\)")
"""An error number in the message of a library written in Rust, such as polars, whose exception is not an OSError."""


@contextmanager
def naming(file: Path | Callable[[], Path]) -> Iterator[None]:
    """Raises NoRoom with the file's name if the disk is full (NO_ROOM) inside the block: the error has no name, or that
    of a temporary file."""
    try:
        yield
    except Exception as error:
        found = _OF_LIBRARY.search(str(error))
        number = error.errno if isinstance(error, OSError) and error.errno else int(found[1]) if found else None
        if number not in NO_ROOM:
            raise
        name = file() if callable(file) else file
        raise NoRoom(f"{name}: {os.strerror(number)}") from None


def check_word(option: str, value: str, allowed: Sequence[str]) -> None:
    """Raises InputError unless the value is one of the allowed words."""
    if value not in allowed:
        raise InputError(f"{option} is {value!r}{near(value, allowed)}; allowed: {', '.join(allowed)}")


def near_files(path: Path) -> str:
    """A clause that names the files with names close to that of a file that does not exist, or ""."""
    try:
        return near(path.name, [entry.name for entry in path.parent.iterdir()][:1000])
    except (OSError, ValueError):
        return ""


def near(name: str, known: Iterable[str]) -> str:
    """A clause that names the known words closest to `name`, or else those that contain it or a part close to it, or ""
    if there are none."""
    words = list(known)
    # A drive by the name on its box: "Samsung PM983".
    tries = (name, "-".join(name.casefold().replace("_", " ").split()))
    matches = next((found for each in tries if (found := difflib.get_close_matches(each, words, n=3, cutoff=0.6))), [])
    if not matches and len(name) >= _PART_CHARACTERS_MIN:
        parts = {part for word in words for part in (word, *word.split("-"))}
        like = {name.casefold(), *difflib.get_close_matches(name.casefold(), parts, n=1, cutoff=0.75)}
        matches = [word for word in words if any(part in word.casefold() for part in like)][:3]
    return f"; did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""
