"""The values of fio 3.33 that `zipf_like_fio` needs: the seeds of its skewed offsets, and which blocks they reach.

The distribution itself is `crates/engine/src/workload/distribution/like_fio.rs`.
"""

import math
from typing import Any

_WORD = 0xFFFFFFFF
_GOLDEN_32 = 0x61C88647
# The factor by which fio multiplies ranks to scatter them: 2^64 x (1 - 1 / golden ratio).
_SCATTER = 0x61C8864680B583EB
_DRAWS = 1 << 32
_ZETA_TERMS_MAX = 10_000_000
# The count takes one byte of memory for each block.
BLOCKS_COUNTED_MAX = 1 << 28
_CHUNK = 1 << 22


def seed(file_name: str, thread_number: int) -> int:
    """The seed of a file's offsets in the fio job with this number, from 1: the hash of the name times the number."""
    return _name_hash(file_name.encode()) * thread_number & _WORD


def _name_hash(name: bytes) -> int:
    """Bob Jenkins' hash of 2006 (lookup3) as fio implements it.

    Of the head of a long name, it uses only one byte of each word; its initial value is a golden ratio.
    """
    a = b = c = (_GOLDEN_32 + len(name)) & _WORD
    while len(name) > 12:
        a, b, c = (a + name[0]) & _WORD, (b + name[4]) & _WORD, (c + name[8]) & _WORD
        for rotation in (4, 6, 8, 16, 19, 4):
            # Each step mixes one word; then the three words rotate.
            a = ((a - c) & _WORD) ^ _rotated(c, rotation)
            a, b, c = b, (c + b) & _WORD, a
        name = name[12:]
    if not name:
        return c
    words = [int.from_bytes(name[at : at + 4], "little") for at in (0, 4, 8)]
    a, b, c = (a + words[0]) & _WORD, (b + words[1]) & _WORD, (c + words[2]) & _WORD
    for rotation in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _rotated(b, rotation)) & _WORD
        a, b, c = b, c, a
    # The steps have rotated the three words by one.
    return b


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _WORD


def reached_blocks(law: str, parameter: float, count: int) -> int | None:
    """The number of the `count` blocks that can be drawn at all, with any seed; None if there are too many to count.

    It is counted block by block, over the ranks that a 32-bit generator can draw.
    """
    import numpy

    if count > BLOCKS_COUNTED_MAX:
        return None
    reached: Any = numpy.zeros(count, dtype=bool)
    scatter = numpy.uint64(_SCATTER)
    for ranks in _ranks(law, parameter, count):
        reached[(ranks * scatter) % numpy.uint64(count)] = True
    return int(numpy.count_nonzero(reached))


def _ranks(law: str, parameter: float, count: int) -> Any:
    """Yields the ranks that can be drawn, in chunks; some ranks can occur more than once."""
    import numpy

    if law == "normal" or count <= 2:
        # The mean of twelve draws reaches every rank, and so does a draw among one or two.
        yield from _whole(0, count)
        return
    if law == "zipf":
        rank = _zipf_rank(parameter, count)
    else:
        power = math.log(parameter) / math.log(1 - parameter)
        rank = _PowerLaw(1.0, 0.0, 0.0, power, count - 1)
    # Up to this draw every rank is drawn; behind it, the steps between draws are larger than a rank.
    dense_draw = rank.dense_draws()
    dense_rank = int(rank.at(numpy.asarray([dense_draw], dtype=numpy.float64))[0])
    yield from _whole(0, min(count, dense_rank + 1))
    for first in range(dense_draw, _DRAWS, _CHUNK):
        draws = numpy.arange(first, min(first + _CHUNK, _DRAWS), dtype=numpy.float64)
        yield rank.at(draws)


def _whole(first: int, end: int) -> Any:
    import numpy

    for at in range(first, end, _CHUNK):
        yield numpy.arange(at, min(at + _CHUNK, end), dtype=numpy.uint64)


class _PowerLaw:
    """rank = n x (slope x u - less + base)^power, with u = draw / (2^32 - 1), in fio's order. It increases with u."""

    def __init__(self, slope: float, less: float, base: float, power: float, n: int) -> None:
        self.slope, self.less, self.base, self.power, self.n = slope, less, base, power, n

    def at(self, draws: Any) -> Any:
        import numpy

        inner = self.slope * (draws / (_DRAWS - 1)) - self.less + self.base
        return (self.n * numpy.power(inner, self.power)).astype(numpy.uint64)

    def dense_draws(self) -> int:
        """The draw up to which neighbouring draws are at most one rank apart, by bisection: distances increase."""

        def step(draw: int) -> float:
            inner = max(self.slope * (draw / (_DRAWS - 1)) - self.less + self.base, 1e-300)
            slope: float = self.n * self.power * self.slope * inner ** (self.power - 1) / (_DRAWS - 1)
            return slope

        if step(_DRAWS - 1) <= 1:
            return _DRAWS - 1
        low, high = 0, _DRAWS - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if step(middle) <= 1 else (low, middle)
        return low


def _zipf_rank(theta: float, count: int) -> _PowerLaw:
    import numpy

    terms = numpy.arange(1, min(count, _ZETA_TERMS_MAX) + 1, dtype=numpy.float64)
    zeta = float(numpy.sum(terms**-theta))
    eta = (1 - (2 / count) ** (1 - theta)) / (1 - (1 + 0.5**theta) / zeta)
    return _PowerLaw(eta, eta, 1.0, 1 / (1 - theta), count)
