"""Are flushes counted as in fio, and do they take the time that follows from the drive file?"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.results.text import normal

JOB = "[a]\nrw=randwrite\nbs=4k\nfsync=16\n"
SETTINGS = {"write_buffer.bytes": "1MiB", "write_buffer.power_loss_protection": "false"}


def ours(folder: Path, settings: dict[str, str], **options: Any) -> ssdlab.Result:
    path = folder / "ours.fio"
    # The scale of the drive reduces it to 4 MiB.
    path.write_text(JOB + "size=1g\n")
    return ssdlab.run(path, ssdlab.drive("generic-tlc-480", settings=settings, scale="1/256"), **options)


def test_as_many_as_fio_s_with_the_same_keys(tmp_path: Path) -> None:
    path = tmp_path / "theirs.fio"
    path.write_text(JOB + "size=4m\nfilename=file\n")
    command = ["fio", "--output-format=json", str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=60).stdout
    theirs = json.loads(printed[printed.index("{") :])["jobs"][0]["sync"]
    mine = ours(tmp_path, SETTINGS).to_dict()["jobs"][0]["sync"]
    assert mine["total_ios"] == theirs["total_ios"] == 63
    assert list(mine["lat_ns"]) == list(theirs["lat_ns"])
    assert list(mine["lat_ns"].get("percentile", ())) == list(theirs["lat_ns"]["percentile"])


def test_memory_that_outlives_a_loss_of_power_makes_them_quick(tmp_path: Path) -> None:
    volatile, safe = (
        ours(tmp_path, SETTINGS | {"write_buffer.power_loss_protection": protection}).jobs[0].flush.latency
        for protection in ("false", "true")
    )
    assert volatile is not None and safe is not None
    drive = ssdlab.drive("generic-tlc-480").file
    assert safe.max_ns == drive.controller.command_us * 1000
    assert (volatile.min_ns or 0) > mean_us(drive.nand.program_us) * 1000


def test_the_text_has_fio_s_block(tmp_path: Path) -> None:
    text = normal(ours(tmp_path, SETTINGS))
    assert "  fsync/fdatasync/sync_file_range:\n    sync (" in text
    assert "    sync percentiles (" in text
    assert "total=0,1024,0,63 " in text


def test_without_a_clock_they_are_not_sent(tmp_path: Path) -> None:
    result = ours(tmp_path, SETTINGS, timed=False)
    sync = result.to_dict()["jobs"][0]["sync"]
    assert (sync["total_ios"], sync["lat_ns"]["mean"]) == (0, None)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("host_link.interface", "pcie3x3", "host_link.interface"),
        ("host_link.mb_s", "0", "host_link.mb_s"),
        ("host_link.command_us", "3", "host_link.command_us"),
    ],
)
def test_a_link_that_cannot_be_is_refused(key: str, value: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ssdlab.errors.InputError, match=said):
        ours(tmp_path, {key: value})
