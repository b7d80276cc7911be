"""The data of a job: how far they compress and how many of them repeat. The options, and how fio interprets them.

The rules were found by compressing what fio 3.33 wrote (tests/simulator/workloads/jobs/test_contents.py). Some are
oddities of fio, which are reproduced so that a job file means the same as in fio. Only drives that reduce data use
them.
"""

from typing import TYPE_CHECKING, Any

from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.jobs.option import Effect, Option
from ssdlab.simulator.workloads.jobs.values import any_text, flag, percentage, truth

if TYPE_CHECKING:
    from ssdlab.simulator.workloads.jobs.jobfile import Section

_DATA = Effect.CONTENT

ZERO_BUFFERS = Option("zero_buffers", flag, "zeroes: fully compressible, all repeated", _DATA, False)
REFILL_BUFFERS = Option("refill_buffers", flag, "new data for every request", _DATA, False)
SCRAMBLE_BUFFERS = Option(
    "scramble_buffers", truth, "slightly new data for every request; without it all requests repeat one buffer", _DATA,
    True,
)  # fmt: skip
BUFFER_PATTERN = Option("buffer_pattern", any_text, "a pattern: fully compressible, all repeated", _DATA, "")
COMPRESS = Option("buffer_compress_percentage", percentage, "percentage by which the data compresses", _DATA, 0)
DEDUPE = Option("dedupe_percentage", percentage, "percentage of blocks that repeat others", _DATA, 0)

OPTIONS: tuple[Option[Any], ...] = (
    ZERO_BUFFERS, REFILL_BUFFERS, SCRAMBLE_BUFFERS, BUFFER_PATTERN, COMPRESS, DEDUPE,
)  # fmt: skip


def contents(section: "Section") -> plain.JobPart:
    """`compress_percent` and `dedupe_percent` of the engine's job; a key is missing if its value is 0."""
    compress, dedupe = _contents(section)
    part: plain.JobPart = {}
    if compress:
        part["compress_percent"] = float(compress)
    if dedupe:
        part["dedupe_percent"] = float(dedupe)
    return part


def _contents(section: "Section") -> tuple[int, int]:
    compress, dedupe = section.get(COMPRESS), section.get(DEDUPE)
    if dedupe:
        # Every block has the same pattern in place of random bytes, so that all blocks are equal.
        return compress, 100 if section.get(BUFFER_PATTERN) else dedupe
    if compress:
        kept = section.setting(REFILL_BUFFERS) is not None and not section.get(REFILL_BUFFERS)
        return compress, 100 if compress == 100 or kept else 0
    if section.get(BUFFER_PATTERN) or section.get(ZERO_BUFFERS):
        return 100, 100
    if section.get(REFILL_BUFFERS) or section.setting(DEDUPE) is not None:
        return 0, 0
    # In fio, setting the compression to 0 disables scrambling.
    repeats = not section.get(SCRAMBLE_BUFFERS) or section.setting(COMPRESS) is not None
    return 0, 100 if repeats else 0
