"""Where consecutive data lie in flash: an analytical model of units, pages, planes, dies, channels and parity, and its
fit to reads of two pieces of 4 KiB.

Consecutive units fill a page, the pages that a die programs together, and then the next die. One unit in
`units_per_stripe` holds parity and no data of the host. Two pieces that are read together take

- one read, if they are parts of one unit or lie on two dies with channels of their own;
- one read and a second transfer, if they are units of one page;
- two reads, one after the other, if they are on different pages of one die.

All places are numbered in pieces of 4 KiB from the start of a region.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import lcm
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ssdlab.hardware.identification.box import Floats, Ints

PIECE_BYTES = 4096
ANOTHER_READ = 0.8
"""A read that waits for another one takes longer by at least this share of a read. Second transfers take less, although
those of large units on slow channels take longer than a read of the flash."""
ONCE, TRANSFERS, TWICE = 0, 1, 2
"""What a read of two pieces takes: a read, a second transfer too, or two reads."""

_UNITS = (1, 2, 4, 8)
_PAGES = (1, 2, 4, 8, 16)
_DIE_PAGES = (1, 2, 3, 4, 6, 8, 12, 16, 24)
_PAGE_PIECES_MAX = 16
_STRIPES = (4, 8, 16, 32, 64, 128, 256, 12, 24, 48, 96, 20, 40, 80, 160)
"""Numbers of units per unit of parity."""
_DIES_MAX = 512
# A layout with parity must explain this many more places than one without: there are more of them.
_PLACES_FOR_PARITY = 3
# Layouts that explain nearly as many neighbours as the best one are compared by reads of distant pieces.
_NEARLY, _COMPARED_MAX = 0.002, 1200
# A layout without parity that leaves fewer places than this unexplained needs no parity.
_EXPLAINED = 0.002
# Channels shared by dies must reduce the deviations of latencies to this share.
_CHANNELS_EXPLAIN = 0.97
# Pages whose times differ by less are of one kind; planes differ by less than this share of what kinds differ.
_TYPED_US, _TYPED_SHARE = 1.0, 0.25
_PAGES_PER_PROGRAM_MAX = 4
# The shares of places whose latency is left out at either end, and of the rarer kind: a die with 12 pages of four units
# ends once in 48.
_OUTLIERS, _KIND_MIN = 0.002, 0.008
_LEAST_DELAYED = 30
"""The percentage of the pairs of a distance that are compared."""
# Pairs that take longer than a single read by less than this wait for the host only.
_CHANNEL_US, _CHANNEL_SHARE = 1.5, 0.03


@dataclass(frozen=True)
class Layout:
    """The arrangement of data on one die, and its phase in the region."""

    unit_pieces: int
    page_units: int
    die_pages: int
    """Pages that a die programs together: one of each plane, or several with one-shot programming."""
    units_per_stripe: int
    """0: no parity."""
    phase_units: int
    """Data units between the start of a stripe, or of a die's pages without parity, and the region."""

    @property
    def unit_bytes(self) -> int:
        return self.unit_pieces * PIECE_BYTES

    @property
    def page_bytes(self) -> int:
        return self.page_units * self.unit_bytes

    def units(self, places: "Ints") -> "Ints":
        """The physical numbers of the units that hold these pieces."""
        data = places // self.unit_pieces + self.phase_units
        return data + data // (self.units_per_stripe - 1) if self.units_per_stripe else data

    def groups(self, places: "Ints") -> "Ints":
        """Physical numbers of the groups of pages that are programmed together."""
        return self.units(places) // (self.page_units * self.die_pages)

    def pages(self, places: "Ints") -> "Ints":
        """The page of each piece within its group."""
        return self.units(places) // self.page_units % self.die_pages

    def neighbours(self, count: int) -> "Ints":
        """What a read of each place and the next one takes, for the first `count` places."""
        import numpy as np

        unit = self.units(np.arange(count + 1))
        page, group = unit // self.page_units, unit // (self.page_units * self.die_pages)
        taken = np.where(page[1:] == page[:-1], TRANSFERS, np.where(group[1:] == group[:-1], TWICE, ONCE))
        return np.where(unit[1:] == unit[:-1], ONCE, taken)


@dataclass(frozen=True)
class Arrangement:
    """A layout with the dies that repeat it."""

    layout: Layout
    dies: int
    wrong_neighbours: float
    """The share of neighbours that the layout does not explain."""
    wrong_pairs: float
    """The share of pairs of distant pieces that wait for each other or do not, against the arrangement."""
    dies_likely: Sequence[int]
    """All numbers of dies that explain the pairs about as well."""


def kinds(by_place: "Floats", single_us: "Floats | float", link_us: float) -> "Ints":
    """What each read of a piece and the next one took, from its latency.

    `single_us` is the latency of one piece, by place if pages differ; `link_us` what the link adds for a second one.
    """
    import numpy as np

    single = np.broadcast_to(np.asarray(single_us, dtype=np.float64), (len(by_place) + 1,))
    longer = np.maximum(single[1:], single[:-1])
    twice = by_place > longer + link_us + ANOTHER_READ * (single.min() - link_us)
    # Relative to the usual piece.
    usual = float(np.median(single))
    level_us = by_place - longer + usual
    rising = np.sort(level_us[~twice])
    level = usual + link_us
    if len(rising) > 1:
        level = _level(rising, level)
    return np.where(twice, TWICE, np.where(level_us > level, TRANSFERS, ONCE))


def levels(layout: Layout, single_us: "Floats") -> "Floats":
    """The latency of one piece by page of a group, from that by place."""
    import numpy as np

    page = layout.pages(np.arange(len(single_us)))
    return np.array([np.median(single_us[page == each]) for each in range(layout.die_pages)])


def pages_per_program(die_pages: int, level_us: "Floats | None") -> tuple[int, bool]:
    """How many pages of each plane are programmed together, of `die_pages` on all planes, and whether reads show it.

    The pages of a word line take different times, the planes of a page the same. `level_us` has the latency of each
    page of a group, or is None if all are equal.
    """
    import numpy as np

    possible = [each for each in range(1, _PAGES_PER_PROGRAM_MAX + 1) if die_pages % each == 0]
    if level_us is not None and (spread := float(np.ptp(level_us))) > _TYPED_US:
        for each in possible:
            if float(np.ptp(level_us.reshape(each, -1), axis=1).max()) < _TYPED_SHARE * spread:
                return each, True
    # Dies have a power of two of planes.
    return next((each for each in possible if (die_pages // each).bit_count() == 1), 1), False


def _level(rising: "Floats", expected_us: float) -> float:
    """The latency that separates reads that take a second transfer from those that do not."""
    import numpy as np

    out = int(_OUTLIERS * len(rising))
    kept = rising[out : len(rising) - out]
    at = int(np.argmax(np.diff(kept))) if len(kept) > 1 else 0
    low, high = kept[: at + 1], kept[at + 1 :]
    if len(high):
        noise = max(float(np.std(low)), float(np.std(high)), 0.02)
        if float(np.mean(high) - np.mean(low)) > 4 * noise and min(len(low), len(high)) >= _KIND_MIN * len(kept):
            return float(low[-1] + high[0]) / 2
    # There is only one kind.
    noise = max(3 * float(np.std(kept)), 0.3, 0.015 * expected_us)
    return float(rising[0]) - 1 if float(np.median(kept)) > expected_us + noise else float(rising[-1]) + 1


def arrangement(
    kinds_by_place: "Ints", first: "Ints", second: "Ints", waited: "NDArray[np.bool_]", delayed: float = 0.0
) -> Arrangement:
    """The arrangement that explains most: neighbours by place, and pairs of pieces read at once, one of which `waited`
    for the other. `delayed` is the share of pairs that seem to have waited because the host was busy."""
    found = [_with_dies(layout, wrong, first, second, waited, delayed) for layout, wrong in _layouts(kinds_by_place)]
    # Of equal ones the first, which is the simplest.
    return min(found, key=lambda each: each.wrong_pairs + each.wrong_neighbours)


def _layouts(kinds_by_place: "Ints") -> list[tuple[Layout, float]]:
    """The layouts that explain the neighbours nearly best, with the share of places that they do not explain."""
    import numpy as np

    found = _explained(kinds_by_place, (0,))
    if not np.any(kinds_by_place):
        # Pieces that never wait for their neighbour do not show where parity is; distant pieces do.
        found += _explained(kinds_by_place, _STRIPES)
    elif found[0][1] > _EXPLAINED:
        extra = _PLACES_FOR_PARITY / len(kinds_by_place)
        found += [(layout, wrong + extra) for layout, wrong in _explained(kinds_by_place, _STRIPES)]
    found.sort(key=lambda each: each[1])
    return [each for each in found if each[1] <= found[0][1] + _NEARLY][:_COMPARED_MAX]


def _explained(kinds_by_place: "Ints", stripes: Sequence[int]) -> list[tuple[Layout, float]]:
    """The layouts with their phases that explain nearly as much as the best, with the share of places not explained."""
    import numpy as np

    count = len(kinds_by_place)
    explained = []
    for units_per_stripe, unit, page, die_pages in product(stripes, _UNITS, _PAGES, _DIE_PAGES):
        if unit * page > _PAGE_PIECES_MAX:
            continue
        phases = page * die_pages
        if units_per_stripe:
            phases = lcm(phases, units_per_stripe) // units_per_stripe * (units_per_stripe - 1)
        layout = Layout(unit, page, die_pages, units_per_stripe, 0)
        # A later phase is the same sequence from a later place on.
        whole = layout.neighbours(count + phases * unit)
        windows = np.lib.stride_tricks.sliding_window_view(whole, count)[: phases * unit : unit]
        explained.append((layout, np.count_nonzero(windows != kinds_by_place, axis=1) / count))
    limit = min(float(wrong.min()) for _, wrong in explained) + _NEARLY
    found = [
        (replace(layout, phase_units=phase), float(wrong[phase]))
        for layout, wrong in explained
        for phase in np.flatnonzero(wrong <= limit).tolist()
    ]
    return sorted(found, key=lambda each: each[1])


def _with_dies(
    layout: Layout, wrong: float, first: "Ints", second: "Ints", waited: "NDArray[np.bool_]", delayed: float
) -> Arrangement:
    """The number of dies for which pairs on one die waited and others did not, but for those that the host delayed."""
    import numpy as np

    apart = np.abs(layout.groups(first) - layout.groups(second))
    most = int(apart.max()) + 1
    waits, others = (np.bincount(apart[each], minlength=most) for each in (waited, ~waited))
    places, begin = _multiples(most)
    without = np.add.reduceat(others[places], begin)
    apart_waiting = waits.sum() - np.add.reduceat(waits[places], begin)
    by_host = delayed * (apart_waiting + others.sum() - without)
    shares = (without + np.abs(apart_waiting - by_host)) / len(apart)
    best = int(np.argmin(shares))
    likely = np.flatnonzero(shares <= 1.2 * shares[best] + 0.0005) + 1
    return Arrangement(layout, best + 1, wrong, float(shares[best]), likely.tolist())


@lru_cache(maxsize=32)
def _multiples(most: int) -> tuple["Ints", "Ints"]:
    """The multiples below `most` of 1, of 2 and so on, up to `_DIES_MAX`, and where those of each begin."""
    import numpy as np

    each = [np.arange(0, most, dies) for dies in range(1, min(_DIES_MAX, most) + 1)]
    return np.concatenate(each), np.cumsum([0, *map(len, each[:-1])])


def _least_delayed(apart: "Ints", latency_us: "Floats") -> tuple["Ints", "Floats"]:
    """The fastest pairs of each distance: a busy host delays most of them."""
    import numpy as np

    limit = {each: np.percentile(latency_us[apart == each], _LEAST_DELAYED) for each in np.unique(apart).tolist()}
    kept = latency_us <= np.array([limit[each] for each in apart.tolist()])
    return apart[kept], latency_us[kept]


def channels(dies_apart: "Ints", latency_us: "Floats", single_us: float, dies: int) -> tuple[int, "NDArray[np.bool_]"]:
    """The channels, and which pairs of reads on two dies share one, from the latency of each pair's later read.

    `dies_apart` is the distance of the dies of a pair. On one channel the second transfer waits for the first.
    """
    import numpy as np

    every = dies_apart
    dies_apart, latency_us = _least_delayed(dies_apart % dies, latency_us)
    # With a channel for each die all pairs take the same time.
    best, least = dies, _CHANNELS_EXPLAIN * float(np.abs(latency_us - np.median(latency_us)).sum())
    for count in (each for each in range(2, dies) if dies % each == 0):
        same = dies_apart % count == 0
        waiting, others = latency_us[same], latency_us[~same]
        if not len(waiting) or not len(others) or np.median(waiting) < np.median(others):
            continue
        left = sum(float(np.abs(each - np.median(each)).sum()) for each in (waiting, others))
        if left < least:
            best, least = count, left
    if best == dies and dies > 1 and np.median(latency_us) > single_us + max(_CHANNEL_US, _CHANNEL_SHARE * single_us):
        # All pairs wait, and no distance waits less.
        best = 1
    return best, every % best == 0
