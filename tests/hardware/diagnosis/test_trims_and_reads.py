"""Conclusions from the TRIM behaviour that drives report, and the cutting and rating of segments. No device is
needed."""

import json
import mmap
import os
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import reports
from ssdlab.hardware.diagnosis import clock, read_speed, reads, trim
from ssdlab.hardware.diagnosis.check import _of_trim
from ssdlab.hardware.diagnosis.reads import Reading, Reads
from ssdlab.hardware.diagnosis.trim import Mounted, Trim
from ssdlab.hardware.smart import reading, source
from ssdlab.hardware.smart.source import Report, Unavailable

MIB = 1 << 20


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ({"supported": True, "deterministic": True, "zeroed": True}, "zeroes (deterministic"),
        ({"supported": True, "deterministic": True, "zeroed": False}, "not necessarily zeroes"),
        ({"supported": True, "deterministic": False, "zeroed": False}, "old data or zeroes"),
        ({"supported": False}, "no TRIM"),
        (None, "unknown"),
    ],
)
def test_what_a_trimmed_sector_reads_as_on_sata(said: dict[str, bool] | None, means: str) -> None:
    """`trim` in smartctl's JSON is ATA's identification in words."""
    assert means in trim._after_trim("sda", {} if said is None else {"trim": said})


@pytest.mark.parametrize(("dlfeat", "means"), [(0, "does not report"), (0b01001, "zeroes"), (0b010, "all ones")])
def test_what_a_deallocated_block_reads_as_on_nvme(dlfeat: int, means: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "run_json", lambda *command: {"nsze": 5, "dlfeat": dlfeat})
    assert means in trim._after_trim("nvme0n1", {})
    monkeypatch.setattr(source, "run_json", lambda *command: Unavailable("nvme is not installed"))
    assert trim._after_trim("nvme0n1", {}) == "not known: nvme is not installed"


def namespace(used: int, size: int) -> dict[str, Any]:
    return {"nvme_namespaces": [{"id": 1, "size": {"bytes": size}, "utilization": {"bytes": used}}]}


def test_utilization_is_told_where_a_drive_tells_it() -> None:
    """The figures come from reports of a drive that reports its utilization (Samsung 980 PRO) and of one that does
    not."""
    raw = reports.nvme(5)
    smart = Report(raw, None, reading.parse(raw, "a test"))
    assert trim._utilization(namespace(70845861888, 1000204886016), smart) == (70845861888, None)
    used, reason = trim._utilization(namespace(512110190592, 512110190592), smart)
    assert used is None and "whole size" in str(reason)
    assert "SATA" in str(trim._utilization(reports.ata(None, {}), smart)[1])
    assert trim._utilization({}, Unavailable("no smartctl")) == (None, "no smartctl")


def test_never_trimmed_is_what_no_file_system_uses() -> None:
    mounted = Mounted("sda1", Path("/"), "ext4", 60, 40, False)
    found = Trim(True, None, 512, 512, "zeroes", 85, None, (mounted,), True)
    assert (found.never_trimmed_bytes, found.free_bytes) == (25, 40)
    assert [finding.what for finding in _of_trim(found)] == ["good", "problem"]
    without = Trim(True, None, 512, 512, "zeroes", None, "it does not tell", (mounted,), False)
    routine, never = _of_trim(without)
    assert (routine.what, "fstrim -v /" in str(routine.remedy)) == ("problem", True)
    assert (never.what, "at most the free space, 40 B" in never.text) == ("unknown", True)


def test_a_layer_that_keeps_trims_to_itself() -> None:
    (finding,) = _of_trim(Trim(False, "dm-0", 512, 512, "zeroes", None, "x"))
    assert finding.text == "dm-0 does not forward trims to the disk"


def test_segments_are_cut_and_spread_evenly() -> None:
    assert read_speed.stretches([(0, 40 * MIB)]) == [(0, 16 * MIB), (16 * MIB, 16 * MIB), (32 * MIB, 8 * MIB)]
    assert read_speed.stretches([(4096, 5000)]) == [(4096, 4096)], "ends at a sector"
    spread = read_speed.stretches([(0, 1600 * MIB)], total_bytes_max=160 * MIB)
    assert spread == [(index * 160 * MIB, 16 * MIB) for index in range(10)]


def test_a_segment_is_timed_and_what_is_empty_is_known(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(os.urandom(2 * MIB) + bytes(MIB) + os.urandom(MIB))
    ticks = count()
    descriptor = os.open(file, os.O_RDONLY)
    try:
        stretches = [(0, 2 * MIB), (2 * MIB, 2 * MIB), (3 * MIB, 2 * MIB)]
        first, second, last = read_speed.read(descriptor, stretches, lambda: float(next(ticks)))
    finally:
        os.close(descriptor)
    assert first.mb_s == pytest.approx(2 * MIB / 1e6)
    assert (first.is_empty, second.is_empty, second.zero_bytes) == (False, True, MIB)
    assert (last.offset, last.length) == (3 * MIB, MIB), "the file ends there"


def test_zeroes_after_zeroes_at_the_start_of_a_step() -> None:
    with mmap.mmap(-1, 1 << 20) as buffer:
        buffer[100] = 1
        assert read_speed._zero_bytes(buffer, 1 << 20) == (1 << 20) - (64 << 10)


def test_the_best_is_what_a_tenth_reaches_unless_it_is_given() -> None:
    segments = tuple(read_speed.Segment(0, 10**6, 1 / speed, 0) for speed in (100, 110, 120, 500))
    found = Reads((Reading(segments, ()),), 0, None, None, False)
    assert found.best_mb_s == pytest.approx(500)
    assert found.mean_mb_s == pytest.approx(4 / (1 / 100 + 1 / 110 + 1 / 120 + 1 / 500))
    assert replace(found, given_best_mb_s=250.0).best_mb_s == 250
    assert found.share_of_best is None, "one reading has no interval"
    assert reads.quantile([1, 2, 3], 1.0) == 3


def test_the_clock_of_a_simulated_drive(tmp_path: Path) -> None:
    statistics = tmp_path / "stats.json"

    def write(real_pace: bool) -> None:
        device = {"real_pace": {"late": 0} if real_pace else None}
        statistics.write_text(json.dumps({"ssdlab": {"simulated_seconds": 12.5, "device": device}}))

    assert clock.of(None)[1] is False
    assert clock.of(tmp_path / "drive")[1] is False
    write(real_pace=False)
    found, is_simulated = clock.of(tmp_path / "drive")
    assert (found(), is_simulated) == (12.5, True)
    write(real_pace=True)
    assert clock.of(tmp_path / "drive")[1] is False, "the wall clock is its own"
