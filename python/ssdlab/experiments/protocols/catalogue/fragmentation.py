"""Fragmentation test: a sequentially written file is rewritten at random, and read sequentially after each pass."""

from collections.abc import Sequence

from ssdlab.experiments.protocols.contract import Point, Protocol, Setting, Step, job

SHARES_PERCENT = ((1.25, 10), (5, 20), (20, 30), (97.5, 30))
"""Percentages of the file to rewrite (50, 200, 800 and 4000 MiB of 4 GiB), and the idle time before the reading."""
FILE_PERCENT = 50


def points(setting: Setting) -> Sequence[Point]:
    size = f"size={FILE_PERCENT}%"
    file_bytes = setting.size_bytes * FILE_PERCENT // 100
    read = job("read", "1m", 1, size)
    steps = [Step("write", job("write", "1m", 1, size)), Step("read, fresh", read)]
    for share, wait_s in SHARES_PERCENT[1::2] if setting.quick else SHARES_PERCENT:
        amount = max(1, int(file_bytes * share / 100) // 4096) * 4096
        steps.append(Step(f"rewrite {share:g} %", job("randwrite", "4k", 1, size, f"io_size={amount}")))
        steps.append(Step(f"read after {share:g} %", read, idle_seconds=0 if setting.quick else wait_s))
    steps += [Step("rewrite in order", job("write", "1m", 1, size)), Step("read after the rewrite", read)]
    return [Point("", steps)]


PROTOCOL = Protocol(
    name="fragmentation",
    title="Sequential read speed of a file after random rewrites",
    source='"Another look at the question: do I need defragmentation for SSD", 2020; on half of the space',
    quick_gives_up="two of the four amounts, and the waits for background operations",
    points=points,
    columns=("read_mb_s", "write_mb_s", "waf"),
)
