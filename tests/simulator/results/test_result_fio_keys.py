"""Does the result have fio's schema? Compared with the output of the installed fio for the same job file."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from waiting import SECONDS_MAX

_GLOBAL = "[global]\nioengine=null\nbs=4k\nsize=64k\n"
_GROUPED = _GLOBAL + "group_reporting\n"
JOBS = {
    "one write job": "[a]\nioengine=null\nrw=write\nbs=4k\nsize=64k\n",
    "reads and writes, clones": _GLOBAL + "[a]\nrw=randrw\nnumjobs=3\n",
    "clones in a group": _GROUPED + "[a]\nrw=randrw\nnumjobs=3\n[b]\nstonewall\nrw=randtrim\n",
    "groups without waiting": _GROUPED + "[a]\nrw=write\n[b]\nrw=read\n[c]\nnew_group\nrw=read\n",
    "one name for two": _GLOBAL + "[a]\nrw=write\n[a]\nstonewall\nrw=read\niodepth=3\n",
}


def keys(value: Any) -> Any:
    """The structure: names of keys, without values. Bins are named after the measured latencies, so their names are
    left out."""
    if isinstance(value, dict):
        return {
            key: None if key in ("bins", "job options", "global options") else keys(each) for key, each in value.items()
        }
    if isinstance(value, list):
        return [keys(each) for each in value]
    return None


def by_fio(job: str, output_format: str, folder: Path) -> dict[str, Any]:
    path = folder / "job.fio"
    path.write_text(job)
    command = ["fio", f"--output-format={output_format}", str(path)]
    printed = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, check=True, timeout=SECONDS_MAX
    ).stdout
    result: dict[str, Any] = json.loads(printed[printed.index("{") :])
    return result


@pytest.mark.parametrize("output_format", ["json", "json+"])
@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_keys_are_those_of_fio_and_ours(job: str, output_format: str, run: Any, tmp_path: Path) -> None:
    theirs = by_fio(job, output_format, tmp_path)
    for timed in (True, False):
        ours = run(job, timed=timed).to_dict(bins=output_format == "json+")
        del ours["ssdlab"]
        for each in ours["jobs"]:
            del each["ssdlab"]
        assert keys(ours) == keys(theirs)
        assert list(ours) == list(theirs)
        assert [list(each) for each in ours["jobs"]] == [list(each) for each in theirs["jobs"]]


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_what_needs_no_clock_has_the_values_of_fio(job: str, run: Any, tmp_path: Path) -> None:
    def told(result: dict[str, Any]) -> list[Any]:
        counts = ("io_bytes", "io_kbytes", "total_ios", "short_ios", "drop_ios")
        return [
            (
                each["jobname"],
                each["groupid"],
                each["error"],
                each["job options"],
                # The division of a mixed job depends on the random numbers; the sum does not.
                {count: sum(each[name][count] for name in ("read", "write", "trim")) for count in counts},
            )
            for each in result["jobs"]
        ]

    theirs, ours = by_fio(job, "json", tmp_path), run(job).to_dict()
    assert told(ours) == told(theirs)
    assert ours.get("global options") == theirs.get("global options")


def test_nothing_unmeasured_is_a_number(run: Any) -> None:
    job = run(JOBS["one write job"], timed=False).to_dict()["jobs"][0]
    write = job["write"]
    unmeasured = ("bw_bytes", "bw", "iops", "runtime", "bw_mean", "iops_mean")
    assert all(write[key] is None for key in unmeasured)
    assert set(write["clat_ns"]["percentile"].values()) == {None}
    assert job["usr_cpu"] is None and job["elapsed"] is None
