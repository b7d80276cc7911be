"""Are flushes counted as in fio, and do they take the time that follows from the drive file?"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.results.text import normal
from waiting import SECONDS_MAX

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
    printed = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=True, timeout=SECONDS_MAX
    ).stdout
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


def run_of(text: str, folder: Path, settings: dict[str, str] | None = None, **options: Any) -> ssdlab.Result:
    path = folder / "one.fio"
    # The scale of the drive leaves 64 writes.
    path.write_text(f"[a]\nrw=write\nbs=64k\nsize=1g\ndirect=1\n{text}\n")
    both = {"write_buffer.bytes": "1MiB", **(settings or {})}
    return ssdlab.run(path, ssdlab.drive("generic-tlc-480", settings=both, scale="1/256"), **options)


PROTECTED = {"write_buffer.power_loss_protection": "true"}
VOLATILE = {"write_buffer.power_loss_protection": "false"}
SATA = {"host_link.interface": "sata-6g"}


@pytest.mark.parametrize(
    ("options", "settings", "said"),
    [
        ("fsync=4", VOLATILE, "writes were durable when the flush behind every 4 of them completed; 15 flushes took"),
        ("fdatasync=1", VOLATILE, "writes were durable when the flush behind each of them completed; 63 flushes took"),
        ("end_fsync=1", VOLATILE, "writes were durable when the flush at the end of the job completed; 1 flush took"),
        (
            "fsync=1\nfsync_on_close=1",
            PROTECTED,
            "writes were durable when they completed; the drive's memory survives a loss of power; 64 flushes took",
        ),
        ("sync=1", VOLATILE, "every write was durable when it completed (NVMe's forced unit access)"),
        ("sync=1", SATA | VOLATILE, "every write was durable when it completed (a write and a flush, as Linux does on"),
    ],
)
def test_the_result_says_which_writes_were_durable(
    options: str, settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    result = run_of(options, tmp_path, settings)
    whole: Any = result.to_dict()["jobs"][0]
    ours = whole["ssdlab"]["durability"]
    assert ours["said"].startswith(said)
    assert f"  durability: {ours['said']}" in normal(result)
    assert ours["said"].endswith(
        "; latencies are without the host's own time (--host linux adds it, for one request at a time)"
    )
    flushes = whole["sync"]["total_ios"]
    assert ours["flushes"] == flushes == result.jobs[0].flush.total_ios
    if flushes:
        took = ours["flush_us"]
        assert took["mean"] == pytest.approx(whole["sync"]["lat_ns"]["mean"] / 1000)
        assert took["p99.9"] is None, "no flush is above it"
    else:
        assert ours["flush_us"] is None


def test_a_job_that_asks_for_nothing_durable_says_nothing(tmp_path: Path) -> None:
    result = run_of("", tmp_path, VOLATILE)
    assert "durability" not in result.to_dict()["jobs"][0]["ssdlab"] and "durability" not in normal(result)


def test_the_journal_is_a_part_of_what_was_programmed(tmp_path: Path) -> None:
    nand = run_of("fsync=4", tmp_path, VOLATILE).to_dict()["ssdlab"]["nand"]["programmed_bytes"]
    assert nand["journal"] > 0 and nand["total"] == sum(nand[part] for part in nand if part != "total")
    assert run_of("sync=1", tmp_path, VOLATILE).ledger.programmed_units["journal"] == 0
    assert run_of("fsync=4", tmp_path, PROTECTED).ledger.programmed_units["journal"] == 0


@pytest.mark.parametrize(("settings", "host_us"), [(SATA, 17.4), ({}, 2.8)])
def test_the_hosts_share_is_in_each_latency_of_one_request_at_a_time(
    settings: dict[str, str], host_us: float, tmp_path: Path
) -> None:
    def least_us(**options: Any) -> float:
        latency = run_of("fsync=4", tmp_path, PROTECTED | settings, **options).jobs[0].write.latency
        assert latency is not None and latency.min_ns is not None
        return latency.min_ns / 1000

    assert least_us(host="linux") - least_us() == pytest.approx(host_us, abs=0.001)
    with_host = run_of("fsync=4", tmp_path, PROTECTED | settings, host="linux")
    assert f"latencies include {host_us:g} us of the host itself for each command" in normal(with_host)
    deep = [
        run_of("iodepth=4", tmp_path, PROTECTED | settings, host=host).simulated_seconds for host in ("none", "linux")
    ]
    assert deep[0] == deep[1], "only jobs with one request at a time"


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
