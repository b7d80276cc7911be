"""Tenants on one drive, or each on a drive of its share: which is better for each of them?

The tenants are the namespaces of a drive and the jobs that use them. One run has all of them on the drive; further runs
have each on a drive of its share (`targets/alone.py`). The comparison covers write amplification, the 99th percentiles
of latency, and the lifetime of the flash at the rates of the shared run. In a last run of the shared drive each tenant
has a placement handle (NVMe FDP).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import polars as pl

from ssdlab.errors import InputError, notify
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.words import Sentence, SentenceJson
from ssdlab.foundation.quantities import parse_bytes_per_day
from ssdlab.presentation.report import page, parts, wording
from ssdlab.presentation.report.shown import Shown
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import ResolvedDrive, Source, load, standing
from ssdlab.simulator.drives.namespaces import KEY
from ssdlab.simulator.drives.schema import changed, drive_of
from ssdlab.simulator.results import Result, namespaces_page, page_folder
from ssdlab.simulator.results.fdp import PLACEMENT
from ssdlab.simulator.results.latency import Latency
from ssdlab.simulator.results.ledger import Ledger
from ssdlab.simulator.results.namespaces import NamespaceJson, NamespaceResult
from ssdlab.simulator.targets import running
from ssdlab.simulator.workloads.jobs.jobfile import JobFile
from ssdlab.theory import endurance

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure

UNITS = 400_000
"""The mapping units of the smaller drive of the runs."""
DRIVE_WRITES_MIN = 2
"""After about this number of drive writes, a filled drive approaches its steady state."""
ALIKE = 0.05
"""Figures with a smaller difference count as alike: miniatures and seeds cause differences of this size."""


class ComparedJson(TypedDict):
    name: str
    shared: float
    split: float
    is_better_high: bool
    better: str | None


class TenantJson(TypedDict):
    name: str
    share: float | None
    years_shared: float | None
    years_split: float | None
    better: str | None
    figures: list[ComparedJson]


class HandlesJson(TypedDict):
    """The shared drive with a placement handle for each tenant."""

    waf: float
    tenants: dict[str, float | None]
    """The WAF of each."""


class TenantAdviceJson(TypedDict):
    """The `result.json` of an advice on tenants."""

    advice: SentenceJson
    sentences: list[SentenceJson]
    standing: str
    """What stands behind the name of the drive."""
    tenants: list[TenantJson]
    handles: HandlesJson | None
    namespaces: list[NamespaceJson]
    scale: str
    specification_sha256: str


@dataclass(frozen=True)
class Compared:
    """A figure of a tenant on the shared drive and on a drive of its share."""

    name: str
    shared: float
    split: float
    is_better_high: bool = False

    @property
    def better(self) -> str | None:
        """`sharing` or `splitting`; None if they are alike."""
        low, high = sorted((self.shared, self.split))
        if high <= low * (1 + ALIKE):
            return None
        return "sharing" if (self.shared > self.split) == self.is_better_high else "splitting"

    def to_dict(self) -> ComparedJson:
        """The object in the format of `result.json`."""
        return {
            "name": self.name,
            "shared": self.shared,
            "split": self.split,
            "is_better_high": self.is_better_high,
            "better": self.better,
        }


@dataclass(frozen=True)
class Tenant:
    """A namespace and its comparison."""

    name: str
    share: float | None
    """Its share of the drive's blocks when it is alone; None if that could not be run."""
    figures: Sequence[Compared]
    years_shared: float | None
    """The lifetime of the whole drive; None without `writes_per_day`."""
    years_split: float | None

    @property
    def better(self) -> str | None:
        """`sharing` or `splitting` if no figure contradicts it, `mixed` if figures differ, None if all are alike."""
        said = {figure.better for figure in self.figures} - {None}
        return "mixed" if len(said) > 1 else next(iter(said), None)

    def to_dict(self) -> TenantJson:
        """The object in the format of `result.json`."""
        return {
            "name": self.name,
            "share": self.share,
            "years_shared": self.years_shared,
            "years_split": self.years_split,
            "better": self.better,
            "figures": [each.to_dict() for each in self.figures],
        }


@dataclass(frozen=True, repr=False)
class TenantAdvice(Shown):
    """Whether tenants should share a drive or have separate ones."""

    headline: Sentence
    sentences: Sequence[Sentence]
    tenants: Sequence[Tenant]
    result: Result
    """The run with all tenants; `result.namespaces` also has each alone."""
    with_handles: Result | None = None
    """The same run with a placement handle for each tenant, or None if that was not run."""

    def __repr__(self) -> str:
        return f"<TenantAdvice: {self.headline.text}>"

    def frame(self) -> "pl.DataFrame":
        """A frame with one row for each figure of a tenant.

        Columns: `tenant`, `figure`, `shared`, `split`, `better`. Latencies are in ns; life is a multiple of the shared
        drive's.
        """
        rows = [
            {"tenant": each.name, "figure": one.name, "shared": one.shared, "split": one.split, "better": one.better}
            for each in self.tenants
            for one in each.figures
        ]
        return pl.DataFrame(rows)

    def figures(self) -> "Sequence[Figure]":
        """Empty: the table shows the result."""
        return []

    @property
    def standing(self) -> str:
        """A sentence on what stands behind the name of the drive."""
        shared = self.result.specification
        return f"{shared.drive['name']}: {standing.behind(shared.drive, shared.scale)}."

    def write(self, directory: str | Path, *, command_line: str = "") -> list[str]:
        """Writes report.html and result.json, all or none. Returns their names."""
        specification = self.result.specification
        finding, _, figures = self.headline.text.partition(". All together")
        whole = page.Page(
            title=finding,
            subtitle=f"Tenants on one drive, or each on a drive of its share; {specification.drive['name']}",
            summary=f"All together{figures}" if figures else finding,
            notices=[
                self.standing,
                *(["Runs of a smaller drive with the same ratios."] if specification.scale != "1" else []),
            ],
            before=[page.Section("Tenant by tenant", parts.bullets([str(each) for each in self.sentences]))],
            figures=[],
            after=[
                namespaces_page.section(self.result.namespaces or [], Fraction(specification.scale)),
                page.Section("How to reproduce", parts.command(command_line)),
            ],
        )
        found: TenantAdviceJson = {
            "advice": self.headline.to_dict(),
            "sentences": [each.to_dict() for each in self.sentences],
            "standing": self.standing,
            "tenants": [tenant.to_dict() for tenant in self.tenants],
            "handles": _handles_json(self.with_handles),
            "namespaces": [each.to_dict() for each in self.result.namespaces or []],
            "scale": specification.scale,
            "specification_sha256": specification.hash(),
        }
        content = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
        return page_folder.write(Path(directory), whole, {"result.json": content})


def has_tenants(drive: str | Path) -> bool:
    """Whether the drive has namespaces. Raises InputError for an invalid drive."""
    return bool(load(str(drive)).namespaces)


def advise_tenants(
    job: str | Path,
    drive: str | Path,
    *,
    writes_per_day: str | None = None,
    settings: dict[str, str] | None = None,
    whole: bool = False,
    scale: Fraction | None = None,
    seed: int = 1,
    workers: int | None = None,
) -> TenantAdvice:
    """Compares tenants on one drive with each on a drive of its share, as `ssdlab advise tenants`.

    `job` is a fio job file whose jobs select namespaces by `filename`. It is run once on a filled drive, at `scale` or
    at one that is chosen, unless `whole`. At most `workers` runs of single tenants are made at a time. `writes_per_day`
    ("2TB") are the writes of all tenants; without it lifetimes are compared, but not given in years. Raises InputError
    if the drive has no namespaces, or if nothing can be compared.

        ssdlab.experiments.advice.tenants.advise_tenants("tenants.fio", "tenants.toml").headline.text
    """
    file = load(str(drive))
    if not file.namespaces:
        raise InputError(f"drive {file.name!r} has no [[namespace]]; allowed is a drive with two or more")
    try:
        daily_bytes = parse_bytes_per_day(writes_per_day) if writes_per_day is not None else None
    except InputError as error:
        raise InputError(f"--writes-per-day: {error}") from None
    setting = Setting(file, dict(settings or {}), str(drive))
    job_file = workloads.load(job)
    if not isinstance(job_file, JobFile):
        raise InputError(f"{job}: only a fio job file chooses namespaces, by filename")
    if not whole and scale is None:
        scale = setting.scale_for(UNITS)
    result = running.run(
        job_file, setting.at(None, scale), seed=seed, precondition="fill", timed=True, alone=True, workers=workers
    )
    with_handles = _run_with_handles(job_file, setting, scale, seed)
    return compared(result, setting, daily_bytes, with_handles)


NO_HANDLES = "the drive has too few handles or too little spare area for it"


def drive_with_handles(drive: ResolvedDrive) -> ResolvedDrive | None:
    """The drive with a placement handle for each namespace, or None where that is no other drive: one namespace, or a
    placement that uses handles already. Raises InputError for more namespaces than handles, or too little space."""
    tenants = len(drive.file.namespaces)
    if tenants < 2 or drive.file.ftl.placement.name == PLACEMENT:
        return None
    said = Source(kind="assumed", source="a placement handle for each namespace")
    placement = {"name": PLACEMENT, "identifiers": tenants}
    content = changed(drive.file.content, {"ftl.placement": placement}, {"ftl.placement": said})
    entries = enumerate(content[KEY])
    content[KEY] = [{**entry, "placement_handles": [handle]} for handle, entry in entries]
    return replace(drive, file=drive_of(content, f"drive {drive.name!r} with a placement handle for each namespace"))


def _run_with_handles(job_file: JobFile, setting: Setting, scale: Fraction | None, seed: int) -> Result | None:
    """The run of the shared drive with a placement handle for each tenant, or None where this cannot be compared."""
    try:
        drive = drive_with_handles(setting.at(None, scale))
    except InputError:
        notify([f"a placement handle for each tenant is not compared: {NO_HANDLES}"])
        return None
    return None if drive is None else running.run(job_file, drive, seed=seed, precondition="fill", timed=True)


def compared(
    result: Result, setting: Setting, daily_bytes: float | None, with_handles: Result | None = None
) -> TenantAdvice:
    """The comparison from a run with `alone`. Raises InputError if no tenant could be run on its share."""
    found = result.namespaces or []
    if not any(each.alone for each in found):
        raise InputError(f"no namespace of drive {setting.file.name!r} has jobs and a share that makes a drive")
    full = setting.at(None, None)
    flash_bytes = endurance.lifetime_bytes(full.endurance_cycles, full.capacity.physical_bytes, 1)
    tenants = [_tenant(each, result.last_stage_ledger, flash_bytes, daily_bytes) for each in found]
    said = [_sentence(tenant) for tenant in tenants]
    if with_handles is not None:
        said.append(_of_handles(result, with_handles))
    writes = result.last_stage_ledger.host_written_bytes / result.capacity.user_bytes
    if is_brief(writes):
        said.append(
            Sentence(
                f"The tenants wrote {wording.significant(writes)} times the size of the drive: write amplification may "
                f"still rise. Let the jobs write {DRIVE_WRITES_MIN} times as much as the drive holds, or more.",
                [],
            )
        )
    return TenantAdvice(_headline(tenants, result, with_handles), said, tenants, result, with_handles)


def is_brief(drive_writes: float) -> bool:
    """Whether so many drive writes are too few for the steady state. As they are printed: twice the tenants' sizes are
    1.9996 times the drive's."""
    return round(drive_writes, 2) < DRIVE_WRITES_MIN


def _tenant(each: NamespaceResult, drive: Ledger, flash_bytes: float, daily_bytes: float | None) -> Tenant:
    """The comparison of a namespace. `drive` are the counters of the shared drive in the last stage."""
    alone = each.alone
    if alone is None:
        return Tenant(each.namespace.name, None, [], None, None)
    figures = []
    if each.last_stage.waf is not None and alone.waf is not None:
        figures.append(Compared("WAF", each.last_stage.waf, alone.waf))
    for direction in ("write", "read"):
        pair = [_p99(getattr(one, direction)) for one in (each, alone)]
        if pair[0] and pair[1]:
            figures.append(Compared(f"{direction} p99", pair[0], pair[1]))
    # With what is moved of a tenant that writes nothing, which has no write amplification of its own.
    host, worn = drive.host_written_bytes, drive.programmed_bytes
    own = each.last_stage.host_written_bytes
    years_shared = years_split = None
    if own and alone.waf and worn:
        # Host bytes of all tenants per byte programmed into the flash.
        shared, split = host / worn, alone.share * host / (own * alone.waf)
        figures.append(Compared("life", 1.0, split / shared, is_better_high=True))
        if daily_bytes:
            a_year = daily_bytes * endurance.DAYS_PER_YEAR
            years_shared, years_split = flash_bytes * shared / a_year, flash_bytes * split / a_year
    return Tenant(each.namespace.name, alone.share, figures, years_shared, years_split)


def _p99(latency: Latency | None) -> float | None:
    return latency.percentile_ns(99) if latency else None


def _headline(tenants: Sequence[Tenant], result: Result, with_handles: Result | None) -> Sentence:
    groups = [
        ("sharing one drive is better for", "sharing"),
        ("a drive of its share is better for", "splitting"),
        ("it depends on the figure for", "mixed"),
        ("it makes no difference for", None),
    ]
    run = [tenant for tenant in tenants if tenant.share is not None]
    verdicts = []
    for words, better in groups:
        if names := [tenant.name for tenant in run if tenant.better == better]:
            verdicts.append(f"{words} {wording.listed(names)}")
    said = "; ".join(verdicts)
    return Sentence(f"{wording.capitalized(said)}{_all_together(result, with_handles)}.", [])


def _all_together(result: Result, with_handles: Result | None) -> str:
    """The write amplification of all flash in each layout, as a sentence; "" unless each tenant that writes has also
    been run alone."""
    writers = [each for each in result.namespaces or [] if each.last_stage.host_written_bytes]
    wafs = [each.alone.waf if each.alone else None for each in writers]
    if not writers or None in wafs:
        return ""
    host = [each.last_stage.host_written_bytes for each in writers]
    split = sum(waf * own for waf, own in zip(wafs, host, strict=True) if waf is not None) / sum(host)
    handles = f"{wording.waf(_waf(with_handles))} shared with a placement handle each, " if with_handles else ""
    return f". All together: WAF {wording.waf(_waf(result))} shared, {handles}{wording.waf(split)} split"


def _waf(result: Result) -> float:
    return result.last_stage_ledger.waf or 0.0


def _handles_json(with_handles: Result | None) -> HandlesJson | None:
    if with_handles is None:
        return None
    found = with_handles.namespaces or []
    return {"waf": _waf(with_handles), "tenants": {each.namespace.name: each.last_stage.waf for each in found}}


def _of_handles(result: Result, with_handles: Result) -> Sentence:
    """Compares the shared drive with and without a placement handle for each tenant."""
    found = zip(result.namespaces or [], with_handles.namespaces or [], strict=True)
    pairs = [(one.namespace.name, one.last_stage.waf, other.last_stage.waf) for one, other in found]
    each = [
        f"{name} {wording.waf(handles)} instead of {wording.waf(shared)}"
        for name, shared, handles in pairs
        if shared is not None and handles is not None
    ]
    return Sentence(f"A placement handle for each tenant on the shared drive: WAF {wording.listed(each)}.", [])


def _sentence(tenant: Tenant) -> Sentence:
    if tenant.share is None:
        return Sentence(f"{tenant.name}: not compared; it has no jobs, or its share is too small for a drive.", [])
    verdict = {
        "sharing": "sharing is better",
        "splitting": f"a drive of its share ({wording.share(tenant.share)}) is better",
        "mixed": "it depends on the figure",
        None: "no difference",
    }[tenant.better]
    figures = "; ".join(_figure(tenant, each) for each in tenant.figures)
    return Sentence(f"{tenant.name}: {verdict}. {wording.capitalized(figures)}.", [])


def _figure(tenant: Tenant, each: Compared) -> str:
    if each.name == "life":
        if tenant.years_shared is not None and tenant.years_split is not None:
            shared, split = (wording.significant(years) for years in (tenant.years_shared, tenant.years_split))
            return _side_by_side(each, "life", f"{shared} years", f"{split} years" if shared == split else split)
        said = f"{wording.significant(each.split)} times that of the shared drive"
        return f"life alike, split {said}" if each.better is None else f"life split {said}"
    form = wording.waf if each.name == "WAF" else wording.duration
    return _side_by_side(each, each.name, form(each.shared), form(each.split))


def _side_by_side(each: Compared, name: str, shared: str, split: str) -> str:
    """Both figures; once if they read the same, and called alike if they are."""
    figures = shared if shared == split else f"{shared} shared, {split} split"
    return f"{name} alike, {figures}" if each.better is None else f"{name} {figures}"
