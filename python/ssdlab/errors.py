"""What can go wrong from a user's side, and how it is said."""

import difflib
from collections.abc import Iterable


class InputError(Exception):
    """The input was wrong: exit code 2. The message names the file, the key or line, the value and what is allowed."""


class RunFailed(Exception):
    """The input was right and the run failed all the same: exit code 1."""


def near(name: str, known: Iterable[str]) -> str:
    """A clause that names the known words nearest to `name`, or nothing when none is near."""
    matches = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(match) for match in matches)}?" if matches else ""
