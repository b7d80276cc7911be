"""Alternatives to more spare area: TRIM, a larger drive, another placement or victim policy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.experiments.advice.search import Found
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.trials import Other, Trial, Trials

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive

LEARNT: Mapping[str, str] = {"ftl.placement": "frequency-frontiers", "ftl.victim": "cost-benefit"}
"""The settings of a drive that learns which data are hot."""

# Policies of the translation layer that a researcher, or a host with streams, can choose; each is left out if the drive
# already has it.
_WAYS: Mapping[str, Mapping[str, str]] = {
    "separate open erase units for hot and cold data, learned by the drive": LEARNT,
    "separate open erase units for host and garbage collection": {"ftl.placement": "host-gc-split"},
    "garbage collection in the order of writing": {"ftl.victim": "fifo"},
}
_UNTRIMMED = "as sold, full, without TRIM"
_TRIMMED = "as sold, TRIM on: the same amount of data, the rest kept trimmed (fstrim)"
_LARGER = "a drive of twice the size, half full, the rest kept trimmed"


@dataclass(frozen=True)
class Alternative:
    """An alternative and its runs; without runs, `refused` is the reason."""

    what: str
    trials: Sequence[Trial]
    refused: str | None = None


@dataclass(frozen=True)
class _Asked:
    what: str
    setting: Setting
    data_at: float | None = None
    """The data are what fits on the drive at this over-provisioning; the rest is trimmed. None: the drive is full."""


def alternatives(trials: Trials, found: Found, scale: Fraction | None) -> list[Alternative]:
    """The alternatives, each at the drive's own spare area. Their runs execute in parallel."""
    setting = trials.setting
    asked = []
    if found.over_provisioning is not None and found.over_provisioning > found.own:
        asked.append(_Asked(_TRIMMED, setting, found.over_provisioning))
    asked.append(_Asked(_LARGER, _twice_as_large(setting), found.own))
    # With a clock, a run with much garbage collection takes minutes, because requests queue up.
    for what, ways in () if trials.timed else _WAYS.items():
        if any(_chosen(setting, key) != value for key, value in ways.items()):
            asked.append(_Asked(what, setting.with_settings(ways)))
    others: dict[str, Other] = {}
    refused: dict[str, str] = {}
    for each in asked:
        try:
            others[each.what] = _other(trials, each, scale)
        except InputError as error:
            refused[each.what] = str(error)
    answers = dict(zip(others, trials.others(list(others.values())), strict=True))
    untrimmed = Alternative(_UNTRIMMED, found.miniatures_at(found.own))
    return [
        untrimmed,
        *(
            Alternative(each.what, [answers[each.what]] if each.what in answers else [], refused.get(each.what))
            for each in asked
        ),
    ]


def _twice_as_large(setting: Setting) -> Setting:
    file = setting.at(None, None).file
    doubled = {"nand.blocks_per_plane": file.nand.blocks_per_plane, "ftl.user_bytes": file.ftl.user_bytes}
    return setting.with_settings({key: str(2 * value) for key, value in doubled.items()})


def _chosen(setting: Setting, key: str) -> str:
    return str(getattr(setting.at(None, None).file.ftl, key.removeprefix("ftl.")).name)


def _other(trials: Trials, asked: _Asked, scale: Fraction | None) -> Other:
    """The run of an alternative. Raises InputError if the drive is not possible."""
    data_on: ResolvedDrive | None = None if asked.data_at is None else trials.setting.at(asked.data_at, scale)
    drive = asked.setting.at(None, scale)
    return Other(
        asked.what,
        trials.workload.specify(drive, seed=trials.seed, timed=trials.timed, data_on=data_on),
        asked.setting.at(None, None),
        drive.scale,
        trials.workload.command(*asked.setting.words, None, scale, trials.seed, trials.timed, drive),
    )
