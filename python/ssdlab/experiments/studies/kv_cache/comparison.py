"""Compares published with simulated figures, varies the assumptions, and computes the life of a drive."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Printed, Row, StudyResult, Table, published
from ssdlab.experiments.studies.handles import reclaim_unit_bytes, waf_figure
from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.drives import drive, load
from ssdlab.simulator.workloads.specifying import specify
from ssdlab.theory.endurance import BYTES_PER_TB, DAYS_PER_YEAR, lifetime_bytes

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
DRIVE = "samsung-fdp-3840gb"
"""A drive of the same family, with reclaim units of 16 GiB. Its capacity, spare area and victim policy are set here."""
SCALE = "1/128"
FIGURES = published(FOLDER / "figures.csv")
FITTED = Fitted(("spare area", "order of eviction", "shares of the writes", "victim"), 2)
"""Choices made with both figures in view. The mix of orders and shares was selected from about 200."""

GIB = 2**30
USER_BYTES = 960 * GIB
WRITTEN_BYTES = 4 * USER_BYTES
SPARE_AREA = 0.28
SPARE_AREAS = (0.24, 0.26, SPARE_AREA, 0.30, 0.33, 0.40)
ASKED_TB_A_DAY = 20
HIT_RATES = (0.5, 0.8, 0.95)
CACHE_TIB = (1, 2, 4)
_MAPPING_UNIT_BYTES = 4096


@dataclass(frozen=True)
class Kind:
    """A number of workers of one kind, each with objects of one size in its own space."""

    name: str
    workers: int
    object_mib: int
    space_gib: int


KINDS = (
    Kind("chat", 2, 4, 90),
    Kind("long-context", 1, 32, 180),
    Kind("shared-prefix", 2, 16, 90),
    Kind("random-prompt", 3, 2, 90),
    Kind("metadata", 1, 1, 45),
)
ALL = frozenset(kind.name for kind in KINDS)
RETURNING = frozenset({"long-context", "shared-prefix", "metadata"})
Shares = Literal["space", "bytes", "objects"]
"""The quantity that is equal for all workers: bytes written per space, bytes written, or objects written."""


@dataclass(frozen=True)
class Cache:
    """A cache on the drive. Workers of the kinds in `random` evict in random order, the others first in, first out."""

    has_handles: bool = False
    random: frozenset[str] = RETURNING
    shares: Shares = "space"
    spare_area: float = SPARE_AREA
    victim: str = "greedy"

    @property
    def label(self) -> str:
        """The label of the run."""
        handles = "five handles" if self.has_handles else "no handles"
        order = ", ".join(sorted(self.random)) or "none"
        return f"{handles}; random: {order}; alike: {self.shares}; spare {format_share(self.spare_area)}; {self.victim}"


Found = Mapping[Cache, float]
"""Write amplification by cache."""


def run(context: Context) -> StudyResult:
    """Simulates all runs and returns the rows in the order of the figures."""
    bases = list(dict.fromkeys(cache for _, cache in _varied()))
    caches = [replace(cache, has_handles=has) for cache in bases for has in (False, True)]
    results = context.simulate({cache.label: specification(context, cache) for cache in caches})
    found = {cache: _waf(results[cache.label]) for cache in caches}
    return StudyResult(
        finding=_finding(found),
        rows=[_row(figure, found) for figure in FIGURES],
        figures=[_over_spare_area(found)],
        tables=[_assumed(found), _lives(found)],
        notes=[
            "What decides is the order in which the objects of a kind die. Where it is that in which they were "
            "written, a handle leaves nothing to move; where it is random, a handle tells nothing apart and holds a "
            "reclaim unit of 16 GiB open, of which the drive has few.",
        ],
    )


def specification(context: Context, cache: Cache) -> "Specification":
    """The run of a cache: fills the drive sequentially, then the workers write four times its size."""
    drive = drive_of(context, cache)
    whole = sum(kind.workers * _weight(kind, cache.shares) for kind in KINDS)
    least = min(_objects(kind, cache.shares) for kind in KINDS)
    variables = {"WITH_HANDLES": str(int(cache.has_handles))}
    for kind in KINDS:
        units = round(kind.object_mib * 2**20 * drive.scale / _MAPPING_UNIT_BYTES)
        values = {
            "ORDER": "randwrite" if kind.name in cache.random else "write",
            "OBJECT": str(max(1, units) * _MAPPING_UNIT_BYTES),
            "DEPTH": str(round(_objects(kind, cache.shares) / least)),
            "WRITTEN": str(round(WRITTEN_BYTES * _weight(kind, cache.shares) / whole)),
        }
        variables |= {f"{kind.name.upper().replace('-', '_')}_{key}": value for key, value in values.items()}
    job = context.job(FOLDER / "cache.fio", **variables)
    return specify(job, drive, seed=context.seed, timed=False, precondition="fill")


def drive_of(context: Context, cache: Cache) -> "ResolvedDrive":
    """The drive with 960 GiB for the host and the cache's spare area, in whole reclaim units."""
    unit_bytes = reclaim_unit_bytes(DRIVE)
    settings = {
        "ftl.user_bytes": str(USER_BYTES),
        "nand.blocks_per_plane": str(round((1 + cache.spare_area) * USER_BYTES / unit_bytes)),
        "ftl.victim": cache.victim,
    }
    return drive(DRIVE, scale=context.scale(SCALE), settings=settings)


def _weight(kind: Kind, shares: Shares) -> float:
    """The relative weight of a worker's writes."""
    return {"space": kind.space_gib, "bytes": 1, "objects": kind.object_mib}[shares]


def _objects(kind: Kind, shares: Shares) -> float:
    return _weight(kind, shares) / kind.object_mib


def _varied() -> list[tuple[str, Cache]]:
    """Variants with one assumption changed at a time."""
    return [
        ("as assumed", Cache()),
        ("all evict first in, first out", Cache(random=frozenset())),
        ("all evict in random order", Cache(random=ALL)),
        ("chats and metadata evict in random order", Cache(random=frozenset({"chat", "metadata"}))),
        ("shared prefixes and metadata evict in random order", Cache(random=RETURNING - {"long-context"})),
        ("each worker writes as many bytes", Cache(shares="bytes")),
        ("each worker writes as many objects", Cache(shares="objects")),
        *(
            (f"spare area {format_share(spare)}", Cache(spare_area=spare))
            for spare in SPARE_AREAS
            if spare != SPARE_AREA
        ),
        ("victim by age (cost-benefit)", Cache(victim="cost-benefit")),
    ]


def _waf(result: "Result") -> float:
    waf = result.settled_waf
    assert waf is not None, "the last stage writes"
    return waf


def _row(figure: Mapping[str, str], found: Found) -> Row:
    return Row(
        "no handles" if figure["handles"] == "none" else "a handle for each of five kinds",
        float(figure["value"]),
        found[Cache(has_handles=figure["handles"] != "none")],
        "",
        tolerance=float(figure["tolerance"]),
        printed=cast(Printed, figure["printed"]),
        fitted=FITTED,
        group="Write amplification, four times the capacity written",
    )


def _pair(found: Found, cache: Cache) -> tuple[float, float]:
    return found[cache], found[replace(cache, has_handles=True)]


def _finding(found: Found) -> str:
    none, five = _pair(found, Cache())
    measured = " and ".join(figure["value"] for figure in FIGURES)
    in_order, at_random = (found[Cache(True, kinds)] for kinds in (frozenset[str](), ALL))
    return (
        f"Write amplification is {none:.2f} without placement handles and {five:.2f} with them; measured were "
        f"{measured}. With handles it depends on the order in which objects of a kind are evicted: {in_order:.2f} if "
        f"they are evicted in the order in which they were written, {at_random:.2f} if at random."
    )


def _assumed(found: Found) -> Table:
    measured = {figure["handles"]: float(figure["value"]) for figure in FIGURES}
    rows: list[list[str | float]] = [
        ["measured", measured["none"], measured["five"], measured["none"] / measured["five"]]
    ]
    for what, cache in _varied():
        none, five = _pair(found, cache)
        rows.append([what, none, five, none / five])
    return Table(
        "What the assumptions decide",
        ("assumed", "no handles", "five handles", "gain"),
        rows,
        "Write amplification, one assumption changed at a time.",
    )


def _lives(found: Found) -> Table:
    cycles = load(DRIVE).nand.endurance_cycles
    rows: list[list[str | float]] = []
    for hit_rate in HIT_RATES:
        for tib in CACHE_TIB:
            for spare in (SPARE_AREA, SPARE_AREAS[-1]):
                bytes_a_day = (1 - hit_rate) * ASKED_TB_A_DAY * BYTES_PER_TB
                user_bytes = tib * 2**40
                years = [
                    lifetime_bytes(cycles, (1 + spare) * user_bytes, waf) / bytes_a_day / DAYS_PER_YEAR
                    for waf in _pair(found, Cache(spare_area=spare))
                ]
                shown = [f"{100 * hit_rate:.0f} %", f"{tib} TiB", format_share(spare)]
                rows.append([*shown, bytes_a_day / user_bytes, *years])
    return Table(
        "How long a drive lives",
        ("hit rate", "drive", "spare area", "drive writes a day", "years, no handles", "years, five handles"),
        rows,
        f"A server asks for {ASKED_TB_A_DAY} TB of keys and values a day and writes what it does not find. "
        f"{cycles:,} cycles of all of the flash; write amplification as simulated, the same for each size of drive.",
    )


def _over_spare_area(found: Found) -> "Figure":
    labels = {False: "no handles", True: "five handles"}
    return waf_figure(
        "spare-area",
        {
            label: [(100 * spare, found[Cache(has, spare_area=spare)]) for spare in SPARE_AREAS]
            for has, label in labels.items()
        },
        {
            label: [(100 * SPARE_AREA, float(each["value"])) for each in FIGURES if (each["handles"] != "none") == has]
            for has, label in labels.items()
        },
        title="Write amplification over spare area, with handles and without",
        caption="Write amplification: lines simulated, marks measured, drawn at the spare area that was fitted.",
        x_title="spare area, %",
    )
