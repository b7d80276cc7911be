"""Skew under `--scale`, and scattered zones."""

from fractions import Fraction

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import parse


def test_a_scaled_zipf_keeps_the_skew_of_the_full_range() -> None:
    """A regression: a sixteenth of the ranks had another skew than the full range.

    Write amplification under Zipf then depended on the scale.
    """
    job_file = parse("[a]\nrw=randwrite\nrandom_distribution=zipf:0.99\n", "x.fio")
    (full,) = job_file.resolve(1 << 30, seed=1)
    (scaled,) = job_file.resolve(1 << 26, seed=1, scale=Fraction(1, 16))
    assert "ranks_per_block" not in full["distribution"]
    assert scaled["distribution"] == full["distribution"] | {"ranks_per_block": 16}


def test_zones_lie_scattered_where_the_job_says_so() -> None:
    text = "[a]\nrw=randwrite\nrandom_distribution=zoned:95/5:5/95\n"
    (plain,) = parse(text, "x.fio").resolve(1 << 20, seed=1)
    (scattered,) = parse(text + "zoned_scatter=1\n", "x.fio").resolve(1 << 20, seed=1)
    assert scattered["distribution"] == plain["distribution"] | {"scattered": True}
    by_direction = "[a]\nrw=randrw\nrandom_distribution=zoned:95/5:5/95,5/95:95/5\nzoned_scatter=1\n"
    with pytest.raises(InputError, match="zoned_scatter"):
        parse(by_direction, "x.fio").resolve(1 << 20, seed=1)
