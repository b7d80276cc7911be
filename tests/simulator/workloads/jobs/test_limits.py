"""Does a job fail by its limits like fio 3.33: with the same error, the same words, at the same time?"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from program import program_in
from ssdlab.errors import InputError
from ssdlab.simulator.results import Result
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse

GIB = 1 << 30
HEAD = "[global]\nrw=randread\nnorandommap\ntime_based\nruntime=6\nthinktime=1ms\n"
# At most a thousand requests a second, of 4 KiB.
TOO_MUCH = {
    "rate_iops_min=5000": 3000,
    "rate_min=20m\nrate_cycle=500": 2500,
    "max_latency=1": 0,
}


def one(options: str) -> Any:
    return parse(f"[a]\nrw=randrw\n{options}\n", "x.fio").resolve(GIB, seed=1)[-1]


def run(text: str) -> Result:
    drive = ssdlab.drive("textbook")
    return simulated.run(specifying.specify(parse(text), drive, seed=1, timed=True))


def directions(read: int | None, write: int | None, trim: int | None) -> dict[str, int | None]:
    return {"read": read, "write": write, "trim": trim}


def test_what_the_engine_is_told() -> None:
    none = directions(None, None, None)
    plain = {"bytes_per_second_min": none, "iops_min": none, "latency_ns_max": none}
    plain |= {"window_ns": 10**9, "ends_others": "none"}
    told = {
        "rate_min=1m,2m": {"bytes_per_second_min": directions(1 << 20, 2 << 20, 2 << 20)},
        "rate_iops_min=,50,": {"iops_min": directions(None, 50, None)},
        "ratemin=1,0,0\nratecycle=0": {"bytes_per_second_min": directions(1, None, None), "window_ns": 10**6},
        "max_latency=5,2ms,1s": {"latency_ns_max": directions(5000, 2 * 10**6, 10**9)},
        "max_latency=5\nexitall_on_error": {
            "latency_ns_max": directions(5000, 5000, 5000), "ends_others": "stage",
        },
        "max_latency=5\nexitall_on_error\nexit_what=all": {
            "latency_ns_max": directions(5000, 5000, 5000), "ends_others": "all",
        },
    }  # fmt: skip
    for options, changed in told.items():
        assert one(options)["limits"] == plain | changed, options
    for options in ("", "rate_min=0", "rate_cycle=500", "exitall_on_error", "max_latency=0"):
        assert "limits" not in one(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("rate=1m\nrate_iops=5", "line 4: rate_iops=5 cannot be combined with rate"),
        ("rate_min=1m\nrate_iops_min=5", "line 4: rate_iops_min=5 cannot be combined with rate_min"),
        ("rate=1m\nrate_min=2m", "line 4: rate_min=2m is more than rate allows for reads, 1,048,576"),
        ("rate_iops=9,5\nrate_iops_min=1,6", "line 4: rate_iops_min=1,6 is more than rate_iops allows for writes, 5"),
    ],
)
def test_what_fio_refuses_too(options: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        one(options)
    if fio := shutil.which("fio"):
        (tmp_path / "x.fio").write_text(f"[a]\nioengine=null\nsize=64k\nrw=randrw\n{options}\n")
        assert subprocess.run([fio, "x.fio"], capture_output=True, cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("limit", TOO_MUCH)
@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_a_job_fails_as_it_does_in_fio(limit: str, tmp_path: Path) -> None:
    jobs = f"{HEAD}[slow]\n{limit}\n[next]\nstonewall\nnumber_ios=3\ntime_based=0\n"
    (tmp_path / "x.fio").write_text(jobs.replace("[global]\n", "[global]\nioengine=null\nsize=1g\n"))
    command = ["fio", "--output-format=json", "--output=out.json", "x.fio"]
    of_fio = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert of_fio.returncode == 1
    written = (tmp_path / "out.json").read_text()
    fio_jobs = json.loads(written[written.index("{") :])["jobs"]
    ours = run(jobs)
    our_jobs = ours.to_dict()["jobs"]
    assert [job["error"] for job in our_jobs] == [job["error"] for job in fio_jobs]
    assert [job["error"] > 0 for job in our_jobs] == [True, False]
    assert our_jobs[1]["read"]["total_ios"] == fio_jobs[1]["read"]["total_ios"] == 3
    # The same sentence with other numbers; fio names the file of a request that takes too long.
    assert ours.failure is not None
    said = of_fio.stderr + written[: written.index("{")]
    sentence = re.sub(r"[0-9]+", "[0-9]+", re.escape(ours.failure.partition(": ")[2]))
    assert re.search(sentence.replace(r"\):\ ", r"\):\ [^ ]+\ "), said), said
    # Neither ends before its window does; fio can notice it late.
    assert fio_jobs[0]["job_runtime"] >= TOO_MUCH[limit]
    assert our_jobs[0]["job_runtime"] == pytest.approx(TOO_MUCH[limit], abs=3)


def test_a_job_that_keeps_to_its_limits_goes_on_to_its_end() -> None:
    result = run(f"{HEAD}[a]\nrate_iops_min=100\nrate_cycle=200\nmax_latency=100ms\n")
    assert result.failure is None and result.jobs[0].failure is None
    assert result.to_dict()["jobs"][0]["job_runtime"] == pytest.approx(6000, abs=3)


def test_the_command_reports_what_was_done_and_fails(tmp_path: Path) -> None:
    # On a drive scaled to a quarter, a quarter of the time.
    text = HEAD.replace("runtime=6", "runtime=24")
    (tmp_path / "x.fio").write_text(f"{text}[a]\nrate_iops_min=5000\n")
    ssdlab_program = program_in(tmp_path)
    command = ("run", "x.fio", "--drive", "textbook", "--scale", "1/4")
    ended = ssdlab_program(*command)
    assert ended.returncode == 1
    assert "a: (groupid=0, jobs=1): err= 5 (func=check_min_rate, error=Input/output error)" in ended.stdout
    found = re.search(r"FAILED: a: (rate_iops_min=5000 not met, got 9[0-9]{2} IOPS)", ended.stdout)
    assert found and found[1] in ended.stderr
    untimed = ssdlab_program(*command, "--untimed")
    assert untimed.returncode == 0 and "no job fails by it: rate_iops_min (line 8)" in untimed.stderr


def test_with_exitall_on_error_the_others_end_too() -> None:
    jobs = f"{HEAD}[a]\nrate_iops_min=5000\n{{}}[b]\n[c]\nstonewall\nruntime=1\n"

    def runtimes(options: str) -> list[int | None]:
        return [job["job_runtime"] for job in run(jobs.format(options)).to_dict()["jobs"]]

    assert runtimes("") == pytest.approx([3000, 6000, 1000], abs=3)
    assert runtimes("exitall_on_error\n") == pytest.approx([3000, 3000, 1000], abs=3)
