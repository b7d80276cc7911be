"""The times at which a job sends its requests: start, pauses, rates, flushes. The options, and their engine values.

Measured with fio 3.33 in tests/simulator/workloads/jobs: `thinktime` is in microseconds, the other times are in
seconds, unless the number has a unit. Not for the duration of a job; see `resolve.py` and `ending.py`.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.scaling import scaled_ns
from ssdlab.simulator.workloads.jobs.values import (
    LARGEST,
    PerDirection,
    Refused,
    any_text,
    byte_count,
    duration_ns,
    microseconds_ns,
    per_direction,
    required,
    truth,
    whole_number,
    words,
)

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section

Complain = Callable[[Option[Any], str], InputError]
"""Makes an error about an option of the section."""


@dataclass(frozen=True)
class Delay:
    """A time, or a range from which each clone draws a time."""

    least_ns: int
    most_ns: int


def _delay(text: str | None, kilobyte: int) -> Delay:
    bounds = [duration_ns(bound.strip(), kilobyte) for bound in required(text).split("-")]
    if len(bounds) > 2 or bounds[0] > bounds[-1]:
        raise Refused("a time such as 5 or 500ms, or a range of times such as 5-10")
    return Delay(bounds[0], bounds[-1])


_CLOCK = Effect.PACE
_COUNT = whole_number(0, 2**32 - 1)
_BYTE_RATES = per_direction(byte_count)
_RATES = per_direction(whole_number(0, LARGEST))
_NO_RATES = PerDirection[int | None](None, None, None)

THINKTIME = Option("thinktime", microseconds_ns, "pause between requests, in microseconds", _CLOCK, 0)
THINKTIME_SPIN = Option("thinktime_spin", microseconds_ns, "part of the pause spent busy", _CLOCK, 0)
THINKTIME_BLOCKS = Option("thinktime_blocks", whole_number(1, 2**32 - 1), "requests between pauses", _CLOCK, 1)
THINKTIME_TYPE = Option(
    "thinktime_blocks_type", words("complete", "issue"), "whether thinktime_blocks counts completed or issued requests",
    _CLOCK, "complete",
)  # fmt: skip
THINKTIME_IOTIME = Option(
    "thinktime_iotime", duration_ns, "working time between pauses, in addition to thinktime_blocks if given", _CLOCK, 0
)
RATE = Option("rate", _BYTE_RATES, "maximum bytes per second, by direction", _CLOCK, _NO_RATES)
RATE_IOPS = Option("rate_iops", _RATES, "maximum requests per second, by direction", _CLOCK, _NO_RATES)
RATE_PROCESS = Option(
    "rate_process", words("linear", "poisson"), "distribution of the requests of a rate", _CLOCK, "linear"
)
RATE_LEAVES_THINKTIME = Option("rate_ignore_thinktime", truth, "a rate does not catch up after pauses", _CLOCK, False)
IODEPTH_LOW = Option("iodepth_low", _COUNT, "depth at which a full queue is refilled", _CLOCK, 0)
BATCH_COMPLETE_MIN = Option(
    "iodepth_batch_complete_min", _COUNT, "minimum completions to wait for when the queue is full", _CLOCK, 1,
    ("iodepth_batch_complete",),
)  # fmt: skip
STARTDELAY = Option("startdelay", _delay, "start delay, or a range for a random delay", _CLOCK, Delay(0, 0))
WAIT_FOR = Option("wait_for", any_text, "start when all clones of an earlier job have completed", _CLOCK, "")
RAMP_TIME = Option("ramp_time", duration_ns, "completions in this initial time are not counted", _CLOCK, 0)
FSYNC = Option("fsync", _COUNT, "a flush after every N writes; 0: none", _CLOCK, 0)
FDATASYNC = Option("fdatasync", _COUNT, "the same, for a drive", _CLOCK, 0)
END_FSYNC = Option("end_fsync", truth, "a flush after the last write", _CLOCK, False)
FSYNC_ON_CLOSE = Option("fsync_on_close", truth, "the same; a job closes its files at its end", _CLOCK, False)
SYNC = Option(
    "sync", words("none", "0", "sync", "1", "dsync"), "a write completes when it survives a loss of power", _CLOCK,
    "none",
)  # fmt: skip

WRITE_FUA = Option("writefua", truth, "the same, with the engines io_uring_cmd and sg", _CLOCK, False)

OPTIONS: tuple[Option[Any], ...] = (
    THINKTIME, THINKTIME_SPIN, THINKTIME_BLOCKS, THINKTIME_TYPE, THINKTIME_IOTIME, RATE, RATE_IOPS, RATE_PROCESS,
    RATE_LEAVES_THINKTIME, IODEPTH_LOW, BATCH_COMPLETE_MIN, STARTDELAY, WAIT_FOR, RAMP_TIME, FSYNC, FDATASYNC,
    END_FSYNC, FSYNC_ON_CLOSE, SYNC, WRITE_FUA,
)  # fmt: skip


def pace(
    section: "Section", clone: int, seed: int, scale: Fraction, iodepth: int, earlier: set[str], complain: Complain
) -> plain.JobPart:
    """The keys of the engine's job, without those that are off. `earlier` are the names of the preceding jobs."""
    delay = section.get(STARTDELAY)
    wait_for = section.get(WAIT_FOR)
    if wait_for and wait_for not in earlier:
        known = f"; before it stand {', '.join(sorted(earlier))}" if earlier else ""
        raise complain(WAIT_FOR, f"names no job that stands before this one in the file{known}")
    thinks = section.get(THINKTIME) > 0
    rate, rate_iops = _rates(section.get(RATE)), _rates(section.get(RATE_IOPS))
    limited = rate is not None or rate_iops is not None
    if rate is not None and rate_iops is not None:
        raise complain(RATE_IOPS, "cannot be combined with rate; fio accepts one of them")
    part: plain.JobPart = {}
    if ramp_ns := scaled_ns(section.get(RAMP_TIME), scale):
        part["ramp_ns"] = ramp_ns
    if delay_ns := scaled_ns(_drawn_ns(delay, f"{seed}:{section.line}:{clone}"), scale):
        part["start_delay_ns"] = delay_ns
    if wait_for:
        part["wait_for"] = wait_for
    if thinks:
        part |= _thinking(section)
    if rate is not None:
        part["rate_bytes_per_second"] = rate
    if rate_iops is not None:
        part["rate_iops"] = rate_iops
    if limited and thinks and section.get(RATE_LEAVES_THINKTIME):
        part["rate_leaves_think_time"] = True
    # 0 is valid here: the queue is refilled when it is empty.
    if (refill_at := _refill_at(section, iodepth)) is not None:
        part["refill_at"] = refill_at
    if limited and section.get(RATE_PROCESS) == "poisson":
        part["rate_process"] = "poisson"
    if flushes := _flushes(section, complain):
        part["flush_every_writes"] = flushes
    if section.get(SYNC) not in ("none", "0") or section.get(WRITE_FUA):
        part["sync_writes"] = True
    return part


def flush_at_end(section: "Section", *, writes: bool) -> plain.JobPart:
    """The key for a job that ends with a flush; as in fio, one that does not write does not."""
    asks = section.get(END_FSYNC) or section.get(FSYNC_ON_CLOSE)
    return {"flush_at_end": True} if asks and writes else {}


def _thinking(section: "Section") -> plain.JobPart:
    """The keys for a job that pauses."""
    part: plain.JobPart = {"think_time_ns": section.get(THINKTIME)}
    if blocks := _blocks(section):
        part["think_time_blocks"] = blocks
    if section.get(THINKTIME_TYPE) == "issue":
        part["think_time_counts_issued"] = True
    if after_ns := section.get(THINKTIME_IOTIME):
        part["think_time_after_ns"] = after_ns
    if spin_ns := min(section.get(THINKTIME_SPIN), section.get(THINKTIME)):
        part["think_time_spin_ns"] = spin_ns
    return part


def _blocks(section: "Section") -> int:
    """The requests between pauses: no limit if only a working time is given."""
    by_time = section.get(THINKTIME_IOTIME) > 0 and section.setting(THINKTIME_BLOCKS) is None
    return 2**32 - 1 if by_time else section.get(THINKTIME_BLOCKS)


def _refill_at(section: "Section", iodepth: int) -> int | None:
    """The number of outstanding requests at which a full queue is refilled; None to refill at every completion.

    fio waits for `iodepth_batch_complete_min` completions, and continues to wait down to `iodepth_low`.
    """
    low = section.get(IODEPTH_LOW)
    low = iodepth if not 0 < low <= iodepth else low
    waited_for = max(1, min(section.get(BATCH_COMPLETE_MIN), iodepth))
    refill_at = min(low, iodepth - waited_for)
    return refill_at if refill_at < iodepth - 1 else None


def _rates(given: PerDirection[int | None]) -> plain.PerDirection[int | None] | None:
    if not (given.read or given.write or given.trim):
        return None
    return {"read": given.read or None, "write": given.write or None, "trim": given.trim or None}


def _flushes(section: "Section", complain: Complain) -> int:
    fsync, fdatasync = section.get(FSYNC), section.get(FDATASYNC)
    if fsync and fdatasync and fsync != fdatasync:
        raise complain(
            FDATASYNC, f"cannot be combined with fsync={fsync}; for a drive both are a flush; give one of them"
        )
    return fsync or fdatasync


def _drawn_ns(delay: Delay, what: str) -> int:
    digest = hashlib.blake2b(f"startdelay:{what}".encode(), digest_size=8).digest()
    return delay.least_ns + (int.from_bytes(digest, "little") * (delay.most_ns - delay.least_ns + 1) >> 64)
