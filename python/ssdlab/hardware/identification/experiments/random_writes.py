"""Random writes over the whole full drive, in steps: measures write amplification and speed as garbage collection sets
in.

The first half of the steps is uniform. In the second half 70 % of the writes go to 2 % of the drive and 20 % to the
next 18 %; its cost shows how well the drive separates frequently written data and selects victims. Of four
distributions this one separates placements best where victims are drawn at random.

Each step begins with an empty write buffer, and garbage collection slows the flash: the data accepted until writes wait
tells the buffer of drives whose link is too slow to fill it in a burst of sequential writes.
"""

from typing import TYPE_CHECKING

from ssdlab.foundation.quantities import rounded
from ssdlab.hardware.identification.bench import Bench, Experiment
from ssdlab.hardware.identification.box import Completed, section
from ssdlab.hardware.identification.estimate import Estimate, derived
from ssdlab.hardware.identification.evidence import Picture
from ssdlab.hardware.identification.experiments.fill import memory_per_byte
from ssdlab.hardware.identification.experiments.resting import rest
from ssdlab.presentation.report.lines import Line

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "random-writes"
STEPS = 10
_UNIFORM = 5
_SKEW = "random_distribution=zoned:70/2:20/18:10/80"
_DEPTH = 32
# The requests over which latencies are averaged; by how much they grow when the buffer is full; the first requests,
# whose latencies grow with the queue.
_WINDOW, _GROWN, _SKIPPED = 64, 2.0, 64
# A step is used if the drive was slower than this share of the speed before its writes waited.
_SLOWED = 0.7


def _run(bench: Bench) -> None:
    unit = int(bench.value("ftl.mapping_unit_bytes") or 4096)
    step = bench.write_bytes // STEPS // unit * unit
    points = []
    before = bench.box.counters()
    written = 0
    filled: list[tuple[float, float]] = []
    for number in range(STEPS):
        options = ["norandommap", f"io_size={step}", f"randseed={number + 1}", rest(bench)]
        if number >= _UNIFORM:
            options.append(_SKEW)
        done = bench.one(section("random", "randwrite", unit, _DEPTH, *options))
        after = bench.box.counters()
        host = after.host_written_bytes - before.host_written_bytes if after and before else 0
        waf = (after.nand_written_bytes - before.nand_written_bytes) / host if after and before and host else None
        written += done.written_bytes
        points.append((written, done.bytes_per_second, waf))
        filled += _filled(done)
        before = after
    bench.outcome.facts |= {"points": points, "as_simulated": bench.box.draws_as_simulated}
    _buffer(bench, filled)
    wafs = [(at / 1e9, waf) for at, _, waf in points if waf is not None]
    if len(wafs) == STEPS:
        of = "Write amplification by the drive's counters"
        bench.show(_picture("random-waf", "Write amplification is {} in the last uniform step", of, "WAF", wafs))
    speeds = [(at / 1e9, rate / 1e6) for at, rate, _ in points]
    of = "Speed of random writes of a mapping unit"
    bench.show(_picture("random-speed", "Random writes run at {} MB/s in the last uniform step", of, "MB/s", speeds))


def _picture(name: str, said: str, of: str, y_title: str, points: "Sequence[tuple[float, float]]") -> Picture:
    """Both halves of the steps; `said` is about the last uniform one."""
    uniform, skewed = (rounded(points[at][1]) for at in (_UNIFORM - 1, -1))
    return Picture(
        name,
        f"{said.format(uniform)}, and {skewed} in the last skewed one",
        f"{of}, step by step. Skewed: 70 % of the writes go to 2 % of the drive, 20 % to the next 18 %. The drive is "
        "not in a steady state.",
        "GB written at random",
        y_title,
        [Line("uniform", points[:_UNIFORM]), Line("skewed", points[_UNIFORM:])],
    )


def _filled(done: Completed) -> list[tuple[float, float]]:
    """Bytes accepted until writes began to wait, and the bytes that the flash took meanwhile at the speed of the whole
    step; empty if writes did not wait, or hardly."""
    import numpy as np

    latency = done.latency_us
    if len(latency) < 8 * _WINDOW:
        return []
    first = float(np.median(latency[_SKIPPED : 3 * _SKIPPED]))
    means = np.convolve(latency, np.full(_WINDOW, 1 / _WINDOW), "valid")
    slow = np.flatnonzero(means > _GROWN * first)
    if not len(slow) or slow[0] < _WINDOW:
        return []
    at = int(slow[0])
    at += int(np.argmax(latency[at : at + _WINDOW] > _GROWN * first))
    accepted, seconds = float(done.size_bytes[:at].sum()), float(done.end_s[at - 1])
    if done.bytes_per_second > _SLOWED * accepted / seconds:
        return []
    return [(accepted, done.bytes_per_second * seconds)]


def _buffer(bench: Bench, filled: "Sequence[tuple[float, float]]") -> None:
    """Infers the write buffer if a burst did not: the least data accepted in a step, less what the flash can have taken
    since its start. It can have taken half of that, where data is written back in large parts, or more than twice,
    because garbage collection sets in later (blind drives 501 to 580)."""
    if not filled or bench.value("buffer_bytes") is not None or bench.facts.get("reads", {}).get("hidden"):
        return
    accepted, taken = min(filled)
    low = max(0.0, 0.97 * accepted - 2.3 * taken)
    found = Estimate(max(low, accepted - taken), low, 1.03 * accepted)
    bench.infer("write_buffer.bytes", found, whole=True)
    bench.infer("buffer_bytes", found, whole=True)
    _cache(bench, found)


def _cache(bench: Bench, buffer: Estimate) -> None:
    """Corrects the size of an SLC cache whose end a speed showed for the data in the write buffer."""
    cliff = bench.estimate("slc_cache_bytes")
    if cliff is None or bench.facts.get("write-buffer", {}).get("cache_counted"):
        return
    more = memory_per_byte(bench.facts["fill"])
    found = derived(lambda whole, held: max(whole / 2, whole - held * more), cliff, buffer.clipped())
    bench.infer("slc_cache_bytes", found, whole=True)


EXPERIMENT = Experiment(
    NAME,
    "random writes over the whole full drive",
    ("ftl.victim", "ftl.placement"),
    _run,
    write_share=0.45,
    rests=STEPS,
    whole_drive=True,
    needs=lambda _known, facts: None if "fill" in facts else "the drive was not filled",
)
