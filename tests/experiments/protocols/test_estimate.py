"""Does a dry run count the bytes that a protocol writes and reads, and its idle time?"""

import pytest

from ssdlab.experiments.protocols import estimate
from ssdlab.experiments.protocols.contract import Point, Step

SIZE_BYTES = 100 * 4096 * 1024


def test_the_wait_of_an_hour_and_the_readings_are_counted() -> None:
    """A regression: a dry run reported "about 0 min" for a study that waits an hour before it reads again."""
    steps = [
        Step("write", "rw=write\nbs=1m\n"),
        Step("read", "rw=read\nbs=1m\n", idle_seconds=3600),
        Step("mixed", "rw=randrw\nrwmixread=75\nbs=4k\n"),
        Step("steady", "rw=randwrite\nbs=4k\n", end="steady"),
        Step("timed", "rw=write\nbs=1m\ntime_based\nruntime=10\n"),
    ]
    write, read, mixed, steady, timed = estimate.of_point(Point("", steps), SIZE_BYTES, seed=1)
    assert (write.written_bytes, write.read_bytes, write.idle_seconds) == (SIZE_BYTES, 0, 0)
    assert (read.written_bytes, read.read_bytes, read.idle_seconds) == (0, SIZE_BYTES, 3600)
    assert read.seconds == pytest.approx(3600 + SIZE_BYTES / 1e8)
    assert mixed.written_bytes == pytest.approx(SIZE_BYTES / 4)
    assert mixed.read_bytes == pytest.approx(SIZE_BYTES * 3 / 4)
    assert steady.written_bytes == 5 * SIZE_BYTES
    assert timed.seconds == pytest.approx(10)
