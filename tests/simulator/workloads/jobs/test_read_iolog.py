"""`read_iolog` in a job file that `ssdlab run` gets: the recording is replayed once, as fio replays it."""

from pathlib import Path

import pytest

import ssdlab
from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs.iolog import Replay, replay_of

LOG = "fio version 3 iolog\n0 /dev/sdb add\n0 /dev/sdb open\n" + "".join(
    f"{2000 * number} /dev/sdb {'read' if number % 4 else 'write'} {4096 * number} 4096\n" for number in range(100)
)
JOB = "[replay]\nioengine=libaio\nread_iolog=trace.log\nreplay_redirect=/dev/nvme0n1\ndirect=1\niodepth=32\n"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "trace.log").write_text(LOG)
    path = tmp_path / "replay.fio"
    path.write_text(JOB)
    return path


def test_the_recording_is_replayed_at_its_times(job: Path) -> None:
    """A regression: a job with read_iolog was refused, and `ssdlab replay` named."""
    result = ssdlab.run(job, "tiny")
    (replayed,) = result.jobs
    assert (replayed.read.total_ios, replayed.write.total_ios) == (75, 25)
    assert replayed.write.iops == pytest.approx(25 / 0.198, rel=0.1)
    job.write_text(JOB + "replay_time_scale=200\n")
    (faster,) = ssdlab.run(job, "tiny").jobs
    assert faster.write.iops == pytest.approx(2 * (replayed.write.iops or 0), rel=0.1)
    job.write_text(JOB + "replay_no_stall=1\n")
    (at_once,) = ssdlab.run(job, "tiny").jobs
    assert at_once.write.total_ios == 25 and (at_once.write.iops or 0) > 5 * (replayed.write.iops or 0)
    assert [entry.get("trace", {}).get("iodepth") for entry in result.specification.jobs] == [32]


def test_what_a_job_file_says_of_its_replay(job: Path) -> None:
    file = str(job.parent / "trace.log")
    assert replay_of(job) == Replay(file, at_once=False, iodepth=32)
    for text, expected in (
        (JOB.replace("libaio", "psync"), Replay(file, at_once=False, iodepth=1)),
        ("[global]\ndirect=1\nreplay_no_stall\n[a]\nread_iolog=trace.log\nreplay_time_scale=100\n",
         Replay(file, at_once=True, iodepth=1)),
        ("[a]\nrw=read\nsize=4k\n", None),
        (JOB + "[second]\nread_iolog=trace.log\n", None),
    ):  # fmt: skip
        job.write_text(text)
        assert replay_of(job) == expected
    job.write_text(JOB + "replay_time_scale=200\n")
    assert replay_of(job) == Replay(file, at_once=False, iodepth=32, time_scale=0.5)
    assert replay_of(f"fio --name=a --read_iolog={file} --iodepth=4") == Replay(file, at_once=False, iodepth=4)


@pytest.mark.parametrize(
    ("more", "options", "said"),
    [
        (
            "replay_scale=2\n",
            {},
            "line 7: replay_scale=2 changes the recording or its times.* `ssdlab replay",
        ),
        ("rate_iops=100\n", {}, "line 7: rate_iops=100 changes"),
        ("", {"until": "steady"}, "read_iolog replays a recording once: .* `ssdlab replay "),
        ("read_iolog=missing.log\n", {}, "line 7: read_iolog=missing[.]log: no such file"),
        ("[other]\nrw=read\n", {}, "read_iolog=trace.log: .*`ssdlab replay trace.log"),
    ],
)
def test_what_a_replay_does_not_do_is_refused(job: Path, more: str, options: dict[str, str], said: str) -> None:
    job.write_text(JOB + more)
    with pytest.raises(InputError, match=said):
        ssdlab.run(job, "tiny", **options)  # type: ignore[arg-type]
