"""Do fio and we agree on what is a job file, and on what it asks for? fio itself is the judge (3.33 was used)."""

import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ssdlab.errors import InputError
from ssdlab.jobs import load, parse
from ssdlab.jobs.table import BY_NAME

FIO = shutil.which("fio") or ""
pytestmark = pytest.mark.skipif(not FIO, reason="fio is not installed")

MIB = 1 << 20
DRIVE = 4 * MIB

ACCEPTED = [
    "[a]\nrw=randwrite:8\n",
    "[a]\nbsrange=4k-64k\n",
    "[a]\nrw=randwrite\nsize=1m\n",
    "[a]\n[b]\n",
    "[global]\nbs=4k\n[a]\nreadwrite=randtrimwrite\n",
    "[globally]\nbs=8k\n[a]\nstonewall=0\n",
    "; only\n# comments\n[a] ; and one more\n  rw=read   # here\n",
    "[a]\nstonewall\nthread=0\nnorandommap=2\ngroup_reporting\n",
    "[a]\nbs=,8k,\nba=4k\nbssplit=4k/50:8k/,,64k\n",
    "[a]\nkb_base=1000\nbs=512,1024\nsize=50%\noffset=25%\nio_size=10%\n",
    "[a]\niodepth=1k\nloops=0\nnumber_ios=0\nrandseed=0x89\n",
    "[a]\nrandom_distribution=zoned:50/5:30/15:20/\n",
    "[a]\nrandom_distribution=zipf:1.2:0.25\n[b]\nrandom_distribution=pareto:0.3:1\n",
    "[a]\nrandom_distribution=normal\n[b]\nrandom_distribution=normal:10:0.3\n",
    "[a]\nrandom_distribution=zoned_abs:60/20g:40/100g\n",
    "[a]\nrw=randread:8\nrw_sequencer=identical\npercentage_random=,20\n[b]\nrw=write:4k\n[c]\nrw=read:-8k\n",
    "[a]\nbsrange=4k-64k,,16k:8k\nbs_unaligned\n[b]\nbsrange=64k-4k\nbs_unaligned=1\n",
    "[a]\noffset_increment=10%\noffset_align=8k\n[b]\noffset_increment=1m\noffset=5%\n",
    "[a]\nnrfiles=4\nfilesize=1m\n[b]\nnr_files=2\nfilesize=2m-1m\nfile_service_type=random:8\n",
    "[a]\nfilename=a:b\\:c\nfile_service_type=zipf:1.2:0.5\n[b]\nfile_service_type=gauss:10\n",
    "[a]\nfile_service_type=sequential\n[b]\nfile_service_type=roundrobin:2\n[c]\nfile_service_type=pareto\n",
    "[a]\nrandom_generator=lfsr\nallrandrepeat=1\n[b]\nrandom_generator=tausworthe64\n",
    "[a]\nsize=8*$pagesize\nnumjobs=$ncpus\ndescription=x${NOT_SET}y\n",
    "[a]\nblocksize_range=4k-8k\nio_limit=50%\nfileoffset=4k\nwait_for_previous\nblocksize_unaligned=0\n",
    "[a]\nruntime=5sec\nramp_time=10 ms\n",
    "[a]\nrandom_distribution=zipf\nrate=0\nverify=0\nthinktime=0\n",
    "[a]\nruntime=60s\ntime_based\nramp_time=5\nwrite_bw_log\n",
    "[a]\nioengine=sync\nwait_for_previous\nfill_fs=0\nunified_rw_reporting=mixed\n",
]
REFUSED = [
    "bs=4k\n",
    "[a]\nrw=rand\n",
    "[a]\nrw\n",
    "[a]\nreadwrit=read\n",
    "[a]\nBS=4k\n",
    "[a]\nbs\n",
    "[a]\nbs=\n",
    "[a]\nbs=0\n",
    "[a]\nbs=x\n",
    "[a]\n=4k\n",
    "[a]\niodepth=0\n",
    "[a]\niodepth=many\n",
    "[a]\nstonewall=x\n",
    "[a]\nrandrepeat\n",
    "[a]\nrandrepeat=2\n",
    "[a]\nrwmixread=101\n",
    "[a]\nkb_base=7\n",
    "[a]\nsize=x\n",
    "[a]\nio_size=200%\n",
    "[a]\nruntime=soon\n",
    "[a]\nrandseed=x\n",
    "[a]\nrandom_distribution=gauss\n",
    "[a]\nrandom_distribution=zipf:x\n",
    "[a]\nrandom_distribution=zipf:1.2:2\n",
    "[a]\nrandom_distribution=zipf:1.2,0.8\n",
    "[a]\nrandom_distribution=gauss:10\n",
    "[a]\nrandom_distribution=normal:100\n",
    "[a]\nrandom_distribution=zoned_abs:60/20g:30/100g\n",
    "[a]\nrandom_distribution=zoned_abs=60/20g:40/100g\n",
    "[a]\nrw_sequencer=ident\n",
    "[a]\npercentage_random=101\n",
    "[a]\nbsrange=4k\n",
    "[a]\nfile_service_type=foo\n",
    "[a]\nrandom_generator=mt\n",
    "[a]\niodept=4\n",
    "[a]\nsize=${NOT_SET}\n",
    "[a]\nbs=$pagesize*2,8k\n",
    "[a]\nbs=(4*1024)\n",
    "[a]\nzipf_like_fio=2\n",
    "[globally]\nfoo=1\n[a]\n",
    "[a]\ndirect=yes\n",
    "[a]\ndescription=\n",
]
# fio takes these and then does something else than they say, or nothing.
ACCEPTED_BY_FIO_ALONE = [
    "",
    "[global]\nbs=4k\n",
    "[a\nbs=4k\n",
    "[a]\nbs=4kfoo\n",
    "[a]\ninclude missing.fio\n",
    "[a]\nsize=1.5g\n",
    "[a]\nsize=-5\n",
    "[a]\nbs=512,512,512,512\n",
    "[a]\nbssplit=4k/60:8k/60\n",
    "[a]\nbs=4k-8k\n",
    "[a]\nsize=150%\n",
    "[a]\nnumjobs=0\n",
    # Right in fio, and refused here because the run would mean something else.
    "[a]\nrate=1m\n",
    "[a]\nthinktime=1ms\n",
    "[a]\n[b]\nwait_for=a\n",
    "[a]\nverify=crc32c\n",
    # Read as something else than they say, as far as a number goes.
    "[a]\nrandom_distribution=zipf:1.2/0.25\n",
    "[a]\nrandom_distribution=zipf:-1\n",
    "[a]\nrandom_distribution=zoned_abs:60/20g:40\n",
    "[a]\nrw=randread:x\n",
    "[a]\nrw=randread:0\n",
    "[a]\nrw=randread:4k\n",
    "[a]\nrw=read:x\n",
    "[a]\nrw=read:4\n",
    "[a]\nbsrange=4k-64k/8k-16k\n",
    "[a]\nbsrange=4k-64k,8k\n",
    "[a]\nfile_service_type=random:x\n",
    "[a]\nnrfiles=0\n",
]
# In fio's manual, and refused by fio 3.33; and what is ours.
ACCEPTED_BY_US_ALONE = [
    "[a]\nrandom_distribution=zoned:90/10:10/90,50/50:50/50\n",
    "[a]\nrandom_distribution=zoned_abs:100/1g,100/2g\n",
    "[a]\nzipf_like_fio=1\n",
]


def fio_accepts(path: Path) -> bool:
    return subprocess.run([FIO, "--parse-only", str(path)], capture_output=True, check=False).returncode == 0


def we_accept(path: Path) -> bool:
    try:
        load(path)
    except InputError:
        return False
    return True


@pytest.mark.parametrize(
    ("texts", "by_fio", "by_us"),
    [
        (ACCEPTED, True, True),
        (REFUSED, False, False),
        (ACCEPTED_BY_FIO_ALONE, True, False),
        (ACCEPTED_BY_US_ALONE, False, True),
    ],
    ids=["both", "neither", "fio-alone", "we-alone"],
)
def test_what_is_accepted(tmp_path: Path, texts: list[str], by_fio: bool, by_us: bool) -> None:
    paths = [tmp_path / f"{place}.fio" for place in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    # fio waits more than it works.
    with ThreadPoolExecutor(8) as pool:
        judged = list(pool.map(fio_accepts, paths))
    for path, text, fios in zip(paths, texts, judged, strict=True):
        assert (fios, we_accept(path)) == (by_fio, by_us), text


def test_the_shipped_files_are_fios_too() -> None:
    files = sorted((Path(__file__).parents[2] / "jobs").glob("*.fio"))
    assert files
    for path in files:
        assert fio_accepts(path), path


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
# The same with trims, which a plain file cannot do: on fio's null engine, where the size has to be said.
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


def run_fio(text: str, folder: Path) -> list[dict[str, Any]]:
    path = folder / "job.fio"
    path.write_text(text)
    command = [FIO, "--output-format=json", str(path)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return found


def implied_ios(job: dict[str, Any]) -> int:
    """Requests of one length, one after the other, until the bytes or the number of requests are reached."""
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
        # About 15,000 requests or more; the lengths vary by less than their mean or so.
        assert measured == pytest.approx(expected, rel=0.04), job["name"]


def test_a_job_reports_its_options_as_fio_does(tmp_path: Path) -> None:
    text = "[global]\nioengine=null\nsize=1m\nreadwrite=write\n[a]\nblocksize=16k\n[b]\nname=bee\nio_limit=64k\n"
    ours = parse(text)
    assert [job["job options"] for job in run_fio(text, tmp_path)] == [section.options for section in ours.sections]
    assert ours.global_options == {"ioengine": "null", "size": "1m", "rw": "write"}
