"""What an experiment works with: the box, what earlier experiments found, and how much may be written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ssdlab.identification.box import Box, Completed
from ssdlab.identification.estimate import Estimate
from ssdlab.identification.evidence import Inferred, Number, Outcome, Picture, Undetermined, Written


@dataclass(frozen=True)
class Limits:
    """What may be done to the drive."""

    write_bytes: int
    """Over all experiments."""
    seconds: float | None = None
    read_only: bool = False


@dataclass
class Bench:
    """One experiment at work; what it finds gathers in `outcome`."""

    name: str
    box: Box
    known: Mapping[str, Inferred]
    """By key, from the experiments before."""
    facts: Mapping[str, Any]
    """What the experiments before measured, by name."""
    write_bytes: int
    """What this experiment may write."""
    before: Sequence[Written] = ()
    """What was written before it."""
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
        """By this experiment so far."""
        return sum(each.written_bytes for each in self.outcome.written)

    def estimate(self, key: str) -> Estimate | None:
        """A number that an earlier experiment, or this one, inferred."""
        found = self.known.get(key) or next((each for each in self.outcome.inferred if each.key == key), None)
        if found is None or isinstance(found.value, str | bool):
            return None
        return Estimate(found.value, float(found.low), float(found.high))

    def value(self, key: str) -> Number | None:
        found = self.estimate(key)
        return None if found is None else found.value

    def infer(self, key: str, found: Estimate, *, whole: bool = False) -> None:
        """Notes a number; `whole` for keys that count."""
        cast: Callable[[float], Number] = round if whole else _significant
        self.outcome.inferred.append(Inferred(key, cast(found.value), cast(found.low), cast(found.high), self.name))

    def choose(self, key: str, choice: str | bool) -> None:
        """Notes a word."""
        self.outcome.inferred.append(Inferred(key, choice, choice, choice, self.name))

    def cannot_tell(self, key: str, reason: str) -> None:
        self.outcome.undetermined.append(Undetermined(key, reason))

    def show(self, picture: Picture) -> None:
        self.outcome.pictures.append(picture)


def _significant(value: float) -> float:
    """Nobody measures more digits."""
    return float(f"{value:.6g}")


@dataclass(frozen=True)
class Experiment:
    """One experiment of the plan."""

    name: str
    title: str
    """What it asks, in a line."""
    keys: Sequence[str]
    """What it may tell."""
    run: Callable[[Bench], None]
    write_share: float
    """The most that it writes, of the capacity."""
    whole_drive: bool = False
    """Whether it tells something only of a drive of which the host uses all, from a purged state on."""
    needs: Callable[[Mapping[str, Inferred], Mapping[str, Any]], str | None] = lambda _known, _facts: None
    """Why it would tell nothing after what is known; None where it would."""
