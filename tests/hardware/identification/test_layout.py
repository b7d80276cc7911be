"""Does the fit find the arrangement of data that produced the reads, against a reference that lists every unit?"""

import numpy as np
import pytest

from ssdlab.hardware.identification.experiments import layout
from ssdlab.hardware.identification.experiments.layout import ONCE, TRANSFERS, TWICE

PLACES, REGION = 1024, 8192


def units_listed(stripe: int, begin: int, count: int) -> list[int]:
    """The physical units of `count` units of data, the first of them at or after `begin`."""
    data = [unit for unit in range(begin, begin + 2 * count + 2) if not stripe or unit % stripe != stripe - 1]
    return data[:count]


def reads(
    unit: int, page: int, planes: int, stripe: int, dies: int, begin: int = 4096
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What neighbours take, and pairs of pieces with their distance of dies and whether one waited for the other."""
    listed = units_listed(stripe, begin, REGION // unit + 2)
    of_place = [listed[place // unit] for place in range(REGION + 1)]
    die = [each // (page * planes) for each in of_place]

    def taken(at: int) -> int:
        one, two = of_place[at], of_place[at + 1]
        if one == two:
            return ONCE
        if one // page == two // page:
            return TRANSFERS
        return TWICE if die[at] == die[at + 1] else ONCE

    draw = np.random.default_rng(1)
    first, second = draw.integers(0, REGION, 8000), draw.integers(0, REGION, 8000)
    apart = np.array([abs(die[one] - die[two]) for one, two in zip(first, second, strict=True)])
    # A host delays a few reads.
    waited = (apart % dies == 0) | (draw.random(8000) < 0.002)
    return np.array([taken(at) for at in range(PLACES)]), first, second, waited, apart


@pytest.mark.parametrize("stripe", [0, 16, 64, 128])
@pytest.mark.parametrize(("unit", "page"), [(1, 4), (1, 2), (2, 2), (2, 1)])
@pytest.mark.parametrize(("planes", "dies"), [(1, 24), (2, 32), (4, 12)])
def test_units_pages_planes_parity_and_dies_are_found(
    unit: int, page: int, planes: int, dies: int, stripe: int
) -> None:
    """Parity shifts pages: before it was part of the model, most drives with parity had wrong pages and dies."""
    taken, first, second, waited, _ = reads(unit, page, planes, stripe, dies)
    found = layout.arrangement(taken, first, second, waited)
    seen = found.layout
    assert (seen.unit_pieces, seen.page_units, seen.die_pages, seen.units_per_stripe, found.dies) == (
        unit, page, planes, stripe, dies,
    )  # fmt: skip
    assert list(found.dies_likely) == [dies]


@pytest.mark.parametrize(("dies", "count"), [(16, 4), (8, 8), (32, 8), (12, 1), (6, 2)])
def test_channels_are_told_by_transfers_that_wait(dies: int, count: int) -> None:
    """A drive with a channel for each die was taken for one with two channels."""
    *_, apart = reads(1, 4, 2, 0, dies)
    kept = apart % dies != 0
    draw = np.random.default_rng(2)
    latency = 60 + 3 * (apart[kept] % count == 0) + draw.exponential(0.7, int(kept.sum()))
    found, same = layout.channels(apart[kept], latency, 60.5, dies)
    assert found == count
    assert np.array_equal(same, apart[kept] % count == 0)


@pytest.mark.parametrize("dies", [4, 16, 24])
def test_dies_are_found_behind_a_busy_host(dies: int) -> None:
    """A host that delays a third of all pairs made them look as if they had waited for each other."""
    taken, first, second, waited, _ = reads(1, 4, 2, 0, dies)
    delayed = np.random.default_rng(4).random(len(waited)) < 0.33
    found = layout.arrangement(taken, first, second, waited | delayed, 0.33)
    assert (found.layout.page_units, found.layout.die_pages, found.dies) == (4, 2, dies)


def test_pages_of_a_word_line_tell_planes() -> None:
    """Four planes with three pages in one shot were no arrangement at all."""
    level = np.repeat([51.0, 52.0, 62.0], 4) + np.random.default_rng(5).normal(0, 0.05, 12)
    assert layout.pages_per_program(12, level) == (3, True)
    assert layout.pages_per_program(12, None) == (3, False)
    assert layout.pages_per_program(4, None) == (1, False)


def test_second_transfers_may_take_longer_than_a_read() -> None:
    """Units of 8 KiB on a slow channel: two of a page were taken for two pages, which exchanged page and planes."""
    draw = np.random.default_rng(6)
    true = np.tile([ONCE, TRANSFERS, ONCE, TWICE], 64)
    latency = np.array([53.0, 81.0, 106.0])[true] + draw.normal(0, 0.15, len(true))
    assert np.array_equal(layout.kinds(latency, 53.0, 0.0), true)


def test_kinds_of_reads_are_told_by_their_latency() -> None:
    draw = np.random.default_rng(3)
    true = np.tile([TRANSFERS, TRANSFERS, TWICE, ONCE], 64)
    latency = np.array([52.0, 57.0, 107.0])[true] + draw.normal(0, 0.15, len(true))
    assert np.array_equal(layout.kinds(latency, 50.0, 2.0), true)
    assert set(layout.kinds(np.full(64, 52.0) + draw.normal(0, 0.15, 64), 50.0, 2.0)) == {ONCE}
    assert set(layout.kinds(np.full(64, 57.0) + draw.normal(0, 0.15, 64), 50.0, 2.0)) == {TRANSFERS}
