"""Scales the sizes and times of a job file for `--scale`.

A scaled drive is as fast as the full one, so that a job takes the same share of its time. Lengths of requests, rates,
pauses between requests and windows of statistics do not change.
"""

from fractions import Fraction

ALIGN_BYTES = 4096
"""The alignment of files, and of ranges given in bytes."""


def scaled_bytes(size_bytes: int, scale: Fraction, step: int) -> int:
    """The scaled size in whole steps, at least one; unchanged if it is 0 or the scale is 1."""
    if scale == 1 or size_bytes == 0:
        return size_bytes
    return max(step, round(size_bytes * scale / step) * step)


def scaled_ns(time_ns: int, scale: Fraction) -> int:
    """The scaled duration, start delay or ramp time of a job, at least 1 ns; unchanged if it is 0 or the scale is 1."""
    return scaled_bytes(time_ns, scale, 1)
