"""The lines of fio's text that need a clock: rates, latencies, percentiles, with fio's units and widths."""

import math
from collections.abc import Sequence

from ssdlab.simulator.results.breakdown import TAIL_PERCENT, shares_text
from ssdlab.simulator.results.job_result import DirectionResult
from ssdlab.simulator.results.latency import OBSERVATIONS_ABOVE_MIN, USUAL, Latency, distribution

_LINE_CHARACTERS = 80 - 7
_ENTRIES_PER_LINE = 5
_UNITS = {"nsec": 1, "usec": 1000, "msec": 10**6}


def direction_lines(name: str, direction: DirectionResult) -> list[str]:
    """The block of a direction: IOPS, bandwidth, latencies, percentiles, spread of the rates. Empty without a clock."""
    if direction.latency is None or direction.iops is None or direction.bw_bytes is None:
        return []
    moved = short(direction.io_bytes, 1024, BINARY)
    run_msec = round((direction.seconds or 0) * 1000)
    lines = [
        f"  {name}: IOPS={short(direction.iops, 1000, PLAIN)}, BW={bandwidth(direction.bw_bytes)}"
        f"({moved}/{run_msec}msec)"
    ]
    moments = direction.moments or {"clat": direction.latency, "lat": direction.latency}
    lines += [f"    {kind:>4} {text}" for kind, latency in moments.items() for text in _moments(latency)]
    for kind in ("clat", "lat"):
        if kind in direction.percentiles.of:
            lines += _percentiles(kind, direction.latency, direction.percentiles.ranks)
    if direction.breakdown is not None:
        parts = direction.breakdown.to_dict()
        lines.append(f"    breakdown: mean: {shares_text(parts['mean'])}")
        if "p99_9" in parts:
            lines.append(f"                 {TAIL_PERCENT:g}th and above: {shares_text(parts['p99_9'])}")
    if (samples := direction.samples) is None:
        return lines
    if (rate := samples.bytes_per_second) is not None:
        unit, said = (1024**2, "MiB") if rate.mean > 1024**3 else (1024, "KiB")
        share = 100 * (direction.group_share or 0)
        lines.append(
            f"   bw ({said:>5}/s): min={rate.min / unit:5.0f}, max={rate.max / unit:5.0f}, per={share:3.2f}%, "
            f"avg={rate.mean / unit:5.2f}, stdev={rate.stddev / unit:5.2f}, samples={rate.samples:5}"
        )
    spread = samples.iops
    lines.append(
        f"   iops        : min={spread.min:5.0f}, max={spread.max:5.0f}, avg={spread.mean:5.2f}, "
        f"stdev={spread.stddev:5.2f}, samples={spread.samples:5}"
    )
    return lines


def flush_lines(latency: Latency) -> list[str]:
    """fio's block of flushes (sync)."""
    lines = [f"    sync {text}" for text in _moments(latency)]
    return ["  fsync/fdatasync/sync_file_range:", *lines, *_percentiles("sync", latency, USUAL.ranks)]


def distribution_lines(latency: Latency) -> list[str]:
    """fio's coarse table of latencies: percentages of the requests below each step, five on each line."""
    lines = []
    for table, shares in distribution(latency).items():
        entries = [f"{step}={share:3.2f}%" for step, share in shares.items() if share]
        for start in range(0, len(entries), _ENTRIES_PER_LINE):
            said = ", ".join(entries[start : start + _ENTRIES_PER_LINE])
            lines.append(f"  lat ({table.removeprefix('latency_')}ec)   : {said}")
    return lines


def bandwidth(bytes_per_second: float) -> str:
    """`360MiB/s (377MB/s)`."""
    return f"{short(bytes_per_second, 1024, BINARY)}/s ({short(bytes_per_second, 1000, DECIMAL)}/s)"


PLAIN = ("", "k", "M", "G")
BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB")


def short(count: float, base: int, units: tuple[str, ...], characters: int = 4) -> str:
    """A number in at most `characters` characters, in fio's format: `92.1k`, `1024MiB`.

    As in fio, only the remainder of the last division counts, and it is rounded by itself: 9,439,550 is `9439.6k` in
    six characters, though its quotient is a little less than 9439.55 in binary.
    """
    whole, remainder, power = int(count), None, 0
    while len(str(whole)) > characters and power < len(units) - 1:
        whole, remainder = divmod(whole, base)
        power += 1
    if remainder is None:
        return f"{whole}{units[power]}"
    decimals = characters - 1 - len(str(whole))
    if decimals <= 0:
        return f"{whole + (2 * remainder >= base)}{units[power]}"
    carried, _, digits = f"{remainder / base:.{decimals}f}".partition(".")
    return f"{whole + int(carried)}.{digits}{units[power]}"


def _moments(latency: Latency) -> list[str]:
    if latency.min_ns is None or latency.max_ns is None or latency.mean_ns is None or latency.stddev_ns is None:
        return []
    unit = _unit(latency.min_ns, latency.max_ns, latency.stddev_ns)
    ns = _UNITS[unit]
    shortest, longest = (short(value // ns, 1000, PLAIN, 6) for value in (latency.min_ns, latency.max_ns))
    return [
        f"({unit}): min={shortest}, max={longest}, avg={latency.mean_ns / ns:5.2f}, stdev={latency.stddev_ns / ns:5.2f}"
    ]


def _unit(min_ns: float, max_ns: float, stddev_ns: float = math.inf) -> str:
    """The largest unit in which no relevant value becomes 0, by fio's rule."""
    for unit in ("msec", "usec"):
        ns = _UNITS[unit]
        if min_ns > 2 * ns and max_ns > 100 * ns - 1 and stddev_ns > ns:
            return unit
    return "nsec"


def _percentiles(kind: str, latency: Latency, ranks: Sequence[float]) -> list[str]:
    carried = [rank for rank in ranks if latency.carries(rank)]
    left_out = _left_out(kind, latency, [rank for rank in ranks if rank not in carried])
    values = [value for value in latency.percentiles_ns(carried) if value is not None]
    if not values:
        return left_out
    unit = _unit(values[0], values[-1])
    scaled = [-(-value // _UNITS[unit]) for value in values]
    width = max(5, len(str(values[-1] // _UNITS[unit])))
    decimals = max(len(f"{rank:.8f}".rstrip("0").partition(".")[2]) for rank in ranks)
    said = decimals + 3
    entries = [f"{rank:{said}.{decimals}f}th=[{value:{width}}]" for rank, value in zip(carried, scaled, strict=True)]
    per_line = _LINE_CHARACTERS // (7 + said + width)
    lines = [", ".join(entries[start : start + per_line]) for start in range(0, len(entries), per_line)]
    shown = [f"     | {line}{',' * (line != lines[-1])}" for line in lines]
    return [f"    {kind} percentiles ({unit}):", *shown, *left_out]


def _left_out(kind: str, latency: Latency, ranks: Sequence[float]) -> list[str]:
    if not ranks:
        return []
    which = f"{ranks[0]:g}" if len(ranks) == 1 else f"{ranks[0]:g} to {ranks[-1]:g}"
    requests = "1 request" if latency.count == 1 else f"{latency.count:,} requests"
    return [f"    {kind} percentiles {which}: -, fewer than {OBSERVATIONS_ABOVE_MIN} of {requests} are above them"]
