"""What an option of fio's job language is: one entry of the table in `table.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from ssdlab.workloads.jobs.values import Parser

T = TypeVar("T")

OR_ON_A_REAL_DRIVE = "remove it, or run the job on a real drive"


class Effect(Enum):
    """What an option does on a simulated drive. The value completes the note "... : direct (line 3)"; None: no note."""

    ACTS = None
    """It shapes the requests."""
    REPORTED = ""
    """It only goes into the result."""
    MEANINGLESS = "ignored, not applicable to a simulated drive"
    CLOCK = "acts with a clock only; in an untimed run the job's amount is size/io_size"
    PACE = "acts with a clock only; in an untimed run requests follow each other immediately"
    LIMIT = "acts with a clock only; in an untimed run no job fails by it"
    TIMING = "ignored, the simulated host issues and times requests by its own rules"
    CONTENT = "describes the data; acts only on drives that compress or deduplicate"
    DETAIL = "ignored, only the shares of data that compress and repeat are simulated"
    OUTPUT = "ignored, it selects an output that is not written"
    UNSUPPORTED = "unsupported"
    """It would change the run and cannot be obeyed: refused, but for values that ask for nothing."""


@dataclass(frozen=True)
class Option(Generic[T]):
    """One option: how it is called, how its value is read, what it is for, what it does here.

    `default` is the value where the file says nothing. `neutral` holds the values of an unsupported option that change
    nothing, so that they can pass, `reason` says why it is unsupported and `hint` what to do about it. `merge` joins a
    value with the one that holds so far, of the section or inherited; without it the new one stands. `stored_as` names
    the option whose value this one gives in another form; such a one is read after the others of its section, as fio
    does.
    """

    name: str
    parse: Parser[T]
    meaning: str
    effect: Effect
    default: T
    aliases: tuple[str, ...] = ()
    neutral: tuple[object, ...] = ()
    merge: Callable[[T, T], T] | None = None
    stored_as: str | None = None
    reason: str = ""
    hint: str = OR_ON_A_REAL_DRIVE
    is_ours: bool = False
    """Whether fio does not know it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name and its aliases."""
        return (self.name, *self.aliases)

    @property
    def key(self) -> str:
        """Under which name the value is kept."""
        return self.stored_as or self.name
