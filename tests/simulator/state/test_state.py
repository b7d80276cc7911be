"""Does a drive continue from its saved state as if it had not stopped; are invalid states rejected; and is a state that
was constructed directly valid?"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from program import Program, program_in
from small_drives import drive_file
from ssdlab.simulator.results import PARTS
from ssdlab.simulator.results.result import Result
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.targets.preconditioning import saved_state, steady_state
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse

HOT_COLD = "rw=randwrite\nrandom_distribution=zoned:90/10:10/90\nnorandommap\n"
UNIFORM = "rw=randwrite\nnorandommap\n"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a drive, jobs, and the final state of the first job."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "small.toml").write_text(drive_file("small", blocks=256, pages=64, user_bytes=52428800))
    (folder / "fill.fio").write_text("[fill]\nrw=write\nbs=64k\n[age]\nstonewall\nrw=randwrite\nloops=2\n")
    (folder / "age.fio").write_text("[a]\nrw=randwrite\nrandseed=5\n")
    ended = program_in(folder)(*SAVE)
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.fixture
def program(saved: Path, tmp_path: Path) -> Program:
    """Calls the program in a copy of that folder."""
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    return program_in(tmp_path)


SAVE = ("run", "fill.fio", "--drive", "small.toml", "--untimed", "--save-state", "aged.state")
GO_ON = ("run", "age.fio", "--drive", "small.toml", "--from-state", "aged.state")


def test_one_state_forked_into_many_runs_gives_the_same_bytes(program: Program, tmp_path: Path) -> None:
    assert (tmp_path / "aged.state").stat().st_size < 400_000
    untimed = [program(*GO_ON, "--untimed", "--output-format", "json").stdout for _ in range(2)]
    assert untimed[0] == untimed[1] and '"initial_state"' in untimed[0]
    timed = program(*GO_ON, "--output-format", "json")
    assert timed.returncode == 0 and '"sha256"' in timed.stdout


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flip(content: bytes) -> bytes:
    place = len(content) * 2 // 3
    return content[:place] + bytes([content[place] ^ 16]) + content[place + 1 :]


def _older(content: bytes) -> bytes:
    return re.sub(rb"ssdlab-state \S+\n", b"ssdlab-state 0.0.9\n", content, count=1)


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut off": (_cut, "damaged"),
    "a flipped bit": (_flip, "damaged"),
    "another version": (_older, "saved by version 0.0.9"),
    "no state at all": (lambda _: b"[a]\nrw=write\n", "no saved state"),
    "empty": (lambda _: b"", "no saved state"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_no_state_of_the_drive_is_refused(damage: str, program: Program, tmp_path: Path) -> None:
    state = tmp_path / "aged.state"
    change, said = DAMAGES[damage]
    state.write_bytes(change(state.read_bytes()))
    ended: subprocess.CompletedProcess[str] = program(*GO_ON)
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    assert "aged.state" in ended.stderr and said in ended.stderr, ended.stderr


def test_another_drive_is_refused_by_the_key_that_differs(program: Program) -> None:
    ended = program(*GO_ON, "--set", "ftl.victim=fifo")
    assert ended.returncode == 2 and "of another drive: ftl.victim" in ended.stderr
    assert program(*GO_ON, "--precondition", "fill").returncode == 2
    assert "cannot be read" in program(*GO_ON[:-1], "none.state").stderr


def test_a_drive_with_a_clock_is_saved_at_rest(program: Program, tmp_path: Path) -> None:
    """Continuing after a pause gives the same figures as the uninterrupted run, to the last digit."""
    first = "[fill]\nrw=write\nbs=64k\niodepth=4\n[age]\nstonewall\nrw=randwrite\niodepth=8\nloops=2\n"
    # Nothing random: the position of a job in its file is part of its seed.
    later = "[late]\nrw=write:4k\nloops=3\niodepth=4\nstartdelay=2\n"
    (tmp_path / "first.fio").write_text(first)
    (tmp_path / "later.fio").write_text(later)
    (tmp_path / "whole.fio").write_text(first + later.replace("rw=", "stonewall\nrw="))
    drive = ("--drive", "small.toml", "--set", "write_buffer.bytes=64KiB", "--output-format", "json")
    whole = program("run", "whole.fio", *drive)
    saved = program("run", "first.fio", *drive, "--save-state", "clock.state")
    went_on = program("run", "later.fio", *drive, "--from-state", "clock.state")
    assert (whole.returncode, saved.returncode, went_on.returncode) == (0, 0, 0), saved.stderr + went_on.stderr
    *_, at_once = json.loads(whole.stdout)["jobs"]
    (alone,) = json.loads(went_on.stdout)["jobs"]
    assert at_once["ssdlab"]["nand"] == alone["ssdlab"]["nand"] and at_once["ssdlab"]["waf"] > 1.05
    for key in ("total_ios", "io_bytes", "runtime", "iops", "lat_ns", "clat_ns"):
        assert at_once["write"][key] == alone["write"][key], key


@pytest.mark.parametrize("timed", [False, True])
def test_a_run_from_a_state_counts_what_it_does_itself(timed: bool, saved: Path) -> None:
    """A regression: bytes, write amplification, series and intervals had what the state had been written before."""
    drive = ssdlab.drive(saved / "small.toml")
    how: dict[str, Any] = {"timed": timed} | ({"interval_ns": 10**8} if timed else {})
    result = ssdlab.run(saved / "age.fio", drive, from_state=saved / "aged.state", **how)
    (job,) = result.jobs
    assert result.ledger == job.ledger and result.waf == job.waf and (result.waf or 0) > 1.05
    assert result.ledger.host_written_bytes == job.write.io_bytes == drive.capacity.user_bytes
    over_bytes = result.timeseries
    assert over_bytes["host_written_bytes"].to_list()[:: over_bytes.height - 1] == [0, job.write.io_bytes]
    assert sum(over_bytes[f"programmed_bytes_{part}"][-1] for part in PARTS) == job.ledger.programmed_bytes
    assert [each["host_written_bytes_end"] for each in result.stages] == [job.write.io_bytes]
    if timed:
        over_time, intervals = result.timing_series, result.intervals
        assert over_time is not None and over_time["programmed_bytes"][-1] == job.ledger.programmed_bytes
        assert intervals and sum(each.host_written_bytes for each in intervals) == job.write.io_bytes
    # The wear is that of the drive.
    assert result.wear["erase_count"]["mean"] * 256 > result.ledger.erased_erase_units


def test_a_search_for_the_steady_state_begins_at_the_saved_one(saved: Path) -> None:
    """A regression: a drive in its steady state took as many drive writes longer to reach it as it had had before."""
    drive = ssdlab.drive(saved / "small.toml")
    how: dict[str, Any] = {"until": "steady", "timed": False}
    found = ssdlab.run(saved / "age.fio", drive, from_state=saved / "aged.state", **how).steady_state
    assert found is not None and found.reached and found.at_host_bytes is not None
    assert found.at_host_bytes <= len(found.round_waf) * found.round_bytes + drive.capacity.user_bytes


def run(text: str, drive: Any, **how: Any) -> Result:
    return simulated.run(specifying.specify(parse(text), drive, seed=3, timed=False, **how))


@pytest.mark.parametrize("victim", ["greedy", "fifo", "d-choices"])
@pytest.mark.parametrize("workload", [UNIFORM, HOT_COLD], ids=["uniform", "hot-cold"])
def test_a_drive_put_into_its_steady_state_does_not_drift(victim: str, workload: str, tmp_path: Path) -> None:
    drive = ssdlab.drive(
        "textbook", op="12%", settings={"ftl.victim": victim, "nand.pages_per_block": "1024"}, scale="1/2"
    )
    state = steady_state(parse(f"[a]\n{workload}"), drive, tmp_path, seed=3)
    assert state.times == 4

    def wafs(drive_writes: int, before: str = "", **how: Any) -> list[float | None]:
        stages = (f"[a{number}]\nstonewall\n{workload}" for number in range(drive_writes))
        return [job.waf for job in run(before + "".join(stages), drive, **how).jobs]

    # Reaching that state on the large drive takes several drive writes, with an overshoot.
    *_, settled = wafs(9, "[fill]\nrw=write\nbs=64k\n")
    assert settled is not None and settled > 1.5
    first, *later = wafs(4, initial_state=state)
    assert first == pytest.approx(settled, rel=0.015)
    assert later == pytest.approx(3 * [settled], rel=0.007), (first, later, settled)


def test_a_run_needs_the_state_that_it_begins_with(tmp_path: Path) -> None:
    from ssdlab.errors import InputError
    from ssdlab.simulator.results import specification_of

    drive = ssdlab.drive("tiny")
    text = "[a]\nrw=randwrite\nloops=2\n"
    simulated.run(specifying.specify(parse(text), drive, timed=False), save_state=tmp_path / "tiny.state")
    result = run(text, drive, initial_state=saved_state(tmp_path / "tiny.state"))
    again = specification_of(result.to_dict())
    from_new = specifying.specify(parse(text), drive, seed=3, timed=False)
    assert again.hash() == result.specification.hash() != from_new.hash()
    with pytest.raises(InputError, match="begins from a saved state"):
        simulated.run(again)


def test_a_steady_state_is_magnified_on_a_drive_with_large_batches_and_an_erased_pool(tmp_path: Path) -> None:
    """A regression: the smaller drive has a smaller pool and smaller batches of garbage collection, and its state was
    refused as that of another drive."""
    drive = ssdlab.drive("micron-7450-pro-960gb", scale="1/64")
    state = steady_state(parse(f"[a]\nsize=100%\n{UNIFORM}"), drive, tmp_path, seed=3)
    assert state.times > 1
    assert (run(f"[a]\nio_size=1%\n{UNIFORM}", drive, initial_state=state).jobs[0].waf or 0) > 1.5


def test_a_block_of_the_smaller_drive_is_not_rounded_up_to_a_program(tmp_path: Path) -> None:
    """A regression: the drive with a sixth of 12 pages a block had 3, as many as one program takes, and its state was
    refused as that of another drive."""
    drive = ssdlab.drive("skhynix-pe8110-960gb", scale="1/128")
    state = steady_state(parse(f"[a]\nsize=100%\n{UNIFORM}"), drive, tmp_path, seed=3)
    assert state.times == 4
    assert (run(f"[a]\nio_size=1%\n{UNIFORM}", drive, initial_state=state).jobs[0].waf or 0) > 3
