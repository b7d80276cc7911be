"""Do fio and ssdlab agree on the requests of a job file? Compared with fio itself (3.33)."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ssdlab.simulator.workloads.jobs import parse
from ssdlab.simulator.workloads.jobs.table import BY_NAME

FIO = shutil.which("fio") or ""
pytestmark = pytest.mark.skipif(not FIO, reason="fio is not installed")

MIB = 1 << 20
DRIVE = 4 * MIB


def test_every_option_that_fio_lists_is_known() -> None:
    listed = subprocess.run([FIO, "--cmdhelp"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^ *([a-zA-Z0-9_-]+) *:", listed, re.MULTILINE)
    assert len(names) > 150
    if "fio-3.33" in subprocess.run([FIO, "--version"], capture_output=True, text=True, check=True).stdout:
        assert [name for name in names if name not in BY_NAME] == []
    else:
        assert sum(name in BY_NAME for name in names) > 0.9 * len(names)


# The amount of work, as options of one job each on a device of 4 MiB.
AMOUNTS = [
    "rw=randread",
    "rw=randread\nsize=50%",
    "rw=randread\noffset=25%",
    "rw=randread\noffset=1m\nsize=50%",
    "rw=read\noffset=1m\nsize=90%",
    "rw=randread\noffset=1m\nsize=100%",
    "rw=read\noffset=33%\nbs=64k",
    "rw=randread\noffset=33%\nsize=33%",
    "rw=randread\nsize=50%\nio_size=50%",
    "rw=randread\nsize=2m\nio_size=50%",
    "rw=randread\noffset=1m\nio_size=50%",
    "rw=write\nsize=1m\nio_size=3m",
    "rw=write\nsize=1m\nio_size=3m\nloops=2",
    "rw=randwrite\nsize=1m\nio_size=1500k\nloops=2",
    "rw=randwrite\nsize=1m\nio_size=512k\nloops=3",
    "rw=randwrite\nsize=1m\nio_size=10000",
    "rw=randwrite\nsize=1m\nio_size=1k",
    "rw=randwrite\nsize=1m\nloops=3",
    "rw=randwrite\nsize=1m\nloops=0",
    "rw=randwrite\nsize=1m\nnumber_ios=10",
    "rw=randwrite\nsize=1m\nnumber_ios=10\nloops=3",
    "rw=randwrite\nsize=1m\nnumber_ios=300\nloops=2",
    "rw=randwrite\nsize=1m\nnumber_ios=300\nio_size=3m",
    "rw=randwrite\nsize=1m\nnumber_ios=300\nio_size=3m\nloops=2",
    "rw=randwrite\nsize=1m\nnumber_ios=0",
    "rw=randwrite\nsize=1m\nbs=12k",
    "rw=randwrite\nsize=1m\nbs=12k\nnorandommap",
    "rw=randread\nsize=10k",
    "rw=randread\nsize=10k\nnorandommap",
    "rw=randread\noffset=5k\nsize=10k",
    "rw=read\nsize=10k",
    "rw=read\nsize=10k\nio_size=30k",
    "rw=read\noffset=4088k\nsize=8k",
    "rw=randrw\nsize=1m\nrwmixread=40",
    "rw=randread\nbs=512\nkb_base=1000\nsize=100k",
    "rw=randread\nsize=1m\nnumjobs=3",
    "rw=randwrite\nbs=16k\nba=4k\nsize=64k\nio_size=200k",
]
# The same with trims, which a plain file does not support: on fio's null engine, which needs an explicit size.
TRIM_AMOUNTS = [
    "rw=randtrim\nsize=1m",
    "rw=trimwrite\nsize=1m",
    "rw=trimwrite\nsize=1m\nloops=2",
    "rw=trimwrite\nsize=1m\nio_size=512k",
    "rw=trimwrite\nsize=1m\nio_size=2m",
    "rw=trimwrite\nsize=1m\nio_size=3m",
    "rw=randtrimwrite\nsize=1m\nnumber_ios=10",
    "rw=trimwrite\nsize=1m\nloops=2\nnumber_ios=300",
]


def run_fio(text: str, folder: Path) -> list[Any]:
    path = folder / "job.fio"
    path.write_text(text)
    command = [FIO, "--output-format=json", str(path)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found: list[Any] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return found


def implied_ios(job: Any) -> int:
    """The number of sequential requests of one length until the bytes or the number of requests are reached."""
    (entry,) = job["block_sizes"][job["direction"] if job["direction"] in ("read", "trim") else "write"]
    by_bytes: int = -(-job["io_bytes"] // entry["bytes"])
    assert job["loops"] == 1
    return by_bytes if job["number_ios"] is None else min(by_bytes, job["number_ios"])


@pytest.mark.parametrize(
    ("options", "head"),
    [(AMOUNTS, "ioengine=psync\nfilename=device"), (TRIM_AMOUNTS, "ioengine=null")],
    ids=["file", "null"],
)
def test_the_number_of_requests(tmp_path: Path, options: list[str], head: str) -> None:
    (tmp_path / "device").write_bytes(bytes(DRIVE))
    sections = [f"[job{place}]\n{text}\n" for place, text in enumerate(options)]
    text = f"[global]\n{head}\n{''.join(sections)}"
    measured = run_fio(text, tmp_path)
    jobs = parse(text).resolve(DRIVE, seed=1)
    assert [job["name"] for job in jobs] == [job["jobname"] for job in measured]
    wrong = []
    for job, found in zip(jobs, measured, strict=True):
        each = {name: found[name]["total_ios"] for name in ("read", "write", "trim")}
        counted = each["trim"] if job["direction"] == "trim-write" else sum(each.values())
        if counted != implied_ios(job):
            wrong.append((options[int(job["name"][3:])], each, implied_ios(job)))
    assert not wrong


def test_where_and_in_which_order_sequential_requests_fall(tmp_path: Path) -> None:
    (tmp_path / "device").write_bytes(bytes(DRIVE))
    options = [
        "offset=33%\nsize=33%",
        "size=16k\nio_size=40k",
        "size=16k\nio_size=8k\nloops=3",
        "size=16k\nloops=2\nnumber_ios=3",
    ]
    head = "[global]\nioengine=psync\nfilename=device\nrw=read\n"
    text = head + "".join(f"[{place}]\n{text}\n" for place, text in enumerate(options))
    logged = text
    for place in range(len(options)):
        logged = logged.replace(f"[{place}]\n", f"[{place}]\nwrite_iolog=log{place}\n")
    run_fio(logged, tmp_path)
    for place, job in enumerate(parse(text).resolve(DRIVE, seed=1)):
        log = (tmp_path / f"log{place}").read_text()
        measured = [int(offset) for offset in re.findall(r" read (\d+) \d+$", log, re.MULTILINE)]
        step = 4096
        expected = [job["offset_bytes"] + index * step % job["size_bytes"] for index in range(implied_ios(job))]
        assert measured == expected, options[place]


LENGTHS = [
    "bs=4k,8k,16k",
    "bs=4k,8k",
    "bs=,8k",
    "bs=8k,",
    "bs=,8k,",
    "bs=,,8k",
    "bs=512kib",
    "bs=8ki",
    "bs=0x1000",
    "kb_base=1000\nbs=8kib",
    "bs=512k\nkb_base=1000",
    "bssplit=4k/50:8k/50\nbs=16k",
    "bs=16k\nbssplit=4k/50:8k/50,",
    "bssplit=4k/50:8k/50,16k/20:32k/80",
    "bssplit=4k/50:8k/50,16k/20:32k/80,64k/100",
    "bs=512k\nbssplit=4k/50:8k/50,,64k",
    "bssplit=,16k/20:32k/80",
    "bsrange=4k-64k",
    "bsrange=64k-4k,8k:16k",
    "bsrange=,8k-16k",
    "bs=8k\nbsrange=4k-16k",
    "bsrange=4k-16k\nbs=8k",
    "bs=512,1k\nbsrange=4k-16k,",
    "bsrange=4k-16k\nbssplit=4k/50:64k/50",
    "bsrange=4k-10k\nbs_unaligned",
]


def test_the_lengths_of_requests(tmp_path: Path) -> None:
    sections = [f"[job{place}]\n{text}\n" for place, text in enumerate(LENGTHS)]
    text = "[global]\nioengine=null\nsize=100m\nnumber_ios=1\n" + "".join(sections)
    path = tmp_path / "job.fio"
    path.write_text(text)
    printed = subprocess.run([FIO, str(path)], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    lines = re.findall(
        r"^(job\d+): \(g=0\).*bs=\(R\) (\S+)-(\S+), \(W\) (\S+)-(\S+), \(T\) (\S+)-(\S+),", printed, re.MULTILINE
    )
    assert len(lines) == len(LENGTHS)
    for (name, *told), options in zip(lines, LENGTHS, strict=True):
        (job,) = parse(f"[{name}]\n{options}\n").resolve(1 << 30, seed=1)
        lengths = [[entry["bytes"] for entry in job["block_sizes"][each]] for each in ("read", "write", "trim")]
        ours = [bound for each in lengths for bound in (min(each), max(each))]
        # fio prints four digits.
        assert ours == pytest.approx([printed_bytes(word) for word in told], rel=1e-3), options


def printed_bytes(word: str) -> float:
    number, unit = re.fullmatch(r"([0-9.]+)(B|KiB|MiB|kB|MB)", word).groups()  # type: ignore[union-attr]
    return float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "kB": 1e3, "MB": 1e6}[unit]


MIXES = [
    "4k/60:8k/40",
    "4k/50:8k/20",
    "8k/50:4k/20",
    "4k:8k:16k",
    "4k/0:8k/50",
    "4k/100:8k",
    "512/4:4k/67:8k/10:16k/7:32k/12",
]


def test_what_takes_the_rest_of_a_mix(tmp_path: Path) -> None:
    sections = [f"[job{place}]\nbssplit={mix}\n" for place, mix in enumerate(MIXES)]
    text = "[global]\nioengine=null\nrw=randwrite\nnorandommap\nba=4k\nsize=128m\n" + "".join(sections)
    for job, found in zip(parse(text).resolve(1 << 30, seed=1), run_fio(text, tmp_path), strict=True):
        measured = found["write"]["io_bytes"] / found["write"]["total_ios"]
        expected = sum(entry["bytes"] * entry["percent"] / 100 for entry in job["block_sizes"]["write"])
        # About 15,000 requests or more; the standard deviation of lengths is about their mean or less.
        assert measured == pytest.approx(expected, rel=0.04), job["name"]


def test_a_job_reports_its_options_as_fio_does(tmp_path: Path) -> None:
    text = "[global]\nioengine=null\nsize=1m\nreadwrite=write\n[a]\nblocksize=16k\n[b]\nname=bee\nio_limit=64k\n"
    ours = parse(text)
    assert [job["job options"] for job in run_fio(text, tmp_path)] == [section.options for section in ours.sections]
    assert ours.global_options == {"ioengine": "null", "size": "1m", "rw": "write"}


def test_blanks_between_the_brackets_are_part_of_a_name_as_in_fio(tmp_path: Path) -> None:
    text = "[ global ]\nioengine=null\nsize=1m\nrw=read\n[global ]\nioengine=null\nsize=2m\n[Global]\nrw=read\n[ a ]\n"
    measured = run_fio(text, tmp_path)
    assert [job["jobname"] for job in measured] == [section.name for section in parse(text).sections]
    assert [job["jobname"] for job in measured] == [" global ", "Global", " a "]
