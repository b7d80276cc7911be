"""Sizes and times of a job file under `--scale`.

A smaller drive is as fast as the full one, so that a job does in the same share of its time what it does to the full
drive. Lengths of requests, rates, pauses between requests and windows of statistics stay what they are.
"""

from fractions import Fraction

ALIGN_BYTES = 4096
"""Files, and what is placed by bytes, lie on bounds of so much."""


def scaled_bytes(size_bytes: int, scale: Fraction, step: int) -> int:
    """A size under the scale: in whole steps and never 0, or as it is when nothing is scaled."""
    if scale == 1 or size_bytes == 0:
        return size_bytes
    return max(step, round(size_bytes * scale / step) * step)


def scaled_ns(time_ns: int, scale: Fraction) -> int:
    """How long a job takes, rests or waits under the scale: never 0, or as it is when nothing is scaled."""
    return scaled_bytes(time_ns, scale, 1)
