"""From a checked job file to the engine's jobs: defaults, percentages, scale, clones and stages, as fio takes them.

The amounts follow what fio 3.33 does on a device (measured against it in tests/jobs): `loops` multiplies both amount
and `number_ios`, and the stream of requests goes on through all loops; so the engine gets the total, and one loop.
With `trimwrite` a trim and its write count once. Where fio visits every block once (no `norandommap`), it repeats the
same order in every pass unless `randrepeat=0`; here each pass draws a new one.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ssdlab.errors import InputError
from ssdlab.jobs.jobfile import JobFile, Section
from ssdlab.jobs.option import Option
from ssdlab.jobs.patterns import SizeShare
from ssdlab.jobs.seeds import clone_seed
from ssdlab.jobs.table import (
    BLOCKALIGN,
    BS,
    BSSPLIT,
    DISTRIBUTION,
    IO_SIZE,
    IODEPTH,
    JOBS_MAX,
    LOOPS,
    NORANDOMMAP,
    NUMBER_IOS,
    NUMJOBS,
    OFFSET,
    RANDSEED,
    RW,
    RWMIXREAD,
    RWMIXWRITE,
    SIZE,
    STONEWALL,
)
from ssdlab.jobs.values import LARGEST, SECTOR_BYTES

DIRECTIONS = ("read", "write", "trim")
# A scaled drive is rounded down to whole erase units; a job as large as the drive may be that much too large for it.
SCALED_EXCESS_SHARE = Fraction(1, 100)


def resolve(job_file: JobFile, user_bytes: int, *, seed: int, scale: Fraction) -> list[dict[str, Any]]:
    """The engine's jobs (`crates/engine/src/specification/job.rs`), ordered by stage.

    `user_bytes` is what the drive offers, already scaled. `scale` multiplies the sizes and counts that the file says in
    absolute terms (size, io_size, offset, number_ios), not the lengths of requests. InputError when a job does not fit
    the drive.
    """
    jobs: list[dict[str, Any]] = []
    stage = 0
    for index, section in enumerate(job_file.sections):
        if section.get(STONEWALL) and jobs:
            stage += 1
        clones = section.get(NUMJOBS)
        if len(jobs) + clones > JOBS_MAX:
            raise InputError(f"{job_file.source}: asks for {len(jobs) + clones:,} jobs; allowed are {JOBS_MAX:,}")
        shared = _Resolver(job_file.source, section, user_bytes, scale).job()
        for clone in range(clones):
            seeded = clone_seed(seed, section.get(RANDSEED), index, clone)
            jobs.append({"name": section.name, "clone": clone, "stage": stage, **shared, "seed": seeded})
    return jobs


@dataclass(frozen=True)
class _Resolver:
    """One section against one drive."""

    source: str
    section: Section
    user_bytes: int
    scale: Fraction

    def job(self) -> dict[str, Any]:
        """The job without its name, clone, stage and seed."""
        section = self.section
        pattern = section.get(RW)
        sizes = {name: self._sizes(name) for name in DIRECTIONS}
        align = {name: self._align(name, sizes[name]) for name in DIRECTIONS}
        offset_bytes = self._offset_bytes(sizes)
        size_bytes, amount_bytes = self._size_bytes(offset_bytes, sizes)
        distribution = section.get(DISTRIBUTION)
        return {
            "direction": pattern.direction,
            "sequential": pattern.sequential,
            "read_percent": self._read_percent(),
            "offset_bytes": offset_bytes,
            "size_bytes": size_bytes,
            "io_bytes": self._io_bytes(amount_bytes, sizes),
            "number_ios": self._number_ios(),
            "loops": 1,
            "block_sizes": {
                name: [{"bytes": entry.size_bytes, "percent": float(entry.percent)} for entry in sizes[name]]
                for name in DIRECTIONS
            },
            "block_align_bytes": align,
            "distribution": self._distribution(),
            # fio drops its map of visited blocks where blocks are aligned to something else than their least length.
            "random_map": not pattern.sequential
            and not section.get(NORANDOMMAP)
            and distribution.name == "random"
            and all(align[name] == _least(sizes[name]) for name in DIRECTIONS),
            "iodepth": section.get(IODEPTH),
        }

    def _sizes(self, direction: str) -> tuple[SizeShare, ...]:
        mix: tuple[SizeShare, ...] = getattr(self.section.get(BSSPLIT), direction)
        return mix or (SizeShare(getattr(self.section.get(BS), direction), 100),)

    def _align(self, direction: str, sizes: tuple[SizeShare, ...]) -> int:
        given: int | None = getattr(self.section.get(BLOCKALIGN), direction)
        return _least(sizes) if given is None or self.section.get(RW).sequential else given

    def _read_percent(self) -> float:
        direction = self.section.get(RW).direction
        if direction != "read-write":
            return 100.0 if direction == "read" else 0.0
        read, write = self.section.setting(RWMIXREAD), self.section.setting(RWMIXWRITE)
        if write is not None and (read is None or write.order > read.order):
            return float(100 - self.section.get(RWMIXWRITE))
        return float(self.section.get(RWMIXREAD))

    def _offset_bytes(self, sizes: dict[str, tuple[SizeShare, ...]]) -> int:
        amount = self.section.get(OFFSET)
        step = min(_least(sizes[name]) for name in self.section.get(RW).transfers)
        if amount.percent is not None:
            # fio takes the next multiple of the least length.
            offset_bytes = -(-(self.user_bytes * amount.percent // 100) // step) * step
        elif amount.size_bytes and amount.size_bytes % SECTOR_BYTES:
            raise self._error(OFFSET, f"is not a multiple of {SECTOR_BYTES} bytes, a drive's sector")
        else:
            offset_bytes = self._scaled(amount.size_bytes or 0, step)
        if offset_bytes + step > self.user_bytes:
            problem = f"leaves no room for a block of {step:,} bytes: the drive has {self.user_bytes:,} bytes"
            raise self._error(OFFSET, problem, offset_bytes)
        return offset_bytes

    def _size_bytes(self, offset_bytes: int, sizes: dict[str, tuple[SizeShare, ...]]) -> tuple[int, int]:
        """The range that requests fall into, in whole blocks, and the bytes that one pass over it counts."""
        amount = self.section.get(SIZE)
        room_bytes = self.user_bytes - offset_bytes
        lengths = {entry.size_bytes for name in self.section.get(RW).transfers for entry in sizes[name]}
        longest, step = max(lengths), min(lengths)
        if amount.percent:
            wanted_bytes = min(self.user_bytes * amount.percent // 100, room_bytes) // step * step
        elif amount.size_bytes:
            wanted_bytes = self._scaled(amount.size_bytes, longest)
            if self.scale != 1 and wanted_bytes <= room_bytes + self.user_bytes * SCALED_EXCESS_SHARE:
                wanted_bytes = min(wanted_bytes, room_bytes)
        else:
            wanted_bytes = room_bytes
        if wanted_bytes > room_bytes:
            after = f", {offset_bytes:,} of them before the offset" if offset_bytes else ""
            raise self._error(SIZE, f"is more than the drive has: {self.user_bytes:,} bytes{after}", wanted_bytes)
        if wanted_bytes < longest:
            self._refuse_block(longest, wanted_bytes)
        whole_bytes = wanted_bytes // step * step
        # In sequence fio goes on to the first block boundary at or after the end, if the device reaches so far.
        if self.section.get(RW).sequential and len(lengths) == 1 and whole_bytes < wanted_bytes <= room_bytes - step:
            whole_bytes += step
        without_map = self.section.get(NORANDOMMAP) and not self.section.get(RW).sequential
        return whole_bytes, wanted_bytes if without_map else whole_bytes

    def _io_bytes(self, pass_bytes: int, sizes: dict[str, tuple[SizeShare, ...]]) -> int:
        """All that the job transfers. Whole blocks where all are of one length."""
        amount = self.section.get(IO_SIZE)
        if amount.percent:
            limit_bytes = pass_bytes * amount.percent // 100
        else:
            limit_bytes = self._scaled(amount.size_bytes, 1) if amount.size_bytes else pass_bytes
        pairs = self.section.get(RW).direction == "trim-write"
        if limit_bytes > pass_bytes and pairs:
            # fio counts a trim and its write apart here, but begins a pass over the range only to end it.
            total_bytes = max(self._loops(), -(-limit_bytes // (2 * pass_bytes))) * pass_bytes
        else:
            total_bytes = max(self._loops() * min(pass_bytes, limit_bytes), limit_bytes)
        if total_bytes > LARGEST:
            raise self._error(LOOPS, f"makes more than {LARGEST:,} bytes of requests")
        lengths = {entry.size_bytes for name in self.section.get(RW).transfers for entry in sizes[name]}
        step = lengths.pop() if len(lengths) == 1 else 1
        return -(-max(total_bytes, 1) // step) * step

    def _number_ios(self) -> int | None:
        given = self.section.get(NUMBER_IOS)
        if not given:
            return None
        total = max(1, round(given * self.scale)) * self._loops()
        if total > LARGEST:
            raise self._error(NUMBER_IOS, f"makes more than {LARGEST:,} requests with loops={self._loops()}")
        return total

    def _loops(self) -> int:
        return max(1, self.section.get(LOOPS))

    def _scaled(self, size_bytes: int, step: int) -> int:
        """A size under the scale: in whole steps and never 0, or as it is when nothing is scaled."""
        if self.scale == 1 or size_bytes == 0:
            return size_bytes
        return max(step, round(size_bytes * self.scale / step) * step)

    def _distribution(self) -> dict[str, Any]:
        distribution = self.section.get(DISTRIBUTION)
        match distribution.name:
            case "zipf":
                return {"name": "zipf", "theta": distribution.parameter}
            case "pareto":
                return {"name": "pareto", "h": distribution.parameter}
            case "normal":
                return {"name": "normal", "deviation_percent": distribution.parameter}
            case "zoned":
                zones = [
                    {"access_percent": float(zone.access_percent), "span_percent": float(zone.span_percent)}
                    for zone in distribution.zones
                ]
                return {"name": "zoned", "zones": zones}
            case _:
                return {"name": "random"}

    def _refuse_block(self, block_bytes: int, size_bytes: int) -> None:
        used = BSSPLIT if self.section.setting(BSSPLIT) is not None else BS
        sized = self.section.setting(SIZE)
        limit = f"{size_bytes:,} bytes that the job works on"
        limit += f" ({sized.written}, line {sized.raw.line})" if sized is not None else ", the drive from the offset on"
        raise self._error(used, f"has blocks of {block_bytes:,} bytes, longer than the {limit}")

    def _error(self, option: Option[Any], problem: str, value_bytes: int | None = None) -> InputError:
        setting = self.section.setting(option)
        line = self.section.line if setting is None else setting.raw.line
        what = f"{option.name}, which is not given," if setting is None else setting.written
        value = "" if value_bytes is None or setting is None else f" ({value_bytes:,} bytes)"
        return InputError(f"{self.source}, line {line}: {what}{value} {problem}")


def _least(sizes: tuple[SizeShare, ...]) -> int:
    return min(entry.size_bytes for entry in sizes)
