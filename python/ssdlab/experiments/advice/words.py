"""The text of an advice; each sentence names the runs that support it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from ssdlab.evidence import scale
from ssdlab.experiments.advice.alternatives import Alternative
from ssdlab.experiments.advice.confirmation import disagreeing
from ssdlab.experiments.advice.limits import Limit
from ssdlab.experiments.advice.search import Found, holds
from ssdlab.experiments.advice.trials import Trial, Trials, mean
from ssdlab.foundation.quantities import format_bytes_binary
from ssdlab.presentation.report import wording
from ssdlab.theory import endurance

_SECTOR_BYTES = 512


class SentenceJson(TypedDict):
    """A statement in `result.json`."""

    text: str
    runs: list[str]
    detail: str


@dataclass(frozen=True)
class Sentence:
    """A statement and the names of the runs that support it."""

    text: str
    runs: Sequence[str]
    detail: str = ""
    """The reason in the terms of drive files, for `result.json` only."""

    def __str__(self) -> str:
        return f"{self.text} (run{'s' * (len(self.runs) > 1)} {', '.join(self.runs)})" if self.runs else self.text

    def to_dict(self) -> SentenceJson:
        """The sentence in the format of `result.json`."""
        return {"text": self.text, "runs": list(self.runs), "detail": self.detail}


def headline(trials: Trials, found: Found) -> Sentence:
    """The recommendation, and that another scale contradicts it if one does, or is known to make tails too long."""
    said = _recommended(trials, found)
    apart = disagreeing(found, trials.limits)
    if not apart:
        return Sentence(f"{said.text}{_uncertain_tails(trials, found)}", said.runs)
    figures = ", ".join(f"{each.words}: {figure(each, mean(found.second, each.figure))}" for each in apart)
    verdict = "meet" if holds(found.second, apart[0]) else "do not meet"
    text = f"{said.text} Two scales disagree: runs of {_of_drive(found.second[0])} {verdict} the limit ({figures})."
    return Sentence(text, [*said.runs, *(trial.name for trial in found.second)])


def _uncertain_tails(trials: Trials, found: Found) -> str:
    """That a percentile meets its limit by less than it is known to grow with the scale; empty if none does."""
    if found.over_provisioning is None or not found.evidence or found.evidence[0].scale is None:
        return ""
    near = []
    for limit in trials.limits:
        start, _, rank = limit.figure.partition(".p")
        direction: scale.Direction = "read" if start == "read" else "write"
        value = mean(found.evidence, limit.figure)
        if not rank or value is None:
            continue
        factor = scale.longest(trials.setting.file.name, direction, float(rank))
        if factor is not None and value * factor > limit.bound:
            near.append(f"the {direction} latency (p{rank}) of this drive is up to {factor:.2f} times as long")
    if not near:
        return ""
    return (
        f" Whether the whole drive meets it is open: at a scale four times larger {wording.listed(near)}, depending on "
        "the load; --whole runs whole drives."
    )


def _recommended(trials: Trials, found: Found) -> Sentence:
    if not found.curve:
        return _beyond_the_flash(trials, found)
    if found.over_provisioning is None:
        tried = found.evidence
        least = ", ".join(f"{each.words}: {figure(each, mean(tried, each.figure))}" for each in _broken(trials, tried))
        return Sentence(
            f"No amount of spare area meets the limits: with {wording.share(found.most)} over-provisioning, "
            f"{least or 'the margin is too small'}. {_take(trials, found)}",
            [trial.name for trial in tried],
        )
    at = found.evidence
    if found.over_provisioning == found.own:
        return Sentence(
            f"Leave nothing empty: the drive as sold ({wording.share(found.own)} over-provisioning) meets every limit.",
            [trial.name for trial in at],
        )
    empty = format_bytes_binary(empty_bytes(trials, found.over_provisioning))
    return Sentence(
        f"Leave {empty} unpartitioned: {wording.share(found.over_provisioning)} "
        f"over-provisioning meets every limit{_because(found.binding)}.",
        [trial.name for trial in at],
    )


def sentences(trials: Trials, found: Found, others: Sequence[Alternative]) -> list[Sentence]:
    """The sentences below the recommendation: figures, their uncertainty, alternatives."""
    if not found.curve:
        return []
    said = []
    share = found.over_provisioning
    own = found.as_sold or found.miniatures_at(found.own)
    if share is not None and share != found.own:
        at = found.evidence
        for limit in trials.limits:
            before, after = mean(own, limit.figure), mean(at, limit.figure)
            names = [trial.name for trial in (*own, *at)]
            text = f"{limit.words}: {figure(limit, after)}, as sold {figure(limit, before)}."
            said.append(Sentence(wording.capitalized(text), names))
    else:
        for limit in trials.limits:
            text = f"{limit.words}: {figure(limit, mean(own, limit.figure))}."
            said.append(Sentence(wording.capitalized(text), [t.name for t in own]))
    own_drive = trials.setting.at(None, None).capacity
    said += _life_and_price(trials, found)
    said += [Sentence(text, []) for text in trials.workload.remarks(own_drive.user_bytes)]
    if found.theory is not None:
        said.append(Sentence(f"The closed form alone gives {wording.share(found.theory)}.", []))
    if found.checks:
        said.append(_check(trials, found))
    if found.second and not disagreeing(found, trials.limits):
        both = f"{_of_drive(found.evidence[0])} and of {_of_drive(found.second[0])}"
        said.append(Sentence(f"Runs of {both} agree about the limits.", [each.name for each in found.second]))
    said += [_alternative(trials, other) for other in others]
    unsteady = [trial.name for _, runs in found.curve for trial in runs if not trial.steady]
    if unsteady:
        said.append(
            Sentence("These runs did not reach SNIA's steady state; their figures are less reliable.", unsteady)
        )
    return said


def empty_bytes(trials: Trials, over_provisioning: float) -> int:
    """The difference to the user bytes of the drive as sold, in whole MiB."""
    as_sold = trials.setting.at(None, None).capacity.user_bytes
    mib = 2**20
    return -(-(as_sold - trials.setting.at(over_provisioning, None).capacity.user_bytes) // mib) * mib


def commands(trials: Trials, over_provisioning: float) -> list[tuple[str, str]]:
    """Pairs (method, command) for leaving this space empty. The user must replace DEVICE and similar words."""
    as_sold = trials.setting.at(None, None).capacity.user_bytes
    usable = as_sold - empty_bytes(trials, over_provisioning)
    sectors = usable // _SECTOR_BYTES
    mib = usable // 2**20
    return [
        ("trim everything first; this destroys all data", "blkdiscard /dev/DEVICE"),
        ("a partition", f"echo 'size={mib}MiB' | sfdisk --label gpt /dev/DEVICE"),
        ("SATA, a host protected area", f"hdparm -N p{sectors} /dev/DEVICE"),
        ("NVMe, a smaller namespace", f"nvme create-ns /dev/DEVICE --nsze={sectors} --ncap={sectors} --flbas=0"),
        ("LVM", f"lvcreate --size {mib}m --name data VOLUME_GROUP"),
    ]


def figure(limit: Limit, value: float | None) -> str:
    """A value with the unit of its limit, for a sentence; after its name where the unit does not say what it is."""
    name = "WAF " if limit.figure == "waf" else f"{limit.figure} " if "." in limit.figure else ""
    return "not measured" if value is None else f"{name}{amount(limit, value)}"


def amount(limit: Limit, value: float) -> str:
    """A value with the unit of its limit, for a cell below its name."""
    if limit.figure == "years":
        return f"{wording.significant(value)} years"
    if limit.figure == "waf":
        return wording.waf(value)
    if limit.figure == "write_mb_s":
        return f"{wording.significant(value)} MB/s"
    if limit.figure == "price_per_gb":
        return f"{wording.significant(value)} per usable GB"
    return wording.duration(value)


def _beyond_the_flash(trials: Trials, found: Found) -> Sentence:
    """The sentence for a limit that cannot be met even with a write amplification of 1, which needs no run."""
    limit, daily_bytes = found.binding, trials.demand.writes_bytes_per_day
    assert limit is not None
    assert daily_bytes is not None
    full = trials.setting.at(None, None)
    flash_bytes = full.capacity.physical_bytes
    takes = wording.size(endurance.lifetime_bytes(full.endurance_cycles, flash_bytes, 1))
    asked = wording.size(daily_bytes * endurance.DAYS_PER_YEAR * limit.bound)
    return Sentence(
        f"No amount of spare area meets {limit.words}: {wording.size(daily_bytes)} per day are {asked} in that time, "
        f"but all flash endures only "
        f"{takes} ({full.endurance_cycles:,} rated cycles of {wording.size(flash_bytes)}), even "
        f"with a write amplification of 1. {_take(trials, found)}",
        [],
    )


def _take(trials: Trials, found: Found) -> str:
    """The recommendation of another drive, with its required rating if the limit is the lifetime."""
    limit, daily_bytes = found.binding, trials.demand.writes_bytes_per_day
    if limit is None or limit.figure != "years" or not daily_bytes:
        return "Take a drive of higher endurance or speed, or a larger one."
    user_bytes = trials.setting.at(None, None).capacity.user_bytes
    # Three digits, rounded up: a rating that was rounded down would not suffice.
    drive_writes = daily_bytes / user_bytes
    step = 10.0 ** (math.floor(math.log10(drive_writes)) - 2)
    drive_writes = math.ceil(drive_writes / step) * step
    return (
        f"Take a drive rated {wording.significant(drive_writes)} DWPD or more over {wording.rounded(limit.bound)} "
        f"years ({wording.size(user_bytes)}), or a larger one rated {wording.size(daily_bytes)} a day."
    )


def _life_and_price(trials: Trials, found: Found) -> list[Sentence]:
    """The lifetime at the recommended spare area and as sold, with prices if known."""
    own = found.as_sold or found.miniatures_at(found.own)
    places = [(found.evidence, "")] if found.over_provisioning not in (None, found.own) else []
    places.append((own, "as sold "))
    names = [trial.name for runs, _ in places[::-1] for trial in runs]
    said = [
        [f"{before}{said}" for runs, before in places if (said := _mean_text(runs, name))]
        for name in ("tbw_bytes", "years", "price_per_gb", "price_per_tb_written")
    ]
    starts = (
        "The host can write",
        "at its write rate that is",
        "The price per usable GB is",
        "per TB written over that life",
    )
    parts = [f"{start} {', '.join(values)}" for start, values in zip(starts, said, strict=True) if values]
    return [Sentence("; ".join(parts) + ".", names)] if parts else []


def _mean_text(runs: Sequence[Trial], name: str) -> str | None:
    value = mean(runs, name)
    if value is None:
        return None
    if name == "tbw_bytes":
        return f"{wording.significant(value / 1e12)} TB (TBW)"
    return f"{wording.significant(value)} years" if name == "years" else wording.significant(value)


def _check(trials: Trials, found: Found) -> Sentence:
    """The deviation of the miniatures from the verification runs."""
    first = found.checks[0]
    small, large = found.on_curve("waf", first.over_provisioning), mean(found.checks, "waf")
    names = [trial.name for trial in found.checks]
    if not small or not large:
        return Sentence("Further runs verified it.", names)
    apart = wording.share(abs(large / small - 1), 2)
    off = f"{wording.waf(large)} against {wording.waf(small)} on the curve, {apart} apart"
    size = _of_drive(first)
    at = wording.share(first.over_provisioning)
    error = trials.workload.miniature_error(large) if first.scale else 0
    allowed = f" A margin of {wording.share(error, 1)} covers the error of the miniatures." if error > 0 else ""
    return Sentence(
        f"Verified with runs of {size} and other seeds: write amplification at {at} was {off}.{allowed}", names
    )


def _of_drive(trial: Trial) -> str:
    return "the whole drive" if trial.scale is None else f"{size_of(trial)} of the drive"


def size_of(trial: Trial) -> str:
    """The scale of a run as one of about so many parts; the exact one is in its command."""
    return "1" if trial.scale is None else f"1/{float(1 / trial.scale):.0f}"


def _broken(trials: Trials, at: Sequence[Trial]) -> list[Limit]:
    values = [(limit, mean(at, limit.figure)) for limit in trials.limits]
    return [limit for limit, value in values if value is None or not limit.holds(value)]


def _because(binding: Limit | None) -> str:
    return f"; {binding.words} requires the most" if binding else ""


def _alternative(trials: Trials, other: Alternative) -> Sentence:
    if other.refused is not None:
        return Sentence(
            f"Alternative: {other.what}: not possible with the other settings of the drive.", [], other.refused
        )
    figures = [
        figure(limit, mean(other.trials, limit.figure)) for limit in trials.limits if not limit.falls_with_spare_area
    ]
    broken = _broken(trials, other.trials)
    verdict = "meets the limits" if not broken else f"misses {wording.listed([limit.words for limit in broken])}"
    return Sentence(
        f"Alternative: {other.what}: {', '.join(figures)}; {verdict}.", [trial.name for trial in other.trials]
    )
