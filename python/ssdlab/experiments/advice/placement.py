"""Does placement help a workload, and how much spare area is it worth?

The same workload runs on the same drive, at its own spare area: with placement handles for the groups that the workload
distinguishes (its own handles, a database's levels or kinds of file, the jobs, the files), with separation that the
drive learns, and with neither. The value of placement is the over-provisioning that the drive needs without it for the
same write amplification, within 2 %. All runs are without a clock.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypedDict

from ssdlab.errors import InputError
from ssdlab.experiments.advice.alternatives import LEARNT
from ssdlab.experiments.advice.described import Described
from ssdlab.experiments.advice.search import Found, tidy
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.trials import Other, Trial, Trials
from ssdlab.experiments.advice.words import Sentence
from ssdlab.presentation.report import wording
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.stores import StoreWorkload

if TYPE_CHECKING:
    from ssdlab.experiments.advice.recorded import Trace
    from ssdlab.simulator.drives import ResolvedDrive

_HANDLES = {"ftl.placement": "host-streams"}
# Less than the scatter of seeds and miniatures.
_HELPS_FROM = 0.02
_STEPS_MAX = 6
_STEP = 1.5
# For small spare areas, a step is at least this share.
_STEP_MIN = 0.05
_NO_HANDLES = "fdp=0 in every section"

Jobs = list[plain.Job]


class WayJson(TypedDict):
    """One way to place data, in `result.json`."""

    what: str
    run: str | None
    waf: float | None
    equal_over_provisioning: float | None
    refused: str | None


class PlacementJson(TypedDict):
    """The key `placement` of an advice's `result.json`."""

    over_provisioning: float
    run_without: str
    waf_without: float
    handles: WayJson | None
    learnt: WayJson | None
    over_provisioning_max: float


@dataclass(frozen=True)
class Way:
    """One way to place data, its run, and its value."""

    what: str
    trial: Trial | None
    """None if the drive is not possible."""
    waf: float | None
    equal_over_provisioning: float | None = None
    """The over-provisioning that the drive needs without placement for the same write amplification.

    None if placement does not help, or if none of the tested spare areas is sufficient.
    """
    refused: str | None = None


@dataclass(frozen=True)
class Placement:
    """The result: the run without placement, and the ways that are possible."""

    over_provisioning: float
    without: Trial
    waf: float
    handles: Way | None
    """None if the workload has no groups to distinguish."""
    learnt: Way
    has_own_handles: bool
    """Whether the workload itself names handles, so that the recommendation was found with them."""
    most: float
    """The largest over-provisioning that was tested."""

    def to_dict(self) -> PlacementJson:
        """The object in the format of `result.json`. Shares are those of the host's capacity; runs have their names."""

        def way(each: Way | None) -> WayJson | None:
            if each is None:
                return None
            return {
                "what": each.what,
                "run": each.trial.name if each.trial else None,
                "waf": each.waf,
                "equal_over_provisioning": each.equal_over_provisioning,
                "refused": each.refused,
            }

        return {
            "over_provisioning": self.over_provisioning,
            "run_without": self.without.name,
            "waf_without": self.waf,
            "handles": way(self.handles),
            "learnt": way(self.learnt),
            "over_provisioning_max": self.most,
        }


def placement(trials: Trials, found: Found, scale: Fraction | None) -> Placement | None:
    """None if nothing was run or nothing is written. Raises InputError if the workload does not fit on the drive."""
    if not found.curve:
        return None
    asked = _Asked(trials, trials.workload, scale, found.own)
    without = asked.run("without placement", trials.setting, found.own, _without, _NO_HANDLES)
    waf = without.figure("waf")
    if waf is None:
        return None
    told = _distinguished(asked)
    handles = told and asked.way(
        told.what, _with_handles(trials.setting), told.change, told.note, workload=told.workload
    )
    learnt = asked.way("separation that the drive learns", trials.setting.with_settings(LEARNT), _without, _NO_HANDLES)
    curve = {found.own: waf}
    return Placement(
        found.own,
        without,
        waf,
        _worth(asked, handles, curve, found.most) if handles else None,
        _worth(asked, learnt, curve, found.most),
        has_own_handles=told is not None and told.is_own,
        most=max(curve),
    )


def sentence(answer: Placement, found: Found) -> Sentence:
    """The result as a sentence."""
    ways = [way for way in (answer.handles, answer.learnt) if way is not None and way.waf is not None]
    runs = [answer.without.name, *(way.trial.name for way in ways if way.trial)]
    at = f"at {wording.share(answer.over_provisioning)} over-provisioning"
    if not ways:
        tried = [way for way in (answer.handles, answer.learnt) if way is not None]
        # Why a drive refuses it is in the terms of drive files, so that only result.json has it.
        reasons = "; ".join(
            f"{way.what} {'is not possible on this drive' if way.refused else 'gave no write amplification'}"
            for way in tried
        )
        detail = "; ".join(f"{way.what}: {way.refused}" for way in tried if way.refused)
        return Sentence(f"Whether placement helps was not measured: {reasons}.", runs, detail)
    helping = [way for way in ways if _helps(way, answer.waf)]
    nothing = "the workload tells nothing apart that handles could go by; " if answer.handles is None else ""
    if not helping:
        figures = wording.listed([f"{wording.waf(way.waf or 0)} with {way.what}" for way in ways])
        return Sentence(
            f"Placement does not help here: {nothing}write amplification {at} is {wording.waf(answer.waf)} without"
            f", {figures}; these runs have no clock.",
            runs,
        )
    parts = []
    for way in ways:
        assert way.waf is not None
        parts.append(f"{wording.waf(way.waf)} with {way.what}{_worth_words(way, answer)}")
    best = min(helping, key=lambda way: way.waf or 0)
    by_drive_alone = answer.handles in ways and answer.handles not in helping
    helps = "Placement handles do not help, what the drive learns does" if by_drive_alone else "Placement helps"
    return Sentence(
        f"{helps}: {nothing}write amplification {at} is {wording.waf(answer.waf)} without, "
        f"{wording.listed(parts)}{'' if answer.has_own_handles else _against_spare_area(best, answer, found)}; these "
        "runs have no clock.",
        runs,
    )


def _helps(way: Way, waf: float) -> bool:
    return way.waf is not None and way.waf < waf * (1 - _HELPS_FROM)


def _worth_words(way: Way, answer: Placement) -> str:
    if not _helps(way, answer.waf):
        return " (no gain)"
    if way.equal_over_provisioning is None:
        return f" (worth more than {_points(answer.most - answer.over_provisioning)} of over-provisioning)"
    return f" (worth {_points(way.equal_over_provisioning - answer.over_provisioning)} of over-provisioning)"


def _points(share: float) -> str:
    return f"{wording.significant(share * 100)} points"


def _against_spare_area(best: Way, answer: Placement, found: Found) -> str:
    """The clause on whether it can replace the spare area that the limits require."""
    if found.over_provisioning is None or found.over_provisioning == found.own:
        return ""
    needed = found.over_provisioning - found.own
    worth = None if best.equal_over_provisioning is None else best.equal_over_provisioning - answer.over_provisioning
    more = worth is None or worth >= needed
    return f"; that is {'more' if more else 'less'} than the {_points(needed)} that the limits require without it"


@dataclass(frozen=True)
class _Distinguished:
    """The groups that a workload distinguishes: how handles are assigned to its jobs, and how to repeat that."""

    what: str
    change: Callable[[Jobs, int], Jobs]
    note: str = ""
    workload: Described | None = None
    """The workload with these handles, if it is a different one."""
    is_own: bool = False


@dataclass(frozen=True)
class _Asked:
    """Executes runs with changed jobs of the workload on a changed drive."""

    trials: Trials
    workload: "Described | Trace"
    scale: Fraction | None
    own: float
    """The drive's own spare area."""

    def run(
        self,
        what: str,
        setting: Setting,
        share: float,
        change: Callable[[Jobs, int], Jobs],
        note: str,
        workload: Described | None = None,
    ) -> Trial:
        """A trial at a spare area; an identical run is not executed again.

        Raises InputError if the drive is not possible.
        """
        used = workload or self.workload
        drive = setting.at(share, self.scale)
        seed = self.trials.seed
        made = used.specify(drive, seed=seed, timed=False)
        jobs = change(made.engine["jobs"], _handles_of(drive))
        said = None if share == self.own else share
        command = used.command(*setting.words, said, self.scale, seed, False, drive)
        if jobs != made.engine["jobs"]:
            made, command = replace(made, engine={**made.engine, "jobs": jobs}), f"{command}  # with {note}"
        digest = made.hash()
        before = next((trial for trial in self.trials.done if trial.specification_sha256 == digest), None)
        other = Other(what, made, setting.at(share, None), drive.scale, command)
        return before or self.trials.others([other])[0]

    def way(
        self,
        what: str,
        setting: Setting,
        change: Callable[[Jobs, int], Jobs],
        note: str,
        workload: Described | None = None,
    ) -> Way:
        """The trial at the drive's own spare area, or the reason why it is not possible."""
        try:
            trial = self.run(f"with {what}", setting, self.own, change, note, workload)
        except InputError as error:
            return Way(what, None, None, refused=str(error))
        return Way(what, trial, trial.figure("waf"))


def _worth(asked: _Asked, way: Way, curve: dict[float, float], most: float) -> Way:
    """The way with the over-provisioning at which the drive without placement has the same write amplification.

    The runs for it are added to `curve`.
    """
    own = min(curve)
    if way.waf is None or not _helps(way, curve[own]):
        return way

    def run(share: float) -> None:
        share = tidy(min(share, most), own)
        if share not in curve:
            waf = asked.run("without placement", asked.trials.setting, share, _without, _NO_HANDLES).figure("waf")
            if waf is not None:
                curve[share] = waf

    # Near a write amplification of 1 the curve is flat, so a value within the scatter counts as equal.
    goal = way.waf * (1 + _HELPS_FROM)
    for _ in range(_STEPS_MAX):
        last = max(curve)
        if curve[last] <= goal or last >= most:
            break
        run(max(last * _STEP, last + _STEP_MIN))
        if max(curve) == last:
            break
    if min(curve.values()) > goal:
        return way
    run(_crossing(curve, goal))
    return replace(way, equal_over_provisioning=_crossing(curve, goal))


def _crossing(curve: Mapping[float, float], waf: float) -> float:
    """The first spare area at which lines between the runs reach this write amplification, which must exist."""
    points = sorted(curve.items())
    for (left, high), (right, low) in pairwise(points):
        if low <= waf <= high:
            return right if high == low else left + (right - left) * (high - waf) / (high - low)
    return points[0][0]


def _distinguished(asked: _Asked) -> _Distinguished | None:
    """The groups that the workload distinguishes; None for traces, whose formats have no handles."""
    workload = asked.workload
    if not isinstance(workload, Described):
        return None
    if isinstance(workload.jobs, StoreWorkload):
        return _distinguished_by_store(workload.jobs)
    drive = asked.trials.setting.at(None, asked.scale)
    jobs = workload.specify(drive, seed=1, timed=False).last_stage_jobs
    writers = [job for job in jobs if _writes(job)]
    if any(job.get("stream_id") is not None or job.get("identifiers") for job in writers):
        return _Distinguished("the handles that the jobs name", lambda jobs, _: jobs, is_own=True)
    if len({job["name"] for job in writers}) > 1:
        return _Distinguished("a handle for each job", _by_job, "fdp=1 and an fdp_pli of its own in each section")
    if any(job.get("files") for job in writers):
        return _Distinguished("a handle for each file", _by_file, "fdp=1 and a handle for each file")
    return None


_BY_KIND = {
    "flash-cache": "a handle each for small and large objects",
    "kv-cache": "a handle each for first and later turns",
}
"""What `handles=kind` tells apart, where it is not files."""


def _distinguished_by_store(store: StoreWorkload) -> _Distinguished:
    is_own = store.value("handles") != "none"
    if not is_own:
        store = store.with_options(handles="level" if store.kind == "lsm-tree" else "kind")
    by_kind = _BY_KIND.get(store.kind, "a handle for each kind of file")
    what = "a handle for each level" if store.value("handles") == "level" else by_kind
    return _Distinguished(what, lambda jobs, _: jobs, workload=Described(store, store.text), is_own=is_own)


def _with_handles(setting: Setting) -> Setting:
    """The drive, with placement handles if it has none."""
    placed = setting.at(None, None).file.ftl.placement
    return setting if placed.name == "host-streams" else setting.with_settings(_HANDLES)


def _handles_of(drive: "ResolvedDrive") -> int:
    placed = drive.specification()["ftl"]["placement"]
    return int(placed.get("identifiers", 1)) if placed["name"] == "host-streams" else 1


def _writes(job: plain.Job) -> bool:
    return job["direction"] in ("write", "trim-write") or (
        job["direction"] == "read-write" and job["read_percent"] < 100
    )


def _without(jobs: Jobs, _handles: int) -> Jobs:
    """The jobs without placement handles."""
    found = []
    for job in jobs:
        bare = job.copy()
        bare.pop("stream_id", None)
        bare.pop("identifiers", None)
        if store := bare.get("store"):
            bare["store"] = {**store, "identifiers": []}
        found.append(bare)
    return found


def _by_job(jobs: Jobs, handles: int) -> Jobs:
    """One handle for each job that writes in the last stage; jobs beyond the number of handles share the last one."""
    last = jobs[-1]["stage"]
    names = list(dict.fromkeys(job["name"] for job in jobs if job["stage"] == last and _writes(job)))
    by_name = {name: min(index, handles - 1) for index, name in enumerate(names)}
    return [{**job, "stream_id": by_name[job["name"]]} if job["name"] in by_name else job for job in jobs]


def _by_file(jobs: Jobs, handles: int) -> Jobs:
    """One handle for each file; files beyond the number of handles share the last one."""
    found = []
    for job in jobs:
        files = job.get("files")
        if not files:
            found.append(job)
            continue
        ranges: list[plain.IdentifierRange] = [
            {
                "start_bytes": each["offset_bytes"],
                "end_bytes": each["offset_bytes"] + each["size_bytes"],
                "identifier": min(index, handles - 1),
            }
            for index, each in enumerate(files["ranges"])
        ]
        found.append({**job, "identifiers": {"choose": "by-offset", "ranges": ranges}})
    return found
