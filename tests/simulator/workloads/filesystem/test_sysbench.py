"""Does our sysbench send the same requests as the real one, and print the same words?"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.simulator import workloads
from ssdlab.simulator.results.sysbench_text import sysbench
from ssdlab.simulator.workloads.filesystem.sysbench import Fileio, parse_arguments

pytestmark = pytest.mark.skipif(shutil.which("sysbench") is None, reason="sysbench is not installed")

FILES = "--file-total-size=16M --file-num=4"
# Each with enough events that the last round of fsyncs is complete.
RUNS = [
    "--file-test-mode=rndwr --events=1000",
    "--file-test-mode=rndwr --events=300 --file-fsync-all=on",
    "--file-test-mode=rndwr --events=250 --file-fsync-freq=0",
    "--file-test-mode=rndrd --events=1000",
    "--file-test-mode=rndrw --events=1000 --file-fsync-end=off",
    "--file-test-mode=seqrd --events=1000",
    "--file-test-mode=seqrewr --events=1000 --file-fsync-freq=30",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sysbench")
    subprocess.run(["sysbench", "fileio", *FILES.split(), "prepare"], cwd=folder, check=True, capture_output=True)
    return folder


def labels(text: str) -> list[str]:
    """The lines from the options on, without measured values."""
    lines = [line.rstrip() for line in text[text.index("Extra file") :].splitlines()]
    ours = [line for line in lines if line and not line.startswith(("Initializing", "Threads started"))]
    return [re.sub(r" *[0-9.]+(s|/[0-9.]+)?$", "", line) for line in ours]


def figure(text: str, name: str) -> float:
    return float(re.search(rf"{re.escape(name)} +([0-9.]+)", text)[1])  # type: ignore[index]


@pytest.mark.parametrize("options", RUNS)
def test_a_run_against_the_real_one(options: str, files: Path) -> None:
    command = f"sysbench fileio {FILES} {options} --time=0 run"
    real = subprocess.run(command.split(), cwd=files, check=True, capture_output=True, text=True).stdout
    result = ssdlab.run(command, ssdlab.drive("generic-tlc-480", scale="1/256"), seed=1)
    ours = sysbench(result)
    assert labels(ours) == labels(real)
    last = result.jobs[-1]

    # At full size the counts equal those of the real one, which prints only rates.
    fileio = parse_arguments(command.split()[1:], "test")
    job: Any
    (*_, job) = workloads.load(command).resolve(1 << 30, seed=1)
    assert last.write.total_ios + last.read.total_ios == max(1, round(job["number_ios"] / 256))
    reads, writes, fsyncs = (figure(real, name) for name in ("reads/s:", "writes/s:", "fsyncs/s:"))
    percent = {"read": 100.0, "write": 0.0}.get(job["direction"], job["read_percent"])
    assert 100 * reads / (reads + writes) == pytest.approx(percent, abs=1)
    requests = job["number_ios"]
    periodic, every = fileio.fsyncs(requests, round(requests * writes / (reads + writes)))
    assert requests + periodic == figure(real, "total number of events:") == fileio.events
    assert every / requests == pytest.approx(fsyncs / (reads + writes), rel=0.02, abs=0.001)


def test_defaults_are_those_of_the_help() -> None:
    said = subprocess.run(["sysbench", "fileio", "help"], capture_output=True, text=True).stdout
    given = dict(re.findall(r"--([a-z-]+)(?:\[?=\S+)? .*\[([^\]]*)\]$", said, re.MULTILINE))
    defaults = Fileio()
    assert given["file-num"] == str(defaults.file_num) and given["file-block-size"] == str(defaults.file_block_size)
    assert given["file-total-size"] == "2G" and defaults.file_total_size == 2 << 30
    assert given["file-fsync-freq"] == str(defaults.file_fsync_freq)
    assert given["file-rw-ratio"] == str(defaults.file_rw_ratio)
    assert (given["file-fsync-all"], given["file-fsync-end"]) == ("off", "on")
    assert (defaults.file_fsync_all, defaults.file_fsync_end) == (False, True)


def test_the_real_one_spreads_its_writes_evenly(files: Path) -> None:
    """With as many writes as blocks, uniform writes leave 1/e of the blocks untouched."""
    blocks, block = 1024, 16384
    contents = [bytes([1 + number % 250]) * block for number in range(blocks // 4)]
    for number in range(4):
        (files / f"test_file.{number}").write_bytes(b"".join(contents))
    options = f"--file-test-mode=rndwr --file-fsync-freq=0 --rand-seed=1 --time=0 --events={blocks}"
    command = f"sysbench fileio {FILES} {options} run"
    subprocess.run(command.split(), cwd=files, check=True, capture_output=True)
    changed = 0
    for number in range(4):
        data = (files / f"test_file.{number}").read_bytes()
        changed += sum(data[at * block : (at + 1) * block] != was for at, was in enumerate(contents))
    assert changed / blocks == pytest.approx(1 - 1 / 2.71828, abs=0.06)


def test_the_real_one_uses_the_first_part_of_larger_files(files: Path) -> None:
    half = 2 << 20
    paths = [files / f"test_file.{number}" for number in range(4)]
    for path in paths:
        path.write_bytes(b"1" * (2 * half))
    options = "--file-total-size=8M --file-num=4 --file-test-mode=rndwr --rand-seed=1 --time=0 --events=2000"
    subprocess.run(["sysbench", "fileio", *options.split(), "run"], cwd=files, check=True, capture_output=True)
    # It writes other bytes than ones.
    assert all(path.read_bytes()[half:] == b"1" * half != path.read_bytes()[:half] for path in paths)
    options = options.replace("8M", "32M")
    refused = subprocess.run(["sysbench", "fileio", *options.split(), "run"], cwd=files, capture_output=True, text=True)
    assert "test_file.0' is 4MiB, but at least 8MiB is expected" in refused.stdout + refused.stderr


def test_a_run_by_time_lasts_as_long_on_the_drives_clock() -> None:
    command = "sysbench fileio --file-total-size=4G --file-test-mode=rndwr --time=0.02 run"
    result = ssdlab.run(command, ssdlab.drive("generic-tlc-480", scale="1/64"), seed=1)
    assert result.jobs[-1].seconds == pytest.approx(0.02, rel=0.1)
    assert result.jobs[-1].write.total_ios > 100
