"""Runs the planned experiments on a box, one after another, each with the results of those before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from ssdlab.foundation.foreign import JsonObject
from ssdlab.hardware.identification.bench import Bench, Experiment, Limits
from ssdlab.hardware.identification.box import Box
from ssdlab.hardware.identification.evidence import Inferred, Outcome, Picture, Undetermined, Written
from ssdlab.hardware.identification.experiments import EXPERIMENTS

_LEFT_OUT = "its experiment was left out: it writes more than is allowed, or takes a whole drive rather than a file"


class Keeping(Protocol):
    """Storage of outcomes, as implemented by `store.Store`."""

    def finished(self, name: str) -> Outcome | None:
        """The stored outcome of an experiment, or None if it has not finished."""

    def keep(self, name: str, outcome: Outcome) -> None:
        """Stores the outcome atomically."""


@dataclass
class Found:
    """The combined results of all experiments."""

    capacity_bytes: int
    inferred: dict[str, Inferred] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)
    undetermined: list[Undetermined] = field(default_factory=list)
    facts: dict[str, JsonObject] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    seconds: float = 0.0
    simulations: int = 0
    """Simulations that were run for what the experiments left open."""
    tell_simulations: Callable[[int], None] | None = None
    """Called with their number after each."""
    workers: int | None = None
    """How many of them run at a time, at most; by default as many as there are processors."""
    _counting: Lock = field(default_factory=Lock, repr=False)

    @property
    def written_bytes(self) -> int:
        return sum(each.written_bytes for each in self.written)

    def count_simulation(self) -> None:
        with self._counting:
            self.simulations += 1
            if self.tell_simulations:
                self.tell_simulations(self.simulations)

    def add(self, name: str, outcome: Outcome) -> None:
        """Adds the outcome of an experiment. A later value or reason of a key replaces an earlier
        one."""
        self.inferred = {key: each for key, each in self.inferred.items() if key not in outcome.withdrawn}
        self.inferred |= {each.key: each for each in outcome.inferred}
        self.pictures += outcome.pictures
        known = self.inferred.keys()
        reasons = {each.key: each for each in [*self.undetermined, *outcome.undetermined]}
        self.undetermined = [each for each in reasons.values() if each.key not in known]
        self.facts[name] = outcome.facts
        self.written += outcome.written
        self.seconds += outcome.seconds


@dataclass(frozen=True)
class Planned:
    """An experiment with the number of bytes that it is allowed to write."""

    experiment: Experiment
    write_bytes: int


def plan(capacity_bytes: int, limits: Limits, *, whole_drive: bool = True) -> list[Planned]:
    """The experiments that the limits allow, in order.

    Each receives all bytes it needs while any are left; a later experiment can receive fewer. Without `whole_drive` the
    box is only a part of a drive, for example a file, and experiments that require a whole drive are left out.
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
    """Runs the experiments that have not finished yet and returns the results of all.

    `kept(name)` is called with an experiment's name before its outcome is stored, so that a target can save its state.
    `tell` is called with the index of an experiment, its completed share and the bytes written so far. No experiment
    starts after the earlier ones have used `seconds_max` of the drive's time. Raises RunFailed if a job fails and
    KeyboardInterrupt on Ctrl-C; the outcomes of finished experiments are in the store then.
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
