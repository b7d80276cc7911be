"""Resolves a checked job file into the engine's jobs: defaults, percentages, scale, clones and stages, as in fio.

The amounts follow fio 3.33 on a device (measured in tests/simulator/workloads/jobs): `loops` multiplies both amount and
`number_ios`, and the stream of requests continues through all loops; so the engine receives the total, and one loop.
With `trimwrite`, a trim and its write count once. Where fio visits every block once (no `norandommap`), it repeats the
same order in every pass unless `randrepeat=0`; here each pass draws a new order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypedDict

from ssdlab.errors import InputError
from ssdlab.foundation.quantities import format_scale
from ssdlab.simulator.drives.namespaces import Namespace
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs import distribute, lengths, logs
from ssdlab.simulator.workloads.jobs.access import depth
from ssdlab.simulator.workloads.jobs.contents import contents
from ssdlab.simulator.workloads.jobs.directions import DIRECTIONS, Direction, each
from ssdlab.simulator.workloads.jobs.ending import EXITALL, ending
from ssdlab.simulator.workloads.jobs.jobfile import JobFile, Section
from ssdlab.simulator.workloads.jobs.latency_target import latency_target
from ssdlab.simulator.workloads.jobs.layout import File, files_of, has_files_of_its_own, shared_parts
from ssdlab.simulator.workloads.jobs.limits import limits
from ssdlab.simulator.workloads.jobs.option import Option
from ssdlab.simulator.workloads.jobs.pace import flush_at_end, pace
from ssdlab.simulator.workloads.jobs.patterns import SizeShare
from ssdlab.simulator.workloads.jobs.placement import placement, unused_placement
from ssdlab.simulator.workloads.jobs.scaling import scaled_bytes, scaled_ns
from ssdlab.simulator.workloads.jobs.seeds import clone_seed
from ssdlab.simulator.workloads.jobs.table import (
    BLOCKALIGN,
    BS,
    BS_IS_SEQ_RAND,
    BS_UNALIGNED,
    BSSPLIT,
    DISTRIBUTION,
    FILESIZE,
    IO_SIZE,
    JOBS_MAX,
    LOOPS,
    NORANDOMMAP,
    NUMBER_IOS,
    NUMJOBS,
    OFFSET,
    OFFSET_ALIGN,
    OFFSET_INCREMENT,
    PERCENTAGE_RANDOM,
    RANDOM_GENERATOR,
    RANDSEED,
    RUNTIME,
    RW,
    RW_SEQUENCER,
    RWMIXREAD,
    RWMIXWRITE,
    SIZE,
    STONEWALL,
    TIME_BASED,
)
from ssdlab.simulator.workloads.jobs.values import LARGEST, SECTOR_BYTES
from ssdlab.simulator.workloads.jobs.zone_amounts import in_bytes
from ssdlab.simulator.workloads.jobs.zones import zoned, zones

# A scaled drive is rounded down to whole erase units; a job as large as the drive can exceed it by this share.
SCALED_EXCESS_SHARE = Fraction(1, 100)


def resolve(
    job_file: JobFile,
    user_bytes: int,
    *,
    seed: int,
    scale: Fraction,
    namespaces: Sequence[Namespace] = (),
    zone_bytes: int = 0,
) -> tuple[list[plain.Job], tuple[str, ...]]:
    """The engine's jobs (`crates/engine/src/specification/job.rs`), ordered by stage, and notes on them.

    `user_bytes` is the capacity of the drive, already scaled. `scale` multiplies the absolute sizes and counts of the
    file (size, io_size, offset, number_ios) and the durations of a job (runtime, ramp_time, startdelay), but not the
    lengths of requests. On a drive with `namespaces`, each job uses the one that its `filename` names. `zone_bytes` is
    the size of the drive's zones, if it has any. Raises InputError if a job does not fit on the drive.
    """
    job_file = in_bytes(job_file, zone_bytes, scale)
    jobs: list[plain.Job] = []
    notes: list[str] = []
    stage = 0
    files = files_of(job_file, user_bytes, seed, scale, namespaces)
    # fio names such files after the job and the clone, so that jobs of one name share them.
    own_files: dict[tuple[str, int], tuple[int, int, int]] = {}
    exits_all = any(section.get(EXITALL) for section in job_file.sections)
    for index, section in enumerate(job_file.sections):
        if section.get(STONEWALL) and jobs:
            stage += 1
        clones = section.get(NUMJOBS)
        if len(jobs) + clones > JOBS_MAX:
            raise InputError(f"{job_file.source}: asks for {len(jobs) + clones:,} jobs; allowed are {JOBS_MAX:,}")
        for clone in range(clones):
            resolver = _Resolver(job_file.source, section, files[index], scale, clone, len(jobs) + 1)
            earlier = {other.name for other in job_file.sections[:index]} - {section.name}
            seeded = clone_seed(seed, section.get(RANDSEED), index, clone)
            its_pace = pace(section, clone, seed, scale, depth(section), earlier, resolver.error)
            its_pace |= flush_at_end(section, writes="write" in section.get(RW).transfers)
            more = its_pace | contents(section) | ending(section, exits_all, resolver.error) | logs.plan(section)
            more |= limits(section, resolver.error) | latency_target(section)
            notes.extend(unused_placement(section))
            more |= placement(section, job_file.source, len(files[index]), scale, resolver.error)
            job, its_notes = resolver.job(stage, more, seeded)
            jobs.append(job)
            notes.extend(its_notes)
            if not namespaces and has_files_of_its_own(section):
                end_bytes = job["offset_bytes"] + job["size_bytes"]
                own_files[section.name, clone] = (job["offset_bytes"], end_bytes, len(files[index]))
    notes.extend(shared_parts(list(own_files.values())))
    return jobs, tuple(dict.fromkeys(notes))


class _ZonesPart(TypedDict, total=False):
    zones: plain.StridedZones | None
    zoned: plain.ZonedJob | None


@dataclass(frozen=True)
class _Range:
    """The part of a file in which requests fall, in whole blocks, and the bytes that count as one pass over it."""

    offset_bytes: int
    size_bytes: int
    pass_bytes: int
    is_whole_file: bool


@dataclass(frozen=True)
class _Resolver:
    """Resolves one clone of one section against its files."""

    source: str
    section: Section
    files: list[File]
    scale: Fraction
    clone: int
    thread_number: int

    def job(self, stage: int, more: plain.JobPart, seed: int) -> tuple[plain.Job, list[str]]:
        """The job, with the keys in `more` that other modules made, and notes."""
        section = self.section
        pattern = section.get(RW)
        sizes: dict[Direction, tuple[SizeShare, ...]] = {name: self._sizes(name) for name in DIRECTIONS}
        align = each(lambda name: self._align(name, sizes[name]))
        ranges = [self._range(file, sizes) for file in self.files]
        start_bytes = min(each.offset_bytes for each in ranges)
        end_bytes = max(each.offset_bytes + each.size_bytes for each in ranges)
        smallest_bytes = min(each.size_bytes for each in ranges)
        blocks = distribute.Blocks(self._least_by_direction(sizes), align, self._only(ranges), smallest_bytes)
        clone = distribute.Clone(self.clone, self.thread_number)
        distribution, notes = distribute.distribution(section, blocks, clone, self.scale, self.error)
        pass_bytes = self._limited_by_size(sum(each.pass_bytes for each in ranges))
        self._check_pairs(sizes)
        its_zones = self._zones(sizes)
        if "zones" in its_zones:
            end_bytes = self.files[0].offset_bytes + self.files[0].size_bytes
        job: plain.Job = {
            "name": section.name,
            "clone": self.clone,
            "stage": stage,
            "direction": pattern.direction,
            "sequential": pattern.sequential,
            "read_percent": self._read_percent(),
            "offset_bytes": start_bytes,
            "size_bytes": end_bytes - start_bytes,
            "io_bytes": self._io_bytes(pass_bytes, sizes),
            "number_ios": self._number_ios(ranges, sizes),
            "loops": 1,
            **lengths.tables(sizes, pattern, by_order=section.get(BS_IS_SEQ_RAND)),
            "block_align_bytes": align,
            "distribution": distribution,
            "random_map": self._has_random_map(sizes, align),
            "skip_bytes": pattern.skip_bytes or None,
            "runs": self._runs(),
            "random_percent": self._random_percent(),
            "files": self._files(ranges),
            **its_zones,
            "iodepth": depth(section),
            "runtime_ns": scaled_ns(section.get(RUNTIME), self.scale) or None,
            # Without a runtime, fio ignores time_based.
            "time_based": section.get(TIME_BASED) and section.get(RUNTIME) > 0,
            **more,
            "seed": seed,
        }
        return job, [*notes, *self._scaled_count(), *self._unused_map(sizes)]

    def _sizes(self, direction: str) -> tuple[SizeShare, ...]:
        unaligned = self.section.get(BS_UNALIGNED)
        mix: tuple[SizeShare, ...] = getattr(self.section.get(BSSPLIT), direction)
        if mix:
            return lengths.of_mix(mix, unaligned=unaligned)
        try:
            return lengths.of_range(getattr(self.section.get(BS), direction), unaligned=unaligned)
        except ValueError as error:
            raise self.error(BS, f"makes {error}") from None

    def _transferred(self, sizes: dict[Direction, tuple[SizeShare, ...]]) -> set[int]:
        """All lengths that requests of the job can have."""
        pattern = self.section.get(RW)
        names = lengths.table_names(pattern, by_order=self.section.get(BS_IS_SEQ_RAND))
        return {entry.size_bytes for name in names for entry in sizes[name]}

    def _zones(self, sizes: dict[Direction, tuple[SizeShare, ...]]) -> _ZonesPart:
        pattern = self.section.get(RW)
        hindrance = "several files" if len(self.files) > 1 else ""
        if pattern.skip_bytes or pattern.ios_per_place != 1:
            hindrance = "a number behind rw"
        at_pointers = zoned(self.section, self._least_write(sizes), self.scale, hindrance, self.error)
        if not pattern.sequential and (self.section.get(DISTRIBUTION).name != "random" or self._random_percent()):
            hindrance = "a random_distribution or percentage_random"
        least_bytes = max(lengths.least(sizes[name]) for name in pattern.transfers)
        strided = zones(self.section, least_bytes, self.scale, hindrance, self.error)
        found: _ZonesPart = {}
        if strided is not None:
            found["zones"] = strided
        if at_pointers is not None:
            found["zoned"] = at_pointers
        return found

    def _least_write(self, sizes: dict[Direction, tuple[SizeShare, ...]]) -> int:
        return min(lengths.least(sizes[name]) for name in self.section.get(RW).transfers)

    def _align(self, direction: str, sizes: tuple[SizeShare, ...]) -> int:
        given: int | None = getattr(self.section.get(BLOCKALIGN), direction)
        return lengths.least(sizes) if given is None or self.section.get(RW).sequential else given

    def _least_by_direction(self, sizes: dict[Direction, tuple[SizeShare, ...]]) -> plain.PerDirection[int]:
        return each(lambda name: lengths.least(sizes[name]))

    def _only(self, ranges: list[_Range]) -> int | None:
        """The size of the job's range if it has one file; otherwise None."""
        return ranges[0].size_bytes if len(ranges) == 1 else None

    def _has_random_map(self, sizes: dict[Direction, tuple[SizeShare, ...]], align: plain.PerDirection[int]) -> bool:
        section = self.section
        if section.get(RW).sequential or section.get(DISTRIBUTION).name != "random":
            return False
        # fio does not use its map of visited blocks if blocks are aligned to something other than their shortest
        # length.
        if any(align[name] != lengths.least(sizes[name]) for name in DIRECTIONS):
            return False
        # A shift register visits every block before it repeats one, so it needs no map.
        one_length = all(len(sizes[name]) == 1 for name in section.get(RW).transfers)
        is_register = section.get(RANDOM_GENERATOR) == "lfsr" and one_length
        return is_register or not section.get(NORANDOMMAP)

    def _unused_map(self, sizes: dict[Direction, tuple[SizeShare, ...]]) -> list[str]:
        """A note if the engine has no map of the visited blocks because reads and writes count different blocks."""
        reads, writes = lengths.least(sizes["read"]), lengths.least(sizes["write"])
        mixed = self.section.get(RW).direction == "read-write"
        if (
            not mixed
            or reads == writes
            or not self._has_random_map(sizes, each(lambda name: self._align(name, sizes[name])))
        ):
            return []
        return [
            f"{self.section.name}: its reads begin at multiples of {reads:,} bytes and its writes at multiples of "
            f"{writes:,}, so that blocks may repeat before all were visited, as with norandommap; fio 3.33 counts both "
            "in one map, and such a job can end before its amount"
        ]

    def _check_pairs(self, sizes: dict[Direction, tuple[SizeShare, ...]]) -> None:
        """Raises InputError for trims and their writes of different lengths in sequence."""
        pattern = self.section.get(RW)
        if pattern.direction == "trim-write" and pattern.sequential and sizes["trim"] != sizes["write"]:
            used = BSSPLIT if self.section.setting(BSSPLIT) is not None else BS
            raise self.error(
                used,
                f"has trims of {lengths.least(sizes['trim']):,} bytes and writes of {lengths.least(sizes['write']):,}; "
                "with rw=trimwrite both need the same lengths, because each trim is followed by one write of its range",
            )

    def _random_percent(self) -> plain.PerDirection[float] | None:
        given = self.section.get(PERCENTAGE_RANDOM)
        percent = each(lambda name: float(getattr(given, name)))
        if self.section.get(RW).sequential or all(percent[name] == 100 for name in self.section.get(RW).transfers):
            return None
        return percent

    def _files(self, ranges: list[_Range]) -> plain.Files | None:
        if len(ranges) == 1:
            return None
        return {
            "ranges": [{"offset_bytes": each.offset_bytes, "size_bytes": each.size_bytes} for each in ranges],
            "service": distribute.service(self.section, len(ranges)),
        }

    def _runs(self) -> plain.Runs | None:
        ios = self.section.get(RW).ios_per_place
        if ios == 1:
            return None
        stays = self.section.get(RW_SEQUENCER) == "identical"
        return {"ios": ios, "then": "identical" if stays else "sequential"}

    def _read_percent(self) -> float:
        direction = self.section.get(RW).direction
        if direction != "read-write":
            return 100.0 if direction == "read" else 0.0
        read, write = self.section.setting(RWMIXREAD), self.section.setting(RWMIXWRITE)
        if write is not None and (read is None or write.order > read.order):
            return float(100 - self.section.get(RWMIXWRITE))
        return float(self.section.get(RWMIXREAD))

    def _range(self, file: File, sizes: dict[Direction, tuple[SizeShare, ...]]) -> _Range:
        """The range of the job within a file; offsets are those of the drive."""
        shortest = {entry.size_bytes for name in self.section.get(RW).transfers for entry in sizes[name]}
        if self.section.get(RW).sequential:
            shortest = self._transferred(sizes)
        longest, step = max(self._transferred(sizes)), min(shortest)
        offset_bytes = self._offset_bytes(file, step)
        room_bytes = file.size_bytes - offset_bytes
        wanted_bytes = self._wanted_bytes(file, offset_bytes, room_bytes, step, longest)
        if wanted_bytes < longest:
            self._refuse_block(longest, wanted_bytes)
        whole_bytes = wanted_bytes // step * step
        sequential = self.section.get(RW).sequential
        # Sequentially, fio continues to the first block boundary at or after the end, if the device is large enough.
        if sequential and len(shortest) == 1 and whole_bytes < wanted_bytes <= room_bytes - step:
            whole_bytes += step
        without_map = self.section.get(NORANDOMMAP) and not sequential
        return _Range(
            file.offset_bytes + offset_bytes,
            whole_bytes,
            wanted_bytes if without_map else whole_bytes,
            is_whole_file=offset_bytes == 0 and wanted_bytes == file.size_bytes,
        )

    def _offset_bytes(self, file: File, step: int) -> int:
        """The offset in the file at which the clone's range begins."""
        amount, increment = self.section.get(OFFSET), self.section.get(OFFSET_INCREMENT)
        if file.size_bytes < step:
            self._refuse_block(step, file.size_bytes)
        if increment.percent is not None:
            each_bytes = increment.percent * file.size_bytes // 100
        else:
            each_bytes = self._scaled(increment.size_bytes or 0, step)
        if amount.percent:
            offset_bytes = file.size_bytes * amount.percent // 100 + self.clone * each_bytes
        else:
            offset_bytes = self._scaled(amount.size_bytes or 0, step) + self.clone * each_bytes
        if amount.percent or increment.percent:
            # fio rounds up to a multiple of the shortest length, or of offset_align.
            align = self.section.get(OFFSET_ALIGN) or step
            offset_bytes = -(-offset_bytes // align) * align
        for option, given in ((OFFSET, amount), (OFFSET_INCREMENT, increment)):
            if (given.size_bytes or 0) % SECTOR_BYTES:
                raise self.error(option, f"is not a multiple of {SECTOR_BYTES} bytes, a drive's sector")
        if offset_bytes + step > file.size_bytes:
            problem = f"leaves no room for a block of {step:,} bytes: {self._what()} has {file.size_bytes:,} bytes"
            raise self.error(OFFSET_INCREMENT if self.clone and each_bytes else OFFSET, problem, offset_bytes)
        return offset_bytes

    def _wanted_bytes(self, file: File, offset_bytes: int, room_bytes: int, step: int, longest: int) -> int:
        """The bytes of the file behind the offset that the job uses."""
        amount = self.section.get(SIZE)
        if file.given_bytes is not None:
            wanted_bytes = max(0, self._fitted(file.given_bytes, file.size_bytes) - offset_bytes)
        elif amount.percent:
            return min(file.size_bytes * amount.percent // 100, room_bytes) // step * step
        elif amount.size_bytes:
            wanted_bytes = self._fitted(self._scaled(amount.size_bytes // len(self.files), longest), room_bytes)
        else:
            return room_bytes
        if wanted_bytes > room_bytes:
            after = f", {offset_bytes:,} of them before the offset" if offset_bytes else ""
            problem = f"is more than {self._what()} has: {file.size_bytes:,} bytes{after}"
            raise self.error(SIZE if file.given_bytes is None else FILESIZE, problem, wanted_bytes)
        if file.given_bytes is not None and amount.percent and amount.percent != 100:
            of_file_bytes = (wanted_bytes + offset_bytes) * amount.percent // 100
            wanted_bytes = min(of_file_bytes, wanted_bytes) // step * step
        return wanted_bytes

    def _fitted(self, size_bytes: int, room_bytes: int) -> int:
        """A scaled size, reduced to the available bytes if only rounding makes it larger."""
        if self.scale != 1 and size_bytes <= room_bytes + self.files[0].size_bytes * SCALED_EXCESS_SHARE:
            return min(size_bytes, room_bytes)
        return size_bytes

    def _limited_by_size(self, pass_bytes: int) -> int:
        """With `filesize`, an absolute `size` is the amount to transfer."""
        amount = self.section.get(SIZE)
        if self.files[0].given_bytes is None or not amount.size_bytes:
            return pass_bytes
        return min(pass_bytes, self._scaled(amount.size_bytes, 1))

    def _what(self) -> str:
        return "the drive" if len(self.files) == 1 else "a file"

    def _io_bytes(self, pass_bytes: int, sizes: dict[Direction, tuple[SizeShare, ...]]) -> int:
        """The total that the job transfers, rounded up to whole blocks if all have the same length."""
        amount = self.section.get(IO_SIZE)
        if amount.percent:
            limit_bytes = pass_bytes * amount.percent // 100
        else:
            limit_bytes = self._scaled(amount.size_bytes, 1) if amount.size_bytes else pass_bytes
        pairs = self.section.get(RW).direction == "trim-write"
        if limit_bytes > pass_bytes and pairs:
            # fio counts a trim and its write separately here, but completes every pass over the range that it begins.
            total_bytes = max(self._loops(), -(-limit_bytes // (2 * pass_bytes))) * pass_bytes
        else:
            total_bytes = max(self._loops() * min(pass_bytes, limit_bytes), limit_bytes)
        if total_bytes > LARGEST:
            raise self.error(LOOPS, f"makes more than {LARGEST:,} bytes of requests")
        lengths_used = self._transferred(sizes)
        step = lengths_used.pop() if len(lengths_used) == 1 else 1
        return -(-max(total_bytes, 1) // step) * step

    def _number_ios(self, ranges: list[_Range], sizes: dict[Direction, tuple[SizeShare, ...]]) -> int | None:
        given = self.section.get(NUMBER_IOS)
        of_passes = self._ios_with_holes(ranges, sizes)
        if not given:
            return of_passes
        total = max(1, round(given * self.scale)) * self._loops()
        if total > LARGEST:
            raise self.error(NUMBER_IOS, f"makes more than {LARGEST:,} requests with loops={self._loops()}")
        return total if of_passes is None else min(total, of_passes)

    def _ios_with_holes(self, ranges: list[_Range], sizes: dict[Direction, tuple[SizeShare, ...]]) -> int | None:
        """The number of requests if the job skips bytes; otherwise None.

        fio wraps around at the end of a whole device, but stops at the end of a part of it.
        """
        pattern = self.section.get(RW)
        lengths_used = self._transferred(sizes)
        if not pattern.sequential or pattern.skip_bytes <= 0 or len(lengths_used) > 1:
            return None
        if self.section.get(IO_SIZE) != IO_SIZE.default or all(each.is_whole_file for each in ranges):
            return None
        length = lengths_used.pop()
        step = length + pattern.skip_bytes
        passes = self._loops() * sum((each.size_bytes - length) // step + 1 for each in ranges)
        # Reads and writes each go through the range; the job ends with those that are more frequent.
        return round(passes * 100 / max(self._read_percent(), 100 - self._read_percent()))

    def _scaled_count(self) -> list[str]:
        """A note on a scaled `number_ios`, which can be unexpected: unlike a size, the count has no unit."""
        given = self.section.get(NUMBER_IOS)
        if not given or self.scale == 1:
            return []
        scaled = max(1, round(given * self.scale))
        return [
            f"number_ios={given} is {scaled:,} request{'s' * (scaled != 1)} under --scale {format_scale(self.scale)}"
        ]

    def _loops(self) -> int:
        return max(1, self.section.get(LOOPS))

    def _scaled(self, size_bytes: int, step: int) -> int:
        return scaled_bytes(size_bytes, self.scale, step)

    def _refuse_block(self, block_bytes: int, size_bytes: int) -> None:
        used = BSSPLIT if self.section.setting(BSSPLIT) is not None else BS
        sized = self.section.setting(SIZE)
        limit = f"{size_bytes:,} bytes that the job works on"
        limit += f" ({sized.written}, line {sized.raw.line})" if sized is not None else ", the drive from the offset on"
        if self.scale != 1:
            limit += f", under --scale {format_scale(self.scale)}"
        raise self.error(used, f"has blocks of {block_bytes:,} bytes, longer than the {limit}")

    def error(self, option: Option[Any], problem: str, value_bytes: int | None = None) -> InputError:
        setting = self.section.setting(option)
        where = f"{self.source}, line {self.section.line}" if setting is None else setting.raw.where
        what = f"{option.name} (default)" if setting is None else setting.written
        value = "" if value_bytes is None or setting is None else f" ({value_bytes:,} bytes)"
        return InputError(f"{where}: {what}{value} {problem}")
