"""The working environment of an experiment: the box, the results of earlier experiments, and the write limit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdlab.hardware.identification.box import Box, Completed
from ssdlab.hardware.identification.estimate import Estimate
from ssdlab.hardware.identification.evidence import Inferred, Number, Outcome, Picture, Undetermined, Written


@dataclass(frozen=True)
class Limits:
    """Limits on the use of the drive."""

    write_bytes: int
    """Bytes that all experiments together are allowed to write."""
    seconds: float | None = None
    read_only: bool = False


@dataclass
class Bench:
    """A running experiment. Its results are collected in `outcome`."""

    name: str
    box: Box
    known: Mapping[str, Inferred]
    """Values inferred by earlier experiments, by key."""
    facts: Mapping[str, Any]
    """Measurements of earlier experiments, by the experiment's name."""
    write_bytes: int
    """Bytes that this experiment is allowed to write."""
    before: Sequence[Written] = ()
    """Jobs of earlier experiments that wrote to the drive."""
    outcome: Outcome = field(default_factory=Outcome)

    @property
    def capacity_bytes(self) -> int:
        return self.box.capacity_bytes

    def run(self, *sections: str) -> list[Completed]:
        done = self.box.run(sections)
        self.outcome.seconds += sum(each.seconds for each in done)
        written = sum(each.written_bytes for each in done)
        if written:
            self.outcome.written.append(Written("".join(sections), written))
        return done

    def one(self, section: str) -> Completed:
        return self.run(section)[0]

    @property
    def written_bytes(self) -> int:
        """Bytes that this experiment has written so far."""
        return sum(each.written_bytes for each in self.outcome.written)

    def estimate(self, key: str) -> Estimate | None:
        """The number that this or an earlier experiment inferred for a key, or None if it is missing, a word or a truth
        value."""
        own = next((each for each in reversed(self.outcome.inferred) if each.key == key), None)
        found = own or self.known.get(key)
        if found is None or isinstance(found.value, str | bool):
            return None
        return Estimate(found.value, float(found.low), float(found.high))

    def value(self, key: str) -> Number | None:
        found = self.estimate(key)
        return None if found is None else found.value

    @property
    def pages_on_die(self) -> int | None:
        """Pages that a die programs together, or None if they are not known."""
        planes = self.value("nand.planes_per_die")
        return None if planes is None else int(planes * (self.value("nand.pages_per_program") or 1))

    @property
    def program_bytes(self) -> int | None:
        """Flash that a die programs together, or None if pages are not known."""
        page, pages = self.value("nand.page_bytes"), self.pages_on_die
        return None if page is None or pages is None else int(page * pages)

    def infer(self, key: str, found: Estimate, *, whole: bool = False) -> None:
        """Records a number. `whole` rounds it to an integer, for keys that count."""
        cast: Callable[[float], Number] = round if whole else _significant
        self.outcome.inferred.append(Inferred(key, cast(found.value), cast(found.low), cast(found.high), self.name))

    def choose(self, key: str, choice: str | bool) -> None:
        """Records a word or a truth value."""
        self.outcome.inferred.append(Inferred(key, choice, choice, choice, self.name))

    def cannot_tell(self, key: str, reason: str) -> None:
        self.outcome.undetermined.append(Undetermined(key, reason))

    def withdraw(self, key: str, reason: str) -> None:
        """Takes back what an earlier experiment inferred."""
        self.outcome.withdrawn.append(key)
        self.cannot_tell(key, reason)

    def show(self, picture: Picture) -> None:
        self.outcome.pictures.append(picture)


def _significant(value: float) -> float:
    """Rounds to six significant digits; measurements are not more exact."""
    return float(f"{value:.6g}")


@dataclass(frozen=True)
class Experiment:
    """One experiment of the plan."""

    name: str
    title: str
    """A one-line description."""
    keys: Sequence[str]
    """Keys for which it can infer values."""
    run: Callable[[Bench], None]
    write_share: float
    """The most that it writes, as a share of the capacity."""
    reads: int = 0
    """About how many requests it reads, most of them one at a time."""
    rests: int = 0
    """The number of its rests (`experiments/resting.py`)."""
    whole_drive: bool = False
    """Whether it requires a whole drive, purged before the first experiment, of which the host uses all capacity."""
    needs: Callable[[Mapping[str, Inferred], Mapping[str, Any]], str | None] = lambda _known, _facts: None
    """Returns the reason why it would infer nothing, given the known values and facts, or None if it can run."""
