"""Sizes of a job file under `--scale`."""

from fractions import Fraction

ALIGN_BYTES = 4096
"""Files, and what is placed by bytes, lie on bounds of so much."""


def scaled_bytes(size_bytes: int, scale: Fraction, step: int) -> int:
    """A size under the scale: in whole steps and never 0, or as it is when nothing is scaled."""
    if scale == 1 or size_bytes == 0:
        return size_bytes
    return max(step, round(size_bytes * scale / step) * step)
