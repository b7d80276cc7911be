"""Single writes, writes with a flush each, and a burst after idle time: infers the write buffer and the program
time."""

from typing import TYPE_CHECKING

from ssdlab.foundation.quantities import format_bytes_binary
from ssdlab.hardware.identification.bench import Bench, Experiment
from ssdlab.hardware.identification.box import Completed, section
from ssdlab.hardware.identification.estimate import Estimate, beginning, derived, exactly, within
from ssdlab.hardware.identification.evidence import Picture
from ssdlab.hardware.identification.experiments.fill import memory_per_byte
from ssdlab.presentation.report.lines import Line

if TYPE_CHECKING:
    from ssdlab.hardware.identification.box import Floats

NAME = "write-buffer"
_WRITES = 200
_FLUSHES = 60
# The data, then the last unit of the map's journal: docs/simulate/time.md.
_PROGRAMS_A_FLUSH = 2
_RESTED = 20
_BURST_BLOCK_BYTES = 64 << 10
_BURST_BYTES_MAX = 96 << 20
_REST_S = 2
# Writes per second; a single die can keep up with these.
_SLOWLY = 100
# A write that waits for flash takes at least this long, and longer than a read of the flash; memory and a command take
# less.
_FLASH_US_MIN = 60.0
# The number of writes examined after the first that waits.
_AROUND = 24
# The first of these, which tell how fast a full buffer is emptied.
_SETTLED = 12
# Of this many writes to a full buffer at least one waits.
_SOON = 16
# Relative errors of the model of programs, calibrated on the blind drives 101 to 140.
_DRAIN_SHARE, _FILL_SHARE = 0.04, 0.015
# The same of the data that left the buffer meanwhile (blind drives 501 to 580).
_GONE_SHARE = 0.08
# A buffer that is not visible holds at most this share of an SLC cache.
_BUFFER_SHARE = 0.02
# A program slower than this share of the flash's own is none of an SLC cache.
_SLOWER_THAN_CACHE = 0.8
# Less data than this written twice is the padding of programs.
_FOLDED_MIN = 16 << 20
_RESTS_MAX = 12
# A cache consists of whole erase units: the share by which it exceeds its nominal size (blind drives 101 to 140).
_ROUNDED_UP = Estimate(0.012, 0.0, 0.045)
# Windows of the fill that write fewer stripes have no speed of their own.
_STRIPES_MIN = 2
# The relative uncertainty of the program time of a cache, from the speed of all dies.
_CACHE_PROGRAM_SHARE = 0.05
# A speed above this share of the link's or of all channels' speed is limited by these.
_LIMITED = 0.92

_NEITHER = "single writes take about as long as single reads: whether they wait for flash does not show"


def _run(bench: Bench) -> None:
    unit = int(bench.value("ftl.mapping_unit_bytes") or 4096)
    rest = f"startdelay={_REST_S}"
    # What the rest before this write folds is counted before others are written to an SLC cache.
    rested = section("rested", "write", unit, 1, f"number_ios={_RESTED}", rest)
    bench.run(rested)
    folded = _folded_bytes(bench)
    # A large cache takes several rests.
    for _ in range(_RESTS_MAX - 1):
        before = folded
        if before is None or before < _FOLDED_MIN:
            break
        bench.run(rested)
        folded = _folded_bytes(bench)
        if folded is None or folded - before < _FOLDED_MIN / 8:
            break
    burst_bytes = min(_BURST_BYTES_MAX, bench.write_bytes // 2) // _BURST_BLOCK_BYTES * _BURST_BLOCK_BYTES
    # One run, in which idle time ends the programs of the job before.
    single, flushed, burst = bench.run(
        section("single", "write", unit, 1, f"number_ios={_WRITES}", f"rate_iops={_SLOWLY}", rest),
        section("flushed", "write", unit, 1, f"number_ios={_FLUSHES}", "fsync=1", rest),
        section("burst", "write", _BURST_BLOCK_BYTES, 1, f"size={burst_bytes}", rest),
    )
    _cache_counted(bench, folded)
    write = beginning(single.latency_us, of_drive=False)
    link = Estimate(*bench.facts.get("reads", {}).get("link_us_per_byte", (0.0, 0.0, 0.0))).clipped()
    read = bench.estimate("nand.read_us") or exactly(0.0)
    program: Estimate | None = None
    is_buffered = write.high < max(_FLASH_US_MIN, read.low)
    if is_buffered:
        bench.infer("controller.command_us", derived(lambda whole, us: whole - unit * us, write, link).clipped(0.1))
        program = _flush(bench, write, flushed)
    elif write.low >= max(_FLASH_US_MIN, read.high):
        bench.infer("write_buffer.bytes", exactly(0), whole=True)
        bench.infer("buffer_bytes", exactly(0), whole=True)
        program = derived(lambda whole, us: whole - unit * us, write, link)
        bench.cannot_tell("controller.command_us", "writes wait for flash, which hides the time of a command")
    else:
        for key in ("write_buffer.bytes", "buffer_bytes", "controller.command_us"):
            bench.cannot_tell(key, _NEITHER)
    _program(bench, program)
    _cache_program(bench)
    if is_buffered:
        _buffer(bench, burst)
    _cache(bench)


def _folded_bytes(bench: Bench) -> float | None:
    """Data of the host that the flash took twice, by the drive's counters: the content of an SLC cache, which the rest
    before the first writes has folded. None without counters."""
    counters = bench.box.counters()
    if counters is None:
        return None
    parity = bench.value("parity.units_per_stripe")
    share = (parity - 1) / parity if parity else 1.0
    return counters.nand_written_bytes * share - counters.host_written_bytes


def _cache_counted(bench: Bench, folded: float | None) -> None:
    """Infers the SLC cache from the folded data if no cliff shows, because a link or channels hide it, or one that
    contradicts them."""
    cliff = bench.estimate("slc_cache_bytes")
    if folded is None or folded < _FOLDED_MIN or (cliff is not None and cliff.low < 1.25 * folded):
        return
    bench.infer("slc_cache_bytes", Estimate(folded, 0.95 * folded, 1.02 * folded), whole=True)
    bench.outcome.facts["cache_counted"] = True


def _flush(bench: Bench, write: Estimate, flushed: Completed) -> Estimate | None:
    """Records the power loss protection. Returns the latency of a flush, or None if flushes are not reported or are
    free because the buffer survives a loss of power."""
    if flushed.flush_us is None:
        bench.cannot_tell("write_buffer.power_loss_protection", "the target does not report flushes")
        return None
    protected = flushed.flush_us < max(_FLASH_US_MIN, 3 * write.value)
    bench.choose("write_buffer.power_loss_protection", protected)
    if not protected and bench.program_bytes:
        # Flash that flushes fill with padding to complete a program, and with the journal of the map.
        bench.outcome.facts["padded_bytes"] = _FLUSHES * _PROGRAMS_A_FLUSH * bench.program_bytes
    return None if protected else within(flushed.flush_us, 0.02)


def _buffer(bench: Bench, burst: Completed) -> None:
    """Infers the write buffer: the most data of a burst that is in memory when writes start to wait."""
    import numpy as np

    sums = np.cumsum(burst.size_bytes)
    first = float(np.median(burst.latency_us[:8]))
    # The mean, because possibly only one in several writes waits.
    later = float(np.mean(burst.latency_us[len(sums) // 2 :]))
    slow = np.flatnonzero(burst.latency_us > max(3 * first, first + 20))
    rate = _settled_rate(burst)
    gained = _BURST_BLOCK_BYTES / (first * 1e-6)
    # A delay by the host affects single writes; a full buffer stays full, and others soon wait as well.
    soon = np.append(np.diff(slow) <= _SOON, False)[: len(slow)]
    lasting = [each for each in slow[soon] if np.mean(burst.latency_us[each : each + 64]) > 1.5 * first]
    is_full = later >= 1.5 * first and lasting and gained >= 1.2 * rate
    at = int(lasting[0]) if is_full else 0
    accepted = float(sums[at - 1]) if at else float(_BURST_BLOCK_BYTES)
    bench.show(_burst_picture(sums.astype(np.float64), burst.latency_us, accepted if is_full else None))
    if not is_full:
        bench.cannot_tell("buffer_bytes", "one host cannot write faster than the flash does, so the buffer never fills")
        return
    shown = slice(0, at + _AROUND)
    kept = _kept(bench, sums[shown].astype(np.float64), burst.end_s[shown], at)
    if kept is None:
        # Programs that ended meanwhile have freed memory; the amount is not known without dies and pages.
        gone = rate * float(burst.end_s[at - 1]) if at else 0.0
        found = Estimate(max(accepted - gone / 2, _BURST_BLOCK_BYTES), max(accepted - gone, 0.0), accepted)
    else:
        held = float(np.max(kept[: at + _SETTLED]))
        gone = max(0.0, accepted - held)
        low, high = _DRAIN_SHARE * held, _FILL_SHARE * held + _GONE_SHARE * gone
        found = Estimate(held, held - _BURST_BLOCK_BYTES - low, held + _BURST_BLOCK_BYTES + high)
    bench.infer("write_buffer.bytes", found, whole=True)
    bench.infer("buffer_bytes", found, whole=True)


def _kept(bench: Bench, sums: "Floats", ends: "Floats", full: int) -> "Floats | None":
    """Bytes in memory at the end of each write of a burst, or None if geometry or times are not known. `full` is the
    first write that waits.

    A drive with an SLC cache can continue the erase unit that it had open, slowly, or write to the cache: from `full`
    on the memory stays full, which tells the two apart.
    """
    import numpy as np

    times = [_burst_program_us(bench)]
    if bench.value("slc_cache_bytes") is not None:
        times += [bench.value("nand.program_us"), _emptied_us(bench, sums, ends, full)]
    drained = [_drained(bench, sums, ends, each) for each in times if each is not None]
    kept = [sums - each for each in drained if each is not None]
    return min(kept, key=lambda each: float(np.ptp(each[full : full + _SETTLED])), default=None)


def _emptied_us(bench: Bench, sums: "Floats", ends: "Floats", full: int) -> float | None:
    """The program time with which all dies together empty a full buffer as fast as it takes writes, or None if geometry
    is not known."""
    stripe = (bench.program_bytes or 0) * float(bench.value("parallel_units") or 0)
    last = min(full + _AROUND, len(sums)) - 1
    if not stripe or full < 1 or last <= full:
        return None
    rate = float(sums[last] - sums[full - 1]) / max(1e-9, float(ends[last] - ends[full - 1]))
    parity = bench.value("parity.units_per_stripe")
    flash = rate * parity / (parity - 1) if parity else rate
    transfer_us = (bench.program_bytes or 0) * float(bench.facts["reads"]["transfer_us_per_byte"][0])
    return max(1.0, 1e6 * stripe / flash - transfer_us)


def _drained(bench: Bench, sums: "Floats", ends: "Floats", program_us: float) -> "Floats | None":
    """Bytes that programs have removed from memory at the end of each write, or None if geometry is not known.

    Each die takes a page of every plane as soon as the data has arrived and its channel and the die itself are free.
    """
    import numpy as np

    group, dies, channels = bench.program_bytes, bench.value("parallel_units"), bench.value("nand.channels")
    if group is None or dies is None or channels is None:
        return None
    # Parity takes a part of each group.
    parity = bench.value("parity.units_per_stripe")
    held = group * (parity - 1) / parity if parity else float(group)
    transfer_s = 1e-6 * group * max(0.0, bench.facts["reads"]["transfer_us_per_byte"][0])
    arrivals = np.interp(np.arange(1, int(sums[-1] // held) + 1) * held, sums, ends)
    dies_free, channels_free, done = [0.0] * int(dies), [0.0] * int(channels), []
    for number, arrival in enumerate(arrivals.tolist()):
        die = number % int(dies)
        channel = die % int(channels)
        there = max(arrival, dies_free[die], channels_free[channel]) + transfer_s
        channels_free[channel] = there
        dies_free[die] = there + 1e-6 * program_us
        done.append(dies_free[die])
    return held * np.searchsorted(np.sort(done), ends, side="right").astype(np.float64)


def _burst_program_us(bench: Bench) -> float | None:
    """The program time of the flash that receives a burst after idle time (the SLC cache if there is one), or None."""
    own = bench.value("slc_cache.program_us")
    if own is not None or bench.value("slc_cache_bytes") is None:
        return own or bench.value("nand.program_us")
    page, planes, dies = (bench.value(key) for key in ("nand.page_bytes", "nand.planes_per_die", "parallel_units"))
    fill = bench.facts["fill"]
    rate: float = fill.get("cached_bytes_per_second", fill["direct_bytes_per_second"])[0]
    limits = _limits(bench)
    if not page or not planes or not dies or (limits and rate > _LIMITED * min(limits)):
        return None
    transfer_us_per_byte: float = bench.facts["reads"]["transfer_us_per_byte"][0]
    parity = bench.value("parity.units_per_stripe")
    flash = rate * parity / (parity - 1) if parity else rate
    return max(1.0, 1e6 * dies * page * planes / flash - page * planes * transfer_us_per_byte)


def _cache(bench: Bench) -> None:
    """Corrects the SLC cache size for the data in the write buffer and for the rounding up to whole erase units."""
    cliff = bench.estimate("slc_cache_bytes")
    if cliff is None:
        return
    if bench.outcome.facts.get("cache_counted"):
        found = derived(lambda whole, units: whole * (1 - units), cliff, _ROUNDED_UP)
        bench.infer("slc_cache_bytes", found, whole=True)
        return
    buffer = bench.estimate("buffer_bytes") or Estimate(0.0, 0.0, _BUFFER_SHARE * cliff.value)
    more = memory_per_byte(bench.facts["fill"])
    found = derived(lambda whole, held, units: (whole - held * more) * (1 - units), cliff, buffer, _ROUNDED_UP)
    bench.infer("slc_cache_bytes", found, whole=True)


def _settled_rate(burst: Completed) -> float:
    half = len(burst.end_s) // 2
    return float(burst.size_bytes[half:].sum()) / max(1e-9, float(burst.end_s[-1] - burst.end_s[half - 1]))


def _program(bench: Bench, of_flush: Estimate | None) -> None:
    """Infers the program time from a write that waits for one, or from the speed of all dies together."""
    has_cache = bench.value("slc_cache_bytes") is not None
    reads = bench.facts.get("reads", {})
    transfer = Estimate(*reads.get("transfer_us_per_byte", (0.0, 0.0, 0.0))).clipped()
    group = bench.program_bytes or 0
    alone: Estimate | None = None
    if of_flush is not None:
        # A flush includes the time of a command.
        command = bench.estimate("controller.command_us") or exactly(0.0)
        alone = derived(
            lambda whole, us, own: (whole - own) / _PROGRAMS_A_FLUSH - group * us, of_flush, transfer, command
        )
        if has_cache:
            bench.outcome.facts["flushed_program_us"] = alone.value
        else:
            bench.infer("nand.program_us", alone.clipped(1.0))
            return
    dies = bench.estimate("parallel_units")
    if not group or dies is None:
        bench.cannot_tell("nand.program_us", "neither a flush nor the number of dies tells it")
        return
    parity = bench.value("parity.units_per_stripe")
    fill = bench.facts["fill"]
    # A drop in speed that was no end of a cache came when the cache was emptied.
    name = "cached" if bench.outcome.facts.get("cache_counted") and "cached_bytes_per_second" in fill else "direct"
    speed = fill[f"{name}_bytes_per_second"][0]
    few = fill["window_bytes"] < _STRIPES_MIN * dies.value * group
    if name == "direct" and (few or (bench.value("nand.pages_per_program") or 1) > 1):
        # The speed of windows of few stripes, as one-shot programs make them, depends on how many ended in them.
        speed = fill["direct_mean_bytes_per_second"]
    rate = within(speed, 0.02)
    limits = _limits(bench)
    if limits and rate.value > _LIMITED * min(limits):
        bench.cannot_tell("nand.program_us", "link or channels limit sequential writes, and flushes are free")
        return
    # Parity is programmed as well.
    flash = derived(lambda each: each * parity / (parity - 1), rate) if parity else rate
    found = derived(lambda n, each, us: n * group / each * 1e6 - group * us, dies, flash, transfer)
    if alone is not None:
        # A drive that has not opened an erase unit since the cache was emptied flushes to other flash.
        if alone.value > _SLOWER_THAN_CACHE * found.value:
            found = alone
        else:
            bench.infer("slc_cache.program_us", alone.clipped(1.0))
    bench.infer("nand.program_us", found.clipped(1.0))


def _cache_program(bench: Bench) -> None:
    """Infers the program time of an SLC cache from the speed until the cliff, if a flush did not tell it."""
    if bench.value("slc_cache_bytes") is None or bench.value("slc_cache.program_us") is not None:
        return
    program_us = _burst_program_us(bench)
    if program_us is None or bench.outcome.facts.get("cache_counted"):
        bench.cannot_tell("slc_cache.program_us", "link or channels limit writes to the cache, and flushes are free")
        return
    bench.infer("slc_cache.program_us", within(program_us, _CACHE_PROGRAM_SHARE))


def _limits(bench: Bench) -> list[float]:
    """Speeds of the link and of all channels together in bytes per second, if known."""
    link, channel, channels = (bench.value(key) for key in ("host_link.mb_s", "nand.channel_mb_s", "nand.channels"))
    found = [] if link is None else [link * 1e6]
    return found + ([] if channel is None or channels is None else [channel * channels * 1e6])


def _burst_picture(sums: "Floats", latency: "Floats", accepted: float | None) -> Picture:
    """`accepted` are the bytes before the first write that waits for flash; None if none is known to."""
    shown = slice(0, 400)
    finding = "A burst of writes after a rest"
    if accepted is not None:
        finding = f"After a rest the drive takes {format_bytes_binary(int(accepted))} before writes wait for flash"
    return Picture(
        "burst",
        finding,
        "Latency of writes of 64 KiB at depth 1 after two seconds of rest.",
        "MiB written since the rest",
        "microseconds",
        [Line("measured", list(zip((sums[shown] / 2**20).tolist(), latency[shown].tolist(), strict=True)))],
        log_y=True,
    )


EXPERIMENT = Experiment(
    NAME,
    "single writes, flushes, and a burst after a rest",
    ("write_buffer.bytes", "write_buffer.power_loss_protection", "nand.program_us", "controller.command_us",
     "buffer_bytes"),
    _run,
    write_share=0.06,
    needs=lambda _known, facts: facts.get("reads", {}).get("hidden"),
)  # fmt: skip
