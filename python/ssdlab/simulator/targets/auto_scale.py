"""`--scale auto`: the largest scale at which a run takes about half a minute and write amplification stays the same.

The work is estimated from the bytes and requests of the jobs at the rates of a nominal machine, never of this one, so
that the same command gives the same bytes everywhere. Only for fio job files: a smaller drive does not share the
addresses of a trace, and databases and scripts have files and trees that do not shrink in proportion. Those keep the
whole drive.
"""

import copy
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ssdlab.errors import InputError, Note, notify
from ssdlab.foundation.quantities import format_scale
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.results import chosen_scale
from ssdlab.simulator.specification import ChosenScale
from ssdlab.simulator.targets.preconditioning import keeps_more_than_a_map
from ssdlab.simulator.workloads.jobs.jobfile import JobFile
from ssdlab.simulator.workloads.specifying import WARM_UP_DRIVE_WRITES, Beginning, Until, specify

if TYPE_CHECKING:
    from ssdlab.simulator.drives import ResolvedDrive
    from ssdlab.simulator.engine import plain
    from ssdlab.simulator.specification import Specification
    from ssdlab.simulator.workloads import Workload

SECONDS = 30
"""The estimated work of a command at its chosen scale, at most."""

REQUESTS_MIN = 10_000
"""Jobs shrink with the drive. Fewer requests have no 99.9th percentile, which needs ten above it."""

SECONDS_FOR_REQUESTS = 4 * SECONDS
"""The estimated work up to which a command keeps that number of requests; beyond it, a line says how few are left."""

UNITS_PER_ERASE_UNIT_MIN = 2048
"""In smaller erase units the number of live units varies more, and garbage collection finds emptier ones, which lowers
write amplification: docs/simulate/scale.md has the measured differences."""

ROUNDS = 10
"""Drive writes of a search for the steady state: 5 to 7 are usual, 40 are the limit (docs/theory/steady-state.md)."""

# In SLC mode a block has a part of its pages, rounded down: of 8 pages of three bits that would be 2, a quarter less
# than the exact part, with an error of write amplification of 5 % (docs/simulate/advice.md).
_SLC_SHARE_LOST_MAX = 0.1


@dataclass(frozen=True)
class _Rates:
    """Microseconds of work on the nominal machine, a server core of 2 GHz."""

    request: float
    ordered_unit: float
    """For each mapping unit that is read, or written in order."""
    random_unit: float
    """For each mapping unit that is written at random, with the moves that garbage collection makes for it."""
    more_than_a_map: float
    """The factor for drives with an SLC cache, a map cache, data reduction or a stripe."""


# Measured on generic-tlc-480, samsung-pm883-1920gb, x25m-g2-160gb (0.7 us a read of 4 KiB, 1.2 to 1.8 us a random write
# at a WAF of 3 to 6, 0.1 to 0.2 us a unit in order; 0.06 to 0.09 us without a clock) and generic-nvme-tlc-1000, with an
# SLC cache (twice as much, 4 to 6 times without a clock).
_TIMED = _Rates(request=0.5, ordered_unit=0.2, random_unit=0.9, more_than_a_map=2)
_UNTIMED = _Rates(request=0.02, ordered_unit=0.02, random_unit=0.07, more_than_a_map=5)
_US_PER_UNIT_OF_DRIVE = 0.02
"""Allocating and checking the tables of a drive."""


def fitted(
    workload: "Workload",
    drives: Sequence["ResolvedDrive"],
    *,
    until: Until,
    precondition: Beginning,
    timed: bool,
) -> list["ResolvedDrive"]:
    """The whole drives at the largest scale (1, 1/2, 1/4 ...) at which the work of all runs is about SECONDS.

    A drive that cannot be made that small without a change of its write amplification has its own smallest scale. A
    note says what was chosen, unless the drives stay whole within SECONDS.
    """
    if not isinstance(workload, JobFile):
        return list(drives)
    smallest = [halvings_most(drive) for drive in drives]
    whole = [_seconds(workload, drive, until, precondition, timed=timed) for drive in drives]

    def work(halvings: int) -> float:
        return sum(math.ldexp(seconds, -min(halvings, most)) for seconds, most in zip(whole, smallest, strict=True))

    within = next((each for each in range(max(smallest)) if work(each) <= SECONDS), max(smallest))
    requests = math.inf if until == "steady" else min(_requests(workload, drive, precondition) for drive in drives)
    halvings = within
    while halvings and requests / 2**halvings < REQUESTS_MIN and work(halvings - 1) <= SECONDS_FOR_REQUESTS:
        halvings -= 1
    kept = halvings if halvings < within else None
    chosen = list(drives)
    while halvings:
        chosen = [drive.at(Fraction(1, 2 ** min(halvings, most))) for drive, most in zip(drives, smallest, strict=True)]
        if all(_runs_on(workload, drive, until, precondition, timed=timed) for drive in chosen):
            break
        chosen, halvings = list(drives), halvings - 1
    how = ChosenScale(seconds=round(work(halvings), 1), seconds_whole=round(sum(whole), 1))
    few = _few(requests, halvings, is_for_them=halvings == kept)
    if sentence := _choice_sentence(chosen, how, few):
        notify([sentence])
    return [replace(drive, chosen=how) if drive.scale < 1 else drive for drive in chosen]


def _few(requests: float, halvings: int, *, is_for_them: bool) -> str:
    """What a job of few requests has to do with the choice; "" if nothing."""
    left = requests / 2**halvings
    if halvings and left < REQUESTS_MIN:
        return f"; the smallest job has about {left:,.0f} of its {requests:,.0f} requests"
    if is_for_them:
        return f"; a smaller drive would measure fewer than {min(REQUESTS_MIN, requests):,.0f} requests"
    return ""


def _choice_sentence(drives: Sequence["ResolvedDrive"], how: ChosenScale, few: str) -> str:
    """What was chosen, in one line; "" for whole drives within SECONDS."""
    names: dict[Fraction, list[str]] = {}
    for drive in drives:
        names.setdefault(drive.scale, []).append(drive.name)
    is_long = how["seconds"] > SECONDS
    why = few or ("; a smaller drive could change write amplification by more than 1 %" if is_long else "")
    if list(names) == [1]:
        return f"the whole drive, about {chosen_scale.duration(how['seconds'])} of work{why}" if is_long else ""
    scales = ", ".join(
        format_scale(scale) + (f" ({', '.join(dict.fromkeys(names[scale]))})" if len(names) > 1 else "")
        for scale in sorted(names)
    )
    return chosen_scale.sentence(scales, how) + why


def halvings_most(drive: "ResolvedDrive") -> int:
    """How often the drive can be halved while its ratios and its write amplification stay the same."""
    halvings = 0
    while _keeps_ratios(drive, Fraction(1, 2 ** (halvings + 1))):
        halvings += 1
    return halvings


def _keeps_ratios(whole: "ResolvedDrive", scale: Fraction) -> bool:
    """Whether the drive has this scale exactly, with erase units large enough and nothing that a note warns about."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", Note)
        try:
            smaller = whole.at(scale)
        except InputError:
            return False
    return (
        not any(issubclass(each.category, Note) for each in warned)
        and smaller.scale == scale
        and smaller.capacity.units_per_erase_unit >= UNITS_PER_ERASE_UNIT_MIN
        and keeps_slc_share(whole, smaller)
    )


def keeps_slc_share(whole: "ResolvedDrive", smaller: "ResolvedDrive") -> bool:
    """Whether erase units in SLC mode hold nearly the same share of their capacity; true without an SLC cache."""
    return _slc_share(smaller) >= (1 - _SLC_SHARE_LOST_MAX) * _slc_share(whole)


def _slc_share(drive: "ResolvedDrive") -> float:
    """The share of an erase unit's capacity that is available in SLC mode; 0 without an SLC cache."""
    capacity = drive.capacity
    held_bytes = capacity.units_per_erase_unit * capacity.mapping_unit_bytes
    return capacity.slc_bytes_per_erase_unit / held_bytes if drive.file.has_slc_cache else 0.0


def _specified(
    workload: "Workload", drive: "ResolvedDrive", until: Until, precondition: Beginning, *, timed: bool
) -> "Specification":
    """The run, except for a steady state that must be simulated first. The workload learns nothing of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Note)
        return specify(
            copy.deepcopy(workload),
            drive,
            until=until,
            precondition="fill" if precondition == "fill" else "none",
            timed=timed,
            lays_out=until == "job" and precondition == "none",
        )


def _runs_on(
    workload: "Workload", drive: "ResolvedDrive", until: Until, precondition: Beginning, *, timed: bool
) -> bool:
    """Whether the workload still fits the smaller drive: its requests do not shrink."""
    try:
        _specified(workload, drive, until, precondition, timed=timed)
    except InputError:
        return False
    return True


def _seconds(
    workload: "Workload", drive: "ResolvedDrive", until: Until, precondition: Beginning, *, timed: bool
) -> float:
    """The estimated work of the run on the nominal machine."""
    rates = _TIMED if timed else _UNTIMED
    specification = _specified(workload, drive, until, precondition, timed=timed)
    unit_bytes, user_bytes = drive.capacity.mapping_unit_bytes, drive.capacity.user_bytes
    last = [] if until == "job" else specification.last_stage_jobs
    us = sum(
        _us(job, _moved_bytes(job, drive), unit_bytes, rates) for job in specification.engine["jobs"] if job not in last
    )
    factor = rates.more_than_a_map if keeps_more_than_a_map(drive) else 1
    if last:
        us += _us_of_rounds(last, user_bytes, unit_bytes, rates)
    if timed and precondition == "steady":
        written = last or specification.last_stage_jobs
        us += WARM_UP_DRIVE_WRITES / ROUNDS * _us_of_rounds(written, user_bytes, unit_bytes, rates)
    us *= factor
    if precondition == "steady" and keeps_more_than_a_map(drive):
        # The state is that of a drive of the same size, written without a clock.
        written = last or specification.last_stage_jobs
        us += _UNTIMED.more_than_a_map * _us_of_rounds(written, user_bytes, unit_bytes, _UNTIMED)
    return (us + _US_PER_UNIT_OF_DRIVE * drive.capacity.physical_units) / 1e6


def _requests(workload: "Workload", drive: "ResolvedDrive", precondition: Beginning) -> float:
    """The number of requests of the job of the last stage that has the fewest, about."""
    specification = _specified(workload, drive, "job", precondition, timed=True)
    return min(_moved_bytes(job, drive) / _request_bytes(job) for job in specification.last_stage_jobs)


def _us_of_rounds(jobs: Sequence["plain.Job"], user_bytes: int, unit_bytes: int, rates: _Rates) -> float:
    """The work of ROUNDS drive writes by these jobs, each with an equal part."""
    us = 0.0
    for job in jobs:
        written_share = max(0.01, 1 - _read_share(job))
        us += _us(job, ROUNDS * user_bytes / written_share / len(jobs), unit_bytes, rates)
    return us


def _us(job: "plain.Job", moved_bytes: float, unit_bytes: int, rates: _Rates) -> float:
    """The work of so many bytes of the job's requests."""
    read, request_bytes = _read_share(job), _request_bytes(job)
    written_unit = rates.ordered_unit if job["sequential"] else rates.random_unit
    per_unit = read * rates.ordered_unit + (1 - read) * written_unit
    units = max(moved_bytes / unit_bytes, moved_bytes / request_bytes)
    return moved_bytes / request_bytes * rates.request + units * per_unit


def _request_bytes(job: "plain.Job") -> float:
    """The mean size of the job's requests."""
    sizes = job["block_sizes"]["read" if _read_share(job) == 1 else "write"]
    return sum(each["bytes"] * each["percent"] for each in sizes) / 100


def _read_share(job: "plain.Job") -> float:
    direction = job["direction"]
    return {"read": 1.0, "read-write": job["read_percent"] / 100}.get(direction, 0.0)


def _moved_bytes(job: "plain.Job", drive: "ResolvedDrive") -> float:
    """The bytes of the job's requests: its own amount, or what the drive can do in its runtime, if that is less."""
    amount = float(job["io_bytes"]) * job["loops"]
    if number := job.get("number_ios"):
        sizes = job["block_sizes"]["read" if _read_share(job) == 1 else "write"]
        amount = min(amount, number * job["loops"] * max(each["bytes"] for each in sizes))
    runtime_ns = job.get("runtime_ns")
    if not runtime_ns:
        return amount
    within = _bytes_per_ns(job, drive) * (runtime_ns + job.get("ramp_ns", 0))
    return within if job.get("time_based") else min(amount, within)


def _bytes_per_ns(job: "plain.Job", drive: "ResolvedDrive") -> float:
    """The most that the drive can do for the job: the rates of its channels and programs, reads at the job's depth."""
    nand, read = drive.file.nand, _read_share(job)
    most = [nand.channels * nand.channel_mb_s / 1e3]
    if read < 1:
        program_bytes = nand.page_bytes * nand.planes_per_die * nand.pages_per_program
        dies = nand.channels * nand.dies_per_channel
        most.append(dies * program_bytes / (mean_us(nand.program_us) * 1e3) / (1 - read))
    if read > 0:
        size = max(each["bytes"] for each in job["block_sizes"]["read"])
        most.append(job["iodepth"] * size / (mean_us(nand.read_us) * 1e3) / read)
    limits = job.get("rate_bytes_per_second")
    if limits and (rate := sum(limits[name] or 0 for name in ("read", "write", "trim"))):
        most.append(rate / 1e9)
    return min(most)
