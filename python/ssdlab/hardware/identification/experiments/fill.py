"""Writes the drive once in sequence: measures its speed, and the drop in speed when an SLC cache is full."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ssdlab.foundation.quantities import format_bytes, rounded
from ssdlab.hardware.identification.bench import Bench, Experiment
from ssdlab.hardware.identification.box import Completed, section
from ssdlab.hardware.identification.estimate import Estimate, median
from ssdlab.hardware.identification.evidence import Picture
from ssdlab.presentation.report.lines import Line, Marks

if TYPE_CHECKING:
    from ssdlab.hardware.identification.box import Floats

NAME = "fill"
BLOCK_BYTES = 256 << 10
_DEPTH = 32
_WINDOWS = 1024
_SKIPPED = 8
# A smaller ratio of two speeds is noise.
_CLIFF_MIN = 1.25
_REQUESTS_MIN = 8
# The least time of a window by a clock of whole milliseconds.
_COARSE_S_MIN = 0.0075
# The least share by which a cache is taken to be faster.
_LEAST_GAIN = 0.1
# Fewer bytes than this, beyond what the flash took meanwhile, are absorbed by memory.
_MEMORY_BYTES_MAX = 20 << 20


def windows(done: Completed, count: int = _WINDOWS) -> tuple["Floats", "Floats"]:
    """Cumulative bytes and the speed in bytes per second, over windows with the same number of requests.

    If the times are whole milliseconds, as fio's are, windows that take few of them are made longer.
    """
    import numpy as np

    sums = np.cumsum(done.size_bytes)
    # At least this many requests per window, because requests complete in groups.
    count = max(1, min(count, len(sums) // _REQUESTS_MIN))
    edges = np.linspace(0, len(sums) - 1, count + 1).astype(int)
    spans = np.diff(done.end_s[edges])
    milliseconds = 1e3 * done.end_s
    if np.allclose(milliseconds, np.round(milliseconds), rtol=0, atol=1e-6):
        # Enough remain for those that are left out at the start.
        while count >= 4 * _SKIPPED and spans.min() < _COARSE_S_MIN:
            count //= 2
            edges = np.linspace(0, len(sums) - 1, count + 1).astype(int)
            spans = np.diff(done.end_s[edges])
    return sums[edges[1:]].astype(np.float64), np.diff(sums[edges]) / np.maximum(spans, 1e-9)


def _run(bench: Bench) -> None:
    size = min(bench.write_bytes, bench.capacity_bytes) // BLOCK_BYTES * BLOCK_BYTES
    done = bench.one(section("fill", "write", BLOCK_BYTES, _DEPTH, f"size={size}"))
    at, rate = windows(done)
    if (counters := bench.box.counters()) is not None and counters.host_written_bytes:
        bench.outcome.facts["waf"] = counters.nand_written_bytes / counters.host_written_bytes
    split, ratio = _cliff(rate)
    if split is not None and at[split - 1] * (1 - 1 / ratio) < _MEMORY_BYTES_MAX:
        split = None
    facts = bench.outcome.facts
    facts["written_bytes"] = size
    last = median(rate[split or _SKIPPED :], of_host=False)
    facts["direct_bytes_per_second"] = [last.value, last.low, last.high]
    facts["window_bytes"] = float(at[-1] - at[-2]) if len(at) > 1 else float(at[-1])
    facts["direct_mean_bytes_per_second"] = _mean(at, rate, split or _SKIPPED)
    if split is None:
        bench.cannot_tell(
            "slc_cache_bytes", f"no cliff within {format_bytes(size)} written in sequence: none, or larger"
        )
        finding = _level(rate[_SKIPPED:], last.value)
        marks = []
    else:
        cached = median(rate[_SKIPPED:split], of_host=False)
        facts["cached_bytes_per_second"] = [cached.value, cached.low, cached.high]
        width = float(at[1] - at[0])
        cliff = float(at[split - 1]) + width * _part(rate, split)
        found = Estimate(cliff, cliff - width, cliff + width)
        bench.infer("slc_cache_bytes", found, whole=True)
        finding = (
            f"After {rounded(cliff / 1e9)} GB sequential writes fall from {rounded(cached.value / 1e6)} to "
            f"{rounded(last.value / 1e6)} MB/s: the SLC cache is full"
        )
        marks = [Marks("cliff", [(cliff / 1e9, cached.value / 1e6), (cliff / 1e9, last.value / 1e6)])]
    drawn = list(zip((at / 1e9).tolist(), (rate / 1e6).tolist(), strict=True))
    bench.show(
        Picture(
            "fill",
            finding,
            "Speed over bytes written, on the whole drive in sequence, in windows of equal bytes, after the first.",
            "GB written",
            "MB/s",
            [Line("measured", drawn[_SKIPPED :: max(1, len(drawn) // 256)])],
            marks,
        )
    )


def _level(rate: "Floats", middle: float) -> str:
    """What a fill without a lasting drop shows, as a title; `middle` is the median, in bytes per second."""
    import numpy as np

    low, high = np.percentile(rate, (10, 90)) if len(rate) else (middle, middle)
    if high > _CLIFF_MIN * low:
        span = f"{rounded(low / 1e6)} to {rounded(high / 1e6)}"
        return f"Sequential writes run at {span} MB/s: no lasting drop, as of an SLC cache, shows"
    return f"Sequential writes run at {rounded(middle / 1e6)} MB/s throughout: no SLC cache shows"


def memory_per_byte(facts: Mapping[str, Any]) -> float:
    """Bytes written between the end of an SLC cache and the visible cliff for each byte of the write buffer, which
    fills only as fast as writes are faster than the flash behind the cache. `facts` are those of this experiment."""
    direct, cached = facts["direct_bytes_per_second"], facts.get("cached_bytes_per_second")
    return 1.0 if cached is None else 1 / max(_LEAST_GAIN, 1 - float(direct[0]) / float(cached[0]))


def _mean(at: "Floats", rate: "Floats", first: int) -> float:
    """The mean speed from a window on, in bytes per second."""
    import numpy as np

    size = np.diff(at, prepend=0.0)[first:]
    return float(size.sum() / (size / rate[first:]).sum()) if len(size) else float(rate[-1])


def _cliff(rate: "Floats") -> tuple[int | None, float]:
    """The window at which a second, slower speed begins, or None, and the ratio of the two speeds."""
    import numpy as np

    if len(rate) < 4 * _SKIPPED:
        return None, 1.0
    logs = np.log(rate)
    best, at = np.inf, None
    for split in range(_SKIPPED + 3, len(logs) - 3):
        before, after = logs[_SKIPPED:split], logs[split:]
        spread = float(np.abs(before - np.median(before)).sum() + np.abs(after - np.median(after)).sum())
        if spread < best:
            best, at = spread, split
    assert at is not None
    ratio = float(np.exp(np.median(logs[_SKIPPED:at]) - np.median(logs[at:])))
    whole = float(np.abs(logs[_SKIPPED:] - np.median(logs[_SKIPPED:])).sum())
    if ratio < _CLIFF_MIN or best > 0.6 * whole:
        return None, ratio
    return at, ratio


def _part(rate: "Floats", split: int) -> float:
    """The share of the window `split` that ran at the first speed, from the window's duration."""
    import numpy as np

    fast, slow = float(np.median(rate[_SKIPPED : split - 1])), float(np.median(rate[split + 1 :]))
    part = (1 / rate[split] - 1 / slow) / (1 / fast - 1 / slow)
    return float(np.clip(part, 0.0, 1.0))


EXPERIMENT = Experiment(NAME, "the whole drive written once in sequence", ("slc_cache_bytes",), _run, write_share=1.0)
