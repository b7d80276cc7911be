"""Traces as people have them: printed by tracers, without times, with completions only, in layouts of their own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab import InputError
from ssdlab.experiments.replays.replaying import replay
from ssdlab.experiments.replays.variant import ReplayedVariant
from ssdlab.simulator.workloads.traces.recording import Survey, opened

CASES = Path(__file__).parent / "cases"


def survey(name: str, columns: str | None = None) -> Survey:
    with opened([str(CASES / name)], None, 0, columns) as recording:
        return recording.survey


@pytest.mark.parametrize(
    ("name", "format_name", "requests"),
    [
        ("biosnoop.txt", "biosnoop", 11),
        ("iosnoop.txt", "iosnoop", 10),
        ("trace-cmd.txt", "block-events", 6),
        ("perf-script.txt", "block-events", 12),
        ("lttng.txt", "lttng", 12),
        ("ufs.txt", "ufs", 12),
        ("diskmon.log", "diskmon", 12),
    ],
)
def test_tracers_are_recognised(name: str, format_name: str, requests: int) -> None:
    """A regression: all columns that a replay needs are there, and none was read."""
    found = survey(name)
    assert (found.formats[0], sum(volume.requests for volume in found.volumes)) == (format_name, requests)
    assert found.has_times


def test_one_recording_in_three_layouts_is_the_same() -> None:
    """biosnoop, DiskMon and LTTng of the same twelve requests reach equally far and write as much."""
    of_each = [survey(name).volumes[0] for name in ("diskmon.log", "lttng.txt", "ufs.txt")]
    assert len({(each.reads, each.writes, each.written_bytes, each.end_bytes_max) for each in of_each}) == 1


def test_completions_alone_stand_for_requests_and_are_noted(folder: Path) -> None:
    found = survey("blkparse-complete-only.txt")
    assert found.volumes[0].requests == 12
    replays = replay(CASES / "blkparse-complete-only.txt", folder / "small.toml", workers=1)
    assert any("has completion events only" in note for note in replays.notes)


def test_a_layout_of_ones_own_needs_the_names_of_its_columns() -> None:
    with pytest.raises(InputError, match="format is not recognised"):
        survey("blkparse-custom.txt")
    found = survey("blkparse-custom.txt", "time,op,sector,bytes")
    same = survey("blkparse-complete-only.txt").volumes[0]
    assert (found.volumes[0].written_bytes, found.volumes[0].reads) == (same.written_bytes, same.reads)
    with pytest.raises(InputError, match=r"--columns time,-,-,-,sector,sectors,bytes: .*"):
        survey("blkparse-custom-csv.txt", "time,-,-,-,sector,sectors,bytes")
    with pytest.raises(
        InputError, match=r"op is missing: without it nobody knows .*; op=write if all requests are writes"
    ):
        survey("blkparse-custom-csv.txt", "time,-,-,-,sector,sectors")
    (writes,) = survey("blkparse-custom-csv.txt", "time,-,-,-,sector,sectors,-,op=write").volumes
    both = found.volumes[0]
    assert (writes.writes, writes.end_bytes_max) == (both.reads + both.writes, both.end_bytes_max)


def test_a_table_without_offsets_says_how_to_convert() -> None:
    with pytest.raises(InputError, match=r"has no offsets; .*xperf -i TRACE\.etl -o trace\.csv -a dumper"):
        survey("xperf.csv")


def test_writes_that_are_through_reach_the_drive_as_such(folder: Path) -> None:
    """A regression: each took as long as a write into the drive's memory; then each was a write and a flush on NVMe,
    too, which has FUA."""
    found = survey("fua-writes.txt")
    assert (found.volumes[0].writes, found.volumes[0].flushes, found.through) == (12, 0, 12)
    text = (folder / "small.toml").read_text()
    for name, interface, how in (
        ("sata", "sata-6g", "a write and a flush"),
        ("nvme", "pcie3x4", "NVMe's forced unit access"),
    ):
        buffered = "[write_buffer]\nbytes = 65536\npower_loss_protection = false\n"
        (folder / f"{name}.toml").write_text(f'{text}[host_link]\ninterface = "{interface}"\n{buffered}')
        replays = replay(CASES / "fua-writes.txt", folder / f"{name}.toml", workers=1)
        assert any("12 writes complete when their data is on the medium (FUA)" in note for note in replays.notes)
        (replayed,) = replays.variants
        assert isinstance(replayed, ReplayedVariant)
        through, writes = replayed.result.jobs[-1].through, replayed.result.jobs[-1].write.latency
        assert through is not None and writes is not None and through.count == writes.count == 12
        assert through.mean_ns == writes.mean_ns and (through.mean_ns or 0) > 100_000
        assert any(fact.startswith("12 writes with FUA took") and how in fact for fact in replayed.facts())


def test_a_zone_that_is_reset_is_trimmed() -> None:
    (volume,) = survey("zone-operations.txt").volumes
    assert (volume.writes, volume.trims, volume.requests) == (1, 1, 2)


def test_a_trace_without_times_is_a_closed_loop(folder: Path, replayed: Callable[..., Any]) -> None:
    """A regression: all requests arrived at 0 s, and 128,600 IOPS were reported without a word."""
    name = CASES / "iolog2-without-times.log"
    assert not survey(name.name).has_times
    replays = replay(name, folder / "small.toml", workers=1)
    assert any(
        "has no times: each request follows the completion of another, with 32" in note for note in replays.notes
    )
    with pytest.raises(InputError, match=r"--time-scale changes the recorded times, and .* has none"):
        replay(name, folder / "small.toml", time_scale=0.5, workers=1)
