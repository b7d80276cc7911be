"""The plan carried out on a box: experiments one after another, each with what those before it found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ssdlab.foreign import JsonObject
from ssdlab.identification.bench import Bench, Experiment, Limits
from ssdlab.identification.box import Box
from ssdlab.identification.evidence import Inferred, Outcome, Picture, Undetermined, Written
from ssdlab.identification.experiments import EXPERIMENTS

_LEFT_OUT = "its experiment was left out: it writes more than is allowed, or takes a whole drive rather than a file"


class Keeping(Protocol):
    """Where outcomes are kept: `store.Store`."""

    def finished(self, name: str) -> Outcome | None:
        """What is kept of an experiment; None where it is not finished."""

    def keep(self, name: str, outcome: Outcome) -> None:
        """Keeps it, whole or not at all."""


@dataclass
class Found:
    """All that the experiments gave."""

    capacity_bytes: int
    inferred: dict[str, Inferred] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)
    undetermined: list[Undetermined] = field(default_factory=list)
    facts: dict[str, JsonObject] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def written_bytes(self) -> int:
        return sum(each.written_bytes for each in self.written)

    def add(self, name: str, outcome: Outcome) -> None:
        """What an experiment gave. Of two values of a key the later stands."""
        self.inferred |= {each.key: each for each in outcome.inferred}
        self.pictures += outcome.pictures
        known = self.inferred.keys()
        self.undetermined = [each for each in [*self.undetermined, *outcome.undetermined] if each.key not in known]
        self.facts[name] = outcome.facts
        self.written += outcome.written
        self.seconds += outcome.seconds


@dataclass(frozen=True)
class Planned:
    """An experiment with what it may write at most."""

    experiment: Experiment
    write_bytes: int


def plan(capacity_bytes: int, limits: Limits, *, whole_drive: bool = True) -> list[Planned]:
    """The experiments that the limits allow, in order. What one needs to write whole, the next may lack.

    Without `whole_drive` the box is only a part of a drive, such as a file.
    """
    left = 0 if limits.read_only else limits.write_bytes
    found = []
    for experiment in EXPERIMENTS:
        wanted = int(experiment.write_share * capacity_bytes)
        if (wanted and left <= 0) or (experiment.whole_drive and not whole_drive):
            continue
        granted = min(wanted, left)
        left -= granted
        found.append(Planned(experiment, granted))
    return found


def identify(
    box: Box,
    planned: Sequence[Planned],
    store: Keeping,
    *,
    kept: Callable[[str], object] = lambda _name: None,
    tell: Callable[[int, float, int], None] | None = None,
    seconds_max: float | None = None,
) -> Found:
    """Carries the experiments out that are not finished yet.

    `kept(name)` is called with an experiment's name before its outcome is stored, for a target that has to be found as
    it was left; `tell` with the index of an experiment, the share done of it and the bytes written so far. No
    experiment begins once those before have taken `seconds_max` of the drive's time. Raises RunFailed when a job fails,
    KeyboardInterrupt on Ctrl-C; finished ones are in the store then.
    """
    found = Found(box.capacity_bytes)
    for index, each in enumerate(planned):
        name = each.experiment.name
        outcome = store.finished(name)
        if outcome is None and seconds_max is not None and found.seconds >= seconds_max:
            outcome = _undetermined(each.experiment, f"the experiments before it took {found.seconds / 60:.3g} minutes")
        elif outcome is None:
            outcome = _carried_out(each, box, found)
            kept(name)
            store.keep(name, outcome)
        found.add(name, outcome)
        if tell:
            tell(index, 1.0, found.written_bytes)
    _say_missing(found)
    return found


def _say_missing(found: Found) -> None:
    missing = [each for each in EXPERIMENTS if each.name not in found.facts]
    for experiment in missing:
        found.undetermined += [Undetermined(key, _LEFT_OUT) for key in experiment.keys if key not in found.inferred]


def _carried_out(planned: Planned, box: Box, found: Found) -> Outcome:
    experiment = planned.experiment
    why_not = experiment.needs(found.inferred, found.facts)
    if why_not is not None:
        return _undetermined(experiment, why_not)
    bench = Bench(experiment.name, box, found.inferred, found.facts, planned.write_bytes, found.written)
    experiment.run(bench)
    return bench.outcome


def _undetermined(experiment: Experiment, reason: str) -> Outcome:
    return Outcome(undetermined=[Undetermined(key, reason) for key in experiment.keys])
