"""Single reads of many sizes and places, and two at once: infers the mapping unit, the page, the planes, parity, dies,
channels, and read and transfer times.

A read of part of a mapping unit takes as long as a read of the whole unit, apart from the link. Two neighbouring units
take one read and two transfers if they are in one page, two consecutive reads if they are in two pages of one die, and
one read time if they are on two dies. Two reads at once wait for each other if they lie on the same die, and their
transfers if they lie on the same channel. `layout.py` has the model and its fit.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ssdlab.identification.bench import Bench, Experiment
from ssdlab.identification.box import Completed
from ssdlab.identification.estimate import Estimate, beginning, derived, exactly
from ssdlab.identification.evidence import Picture
from ssdlab.identification.experiments.layout import (
    PIECE_BYTES,
    TRANSFERS,
    Arrangement,
    Layout,
    arrangement,
    channels,
    kinds,
)
from ssdlab.identification.experiments.regions import Region, read_region
from ssdlab.report.lines import Line, Marks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.identification.box import Floats, Ints

NAME = "reads"
_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
_READS = 400
_PAIRS = 24_000
_PAIR_BYTES = 4 << 20
_AT_ONCE = 8000
_AT_ONCE_BYTES = 32 << 20
# Shares above which an arrangement explains too little.
_WRONG_NEIGHBOURS_MAX, _WRONG_PAIRS_MAX = 0.05, 0.02
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
    link = ladder.slope(sizes[0], PIECE_BYTES) if sizes[0] < PIECE_BYTES else Estimate(0.0, 0.0, 0.0)
    by_place, pairs, places = _neighbours(bench, region)
    taken = kinds(by_place, ladder.latency[PIECE_BYTES].value, PIECE_BYTES * link.value)
    at_once = _AtOnce.read(bench, region, sizes[0])
    found = at_once.arrangement(taken, ladder)
    if found.wrong_neighbours > _WRONG_NEIGHBOURS_MAX or found.wrong_pairs > _WRONG_PAIRS_MAX:
        unit, transfer = _mapping_unit(ladder), Estimate(0.0, 0.0, 0.0)
        _cannot_tell_pages(bench, found)
        bench.show(_pairs_picture(by_place, None))
    else:
        unit = found.layout.unit_bytes
        transfer = _arranged(bench, found, at_once, ladder, link, pairs.latency_us[taken[places] == TRANSFERS])
        bench.show(_pairs_picture(by_place, found.layout))
    bench.infer("ftl.mapping_unit_bytes", exactly(unit), whole=True)
    if sizes[0] < unit:
        link = ladder.slope(sizes[0], unit)
    _link(bench, link)
    bench.show(_sizes_picture(ladder, unit))
    read = derived(
        lambda whole, us_a_byte, of_link: whole - unit * (us_a_byte + of_link), ladder.latency[unit], transfer, link
    )
    bench.infer("nand.read_us", read.clipped())
    if transfer.value > 0 and transfer.low > 0:
        bench.infer("nand.channel_mb_s", Estimate(1 / transfer.value, 1 / transfer.high, 1 / transfer.low))
    else:
        bench.cannot_tell("nand.channel_mb_s", "transfers on a channel are lost in the noise of a read")
    bench.outcome.facts |= {
        "read_region": [region.offset_bytes, region.size_bytes],
        "transfer_us_per_byte": [transfer.value, transfer.low, transfer.high],
        "link_us_per_byte": [link.value, link.low, link.high],
        "wrong_neighbours": found.wrong_neighbours,
        "wrong_pairs": found.wrong_pairs,
    }


def _neighbours(bench: Bench, region: Region) -> tuple["Floats", Completed, "Ints"]:
    """The median latency of a read of each piece and the next one, all these reads, and their places."""
    import numpy as np

    few = Region(region.offset_bytes, min(_PAIR_BYTES, region.size_bytes))
    pairs = bench.one(few.reads(2 * PIECE_BYTES, _PAIRS, aligned_bytes=PIECE_BYTES))
    places = ((pairs.offset_bytes - region.offset_bytes) // PIECE_BYTES).astype(np.int64)
    by_place = [np.median(pairs.latency_us[places == each]) for each in range(int(places.max()) + 1)]
    return np.array(by_place), pairs, places


@dataclass(frozen=True)
class _AtOnce:
    """Pairs of single reads that are submitted together."""

    first: "Ints"
    second: "Ints"
    """The pieces that a pair reads."""
    latency_us: "Floats"
    """The latencies of both reads of each pair."""
    size_bytes: int

    @classmethod
    def read(cls, bench: Bench, region: Region, size_bytes: int) -> "_AtOnce":
        """Reads of the smallest size, so that the link hides nothing."""
        import numpy as np

        few = Region(region.offset_bytes, min(_AT_ONCE_BYTES, region.size_bytes))
        done = bench.one(few.pairs(size_bytes, _AT_ONCE, aligned_bytes=PIECE_BYTES))
        whole = len(done.latency_us) // 2 * 2
        places = ((done.offset_bytes[:whole] - region.offset_bytes) // PIECE_BYTES).astype(np.int64).reshape(-1, 2)
        return cls(places[:, 0], places[:, 1], done.latency_us[:whole].reshape(-1, 2), size_bytes)

    def waited(self, single_us: float) -> "NDArray[np.bool_]":
        """The pairs of which one read waited for the other one's read of the flash."""
        waited: NDArray[np.bool_] = self.latency_us.max(axis=1) > 1.5 * single_us
        return waited

    def arrangement(self, taken: "Ints", ladder: _Ladder) -> Arrangement:
        waited = self.waited(ladder.latency[self.size_bytes].value)
        return arrangement(taken, self.first, self.second, waited)


def _cannot_tell_pages(bench: Bench, found: Arrangement) -> None:
    reason = (
        f"no arrangement of pages explains reads of two pieces of 4 KiB (nearest: {100 * found.wrong_neighbours:.0f} % "
        f"of neighbours and {100 * found.wrong_pairs:.0f} % of distant pairs otherwise)"
    )
    for key in ("nand.page_bytes", "nand.planes_per_die", "parity.units_per_stripe"):
        bench.cannot_tell(key, reason)


def _arranged(
    bench: Bench, found: Arrangement, at_once: _AtOnce, ladder: _Ladder, link: Estimate, within_page_us: "Floats"
) -> Estimate:
    """Records pages, planes and parity. Returns the microseconds per byte on a channel, 0 if they are not known."""
    import numpy as np

    layout = found.layout
    bench.infer("nand.page_bytes", exactly(layout.page_bytes), whole=True)
    bench.infer("nand.planes_per_die", exactly(layout.planes), whole=True)
    if layout.units_per_stripe:
        bench.infer("parity.units_per_stripe", exactly(layout.units_per_stripe), whole=True)
    else:
        bench.cannot_tell("parity.units_per_stripe", "pages follow each other evenly: no parity, or less than 1 in 500")
    single = ladder.latency[at_once.size_bytes]
    apart = ~at_once.waited(single.value)
    distance = np.abs(layout.groups(at_once.first) - layout.groups(at_once.second))[apart]
    latency = at_once.latency_us[apart]
    count, same = channels(distance, latency.max(axis=1), single.value, found.dies)
    bench.outcome.facts |= {"dies": found.dies, "dies_likely": list(found.dies_likely), "channels": count}
    if layout.page_units > 1 and len(within_page_us):
        one = ladder.latency[PIECE_BYTES]
        if layout.unit_pieces > 1:
            one = derived(lambda small, us: small + PIECE_BYTES * us, one, link)
            return derived(lambda two, alone: (two - alone) / layout.unit_bytes, beginning(within_page_us), one)
        return derived(
            lambda two, alone, us: (two - alone) / layout.unit_bytes - us, beginning(within_page_us), one, link
        )
    if np.any(same) and not np.all(same):
        # The second transfer of two on a channel waits for the first.
        later, alone = beginning(latency[same].max(axis=1)), beginning(latency[~same].ravel())
        return derived(lambda two, one: (two - one) / layout.unit_bytes, later, alone)
    return Estimate(0.0, 0.0, 0.0)


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


def _pairs_picture(by_place: "Floats", layout: Layout | None) -> Picture:
    shown = 64
    finding = "Where two neighbouring pieces are read, no regular pages show"
    if layout is not None:
        finding = f"Every {layout.page_bytes // 1024} KiB a page ends; {layout.planes} of them lie on a die"
    return Picture(
        "read-pairs",
        finding,
        "Median latency of reads of two pieces of 4 KiB by place: two pages of a die are read one after the other.",
        "KiB from the start of the region",
        "microseconds",
        [Line("measured", [(at * PIECE_BYTES / 1024, float(each)) for at, each in enumerate(by_place[:shown])])],
    )


EXPERIMENT = Experiment(
    NAME,
    "single reads by size and place",
    ("ftl.mapping_unit_bytes", "nand.page_bytes", "nand.planes_per_die", "nand.read_us", "nand.channel_mb_s",
     "host_link.mb_s", "parity.units_per_stripe"),
    _run,
    write_share=0.0,
)  # fmt: skip
