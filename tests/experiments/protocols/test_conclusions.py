"""The conclusion at the top of a protocol's page, from comparable steps."""

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

import ssdlab
from ssdlab.experiments.protocols import output
from ssdlab.experiments.protocols.catalogue import fsync, slc_cache_size, snia_latency, trim_effect, write_saturation
from ssdlab.experiments.protocols.contract import DriveTests
from ssdlab.experiments.protocols.figures import Figures, Rates, Sample
from ssdlab.experiments.protocols.page import pictures
from ssdlab.presentation.report.wording import NO_BREAK_SPACE


def step(point: str, name: str, waf: float | None, iops: float, *, shown: bool = True) -> Figures:
    write = Rates(1000, 4_096_000, iops, iops * 4096 / 1e6, None, None, None)
    return Figures(point, name, shown, waf, None, 4_096_000, 0, 1.0, None, write)


@pytest.mark.parametrize(
    ("waf", "iops", "said"),
    [
        (3.0, 40_000, "write 2.0 times as much to flash and reach 40 % of the speed"),
        (1.51, 99_000, "write as much to flash and are as fast"),
        (None, 25_000, "reach 25 % of the speed"),
    ],
)
def test_trimming_is_judged_by_the_last_pass_of_both(waf: float | None, iops: float, said: str) -> None:
    first = [step("deleted, not trimmed", "pass 1", 9.0, 1.0), step("deleted, not trimmed", "pass 3", waf, iops)]
    second = [step("deleted and trimmed", "fstrim", 1.0, 1.0, shown=False)]
    second += [step("deleted and trimmed", "pass 3", 1.5, 100_000)]
    whole = f"Where deleted files are not trimmed, random writes {said}"
    found = trim_effect.PROTOCOL.conclude([*first, *second])
    assert found is not None and found.replace(NO_BREAK_SPACE, " ") == whole


def test_passes_that_differ_are_not_compared() -> None:
    without, trimmed = step("deleted, not trimmed", "pass 1", 9.0, 1.0), step("deleted and trimmed", "pass 3", 1.5, 9.0)
    assert trim_effect.conclude([without, trimmed]) is None
    assert trim_effect.conclude([without]) is None
    assert trim_effect.conclude([replace(without, step="pass 3"), trimmed]) is not None


@pytest.mark.parametrize(
    ("p99_us", "said"),
    [
        (2_376.0, "Fit for a journal: the 99th percentile of fdatasync is 2.38\u00a0ms, below the 10 ms"),
        (
            10_000.0,
            "Not fit for a journal: the 99th percentile of fdatasync is 10.0\u00a0ms, not below the 10 ms",
        ),
    ],
)
def test_etcds_limit_decides_on_a_journal(p99_us: float, said: str) -> None:
    flushes = Rates(2000, 0, 700.0, 0.0, 1273.0, p99_us, None)
    etcds = replace(step("", "2300 bytes, 1 job", 2.0, 700.0), flush=flushes)
    other = replace(step("", "4 KiB, 1 job", 2.0, 700.0), flush=replace(flushes, p99_us=1.0))
    found = fsync.PROTOCOL.conclude([other, etcds])
    assert found is not None and found.startswith(said)
    assert fsync.conclude([other]) is None


def saturating(writes_per_sample: int, rates: list[float]) -> Figures:
    """A step of 4 KiB writes whose samples have these rates, relative to the first, which has that many writes."""
    unit = writes_per_sample * 4096 / 1e6
    samples = [Sample(float(at), 0.0, unit * rate) for at, rate in enumerate(rates, 1)]
    write = Rates(1000, 4_096_000, None, None, None, None, None)
    return Figures("", "random writes", True, 1.0, None, 0, 0, None, None, write, over_time=samples)


def test_saturation_compares_the_first_writes_with_the_last_tenth() -> None:
    falling = [1.0, 0.9, *[0.5] * 8, *[0.25] * 10]
    found = write_saturation.PROTOCOL.conclude([saturating(2000, falling)])
    assert found == "Random writes begin at 2,000 and end at 500 per second, 25 % of that"
    # Of a hundred writes a sample, the first thousand are half of the test.
    assert write_saturation.PROTOCOL.conclude([saturating(100, falling)]) is None
    assert write_saturation.PROTOCOL.conclude([replace(saturating(2000, falling), over_time=())]) is None


def slices(rates: Sequence[float | None]) -> list[Figures]:
    moved = 10**9
    made = [Rates(1000, moved, None, rate, None, None, None) for rate in rates]
    return [
        Figures("", f"slice {index}", True, 1.0, None, moved, 0, 1.0, None, each) for index, each in enumerate(made)
    ]


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        (
            [5000.0] * 2 + [3500.0] * 14 + [1500.0] * 4,
            "The drive accepts writes at 5,000 MB/s up to 10 % of its size (2 GB), at 3,500 MB/s up to 80 % of its "
            "size (16 GB), and at 1,500 MB/s from there",
        ),
        ([500.0, 510.0] * 10, "The rate stays at 505 MB/s: no cache shows"),
        ([500.0] * 19 + [None], None),
    ],
)
def test_the_phases_of_a_fill_are_found(rates: list[float | None], said: str | None) -> None:
    found = slc_cache_size.PROTOCOL.conclude(slices(rates))
    assert found is None if said is None else found is not None and found.replace(NO_BREAK_SPACE, " ") == said


def test_a_result_says_what_stands_behind_the_name_of_its_drive() -> None:
    drive = ssdlab.drive("nova-v128", scale="1/256")
    target = {"kind": "simulated", "drive": drive.specification(), "scale": str(drive.scale)}
    content = output.content(fsync.PROTOCOL, [], target, quick=True, seed=1, extra={})
    said = "nova-v128: only its geometry is known; speeds are not those of the product."
    assert content["ssdlab"]["standing"] == output.standing_of(target) == said
    assert output.standing_of({"kind": "device", "path": "/dev/none"}) is None


def test_slices_alike_are_one_line() -> None:
    """A regression: 45 lines of 1,250 MB/s came before the size of the cache."""
    stream = io.StringIO()
    output.print_table(slc_cache_size.PROTOCOL, slices([5000.0] * 2 + [1500.0] * 18), Console(file=stream, width=80))
    lines = [line.strip() for line in stream.getvalue().splitlines()]
    assert "(16 steps alike)" in lines and len(lines) == 6


def test_preparation_is_no_bar_and_units_are_at_their_figures() -> None:
    """A regression: "Write latency, mean, us: from 5.00 (4k, 65 % reads) to 3,920 (random writes)", of the writes that
    saturate the drive, with 32 in flight, under "one request at a time"."""
    means = (9.0, 5.0, 7.0)
    writes = [Rates(1000, 4096000, None, None, mean, None, None) for mean in means]
    steps = [replace(each, write=write) for each, write in zip(slices([1.0] * 3), writes, strict=True)]
    cells = [replace(steps[0], rounds=6, steady=True), *steps[1:]]
    drawn = pictures(snia_latency.PROTOCOL, [DriveTests("a", [cells])])
    titles = [each.title.replace(NO_BREAK_SPACE, " ") for each in drawn]
    assert titles[0].startswith("Write latency, mean: from 5.00 \N{MICRO SIGN}s (")
    assert "to 7.00 \N{MICRO SIGN}s (" in titles[0]


def test_what_limits_no_rate_is_said() -> None:
    """A regression: 1.6 million writes a second stood without a word: no link, and all fitted into the buffer."""
    drive = ssdlab.drive("generic-tlc-480", scale="1/64")
    target = {"kind": "simulated", "drive": drive.specification(), "scale": str(drive.scale)}
    few, many = step("", "few", 1.0, 1.6e6), replace(step("", "many", 1.0, 3.5e5), written_bytes=40_960_000)
    link, scaled, buffer = output.limits_of([few, many], target)
    assert scaled.startswith("Simulated on 1/64") and "names no host link" in link
    assert "(4.1 MB of 8.4 MB)" in buffer and buffer.endswith("So in few.")
    assert output.limits_of([few], target)[-1].endswith("So in every step.")
    assert len(output.limits_of([many], target)) == 2
    assert output.limits_of([few], {"kind": "device", "path": "/dev/none"}) == []
    linked = ssdlab.drive("samsung-pm883-1920gb").specification()
    assert len(output.limits_of([many], {"kind": "simulated", "drive": linked, "scale": "1"})) == 1
