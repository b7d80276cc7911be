"""The type of an option of fio's job language: one entry of the table in `table.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from ssdlab.simulator.workloads.jobs.values import Parser

T = TypeVar("T")

OR_ON_A_REAL_DRIVE = "remove it, or run the job on a real drive"


class Effect(Enum):
    """What an option does on a simulated drive. The value completes the note "...: direct (line 3)"; None: no note."""

    ACTS = None
    """The option shapes the requests."""
    REPORTED = ""
    """The option only affects how results are reported."""
    MEANINGLESS = "ignored, not applicable to a simulated drive"
    NEWER = "newer than fio 3.33; ignored, because they set what the simulated host does not have"
    CLOCK = "acts with a clock only; in an untimed run the job's amount is size/io_size"
    PACE = "acts with a clock only; in an untimed run requests follow each other immediately"
    LIMIT = "acts with a clock only; in an untimed run no job fails by it"
    TIMING = "ignored, the simulated host issues and times requests by its own rules"
    CONTENT = "describes the data; acts only on drives that compress or deduplicate"
    DETAIL = "ignored, only the shares of data that compress and repeat are simulated"
    OUTPUT = "ignored, it selects an output that is not written"
    UNSUPPORTED = "unsupported"
    """The option would change the run and cannot be simulated: refused, except for `neutral` values."""

    @property
    def needs_clock(self) -> bool:
        """Whether the option acts in every run with a clock, so that its note is for other runs only."""
        return self in (Effect.CLOCK, Effect.PACE, Effect.LIMIT)


@dataclass(frozen=True)
class Option(Generic[T]):
    """One option: its name, the parser of its value, its meaning, and its effect on a simulated drive.

    `default` is the value if the file does not set the option. `neutral` are the values of an unsupported option that
    change nothing and are therefore accepted; `reason` says why it is unsupported and `hint` what to do about it.
    `merge` combines a value with the previous one, of the section or inherited; without `merge` the new value replaces
    it. `stored_as` is the name of the option that this one sets in another form; options with `stored_as` are read
    after the others of their section, as in fio.
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
    """Whether the option exists in ssdlab only, not in fio."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name and its aliases."""
        return (self.name, *self.aliases)

    @property
    def key(self) -> str:
        """The name under which the value is stored."""
        return self.stored_as or self.name
