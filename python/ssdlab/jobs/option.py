"""What an option of fio's job language is: one entry of the table in `table.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from ssdlab.jobs.values import Parser

T = TypeVar("T")


class Effect(Enum):
    """What an option does on a simulated drive. The value completes the note "... : direct (line 3)"; None: no note."""

    ACTS = None
    """It shapes the requests."""
    REPORTED = ""
    """It only goes into the result."""
    MEANINGLESS = "ignored, of no meaning on a simulated drive"
    CLOCK = "has no effect without a clock; the job's amount is size/io_size"
    TIMING = "ignored, it acts on timing and there is no clock"
    CONTENT = "ignored, the drive stores no data and does not compress or deduplicate"
    OUTPUT = "ignored, it asks for an output that is not written"
    OWN_RANDOM = "ignored, the random numbers are the simulator's own"
    UNSUPPORTED = "unsupported"
    """It would change the run and cannot be obeyed: refused, but for values that ask for nothing."""


@dataclass(frozen=True)
class Option(Generic[T]):
    """One option: how it is called, how its value is read, what it is for, what it does here.

    `default` is the value where the file says nothing. `neutral` holds the values of an unsupported option that change
    nothing, so that they can pass. `merge` joins a value with the one it inherits; without it the new one stands.
    """

    name: str
    parse: Parser[T]
    meaning: str
    effect: Effect
    default: T
    aliases: tuple[str, ...] = ()
    neutral: tuple[object, ...] = ()
    merge: Callable[[T, T], T] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The name and its aliases."""
        return (self.name, *self.aliases)
