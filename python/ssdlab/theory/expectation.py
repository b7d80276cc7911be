"""Selects the closed form that applies to a run, from its resolved jobs and drive only, to show it with the result.

The formulas themselves are in `closed_forms`. If none applies, the result has no value but a reason.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ssdlab.theory import closed_forms

# The engine's default (`ssdlab policies d-choices`), for a drive that gives the policy without parameters.
D_DEFAULT = 10
NO_DATA = "the drive holds no data that garbage collection would move"
# Write densities with a smaller relative difference belong to one class.
_DENSITY_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Expectation:
    """The theoretical write amplification of a run. If no closed form applies, `value` is None and `reason` is set."""

    value: float | None
    """Write amplification in the steady state, including parity."""
    formula: str | None
    """The name of the formula, such as "greedy" or "FIFO with 3 classes"."""
    reason: str | None = None


class _NoFormula(Exception):
    """Raised if no closed form applies; the message is the reason."""


@dataclass(frozen=True)
class _Span:
    """A part of the address space, in bytes, with its share of the writes."""

    start: float
    end: float
    write_share: float

    @property
    def density(self) -> float:
        return self.write_share / (self.end - self.start)


@dataclass(frozen=True)
class _OpenEraseUnits:
    """The spare area lost to open erase units, for one in common or one each for the host and garbage collection.

    The engine's effective OP subtracts half of each open erase unit, which is an approximation. The actual loss is
    Np / (2 A) with one open erase unit, because it starts with the victim's live units, and Np / 2 + Np / (2 A) with
    two, because garbage collection runs in bursts, when the host's is full. Both are Np (1 - 1 / A) / 2 less than the
    approximation. Derived for FIFO from the mean time until a unit is collected; a simulation agrees, also for greedy.
    """

    over_provisioning: float
    erase_unit_over_live: float

    def solve(self, formula: Callable[[float], float]) -> float:
        """Write amplification that is consistent with the spare area it leaves, by iteration. Each step divides the
        error by T / Np."""
        value = formula(self.over_provisioning)
        for _ in range(3):
            given_back = 0.5 * (1 - 1 / value) * self.erase_unit_over_live
            value = formula(self.over_provisioning + given_back)
        return value


def uniform(over_provisioning: float, victim: Mapping[str, Any], units_per_erase_unit: int) -> Expectation:
    """Uniform single-unit writes under a victim policy, given as in a drive specification ({"name": ..., ...}).

    Raises ValueError if a number is outside the formula's range.
    """
    try:
        value, formula = _uniform(over_provisioning, victim, units_per_erase_unit)
    except _NoFormula as none:
        return Expectation(None, None, str(none))
    return Expectation(value, formula)


def write_amplification(over_provisioning: float, victim: Mapping[str, Any], units_per_erase_unit: int) -> float | None:
    """The value of `uniform`, for curves; None if the victim policy has no closed form."""
    return uniform(over_provisioning, victim, units_per_erase_unit).value


def expected(
    jobs: Sequence[Mapping[str, Any]],
    drive_specification: Mapping[str, Any],
    effective_over_provisioning: float | None,
) -> Expectation:
    """The theoretical write amplification in the steady state of the last stage.

    `jobs` are the engine's jobs and `drive_specification` its drive, as JSON. `effective_over_provisioning` is the
    engine's: the space that garbage collection can use relative to the live data, which includes trimmed and unwritten
    space, minus half of each open erase unit. This function adds back the part of these halves that garbage collection
    can use.

    There are formulas for aligned, independent single-unit writes without a random map:
    uniform over all live data, under greedy, FIFO, random and d-choices; of unequal density (zones, several jobs, a
    part of a full drive) under FIFO with one open erase unit, and with the placement `class-spare` if its borders are
    those of the workload. Random trims of the same addresses are allowed between uniform writes. For other workloads
    the value is None.
    """
    try:
        return _expected(jobs, drive_specification, effective_over_provisioning)
    except _NoFormula as none:
        return Expectation(None, None, str(none))


def shape(drive: Mapping[str, Any]) -> tuple[int, float, int]:
    """The numbers of a drive's specification that the formulas need: data units per erase unit, programs per data unit
    (including parity), and open erase units per stream."""
    stripe = int(drive["parity"]["units_per_stripe"])
    # One unit in `stripe` is parity: it takes space in the erase unit and adds one program to each stripe of data.
    units = _units_per_erase_unit(drive)
    data_units = units - math.ceil(units / stripe) if stripe > 1 else units
    parity_factor = stripe / (stripe - 1) if stripe > 1 else 1.0
    return data_units, parity_factor, _open_blocks_per_stream(drive) * int(drive.get("stripe", {}).get("devices", 1))


def _expected(
    jobs: Sequence[Mapping[str, Any]], drive: Mapping[str, Any], effective_over_provisioning: float | None
) -> Expectation:
    if effective_over_provisioning is None:
        raise _NoFormula(NO_DATA)
    if not effective_over_provisioning > 0:
        raise _NoFormula("no spare area is left for garbage collection")
    ftl = drive["ftl"]
    if ftl["wear_leveling"]["name"] == "static":
        raise _NoFormula("static wear levelling moves data that no closed form counts")
    spans = _spans_written(jobs, int(ftl["mapping_unit_bytes"]), int(ftl["user_bytes"]))
    data_units, parity_factor, open_blocks = shape(drive)
    placement = ftl["placement"]["name"]
    live_units = sum(span.end - span.start for span in spans) / ftl["mapping_unit_bytes"]
    open_units = _OpenEraseUnits(effective_over_provisioning, open_blocks * data_units / live_units)
    if _equally_dense(spans):
        if placement not in ("single", "host-gc-split"):
            raise _NoFormula(f"no closed form for placement {placement!r} under uniform writes")
        formula = _uniform(effective_over_provisioning, ftl["victim"], data_units)[1]
        value = open_units.solve(lambda op: _uniform(op, ftl["victim"], data_units)[0])
    elif placement == "class-spare":
        value, formula = _own_spare_area(spans, ftl, effective_over_provisioning, data_units, live_units)
    elif placement != "single":
        raise _NoFormula(f"no closed form for skewed writes with placement {placement!r}")
    elif ftl["victim"]["name"] != "fifo":
        raise _NoFormula(f"no closed form for skewed writes under {ftl['victim']['name']}; FIFO has one")
    else:
        write_shares, space_shares = _shares(_classes(spans))
        value = open_units.solve(lambda op: closed_forms.fifo_classes(op, write_shares, space_shares))
        formula = f"FIFO with {len(write_shares)} classes"
    return Expectation(value * parity_factor, formula)


def _uniform(over_provisioning: float, victim: Mapping[str, Any], units: int) -> tuple[float, str]:
    name = victim["name"]
    if name == "fifo":
        return closed_forms.fifo(over_provisioning), "FIFO"
    if name == "greedy":
        return closed_forms.greedy(over_provisioning, units), "greedy"
    if name == "random":
        return closed_forms.random_victim(over_provisioning), "random victim"
    if name == "d-choices":
        d = int(victim.get("d", D_DEFAULT))
        return closed_forms.d_choices(over_provisioning, units, d), f"d-choices, d = {d}"
    raise _NoFormula(f"no closed form for victim policy {name!r}; fifo, greedy, d-choices and random have one")


def _own_spare_area(
    spans: Sequence[_Span], ftl: Mapping[str, Any], over_provisioning: float, units: int, live_units: float
) -> tuple[float, str]:
    borders = [float(border) for border in ftl["placement"].get("borders", [])]
    if not borders:
        raise _NoFormula("the classes are learned; the closed form needs explicit borders")
    edges = [0.0, *(border * ftl["user_bytes"] for border in borders), float(ftl["user_bytes"])]
    pools = []
    for start, end in pairwise(edges):
        inside = _cut(spans, start, end)
        if not inside or not math.isclose(sum(span.end - span.start for span in inside), end - start, rel_tol=1e-6):
            raise _NoFormula("the classes of the placement hold addresses that are never written")
        if not _equally_dense(inside):
            raise _NoFormula("the borders of the placement are not those of the workload")
        pools.append(_Span(start, end, sum(span.write_share for span in inside)))
    write_shares, space_shares = _shares(pools)
    # The placement splits the spare area before half an open erase unit is subtracted from each pool.
    half = 0.5 * units / live_units
    split = closed_forms.square_root_split(write_shares, space_shares)
    spare = [(share * (over_provisioning + len(pools) * half) - half) / over_provisioning for share in split]
    if any(own <= 0 < share for own, share in zip(spare, write_shares, strict=True)):
        raise _NoFormula("a class has no spare area beyond its open erase unit")
    formula = _uniform(over_provisioning, ftl["victim"], units)[1]
    value = closed_forms.separated_pools(
        over_provisioning,
        write_shares,
        space_shares,
        spare,
        pool=lambda op: _uniform(op, ftl["victim"], units)[0],
    )
    return value, f"{len(pools)} pools with separate spare areas, {formula}"


def _spans_written(jobs: Sequence[Mapping[str, Any]], unit_bytes: int, user_bytes: int) -> list[_Span]:
    """The live data in the last stage, as spans of equal write density in order of address."""
    last_stage = max((int(job["stage"]) for job in jobs), default=0)
    last = [job for job in jobs if job["stage"] == last_stage]
    writers = [job for job in last if _write_turns(job) > 0]
    trimmers = [job for job in last if job["direction"] == "trim"]
    if not writers:
        raise _NoFormula("the last stage writes nothing")
    for job in writers:
        _refuse_unless_independent_single_units(job, "write", unit_bytes)
    turns = sum(_write_turns(job) for job in writers)
    pieces = [piece for job in writers for piece in _pieces(job, _write_turns(job) / turns)]
    filled = _filled_before(jobs, last_stage)
    spans = _merged([*pieces, *filled])

    if trimmers:
        for job in trimmers:
            _refuse_unless_independent_single_units(job, "trim", unit_bytes)
            if job["distribution"]["name"] != "random":
                raise _NoFormula("trims are not uniform")
            if [(job["offset_bytes"], job["offset_bytes"] + job["size_bytes"])] != _extents(spans):
                raise _NoFormula("trims and writes have different addresses")
        if not _equally_dense(spans):
            raise _NoFormula("no closed form for trims with skewed writes")
    for job in jobs:
        if job["stage"] != last_stage and _leaves_an_unknown_part_live(job, spans):
            raise _NoFormula(
                f"job {job['name']!r} writes only a part of the addresses that the last stage does not otherwise write"
            )
    if any(span.end > user_bytes for span in spans):
        raise _NoFormula("the job reaches past the end of the drive")
    return spans


def _write_turns(job: Mapping[str, Any]) -> float:
    """The weight of a job's writes in its stage, which is proportional to iodepth."""
    share = {"write": 1.0, "trim-write": 1.0, "read-write": 1 - job["read_percent"] / 100}
    return float(share.get(job["direction"], 0.0) * job["iodepth"])


def _refuse_unless_independent_single_units(job: Mapping[str, Any], direction: str, unit_bytes: int) -> None:
    name = job["name"]
    if job["sequential"]:
        raise _NoFormula(f"job {name!r} is sequential")
    if job["random_map"]:
        raise _NoFormula(f"job {name!r} visits every block once per pass (set norandommap for independent addresses)")
    for form in ("store", "runs", "random_percent", "files", "skip_bytes"):
        if job.get(form) is not None:
            raise _NoFormula(f"requests of job {name!r} depend on each other or on their address ({form})")
    sizes = {entry["bytes"] for entry in job["block_sizes"][direction] if entry["percent"] > 0}
    if len(sizes) > 1:
        raise _NoFormula(f"job {name!r} mixes request sizes")
    if sizes != {unit_bytes}:
        raise _NoFormula(f"requests of job {name!r} are not one mapping unit of {unit_bytes} B")
    aligned = all(job[edge] % unit_bytes == 0 for edge in ("offset_bytes", "size_bytes"))
    if not aligned or job["block_align_bytes"][direction] != unit_bytes:
        raise _NoFormula(f"requests of job {name!r} are not aligned to the mapping unit of {unit_bytes} B")


def _pieces(job: Mapping[str, Any], weight: float) -> list[_Span]:
    start, size = float(job["offset_bytes"]), float(job["size_bytes"])
    distribution = job["distribution"]
    if distribution["name"] == "random":
        return [_Span(start, start + size, weight)]
    if distribution["name"] != "zoned":
        raise _NoFormula(f"no closed form for distribution {distribution['name']!r}")
    pieces = []
    accesses = math.fsum(zone["access_percent"] for zone in distribution["zones"])
    spans = math.fsum(zone["span_percent"] for zone in distribution["zones"])
    for zone in distribution["zones"]:
        end = start + size * zone["span_percent"] / spans
        if zone["span_percent"] > 0:
            pieces.append(_Span(start, end, weight * zone["access_percent"] / accesses))
        start = end
    return pieces


def _filled_before(jobs: Sequence[Mapping[str, Any]], last_stage: int) -> list[_Span]:
    """Spans that earlier stages wrote completely: live, and without writes in the last stage."""
    filled = []
    for job in jobs:
        whole = job["size_bytes"] <= job["io_bytes"] and job["number_ios"] is None
        once_each = job["sequential"] or job["random_map"]
        if job["stage"] != last_stage and job["direction"] in ("write", "trim-write") and whole and once_each:
            filled.append(_Span(job["offset_bytes"], job["offset_bytes"] + job["size_bytes"], 0.0))
    return filled


def _leaves_an_unknown_part_live(job: Mapping[str, Any], spans: Sequence[_Span]) -> bool:
    """Whether an earlier job writes or trims addresses so that the live data in the last stage is unknown."""
    if job["direction"] == "read":
        return False
    start, end = float(job["offset_bytes"]), float(job["offset_bytes"] + job["size_bytes"])
    if job["direction"] == "trim":
        return any(span.write_share == 0 and span.start < end and start < span.end for span in spans)
    return sum(span.end - span.start for span in _cut(spans, start, end)) < (end - start) * (1 - 1e-9)


def _merged(pieces: Sequence[_Span]) -> list[_Span]:
    """Overlapping pieces as spans that do not overlap, with their writes added up; gaps are left out."""
    edges = sorted({edge for piece in pieces for edge in (piece.start, piece.end)})
    spans = []
    for start, end in pairwise(edges):
        over = [piece for piece in pieces if piece.start <= start and end <= piece.end]
        if over:
            spans.append(_Span(start, end, math.fsum(piece.density for piece in over) * (end - start)))
    return spans


def _extents(spans: Sequence[_Span]) -> list[tuple[float, float]]:
    """Start and end of each range that the spans cover without a gap."""
    extents: list[tuple[float, float]] = []
    for span in spans:
        if extents and extents[-1][1] == span.start:
            extents[-1] = (extents[-1][0], span.end)
        else:
            extents.append((span.start, span.end))
    return extents


def _cut(spans: Sequence[_Span], start: float, end: float) -> list[_Span]:
    """The spans' parts between two addresses. Parts below 1e-6 of the range, from rounded zone borders, are dropped."""
    parts = []
    for span in spans:
        low, high = max(span.start, start), min(span.end, end)
        if high - low > 1e-6 * (end - start):
            parts.append(_Span(low, high, span.density * (high - low)))
    return parts


def _equally_dense(spans: Sequence[_Span]) -> bool:
    densities = [span.density for span in spans]
    return max(densities) - min(densities) <= _DENSITY_TOLERANCE * max(densities)


def _classes(spans: Sequence[_Span]) -> list[_Span]:
    """The spans with those of one density joined at any position, because the position has no effect."""
    classes: list[_Span] = []
    for span in sorted(spans, key=lambda span: span.density):
        if classes and span.density - classes[-1].density <= _DENSITY_TOLERANCE * span.density:
            joined = classes.pop()
            length = joined.end - joined.start + span.end - span.start
            classes.append(_Span(0.0, length, joined.write_share + span.write_share))
        else:
            classes.append(_Span(0.0, span.end - span.start, span.write_share))
    return classes


def _shares(spans: Sequence[_Span]) -> tuple[list[float], list[float]]:
    """The write shares and the space shares of the spans, each with a sum of 1."""
    space = math.fsum(span.end - span.start for span in spans)
    writes = math.fsum(span.write_share for span in spans)
    return [span.write_share / writes for span in spans], [(span.end - span.start) / space for span in spans]


def _units_per_erase_unit(drive: Mapping[str, Any]) -> int:
    nand, ftl = drive["nand"], drive["ftl"]
    block = nand["pages_per_block"] * nand["page_bytes"] // ftl["mapping_unit_bytes"]
    if ftl["erase_unit"] == "superblock":
        return int(block * nand["channels"] * nand["dies_per_channel"] * nand["planes_per_die"])
    return int(block)


def _open_blocks_per_stream(drive: Mapping[str, Any]) -> int:
    """The number of open blocks per stream: one per die, or 1 if one is filled at a time."""
    nand, ftl = drive["nand"], drive["ftl"]
    die_choice = ftl.get("die_choice", {"name": "round-robin"})["name"]
    is_one = ftl["erase_unit"] == "superblock" or die_choice == "one-block"
    return 1 if is_one else int(nand["channels"] * nand["dies_per_channel"])
