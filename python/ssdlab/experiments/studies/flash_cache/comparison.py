"""Published and simulated figures, the closed form, and the yearly cost of write amplification."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.contract import Fitted, Printed, Row, StudyResult, Table, published
from ssdlab.experiments.studies.handles import waf_figure
from ssdlab.foundation.quantities import format_share
from ssdlab.simulator.drives import drive, load
from ssdlab.simulator.workloads.specifying import specify
from ssdlab.theory.closed_forms import fifo
from ssdlab.theory.endurance import BYTES_PER_GB

if TYPE_CHECKING:
    from ssdlab.presentation.report.figure import Figure
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.results import Result
    from ssdlab.simulator.specification import Specification

FOLDER = Path(__file__).parent
DRIVE = "samsung-pm9d3-1880gb"
SCALE = "1/512"
FIGURES = published(FOLDER / "figures.csv")
FITTED = Fitted(("spare area", "write share", "victim"), 4)
"""Parameters of the drive and the load chosen with the figures in view, and the number of figures."""

UTILIZATIONS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SMALL_SHARES = (0.04, 0.08, 0.16, 0.32, 0.64, 0.90, 0.96)
WRITE_SHARES = (0.5, 0.6, 0.75, 0.8, 0.9)
SPARE_AREAS = (0.07, 0.14, 0.28)
VICTIMS = ("cost-benefit", "d-choices", "fifo")
DRIVE_WRITES_BEFORE, DRIVE_WRITES = 8, 6
CARBON_KG_PER_GB = 0.16
PRICE_USD_PER_GB = 0.10
RATED_YEARS = 5
_LOG_BLOCK_BYTES = 256 * 1024
_BUCKET_BYTES = 4096


@dataclass(frozen=True)
class Cache:
    """A cache on a drive. Its small objects get the share `small` of its space and `written` of its writes."""

    utilization: float = 1.0
    small: float = 0.04
    has_handles: bool = False
    written: float = 2 / 3
    spare_area: float | None = None
    """(T - U) / U; None for the drive's own."""
    victim: str | None = None
    """None for the drive's own policy."""

    @property
    def label(self) -> str:
        """The label of the run."""
        handles = "two handles" if self.has_handles else "no handles"
        parts = [
            f"cache {format_share(self.utilization)} of the drive, small objects {format_share(self.small)}, {handles}"
        ]
        if self.written != Cache.written:
            parts.append(f"{format_share(self.written)} of the writes small")
        if self.spare_area is not None:
            parts.append(f"spare area {format_share(self.spare_area)}")
        if self.victim is not None:
            parts.append(self.victim)
        return ", ".join(parts)


Found = Mapping[Cache, float]
"""Write amplification by cache."""
CORNERS = (Cache(0.5), Cache(), Cache(has_handles=True), Cache(small=0.64, has_handles=True))
"""The caches of the published figures; the assumptions are varied for these."""


def run(context: Context) -> StudyResult:
    """Simulates all runs and returns the rows in the order of the figures."""
    caches = list(dict.fromkeys(_caches()))
    results = context.simulate({cache.label: specification(context, cache) for cache in caches})
    found = {cache: _waf(results[cache.label]) for cache in caches}
    drive = drive_of(context, Cache())
    return StudyResult(
        finding=_finding(found),
        rows=[_row(figure, found) for figure in FIGURES],
        figures=[_over_utilization(found), _over_small(found, drive)],
        tables=[_theory(found, drive), _costs(found), _assumed(found)],
        notes=[
            "Handles save what the log of large objects would be moved for. Small objects that fill most of the cache "
            "have only the spare area to be rewritten in, with a handle or without.",
            "The source counts 3.6 times fewer garbage collections with handles, without saying at which utilization; "
            "here as many times fewer units are programmed: "
            f"{found[Cache()] / found[Cache(has_handles=True)]:.1f} at 100 %.",
        ],
    )


def specification(context: Context, cache: Cache) -> "Specification":
    """The run of a cache: drive writes until it is settled, then the measured ones, in whole laps of the log."""
    drive = drive_of(context, cache)
    step_bytes = round(_LOG_BLOCK_BYTES / drive.scale)
    whole_bytes = round(drive.capacity.user_bytes / drive.scale)

    def size(share: float) -> str:
        return str(int(share * whole_bytes) // step_bytes * step_bytes)

    lap = cache.utilization * (1 - cache.small) / (1 - cache.written)
    depth = _LOG_BLOCK_BYTES / _BUCKET_BYTES * cache.written / (1 - cache.written)
    variables = {
        "WITH_HANDLES": str(int(cache.has_handles)),
        "SMALL_BYTES": size(cache.utilization * cache.small),
        "LARGE_BYTES": size(cache.utilization * (1 - cache.small)),
        "SMALL_DEPTH": str(round(depth)),
        "LAPS_BEFORE": str(math.ceil(DRIVE_WRITES_BEFORE / lap)),
        "LAPS": str(math.ceil(DRIVE_WRITES / lap)),
    }
    return specify(context.job(FOLDER / "cache.fio", **variables), drive, seed=context.seed, timed=False)


def drive_of(context: Context, cache: Cache) -> "ResolvedDrive":
    """The drive with the cache's spare area and victim policy."""
    settings = {} if cache.victim is None else {"ftl.victim": cache.victim}
    return drive(DRIVE, cache.spare_area, scale=context.scale(SCALE), settings=settings)


def closed_form(drive: "ResolvedDrive", cache: Cache) -> float:
    """Write amplification with handles: that of FIFO for the small objects, which use all of the spare area, and 1 for
    the log. The reserve of erased reclaim units does not count as spare area.
    """
    nand = drive.file.nand
    planes = nand.channels * nand.dies_per_channel * nand.planes_per_die
    unit_bytes = nand.pages_per_block * nand.page_bytes * planes
    usable_bytes = unit_bytes * (nand.blocks_per_plane - drive.file.ftl.reserve_erase_units)
    cache_bytes = cache.utilization * drive.capacity.user_bytes
    return (1 - cache.written) + cache.written * fifo((usable_bytes - cache_bytes) / (cache.small * cache_bytes))


def _caches() -> list[Cache]:
    over_utilization = [Cache(utilization, has_handles=has) for utilization in UTILIZATIONS for has in (False, True)]
    over_small = [Cache(small=small, has_handles=has) for small in SMALL_SHARES for has in (False, True)]
    return [*over_utilization, *over_small, *(cache for _, caches in _varied() for cache in caches)]


def _varied() -> list[tuple[str, list[Cache]]]:
    """Variants of the published caches with one assumption changed at a time."""
    return [
        ("as fitted", list(CORNERS)),
        *(
            (f"{format_share(share)} of the writes are small objects", [replace(one, written=share) for one in CORNERS])
            for share in WRITE_SHARES
        ),
        *(
            (f"spare area {format_share(share)}", [replace(one, spare_area=share) for one in CORNERS])
            for share in SPARE_AREAS
        ),
        *((f"victim {name}", [replace(one, victim=name) for one in CORNERS]) for name in VICTIMS),
    ]


def _waf(result: "Result") -> float:
    waf = result.settled_waf
    assert waf is not None, "the last two jobs write"
    return waf


def _row(figure: Mapping[str, str], found: Found) -> Row:
    utilization, small = float(figure["utilization"]), float(figure["small"])
    has_handles = figure["handles"] != "none"
    cache = Cache(utilization, small, has_handles)
    is_gain = figure["figure"] == "gain"
    simulated = found[replace(cache, has_handles=False)] / found[cache] if is_gain else found[cache]
    handles = "gain from handles" if is_gain else "two handles" if has_handles else "no handles"
    return Row(
        f"{handles}, {format_share(utilization)} full, {format_share(small)} small",
        float(figure["value"]),
        simulated,
        "",
        tolerance=float(figure["tolerance"]),
        printed=cast(Printed, figure["printed"]),
        fitted=FITTED,
        is_left_out=figure["fitted"] == "0",
        group="Write amplification without handles over that with them" if is_gain else "Write amplification",
    )


def _finding(found: Found) -> str:
    full, placed = found[Cache()], found[Cache(has_handles=True)]
    much = Cache(small=SMALL_SHARES[-1])
    most = found[much] / found[replace(much, has_handles=True)]
    return (
        f"A cache that fills the drive comes to a write amplification of {full:.1f} without handles and of "
        f"{placed:.2f} with one for small and one for large objects. With {format_share(much.small)} small objects "
        f"handles gain nothing: write amplification is {1 / most:.2f} times that without them."
    )


def _theory(found: Found, drive: "ResolvedDrive") -> Table:
    caches = [Cache(small=small, has_handles=True) for small in SMALL_SHARES]
    rows = [
        (
            format_share(cache.small),
            found[replace(cache, has_handles=False)],
            found[cache],
            closed_form(drive, cache),
        )
        for cache in caches
    ]
    return Table(
        "The share of small objects, in a cache that fills the drive",
        ("small objects", "no handles", "two handles", "closed form"),
        rows,
        "The closed form is FIFO's with the area of the small objects and the spare area left for it, weighed by their "
        "share of the writes. It counts nothing for the log. Greedy garbage collection takes reclaim units of the log "
        "before all of their data is dead, and moves the rest.",
    )


def _costs(found: Found) -> Table:
    sold_gb = load(DRIVE).capacity.user_bytes / BYTES_PER_GB
    rows = []
    for cache in (Cache(utilization, has_handles=has) for has in (False, True) for utilization in UTILIZATIONS):
        waf = found[cache]
        a_year = sold_gb / RATED_YEARS * waf
        carbon_kg, usd = CARBON_KG_PER_GB * a_year, PRICE_USD_PER_GB * a_year
        cache_tb = cache.utilization * sold_gb / 1000
        handles = "two" if cache.has_handles else "none"
        rows.append(
            (handles, format_share(cache.utilization), waf, RATED_YEARS / waf, carbon_kg, usd, carbon_kg / cache_tb)
        )
    return Table(
        "What a drive costs a year",
        (
            "handles",
            "cache of the drive",
            "write amplification",
            "life, years",
            "kg CO2e",
            "USD",
            "kg CO2e a TB cached",
        ),
        rows,
        f"{CARBON_KG_PER_GB} kg CO2e are embodied in a GB (the source), {PRICE_USD_PER_GB:.2f} USD a GB is assumed. "
        "The host writes what wears the drive out in five years at a write amplification of 1, so that a year uses up "
        "the share 1/life of a drive.",
    )


def _assumed(found: Found) -> Table:
    rows: list[list[str | float]] = [[what, *(found[cache] for cache in caches)] for what, caches in _varied()]
    of_corners = [float(each["value"]) for each in FIGURES if each["fitted"] == "1"]
    return Table(
        "What the assumptions decide",
        ("assumed", "50 %, none", "100 %, none", "100 %, two", "100 %, two, 64 % small"),
        [["published", *of_corners], *rows],
        "Write amplification, one assumption changed at a time: the share of the drive and the handles, small objects "
        "4 % where nothing is said.",
    )


_LABELS = {False: "no handles", True: "two handles"}


def _over_utilization(found: Found) -> "Figure":
    return waf_figure(
        "utilization",
        {
            label: [(100 * share, found[Cache(share, has_handles=has)]) for share in UTILIZATIONS]
            for has, label in _LABELS.items()
        },
        {
            label: [
                (100 * float(each["utilization"]), float(each["value"]))
                for each in FIGURES
                if each["figure"] == "waf"
                and float(each["small"]) == Cache.small
                and (each["handles"] != "none") == has
            ]
            for has, label in _LABELS.items()
        },
        title="Write amplification over the share of the drive that the cache fills",
        caption="Write amplification, small objects 4 % of the cache: lines simulated, marks published.",
        x_title="cache, % of the drive",
    )


def _over_small(found: Found, drive: "ResolvedDrive") -> "Figure":
    curves = {
        label: [(100 * small, found[Cache(small=small, has_handles=has)]) for small in SMALL_SHARES]
        for has, label in _LABELS.items()
    }
    form = [(100 * small, closed_form(drive, Cache(small=small, has_handles=True))) for small in SMALL_SHARES]
    points = [
        (100 * float(each["small"]), float(each["value"]))
        for each in FIGURES
        if each["figure"] == "waf" and each["handles"] == "two" and float(each["utilization"]) == 1
    ]
    return waf_figure(
        "small-objects",
        curves | {"closed form": form},
        {"two handles": points},
        title="Write amplification over the share of small objects",
        caption="Write amplification of a cache that fills the drive: lines simulated, marks published.",
        x_title="small objects, % of the cache",
    )
