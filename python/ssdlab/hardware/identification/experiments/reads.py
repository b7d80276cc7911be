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

from ssdlab.foundation.quantities import rounded
from ssdlab.hardware.identification.bench import Bench, Experiment
from ssdlab.hardware.identification.box import Completed
from ssdlab.hardware.identification.estimate import Estimate, beginning, derived, exactly, within
from ssdlab.hardware.identification.evidence import Picture
from ssdlab.hardware.identification.experiments.layout import (
    ANOTHER_READ,
    PIECE_BYTES,
    TRANSFERS,
    Arrangement,
    Layout,
    arrangement,
    channels,
    kinds,
    levels,
    pages_per_program,
)
from ssdlab.hardware.identification.experiments.regions import Region, read_region
from ssdlab.presentation.report.lines import Line, Marks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.hardware.identification.box import Floats, Ints

NAME = "reads"
_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
_READS = 400
_PAIRS = 24_000
_PAIR_BYTES = 4 << 20
# Pages of which some take longer by more than this are of several kinds.
_KINDS_US, _KINDS_SHARE = 1.5, 0.03
# The relative uncertainty of the mean of all kinds of pages.
_MEAN_SHARE = 0.004
_UNDELAYED = 15
"""The percentile of the latencies of a place."""
_AT_ONCE = 8000
_AT_ONCE_BYTES = 32 << 20
# Shares above which an arrangement explains too little.
_WRONG_NEIGHBOURS_MAX, _WRONG_PAIRS_MAX = 0.05, 0.02
# The share of a read's time by which the host may delay one in two reads of a place more than the fastest ones
# (`_UNDELAYED`): with more, pages, dies and transfers came out wrong, and certain.
_SCATTER_MAX = 0.05
# Faster than any link. At this speed a transfer takes less time than the noise.
_LINK_MB_S_MAX = 16_000


@dataclass(frozen=True)
class _Ladder:
    """Latency in microseconds by request size, without the time that the host adds."""

    latency: dict[int, Estimate]

    def slope(self, small: int, large: int) -> Estimate:
        """Microseconds per byte between two sizes."""
        return derived(lambda a, b: (b - a) / (large - small), self.latency[small], self.latency[large])

    def rises_after(self, size: int) -> bool:
        """Whether a read of twice this size takes longer, beyond the uncertainty of both."""
        larger = self.latency.get(2 * size)
        return larger is not None and larger.low > self.latency[size].high

    def around(self, added_us: float) -> "_Ladder":
        """All latencies longer by this: those of the mean page, which many reads of each place told."""
        longer = {size: each.value + added_us for size, each in self.latency.items()}
        return _Ladder({size: within(each, _MEAN_SHARE) for size, each in longer.items()})


def _run(bench: Bench) -> None:
    import numpy as np

    region = read_region(bench.facts.get("fill", {}).get("written_bytes", bench.capacity_bytes))
    sizes = [size for size in _SIZES if size >= bench.box.sector_bytes]
    single = _kinds_of_pages(bench, region)
    done = bench.run(*(region.reads(size, _READS) for size in sizes))
    is_mixed = single is not None
    ladder = _Ladder({
        size: beginning(each.latency_us, of_drive=is_mixed) for size, each in zip(sizes, done, strict=True)
    })  # fmt: skip
    link = ladder.slope(sizes[0], PIECE_BYTES) if sizes[0] < PIECE_BYTES else Estimate(0.0, 0.0, 0.0)
    pairs, places = _by_place(bench, region, 2)
    by_place = _undelayed(pairs.latency_us, places)
    if (hidden := _hidden(pairs.latency_us, places, by_place, ladder.latency[PIECE_BYTES].value)) is not None:
        for key in EXPERIMENT.keys:
            bench.cannot_tell(key, hidden)
        bench.show(_pairs_picture(by_place, None))
        bench.outcome.facts |= {"read_region": [region.offset_bytes, region.size_bytes], "hidden": hidden}
        return
    taken = kinds(by_place, ladder.latency[PIECE_BYTES].value if single is None else single, PIECE_BYTES * link.value)
    at_once = _AtOnce.read(bench, region, sizes[0])
    alone = done[0].latency_us
    delayed = 1 - float(np.mean(alone <= (1 + ANOTHER_READ) * ladder.latency[sizes[0]].value)) ** 2
    found = at_once.arrangement(taken, ladder, delayed)
    if found.wrong_neighbours > _WRONG_NEIGHBOURS_MAX or found.wrong_pairs > _WRONG_PAIRS_MAX:
        unit, transfer = _mapping_unit(ladder), Estimate(0.0, 0.0, 0.0)
        _cannot_tell_pages(bench, found)
        bench.show(_pairs_picture(by_place, None))
    else:
        unit = found.layout.unit_bytes
        second_us = pairs.latency_us
        level = None if single is None else levels(found.layout, single)
        if single is not None and level is not None:
            # As if all pages took the mean time.
            mean = float(level.mean())
            longer = np.maximum(single[:-1], single[1:])
            second_us = second_us - longer[places] + mean
            at_once = at_once.levelled(found.layout, level)
            ladder = ladder.around(mean - ladder.latency[PIECE_BYTES].value)
        transfer = _arranged(bench, found, at_once, ladder, link, second_us[taken[places] == TRANSFERS], level)
        bench.show(_pairs_picture(by_place, found.layout))
    bench.infer("ftl.mapping_unit_bytes", exactly(unit), whole=True)
    bench.outcome.facts["shows_unit"] = ladder.rises_after(unit)
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


def _by_place(bench: Bench, region: Region, pieces: int) -> tuple[Completed, "Ints"]:
    """Reads of this many pieces from each piece on, many of each, and the first piece of each read."""
    import numpy as np

    few = Region(region.offset_bytes, min(_PAIR_BYTES, region.size_bytes))
    done = bench.one(few.reads(pieces * PIECE_BYTES, _PAIRS, aligned_bytes=PIECE_BYTES))
    return done, ((done.offset_bytes - region.offset_bytes) // PIECE_BYTES).astype(np.int64)


def _undelayed(latency_us: "Floats", places: "Ints") -> "Floats":
    """The latency by place, a low quantile, since a host delays some or, if it is busy, most requests."""
    import numpy as np

    return np.array([np.percentile(latency_us[places == each], _UNDELAYED) for each in range(int(places.max()) + 1)])


def _hidden(latency_us: "Floats", places: "Ints", undelayed_us: "Floats", read_us: float) -> str | None:
    """Why the times of single requests tell nothing, if the host delays many of them by much; None otherwise."""
    import numpy as np

    middle = np.array([np.median(latency_us[places == each]) for each in range(len(undelayed_us))])
    scatter_us = float(np.median(middle - undelayed_us))
    if scatter_us <= _SCATTER_MAX * read_us:
        return None
    return (
        f"requests scatter too much: one in two reads of the same place takes {rounded(scatter_us, 2)} us or more "
        f"above the fastest {_UNDELAYED} %, and a read {rounded(read_us, 2)} us; on an idle machine, or on the device, "
        "less is hidden"
    )


def _kinds_of_pages(bench: Bench, region: Region) -> "Floats | None":
    """The latency of one piece by place, or None if all pages take about the same time."""
    import numpy as np

    done, places = _by_place(bench, region, 1)
    single = _undelayed(done.latency_us, places)
    low, high = np.percentile(single, (5, 95))
    return single if high - low > _KINDS_US + _KINDS_SHARE * low else None


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

    def levelled(self, layout: Layout, level_us: "Floats") -> "_AtOnce":
        """The pairs of pages of one kind, as if all took the mean time: the transfers of others do not meet."""
        import numpy as np

        own = np.stack([level_us[layout.pages(each)] for each in (self.first, self.second)], axis=1)
        alike = np.abs(own[:, 0] - own[:, 1]) < _KINDS_US
        latency = (self.latency_us - own + float(level_us.mean()))[alike]
        return _AtOnce(self.first[alike], self.second[alike], latency, self.size_bytes)

    def waited(self, single_us: float) -> "NDArray[np.bool_]":
        """The pairs of which one read waited for the other one's read of the flash."""
        waited: NDArray[np.bool_] = self.latency_us.max(axis=1) > (1 + ANOTHER_READ) * single_us
        return waited

    def arrangement(self, taken: "Ints", ladder: _Ladder, delayed: float) -> Arrangement:
        """`delayed` is the share of pairs that only the host delays so much."""
        waited = self.waited(ladder.latency[self.size_bytes].value)
        return arrangement(taken, self.first, self.second, waited, delayed)


def _cannot_tell_pages(bench: Bench, found: Arrangement) -> None:
    reason = (
        f"no arrangement of pages explains reads of two pieces of 4 KiB (nearest: {100 * found.wrong_neighbours:.0f} % "
        f"of neighbours and {100 * found.wrong_pairs:.0f} % of distant pairs otherwise)"
    )
    for key in ("nand.page_bytes", "nand.planes_per_die", "nand.pages_per_program", "parity.units_per_stripe"):
        bench.cannot_tell(key, reason)


def _arranged(
    bench: Bench,
    found: Arrangement,
    at_once: _AtOnce,
    ladder: _Ladder,
    link: Estimate,
    within_page_us: "Floats",
    level_us: "Floats | None",
) -> Estimate:
    """Records pages, planes and parity. Returns the microseconds per byte on a channel, 0 if they are not known.

    `level_us` is the latency of each page of a group if they differ.
    """
    import numpy as np

    layout = found.layout
    bench.infer("nand.page_bytes", exactly(layout.page_bytes), whole=True)
    _planes(bench, layout.die_pages, level_us)
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


def _planes(bench: Bench, die_pages: int, level_us: "Floats | None") -> None:
    """Records the planes of a die and the pages that each programs together."""
    together, shown = pages_per_program(die_pages, level_us)
    planes = die_pages // together
    if together > 1 and not shown:
        # Reads of a plane's next page and of the next plane wait alike.
        bench.infer("nand.planes_per_die", Estimate(planes, planes, die_pages), whole=True)
        bench.infer("nand.pages_per_program", Estimate(together, 1, together), whole=True)
        return
    bench.infer("nand.planes_per_die", exactly(planes), whole=True)
    bench.infer("nand.pages_per_program", exactly(together), whole=True)
    if level_us is not None:
        bench.outcome.facts["kinds_us"] = [float(each) for each in level_us.reshape(together, -1).mean(axis=1)]


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
        finding = f"Every {layout.page_bytes // 1024} KiB a page ends; {layout.die_pages} in a row lie on a die"
    return Picture(
        "read-pairs",
        finding,
        "Latency of reads of two pieces of 4 KiB by place: two pages of a die are read one after the other.",
        "KiB from the start of the region",
        "microseconds",
        [Line("measured", [(at * PIECE_BYTES / 1024, float(each)) for at, each in enumerate(by_place[:shown])])],
    )


EXPERIMENT = Experiment(
    NAME,
    "single reads by size and place",
    ("ftl.mapping_unit_bytes", "nand.page_bytes", "nand.planes_per_die", "nand.pages_per_program", "nand.read_us",
     "nand.channel_mb_s", "host_link.mb_s", "parity.units_per_stripe"),
    _run,
    write_share=0.0,
    reads=2 * _PAIRS + 2 * _AT_ONCE + len(_SIZES) * _READS,
)  # fmt: skip
