"""Job files and command lines of fio as they are pasted, in `cases/pasted-*.toml`: what is made of each."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ssdlab import cli
from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads import title
from ssdlab.simulator.workloads.jobs import load, parse

CASES = Path(__file__).parent / "cases"
USER_BYTES = 16 << 30
JOBS = tomllib.loads((CASES / "pasted-jobs.toml").read_text())["case"]
COMMAND_LINES = tomllib.loads((CASES / "pasted-command-lines.toml").read_text())["case"]


def shapes(jobs: list[plain.Job]) -> list[list[Any]]:
    """Name, stage, direction, first block size, MiB and depth of each job, clones once."""
    found: list[list[Any]] = []
    for job in jobs:
        side = job["direction"] if job["direction"] in ("read", "trim") else "write"
        size = job["block_sizes"][side][0]["bytes"]
        shape = [job["name"], job["stage"], job["direction"], size, job["size_bytes"] >> 20, job["iodepth"]]
        found += [shape] if shape not in found else []
    return found


@pytest.mark.parametrize("case", JOBS, ids=lambda case: case["name"])
def test_a_job_file(case: dict[str, Any]) -> None:
    if "refused" in case:
        with pytest.raises(InputError, match=re.escape(case["refused"])):
            parse(case["text"]).resolve(USER_BYTES, seed=1)
        return
    assert shapes(parse(case["text"]).resolve(USER_BYTES, seed=1)) == case["jobs"]


@pytest.mark.parametrize("case", COMMAND_LINES, ids=lambda case: case["text"][:60])
def test_a_command_line(case: dict[str, Any], tmp_path: Path) -> None:
    """Regressions: what stands before fio in a shell (numactl, ionice, docker run, variables, a loop) made the command
    line the name of a file that does not exist."""
    script = tmp_path / "script.sh"
    script.write_text(f"#!/bin/sh\n{case['text']}\n")
    if "refused" in case:
        with pytest.raises(InputError, match=re.escape(case["refused"])):
            load(case["text"])
        return
    assert title(case["text"]) == case["jobs"][0][0]
    for given in (case["text"], script):
        jobs = load(given).resolve(USER_BYTES, seed=1)
        assert (len(jobs), shapes(jobs)) == (case["clones"], case["jobs"])


def test_what_stands_before_fio_is_taken_behind_two_dashes() -> None:
    called = ["numactl", "-N", "0", "fio", "--name=n", "--rw=read"]
    assert cli._arguments(["run", "--drive", "tiny", "--", *called]) == ["run", "--drive", "tiny", shlex.join(called)]
    assert cli._arguments(["replay", "--", "fio", "a"]) == ["replay", "fio a"]
    assert cli._arguments(["replay", "--", "a", "b"]) == ["replay", "--", "a", "b"]


def test_capitals_are_no_option_and_the_right_one_is_named() -> None:
    with pytest.raises(InputError, match="'RW' is not an option of fio's job language; did you mean 'rw'"):
        parse("[a]\nRW=read\n")


CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
data:
  job.fio: |
    [global]
    bs=8k

    [w]
      rw=randwrite
    size=64m
  other: "[x]"
"""


def test_a_job_file_in_a_config_map() -> None:
    (job,) = parse(CONFIG_MAP).resolve(USER_BYTES, seed=1)
    assert (job["name"], job["block_sizes"]["write"][0]["bytes"], job["size_bytes"]) == ("w", 8192, 64 << 20)
    with pytest.raises(InputError, match="line 9"):
        parse(CONFIG_MAP.replace("randwrite", "randwrit")).resolve(USER_BYTES, seed=1)


def test_a_job_file_that_powershell_wrote(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text("[a]\nrw=randwrite\nsize=1m\n", "utf-16")
    assert [job["name"] for job in load(path).resolve(USER_BYTES, seed=1)] == ["a"]


@pytest.mark.parametrize(
    ("called", "said"),
    [
        (["dd", "if=/dev/zero", "of=t", "bs=1M", "count=9"], "dd as a call of fio: fio --name=dd --rw=write --bs=1M"),
        (["diskspd.exe", "-b8K", "t.dat"], "diskspd is another benchmark"),
    ],
)
def test_another_benchmark_behind_two_dashes_is_answered_with_a_call_of_fio(called: list[str], said: str) -> None:
    """A regression: its words were unexpected arguments."""
    *_, workload = cli._arguments(["run", "--", *called])
    with pytest.raises(InputError, match=re.escape(said)):
        load(workload)
