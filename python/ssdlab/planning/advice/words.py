"""An advice in the words that a user needs; each sentence names the runs that it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.planning.advice.alternatives import Alternative
from ssdlab.planning.advice.limits import Limit
from ssdlab.planning.advice.search import Found
from ssdlab.planning.advice.trials import Trial, Trials, mean
from ssdlab.quantities import format_bytes_binary
from ssdlab.report import wording

_SECTOR_BYTES = 512


@dataclass(frozen=True)
class Sentence:
    """A statement and the names of the runs that support it."""

    text: str
    runs: Sequence[str]

    def __str__(self) -> str:
        return f"{self.text} [{', '.join(self.runs)}]" if self.runs else self.text


def headline(trials: Trials, found: Found) -> Sentence:
    """The recommendation itself."""
    if found.over_provisioning is None:
        tried = found.evidence
        least = ", ".join(f"{each.said}: {figure(each, mean(tried, each.figure))}" for each in _broken(trials, tried))
        return Sentence(
            f"No amount of spare area holds the limits: with {wording.share(found.most)} over-provisioning, "
            f"{least or 'they are still broken'}. Take a drive of higher endurance or speed, or a larger one.",
            [trial.name for trial in tried],
        )
    at = found.evidence
    if found.over_provisioning == found.own:
        return Sentence(
            f"Leave nothing empty: the drive as sold ({wording.share(found.own)} over-provisioning) holds every limit.",
            [trial.name for trial in at],
        )
    empty = format_bytes_binary(empty_bytes(trials, found.over_provisioning))
    return Sentence(
        f"Leave {empty} unpartitioned: {wording.share(found.over_provisioning)} "
        f"over-provisioning holds every limit{_because(found.binding)}.",
        [trial.name for trial in at],
    )


def sentences(trials: Trials, found: Found, others: Sequence[Alternative]) -> list[Sentence]:
    """What goes with the recommendation: figures, how sure they are, what else would do."""
    said = []
    share = found.over_provisioning
    own = found.miniatures_at(found.own)
    if share is not None and share != found.own:
        at = found.evidence
        for limit in trials.limits:
            before, after = mean(own, limit.figure), mean(at, limit.figure)
            names = [trial.name for trial in (*own, *at)]
            said.append(Sentence(f"{limit.said}: {figure(limit, after)}, as sold {figure(limit, before)}.", names))
    else:
        for limit in trials.limits:
            said.append(Sentence(f"{limit.said}: {figure(limit, mean(own, limit.figure))}.", [t.name for t in own]))
    own_drive = trials.setting.at(None, None).capacity
    said += [Sentence(text, []) for text in trials.workload.said(own_drive.user_bytes)]
    if found.theory is not None:
        said.append(Sentence(f"The closed form alone would have said {wording.share(found.theory)}.", []))
    if found.checks:
        said.append(_check(found))
    for other in others:
        said.append(_alternative(trials, other))
    unsteady = [trial.name for _, runs in found.curve for trial in runs if not trial.steady]
    if unsteady:
        said.append(Sentence("These runs did not settle by SNIA's rule; take their figures with care.", unsteady))
    return said


def empty_bytes(trials: Trials, over_provisioning: float) -> int:
    """How much less than the drive as sold the host may use, in whole MiB."""
    as_sold = trials.setting.at(None, None).capacity.user_bytes
    mib = 2**20
    return -(-(as_sold - trials.setting.at(over_provisioning, None).capacity.user_bytes) // mib) * mib


def commands(trials: Trials, over_provisioning: float) -> list[tuple[str, str]]:
    """(what with, command) for leaving so much empty. DEVICE and the like are for the user to fill in."""
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
    """A value with the unit of its limit."""
    if value is None:
        return "not measured"
    if limit.figure == "years":
        return f"{wording.significant(value)} years"
    if limit.figure == "waf":
        return f"WAF {wording.waf(value)}"
    if limit.figure == "write_mb_s":
        return f"{wording.significant(value)} MB/s"
    if limit.figure == "price_per_gb":
        return f"{wording.significant(value)} a usable GB"
    return f"{limit.figure} {wording.duration(value)}"


def _check(found: Found) -> Sentence:
    """How far the miniatures were off."""
    first = found.checks[0]
    small, large = mean(found.miniatures_at(_nearest(found, first)), "waf"), mean(found.checks, "waf")
    names = [trial.name for trial in found.checks]
    if not small or not large:
        return Sentence("Larger runs checked it.", names)
    off = f"{wording.waf(large)} against {wording.waf(small)}, {abs(large / small - 1) * 100:.1f} % apart"
    size = "the whole drive" if first.scale is None else f"1/{float(1 / first.scale):.0f} of the drive"
    return Sentence(f"Checked by runs of {size}: there the miniatures' write amplification was {off}.", names)


def _nearest(found: Found, trial: Trial) -> float:
    """The spare area of the curve that the trial was run at: rounding to whole units sets the two a trifle apart."""
    return min((share for share, _ in found.curve), key=lambda share: abs(share - trial.over_provisioning))


def _broken(trials: Trials, at: Sequence[Trial]) -> list[Limit]:
    values = [(limit, mean(at, limit.figure)) for limit in trials.limits]
    return [limit for limit, value in values if value is None or not limit.holds(value)]


def _because(binding: Limit | None) -> str:
    return f"; {binding.said} asks for the most" if binding else ""


def _alternative(trials: Trials, other: Alternative) -> Sentence:
    if other.trial is None:
        return Sentence(f"What if: {other.what}: could not be run ({other.refused}).", [])
    figures = [
        figure(limit, other.trial.figure(limit.figure)) for limit in trials.limits if not limit.falls_with_spare_area
    ]
    broken = _broken(trials, [other.trial])
    verdict = "holds the limits" if not broken else f"breaks {wording.listed([limit.said for limit in broken])}"
    return Sentence(f"What if: {other.what}: {', '.join(figures)}; {verdict}.", [other.trial.name])
