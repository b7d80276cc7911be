"""Zones that the host manages on an ordinary drive: each is written sequentially, then trimmed and written again.

A number of zones are open at a time; the next is drawn at random from the others. Each open slot is a chain of jobs:
trim a zone, write it, continue with the next. The slots start at different offsets in their first zones, so that they
do not all end at the same time.
"""

from random import Random
from typing import TYPE_CHECKING

from ssdlab.errors import InputError
from ssdlab.experiments.studies.real_drives.loads import Load
from ssdlab.foundation.quantities import format_bytes
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.jobs.table import JOBS_MAX

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs import JobFile

# Which zone is next is drawn, so that the write amplification of a share of one drive write scatters by some 5 %.
DRIVE_WRITES = 16
DRIVE_WRITES_MIN = 6
"""With very many zones there are fewer drive writes, as few as in the other loads, since a run has a limited number of
jobs; then no fewer zones are drawn than with 16 drive writes of few."""
_JOBS_A_VISIT = 2
_HEAD = """[global]
bs={block_bytes}
iodepth={depth}
size={zone_bytes}
[fill]
rw=write
size={filled_bytes}
"""
_VISIT = """[trim-{visit}]
rw=trim
offset={offset_bytes}
{after}
[write-{visit}]
rw=write
offset={offset_bytes}
wait_for=trim-{visit}
"""
_FIRST_PART = """[part-{place}]
rw=write
offset={offset_bytes}
size={size_bytes}
{stonewall}
"""
_BLOCK_BYTES = 65536
_DEPTH = 64


def workload(load: Load, in_use_bytes: int, seed: int) -> "JobFile":
    """The job file. Raises InputError unless the addresses in use have more zones than are open at a time, and few
    enough for a run's jobs."""
    count = in_use_bytes // load.zone_bytes
    if count <= load.open_zones:
        raise InputError(
            f"{load.text}: {format_bytes(in_use_bytes)} in use hold {count} such zones; more than"
            f" {load.open_zones} are needed"
        )
    visits = _visits(load, in_use_bytes, count)
    random = Random(seed)
    places = random.sample(range(count), load.open_zones)
    closed = [zone for zone in range(count) if zone not in places]
    text = [
        _HEAD.format(
            block_bytes=_BLOCK_BYTES,
            depth=-(-_DEPTH // load.open_zones),
            zone_bytes=load.zone_bytes,
            filled_bytes=count * load.zone_bytes,
        )
    ]
    before = []
    for place, zone in enumerate(places):
        part_bytes = load.zone_bytes * (place + 1) // load.open_zones // _BLOCK_BYTES * _BLOCK_BYTES
        stonewall = "" if place else "stonewall"
        text.append(
            _FIRST_PART.format(
                place=place,
                offset_bytes=zone * load.zone_bytes,
                size_bytes=max(part_bytes, _BLOCK_BYTES),
                stonewall=stonewall,
            )
        )
        before.append(f"part-{place}")
    for visit in range(visits):
        place = visit % load.open_zones
        index = random.randrange(len(closed))
        places[place], closed[index] = closed[index], places[place]
        text.append(
            _VISIT.format(visit=visit, offset_bytes=places[place] * load.zone_bytes, after=f"wait_for={before[place]}")
        )
        before[place] = f"write-{visit}"
    return jobs.parse("".join(text), load.text)


def _visits(load: Load, in_use_bytes: int, count: int) -> int:
    """How often a zone is written: all of them `DRIVE_WRITES` times, or fewer times as far as a run has jobs for it."""
    most = (JOBS_MAX - 1 - load.open_zones) // _JOBS_A_VISIT
    drive_writes = min(DRIVE_WRITES, most // count)
    if drive_writes < DRIVE_WRITES_MIN:
        raise InputError(
            f"{load.text}: {format_bytes(in_use_bytes)} in use hold {count:,} such zones; allowed are up to "
            f"{most // DRIVE_WRITES_MIN:,}, of which {DRIVE_WRITES_MIN} drive writes fit into the {JOBS_MAX:,} jobs of "
            "a run: take larger zones or less space"
        )
    return drive_writes * count
