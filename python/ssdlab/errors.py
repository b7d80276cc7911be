"""What can go wrong from a user's side, and how it is said."""

import difflib
import errno
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of writing that say nothing of the file."""


class InputError(Exception):
    """The input was wrong: exit code 2. The message names the file, the key or line, the value and what is allowed."""


class RunFailed(Exception):
    """The input was right and the run failed all the same: exit code 1."""


class Note(UserWarning):
    """All is well, and done in another way than the user may expect. The command line says it on stderr."""


def notify(notes: Iterable[str]) -> None:
    """Warns of each: the command line prints them on stderr, a program may filter them as any warning."""
    for note in notes:
        warnings.warn(note, Note, stacklevel=3)


@contextmanager
def naming(file: Path | Callable[[], Path]) -> Iterator[None]:
    """A full disk within is said with the file's name, which the system leaves out. Raises RunFailed."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        name = file() if callable(file) else file
        raise RunFailed(f"{name}: {error.strerror or error}") from None


def check_word(option: str, value: str, allowed: Sequence[str]) -> None:
    """InputError unless the value is one of the words."""
    if value not in allowed:
        raise InputError(f"{option} is {value!r}{near(value, allowed)}; allowed: {', '.join(allowed)}")


def near(name: str, known: Iterable[str]) -> str:
    """A clause that names the known words nearest to `name`, or nothing when none is near."""
    matches = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""
