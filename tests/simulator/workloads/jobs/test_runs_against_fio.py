"""Does a run execute the same number of requests and bytes in each direction as fio with the same job file?

fio runs on a sparse file as large as the drive, or on its null engine if the job trims or creates files. The engine's
`tests/against_fio.rs` compares the addresses of the requests.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ssdlab.simulator.drives import load as load_drive
from ssdlab.simulator.drives import resolve as resolve_drive
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse

FIO = shutil.which("fio") or ""
pytestmark = pytest.mark.skipif(not FIO, reason="fio is not installed")

# A few megabytes, so that a job over all of it is fast.
DRIVE = resolve_drive(load_drive("tiny"), over_provisioning=0.25, settings={"nand.blocks_per_plane": "256"}, scale=None)
USER_BYTES = DRIVE.capacity.user_bytes
DIRECTIONS = ("read", "write", "trim")
Counts = dict[str, tuple[int, int]]
"""Requests and bytes by direction."""

# Jobs whose counts follow exactly from the file.
EXACT = [
    "rw=randwrite",
    "rw=randwrite\nnorandommap\nloops=2",
    "rw=randwrite:8",
    "rw=randwrite:5\nrw_sequencer=identical\nnumber_ios=77",
    "rw=write:4k",
    "rw=write:12k\noffset=64k",
    "rw=read:4k\nsize=256k",
    "rw=read:4k\nsize=256k\nloops=2",
    "rw=read:4k\nsize=256k\nio_size=512k",
    "rw=read:-8k",
    "rw=read:-8k\nsize=256k",
    "rw=randread\npercentage_random=40\nnorandommap",
    "rw=randread\nrandom_generator=lfsr",
    "rw=randread\nrandom_generator=lfsr\nnorandommap\nsize=256k\nloops=2",
    "rw=randread\nrandom_generator=tausworthe64",
    "rw=randread\nrandom_distribution=normal:10",
    "rw=randread\nrandom_distribution=zipf:1.2:0.25\nallrandrepeat=1",
    "rw=randread\nrandom_distribution=zoned_abs:60/64k:40/128k",
    "rw=randwrite\nbs=16k\noffset_increment=64k\nnumjobs=3\nsize=64k",
    "rw=randwrite\nbs=16k\noffset_increment=20%\nnumjobs=3\nsize=64k",
    "rw=write\noffset=10%\noffset_align=64k\nsize=64k",
    "rw=randwrite\nbsrange=16k-16k\nbs=4k\nsize=256k",
    "rw=randwrite\nsize=128k\nio_size=50%",
    "rw=write\nfilesize=256k\nsize=128k",
    "rw=write\nfilesize=256k\nsize=50%",
    "rw=randwrite\nfilesize=256k\nio_size=512k",
    "rw=read\nzonemode=strided\nzonesize=16k\nzonerange=64k\nzoneskip=192k\nsize=512k",
    "rw=read\nzonemode=strided\nzonesize=16k\nsize=512k\noffset=64k",
    "rw=write\nbs=12k\nzonemode=strided\nzonesize=16k\nzonerange=32k\nzoneskip=68k\nsize=128k",
    "rw=randread\nzonemode=strided\nzonesize=64k\nzonerange=16k\nzoneskip=192k\nsize=512k\nloops=2",
    "rw=randwrite\nzonemode=strided\nzonesize=8k\nzonerange=64k\nzoneskip=36k\nio_size=1m\nnorandommap",
    "rw=randread\nbs=4k,64k\nbs_is_seq_rand=1\nsize=1m\nnorandommap",
    "rw=randread\nbs=64k,4k\nbs_is_seq_rand=1\nsize=1m\nnorandommap",
    "rw=write\nbs=4k,64k\nbs_is_seq_rand=1\nsize=256k",
    "rw=write\nbs=12k,4k\nbs_is_seq_rand=1\nsize=256k",
    "rw=read\nbs=64k,4k\nbs_is_seq_rand=1\nsize=256k\nio_size=512k",
    "rw=randread\nzero_buffers\nbuffer_compress_percentage=50\nrefill_buffers\nlog_avg_msec=10",
]
# At the write pointers of zones that the host manages, each in a separate run.
ZONED = [
    "rw=write\nzonemode=zbd\nzonesize=256k\nsize=1m\nio_size=3m",
    "rw=write\nzonemode=zbd\nzonesize=256k\nzonecapacity=128k\nsize=1m\nio_size=3m",
    "rw=randwrite\nzonemode=zbd\nzonesize=128k\nsize=1m\nio_size=5m\nnorandommap\nmax_open_zones=2",
    "rw=randwrite\nbs=8k\nzonemode=zbd\nzonesize=64k\nsize=1m\noffset=128k\nio_size=2m\nmax_open_zones=1",
    "rw=randread\nzonemode=zbd\nzonesize=128k\nsize=1m\nread_beyond_wp=1",
    "rw=randread\nzonemode=zbd\nzonesize=128k\nsize=1m",
    "rw=read\nzonemode=zbd\nzonesize=128k\nsize=1m",
]
# On files that fio creates.
FILES = [
    "rw=write\nsize=64k\nnrfiles=4",
    "rw=randwrite\nsize=64k\nnrfiles=4",
    "rw=randwrite\nsize=64k\nnrfiles=4\nnorandommap\nloops=3",
    "rw=write\nsize=64k\nnrfiles=4\nfile_service_type=sequential",
    "rw=write\nsize=64k\nnrfiles=4\nfile_service_type=random:2",
    "rw=write\nsize=70k\nnrfiles=4",
    "rw=write\nfilesize=16k\nnrfiles=4\nsize=32k",
    "rw=write\nfilesize=16k\nnrfiles=4\nio_size=128k",
    "rw=write\nfilesize=16k\nnrfiles=4\noffset=8k",
    "rw=write\nfilesize=16k\nnrfiles=4\nio_size=50%",
    "rw=write\nsize=64k\nnrfiles=4\nnumber_ios=6",
    "rw=randread:4\nsize=64k\nnrfiles=4",
    "rw=randread\nsize=64k\nnrfiles=4\nfile_service_type=zipf:1.2",
    "rw=write\nsize=32k\nfilename=one:two\nnrfiles=5",
    "rw=randtrimwrite\nsize=64k\nnrfiles=2",
]
# Random jobs: requests and bytes per direction within some percent, four times the deviation by chance at these
# lengths, because another version of fio draws other numbers.
CHANCE = [
    ("rw=randrw\nrwmixread=30\nio_size=256m\nnorandommap", 4),
    ("rw=randrw:4\nrwmixread=60\nio_size=256m\nnorandommap", 4),
    ("rw=randwrite\nbsrange=4k-32k\nio_size=256m\nnorandommap", 3),
    ("rw=randwrite\nbsrange=4k-10k\nba=4k\nio_size=256m\nnorandommap", 3),
    ("rw=randwrite\nbs=8k\nbsrange=4k-16k,4k-24k\nba=4k\nio_size=256m\nnorandommap", 3),
    ("rw=randwrite\nbssplit=4k/50:6k/20:64k/30\nba=4k\nio_size=256m\nnorandommap", 3),
    ("rw=randwrite\nbssplit=4k/50:16k/50\nloops=160", 3),
    ("rw=randrw\npercentage_random=20,80\nbs=4k,8k\nio_size=256m\nnorandommap", 4),
    ("rw=randread\npercentage_random=50\nbs=4k,64k\nbs_is_seq_rand=1\nio_size=256m\nnorandommap", 4),
    ("rw=randread:4\nbssplit=4k/50:8k/50,16k/50:32k/50\nbs_is_seq_rand=1\nio_size=256m\nnorandommap", 4),
]


# Jobs that read and write at rates: the direction behind its rate goes first, whatever the mix. As observed in fio:
# with rates for both, only the rates count. Requests per direction within some percent of those of a second.
RATED = [
    "rw=randrw\nrwmixwrite=10\nrate=1m,1m",
    "rw=randrw\nrwmixread=20\nrate_iops=400,100",
    "rw=rw\nrate=2m,512k",
    "rw=randrw\nrwmixwrite=90\nrate_iops=300\nbs=4k,16k",
]
RATED_PERCENT = 4


def counts_of_fio(text: str, folder: Path) -> list[tuple[str, Counts]]:
    """Each job's name and counts; all jobs at once, because fio mostly waits."""
    (folder / "job.fio").write_text(text)
    command = [FIO, "--output-format=json", "job.fio"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return [(job["jobname"], counts(job)) for job in json.loads(done.stdout[done.stdout.index("{") :])["jobs"]]


def counts(job: dict[str, Any]) -> Counts:
    return {name: (job[name]["total_ios"], job[name]["io_bytes"]) for name in DIRECTIONS}


def counts_of_ours(text: str, *, timed: bool = False) -> list[Counts]:
    specification = specifying.specify(parse(text), DRIVE, seed=1, timed=timed)
    return [counts(job) for job in json.loads(simulated.run(specification).to_json())["jobs"]]


def job_file(head: str, options: list[str]) -> str:
    sections = [f"[job{place}]\n{text}\n" for place, text in enumerate(options)]
    return f"[global]\n{head}\n{''.join(sections)}"


@pytest.fixture
def device(tmp_path: Path) -> Path:
    (tmp_path / "device").touch()
    os.truncate(tmp_path / "device", USER_BYTES)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "head"),
    [(EXACT, "ioengine=psync\nfilename=device"), (FILES, "ioengine=null")],
    ids=["device", "files"],
)
def test_counts_that_follow_from_the_file(device: Path, options: list[str], head: str) -> None:
    text = job_file(head, options)
    if head == "ioengine=null":
        # The files of all jobs together would fill the drive, so each job runs on an empty one.
        ours = [counts_of_ours(job_file(head, [each]))[0] for each in options]
    else:
        ours = counts_of_ours(text)
    fios = counts_of_fio(text, device)
    wrong = [(options[int(name[3:])], fio, our) for (name, fio), our in zip(fios, ours, strict=True) if fio != our]
    assert not wrong


@pytest.mark.parametrize("options", ZONED)
def test_counts_of_zoned_jobs(device: Path, options: str) -> None:
    text = job_file("ioengine=psync\nfilename=device", [options])
    [(_, fio)] = counts_of_fio(text, device)
    assert counts_of_ours(text) == [fio]


@pytest.mark.parametrize("timed", [False, True], ids=["untimed", "timed"])
def test_counts_of_jobs_that_write_the_same_zones(device: Path, timed: bool) -> None:
    """As fio's examples/zbd-rand-write.fio, which ends by time."""
    options = "rw=randwrite\nzonemode=zbd\nzonesize=64k\nsize=1m\nio_size=2m\nnumjobs=16\nmax_open_zones=8"
    text = job_file("ioengine=psync\nfilename=device", [f"{options}\nnorandommap"])
    fios = [found for _, found in counts_of_fio(text, device)]
    assert len(fios) == 16 and counts_of_ours(text, timed=timed) == fios


def test_counts_of_chance(device: Path) -> None:
    text = job_file("ioengine=psync\nfilename=device", [options for options, _ in CHANCE])
    for (options, percent), (_, fio), ours in zip(
        CHANCE, counts_of_fio(text, device), counts_of_ours(text), strict=True
    ):
        for name in DIRECTIONS:
            for what in (0, 1):
                assert ours[name][what] == pytest.approx(fio[name][what], rel=percent / 100), (options, name, what)


def test_counts_of_jobs_that_read_and_write_at_rates(tmp_path: Path) -> None:
    """A regression: a mix of 10 % writes with the same rate for both directions wrote a ninth of what fio writes."""
    head = "ioengine=null\nsize=1m\niodepth=4\nnorandommap\ntime_based\nruntime=1"
    text = job_file(head, RATED)
    # On a busy machine fio falls behind its rates, but never exceeds them.
    attempts = [counts_of_fio(text, tmp_path) for _ in range(3)]
    ours = [counts_of_ours(job_file(head, [each]), timed=True)[0] for each in RATED]
    for options, our, *fios in zip(RATED, ours, *attempts, strict=True):
        for name in ("read", "write"):
            of_fio = max(fio[name][0] for _, fio in fios)
            assert our[name][0] == pytest.approx(of_fio, rel=RATED_PERCENT / 100), (options, name)


def test_every_lba_that_fio_visits_once_we_visit_once(device: Path) -> None:
    # Lengths from fio's null engine on files; the total is the same to the byte.
    text = job_file("ioengine=null\nsize=256k\nnrfiles=2", ["rw=randwrite\nbssplit=4k/60:8k/40", "rw=randread\nbs=8k"])
    for (_, fio), ours in zip(counts_of_fio(text, device), counts_of_ours(text), strict=True):
        assert [fio[name][1] for name in DIRECTIONS] == [ours[name][1] for name in DIRECTIONS]
