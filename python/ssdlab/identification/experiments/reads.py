"""Single reads of many sizes and places: infers the mapping unit, the page, the planes, and read and transfer times.

A read of part of a mapping unit takes as long as a read of the whole unit, apart from the link. Two neighbouring units
take one read and two transfers if they are in one page, two consecutive reads if they are in two pages of one die, and
one read time if they are on two dies.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ssdlab.identification.bench import Bench, Experiment
from ssdlab.identification.estimate import Estimate, beginning, derived, exactly
from ssdlab.identification.evidence import Picture
from ssdlab.identification.experiments.regions import Region, read_region
from ssdlab.report.lines import Line, Marks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "reads"
_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
_READS = 400
_PAIRS = 24_000
_PAIR_BYTES = 4 << 20
# Faster than any link. At this speed a transfer takes less time than the noise.
_LINK_MB_S_MAX = 16_000


@dataclass(frozen=True)
class _Ladder:
    """Latency in microseconds by request size, without the time that the host adds."""

    latency: dict[int, Estimate]

    def slope(self, small: int, large: int) -> Estimate:
        """Microseconds per byte between two sizes."""
        return derived(lambda a, b: (b - a) / (large - small), self.latency[small], self.latency[large])


def _run(bench: Bench) -> None:
    region = read_region(bench.facts.get("fill", {}).get("written_bytes", bench.capacity_bytes))
    sizes = [size for size in _SIZES if size >= bench.box.sector_bytes]
    done = bench.run(*(region.reads(size, _READS) for size in sizes))
    ladder = _Ladder({size: beginning(each.latency_us) for size, each in zip(sizes, done, strict=True)})
    unit = _mapping_unit(ladder)
    bench.infer("ftl.mapping_unit_bytes", exactly(unit), whole=True)
    link = ladder.slope(sizes[0], unit) if sizes[0] < unit else Estimate(0.0, 0.0, 0.0)
    _link(bench, link)
    bench.show(_sizes_picture(ladder, unit))
    page, planes, transfer = _pages(bench, region, unit, ladder, link)
    single = ladder.latency[unit]
    read = derived(lambda whole, us_a_byte, of_link: whole - unit * (us_a_byte + of_link), single, transfer, link)
    bench.infer("nand.read_us", read.clipped())
    if transfer.value > 0 and transfer.low > 0:
        bench.infer("nand.channel_mb_s", Estimate(1 / transfer.value, 1 / transfer.high, 1 / transfer.low))
    else:
        bench.cannot_tell("nand.channel_mb_s", "transfers within a page are lost in the noise of a read")
    bench.outcome.facts |= {
        "read_region": [region.offset_bytes, region.size_bytes],
        "transfer_us_per_byte": [transfer.value, transfer.low, transfer.high],
        "link_us_per_byte": [link.value, link.low, link.high],
        "page_bytes": page,
        "planes": planes,
    }


def _mapping_unit(ladder: _Ladder) -> int:
    """The largest size whose reads take no longer than smaller ones, apart from the link's time per byte; 4096 if no
    step is found."""
    sizes = list(ladder.latency)
    base = ladder.latency[sizes[0]].value
    for size, larger in pairwise(sizes):
        if size < 4096:
            continue
        by_link = max(0.0, ladder.latency[size].value - base) / max(1, size - sizes[0]) * (larger - size)
        grown = ladder.latency[larger].value - ladder.latency[size].value - by_link
        if grown > max(0.02 * base, 2 * (ladder.latency[larger].high - ladder.latency[larger].value)):
            return size
    return 4096


def _link(bench: Bench, us_a_byte: Estimate) -> None:
    if us_a_byte.value < 1 / _LINK_MB_S_MAX or us_a_byte.low <= 0:
        bench.cannot_tell("host_link.mb_s", "reads within a mapping unit take the same time at any size: no slow link")
        return
    bench.infer("host_link.mb_s", Estimate(1 / us_a_byte.value, 1 / us_a_byte.high, 1 / us_a_byte.low))


def _pages(
    bench: Bench, region: Region, unit: int, ladder: _Ladder, link: Estimate
) -> tuple[int | None, int | None, Estimate]:
    """The page in bytes, the planes that are read in turn, and the microseconds per byte on the channel.

    Page and planes are None if they cannot be determined.
    """
    import numpy as np

    few = Region(region.offset_bytes, _PAIR_BYTES)
    pairs = bench.one(few.reads(2 * unit, _PAIRS, aligned_bytes=unit))
    places = ((pairs.offset_bytes - region.offset_bytes) // unit).astype(np.int64)
    count = int(places.max()) + 1
    by_place = np.array([np.median(pairs.latency_us[places == each]) for each in range(count)])
    single = ladder.latency[unit]
    twice = by_place > single.value + 0.5 * (single.value - unit * link.value)
    gaps, parity = _without_parity(np.diff(np.flatnonzero(twice)))
    page, planes = _geometry(gaps, unit, ladder)
    once = by_place[~twice]
    if not len(once):
        # Each unit is a separate page, and all of them are on one die.
        bench.infer("nand.page_bytes", exactly(unit), whole=True)
        return unit, planes, Estimate(0.0, 0.0, 0.0)
    level = _level(once)
    if page is None:
        # One plane: a page ends where a pair lies on two dies, whose channels work at the same time.
        gaps, parity = _without_parity(np.diff(np.flatnonzero(by_place < level)))
        page, planes = _one_plane(gaps, unit)
    bench.show(_pairs_picture(by_place, unit, page, planes))
    if page is not None and page == unit:
        # No pair lies within a page.
        bench.infer("nand.page_bytes", exactly(page), whole=True)
        bench.infer("nand.planes_per_die", exactly(planes or 1), whole=True)
        return page, planes, Estimate(0.0, 0.0, 0.0)
    kept = np.flatnonzero(~twice & (by_place >= level))
    within_page = beginning(pairs.latency_us[np.isin(places, kept)])
    transfer = derived(lambda two, one, of_link: (two - one) / unit - of_link, within_page, single, link)
    if page is not None and planes is not None:
        bench.infer("nand.page_bytes", exactly(page), whole=True)
        bench.infer("nand.planes_per_die", exactly(planes), whole=True)
        _parity(bench, parity)
    return page, planes, transfer


def _without_parity(gaps: "NDArray[np.int64]") -> tuple["NDArray[np.int64]", Estimate | None]:
    """The distances with the hidden units of parity added, and the number of units per unit of parity, or None.

    Pages hold an even number of units, so a unit of parity is missing from each odd distance.
    """
    import numpy as np

    if len(gaps) < 4:
        return gaps, None
    whole = gaps + (gaps % 2) * (gaps > 1)
    if not _are_pages(whole):
        return gaps, None
    missing = int((whole - gaps).sum())
    values, counts = np.unique(gaps, return_counts=True)
    if missing < 2 or (len(values) > 1 and counts.max() / counts.sum() > 0.9 and values[counts.argmax()] % 2):
        return gaps, None
    total = float(whole.sum())
    return whole, Estimate(total / missing, total / (missing + 1), total / max(1, missing - 1))


def _are_pages(gaps: "NDArray[np.int64]") -> bool:
    """Whether nearly all distances are powers of two."""
    import numpy as np

    return bool(np.mean(gaps & (gaps - 1) == 0) > 0.9)


def _parity(bench: Bench, found: Estimate | None) -> None:
    if found is None:
        bench.cannot_tell("parity.units_per_stripe", "pages follow each other evenly: no parity, or less than 1 in 500")
        return
    power = 2 ** round(math.log2(found.value))
    value = power if found.low <= power <= found.high else found.value
    bench.infer("parity.units_per_stripe", Estimate(value, found.low, found.high), whole=True)


def _level(once: "NDArray[np.float64]") -> float:
    """The latency in microseconds that separates pairs on two dies from pairs in one page. If there is only one kind,
    the lowest latency."""
    import numpy as np

    rising = np.sort(once)
    kept = rising[int(0.02 * len(rising)) : int(0.98 * len(rising))]
    if len(kept) < 2:
        return float(rising[0])
    at = int(np.argmax(np.diff(kept)))
    low, high = kept[: at + 1], kept[at + 1 :]
    noise = max(float(np.std(low)), float(np.std(high)), 0.02)
    if float(np.mean(high) - np.mean(low)) > 4 * noise and min(len(low), len(high)) >= 0.03 * len(kept):
        return float(low[-1] + high[0]) / 2
    return float(rising[0])


def _geometry(gaps: "NDArray[np.int64]", unit: int, ladder: _Ladder) -> tuple[int | None, int | None]:
    """Page and planes, from the distances between pairs that need two reads of one die, or (None, None).

    Within a die these pairs are one page apart. From the last of a die to the first of the next they are two pages
    apart, because the first page of the next die follows on another die.
    """
    import numpy as np

    if len(gaps) < 4:
        return None, None
    if not _are_pages(gaps):
        return None, None
    values, counts = np.unique(gaps, return_counts=True)
    usual = values[counts >= 0.04 * counts.sum()]
    if len(usual) == 1:
        return _two_planes_or_one_die(int(usual[0]) * unit, unit, ladder)
    small, large = int(usual[0]), int(usual[-1])
    if large != 2 * small:
        return None, None
    planes = round(counts[values == small][0] / counts[values == large][0]) + 2
    return small * unit, planes


def _two_planes_or_one_die(period: int, unit: int, ladder: _Ladder) -> tuple[int, int]:
    """Page and planes from a single distance. With two planes a read of a whole period takes two page reads; on a
    single die each period is a page."""
    half = period // 2
    if half < unit or period not in ladder.latency or half not in ladder.latency:
        return max(unit, period if half < unit else half), 1 if half < unit else 2
    one = ladder.latency[unit].value
    return (half, 2) if ladder.latency[period].value - ladder.latency[half].value > 0.5 * one else (period, 1)


def _one_plane(gaps: "NDArray[np.int64]", unit: int) -> tuple[int | None, int | None]:
    import numpy as np

    if len(gaps) < 4:
        return None, None
    values, counts = np.unique(gaps, return_counts=True)
    best = int(np.argmax(counts))
    usual = int(values[best])
    return (usual * unit, 1) if counts[best] >= 0.8 * counts.sum() and usual > 1 else (None, None)


def _sizes_picture(ladder: _Ladder, unit: int) -> Picture:
    points = [(size / 1024, each.value) for size, each in ladder.latency.items()]
    return Picture(
        "read-sizes",
        f"Reads of up to {unit // 1024} KiB take the same work: the mapping unit",
        "Median latency of random reads at depth 1, aligned to their size.",
        "KiB read",
        "microseconds",
        [Line("measured", points)],
        [Marks("mapping unit", [(unit / 1024, ladder.latency[unit].value)])],
        log_x=True,
    )


def _pairs_picture(by_place: "NDArray[np.float64]", unit: int, page: int | None, planes: int | None) -> Picture:
    shown = 64
    finding = "Where two neighbouring units are read, no step shows: one plane, or pages of one unit"
    if page is not None:
        finding = f"Every {page // 1024} KiB a page ends; {planes} of them lie on a die"
    return Picture(
        "read-pairs",
        finding,
        "Median latency of reads of two mapping units by their place: two pages of a die are read one after the other.",
        "KiB from the start of the region",
        "microseconds",
        [Line("measured", [(at * unit / 1024, float(each)) for at, each in enumerate(by_place[:shown])])],
    )


EXPERIMENT = Experiment(
    NAME,
    "single reads by size and place",
    ("ftl.mapping_unit_bytes", "nand.page_bytes", "nand.planes_per_die", "nand.read_us", "nand.channel_mb_s",
     "host_link.mb_s"),
    _run,
    write_share=0.0,
)  # fmt: skip
