"""What else would help: the same data on a trimmed drive, a larger drive, another way of placing or cleaning."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ssdlab.errors import InputError
from ssdlab.planning.advice.trials import Trial, Trials
from ssdlab.planning.advice.workload import Setting

# Ways of the translation layer that a researcher, or a host with streams, may choose; each is left out where the drive
# has it already.
_WAYS: Mapping[str, Mapping[str, str]] = {
    "hot and cold data on frontiers of their own, learnt (as streams or FDP would)": {
        "ftl.placement": "frequency-frontiers",
        "ftl.victim": "cost-benefit",
    },
    "host and cleaning on frontiers of their own": {"ftl.placement": "host-gc-split"},
    "cleaning in the order of writing": {"ftl.victim": "fifo"},
}


@dataclass(frozen=True)
class Alternative:
    """A what-if and the run that answers it; `refused` says why it could not be run."""

    what: str
    trial: Trial | None
    refused: str | None = None


def alternatives(trials: Trials, over_provisioning: float, scale: Fraction | None) -> list[Alternative]:
    """Each at the drive's own spare area, with the data that fits beside `over_provisioning`."""
    setting = trials.setting
    own = setting.at(None, None).capacity.over_provisioning
    found = []
    if over_provisioning > own:
        kept_free = "as sold, the same data, the rest kept trimmed (fstrim)"
        found.append(_tried(trials, kept_free, setting, over_provisioning, scale))
        blocks = setting.at(None, None).file.nand.blocks_per_plane * 2
        user_bytes = setting.at(None, None).file.ftl.user_bytes * 2
        larger = setting.with_settings({"nand.blocks_per_plane": str(blocks), "ftl.user_bytes": str(user_bytes)})
        found.append(
            _tried(
                trials,
                "a drive twice as large, the same data, the rest kept trimmed",
                larger,
                over_provisioning,
                scale,
            )
        )
    for what, ways in _WAYS.items():
        if any(_chosen(setting, key) != value for key, value in ways.items()):
            found.append(_otherwise(trials, what, setting.with_settings(ways), scale))
    return found


def _chosen(setting: Setting, key: str) -> str:
    return str(getattr(setting.at(None, None).file.ftl, key.removeprefix("ftl.")).name)


def _tried(
    trials: Trials, what: str, setting: Setting, over_provisioning: float, scale: Fraction | None
) -> Alternative:
    """The data of the advice's drive on another drive, of which the rest stays trimmed."""
    try:
        data_on = trials.setting.at(over_provisioning, scale)
        drive = setting.at(None, scale)
        specification = trials.workload.specify(drive, seed=1, timed=trials.timed, data_on=data_on)
    except InputError as error:
        return Alternative(what, None, str(error))
    return Alternative(
        what, trials.other(specification, setting.at(None, None), drive.scale, _command(trials, setting, scale))
    )


def _otherwise(trials: Trials, what: str, setting: Setting, scale: Fraction | None) -> Alternative:
    try:
        drive = setting.at(None, scale)
        specification = trials.workload.specify(drive, seed=1, timed=trials.timed)
    except InputError as error:
        return Alternative(what, None, str(error))
    return Alternative(
        what, trials.other(specification, setting.at(None, None), drive.scale, _command(trials, setting, scale))
    )


def _command(trials: Trials, setting: Setting, scale: Fraction | None) -> str:
    return trials.workload.command(*setting.words, None, scale, 1, trials.timed)
