"""The studies' real steps run to the end: fio, sysbench, cp, rm, ext4 on a small served drive, and on a file in a
folder."""

import re
from pathlib import Path

import pytest

from own_devices import needs
from served import Serve, on, result_in, ssdlab
from ssdlab.experiments.protocols.contract import Setting
from ssdlab.experiments.protocols.steps import job_file, script
from ssdlab.experiments.studies import registry
from ssdlab.experiments.studies.internal_fragmentation import readers
from ssdlab.experiments.studies.real import real
from ssdlab.hardware.device.sysbench import sysbench_report
from ssdlab.serving import guardian

# These compare only drives of the catalogue, or of their own.
WITHOUT_STEPS = [
    "real-drives",
    "data-sheets",
    "durable-writes",
    "slc-caches",
    "queue-depths",
    "fdp-streams",
    "flash-cache",
    "kv-cache",
    "zones",
    "power",
    "read-wear",
    "ocp-acceptance",
]
NAMES = [name for name in registry.NAMES if name not in WITHOUT_STEPS]


@pytest.mark.parametrize("name", WITHOUT_STEPS)
def test_a_study_of_catalogue_drives_is_refused(tmp_path: Path, name: str) -> None:
    done = ssdlab("study", name, "--on", tmp_path, code=2)
    assert "cannot run on another drive" in done.stderr


@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
@pytest.mark.parametrize("name", NAMES)
def test_a_studys_steps_are_those_that_a_drive_of_any_size_can_do(name: str, quick: bool) -> None:
    for size_bytes in (2 << 30, 480 * 10**9):
        for point in real(registry.study(name)).protocol.points(Setting(size_bytes, quick)):
            if point.is_script:
                assert len(script(point).commands) == len(point.steps)
            else:
                made = job_file(point).resolve(size_bytes, seed=1)
                assert [job["name"] for job in made] == [step.name for step in point.steps]


def test_the_articles_steps_keep_their_amounts_and_waits() -> None:
    steps = {step.name: step for step in real(registry.study("internal-fragmentation")).protocol.points(
        Setting(4 << 30))[0].steps}  # fmt: skip
    assert f"io_size={50 << 20}\n" in steps["rewrite-50"].text
    assert steps["read-4000-3"].idle_seconds == 30
    assert steps["read-after-an-hour"].idle_seconds == 3600
    half = real(registry.study("internal-fragmentation")).protocol.points(Setting(2 << 30))[0].steps
    assert f"io_size={25 << 20}\n" in next(step.text for step in half if step.name == "rewrite-50")


@needs("fio")
def test_fragmentation_in_a_folder(tmp_path: Path) -> None:
    place = tmp_path / "here"
    place.mkdir()
    options = ("--size", "32MiB", "--quick", "--output", tmp_path / "out", "--contribute", tmp_path / "drive.toml")
    done = ssdlab("study", "internal-fragmentation", "--on", place, *options)
    assert "reading after the remedy" in done.stdout
    assert list(place.iterdir()) == []
    rows = result_in(tmp_path / "out")["study"]["rows"]
    assert len(rows) == 5
    assert all(row["measured"] > 0 for row in rows)
    assert rows[-2]["published"] == {"min": 1.0, "max": 3.58}
    page = (tmp_path / "out/report.html").read_text()
    assert re.search(r"<title>\d of 4 figures lies? within what was published of other drives</title>", page)
    assert "Published and measured" in page and "ssdlab study internal-fragmentation --on" in page
    assert 'data-figure="published-and-measured-1"' in page
    contributed = readers.load(tmp_path / "drive.toml")
    assert contributed.file_bytes == 32 << 20 and len(contributed.seconds["after_4000"]) == 3
    assert str(tmp_path) not in (tmp_path / "drive.toml").read_text(), "nothing of the machine"


@pytest.mark.fuse
@pytest.mark.loop
@needs("fio", "sysbench", "mkfs.ext4", "losetup", "blkdiscard")
@pytest.mark.parametrize("name", [name for name in NAMES if name != "internal-fragmentation"])
def test_a_study_runs_to_its_end_on_a_served_drive(name: str, serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    ssdlab("study", name, *on(mounted), "--quick", "--output", tmp_path / "out")
    result = result_in(tmp_path / "out")
    assert all(row["measured"] is not None or row["note"] for row in result["study"]["rows"])
    assert any(row["measured"] is not None for row in result["study"]["rows"])
    assert all(step["commands"] for step in result["steps"])
    assert not guardian.mounts_of(str(mounted.loop))
    assert mounted.end() == 0


def test_sysbenchs_report_is_read() -> None:
    text = """
File operations:
    reads/s:                      0.00
    writes/s:                     1234.50
    fsyncs/s:                     1590.10

Throughput:
    read, MiB/s:                  0.00
    written, MiB/s:               19.29

General statistics:
    total time:                          10.0541s
    total number of events:              28257

Latency (ms):
         min:                                    0.00
         avg:                                    0.35
"""
    report = sysbench_report(text)
    assert report is not None
    assert (report.writes_per_second, report.write_mib_s, report.seconds, report.mean_ms) == (
        1234.5, 19.29, 10.0541, 0.35,
    )  # fmt: skip
    assert sysbench_report("creating files for the test...") is None
