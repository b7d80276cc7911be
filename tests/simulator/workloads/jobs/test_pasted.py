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
