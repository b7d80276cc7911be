"""Is the memory of a run known before it starts, and is a run that does not fit rejected?

A regression: a drive larger than the machine's memory was started, and ran until the system killed it, or another
program, and the simulation was lost.
"""

import os
import re
import resource
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ssdlab
from small_drives import drive_file
from ssdlab import cli
from ssdlab.errors import InputError, Note
from ssdlab.foundation import available_memory
from ssdlab.live.session import Session
from ssdlab.simulator import engine, runs
from ssdlab.simulator.engine import memory
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import jobs, specifying
from synthetic_traces import write

_MIB = 1 << 20
# Writes to every address of the flash.
_TWICE = "[fill]\nrw=write\nbs=128k\niodepth=8\nsize=100%\nloops=2\n"
_REDUCED = {"data_reduction.compression": "true", "data_reduction.deduplication": "true"}

DRIVES = [
    ("generic-tlc-480", "1/48", None, {}, False),
    ("generic-tlc-480", "1/48", None, {}, True),
    ("generic-tlc-480", "1/64", 0.28, _REDUCED, True),
    ("generic-tlc-480", "1/64", 0.28, {"map_cache.bytes": "64MiB"}, True),
    ("generic-tlc-480", "1/48", None, {"stripe.devices": "2"}, True),
    ("generic-nvme-qlc-2000", "1/128", None, {}, True),
    ("intel-p4500-2tb", "1/128", None, {}, True),
    ("toshiba-xg5-512gb", "1/32", None, {}, True),
    ("agility2-100gb", "1/16", None, {}, True),
    ("iodrive-duo-320gb-slc", "1/32", None, {}, True),
    ("x25m-g2-160gb", "1/16", 0.1, {}, False),
    ("pny-120gb", "1/8", None, {}, True),
]


# In a separate process: memory freed by earlier tests would be reused and not be measured.
_MEASURED = """
import gc, re, sys
from pathlib import Path

import ssdlab
from ssdlab.simulator import engine
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import jobs, specifying

def status_bytes(key):
    return int(re.search(rf"^{key}:\\s+(\\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)[1]) * 1024

job, name, scale, op, settings, timed = eval(sys.argv[1])
drive = ssdlab.drive(name, scale=scale, op=op, settings=settings)
specification = specifying.specify(jobs.parse(job), drive, timed=timed)
needed = engine.needed(specification.engine_json(), specification.scale).bytes
# The packages that only results load are not what the drive takes.
simulated.run(specifying.specify(jobs.parse("[a]\\nrw=write\\nsize=64k\\n"), ssdlab.drive("tiny")))
gc.collect()
# From here on the peak counts anew.
Path("/proc/self/clear_refs").write_text("5")
before = status_bytes("VmRSS")
simulated.run(specification)
print(needed, status_bytes("VmHWM") - before)
"""


@pytest.mark.parametrize(("name", "scale", "op", "settings", "timed"), DRIVES)
def test_what_a_run_takes_is_known_beforehand(
    name: str, scale: str, op: float | None, settings: dict[str, str], timed: bool
) -> None:
    """Within 15 % of the peak that the kernel measured, on drives small enough for a test; larger drives are closer. Of
    the tables of drives that reduce data, the job does not touch those of repetitions: up to 20 % more."""
    asked = repr((_TWICE, name, scale, op, settings, timed))
    ended = subprocess.run([sys.executable, "-c", _MEASURED, asked], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    needed, taken = map(int, ended.stdout.split())
    reduction = ssdlab.drive(name, settings=settings).file.data_reduction
    most = 1.2 if reduction.compression or reduction.deduplication else 1.15
    assert 0.85 < needed / taken < most or abs(needed - taken) < 4 * _MIB


def specification(scale: str = "1/64", seed: int = 1) -> Specification:
    """Needs about 17 MiB at that scale, 2 MiB of them for a timed run's series, queues and buffers."""
    job = jobs.parse("[a]\nrw=randwrite\nbs=4k\nnumber_ios=10\n")
    return specifying.specify(job, ssdlab.drive("generic-tlc-480", scale=scale), seed=seed)


def available(monkeypatch: pytest.MonkeyPatch, mib: int) -> None:
    monkeypatch.setattr(available_memory, "available_bytes", lambda: mib * _MIB)


def test_a_run_that_does_not_fit_is_refused_with_the_scale_that_would(monkeypatch: pytest.MonkeyPatch) -> None:
    large = specification("1/8")
    available(monkeypatch, 60)
    expected = r"needs 12\d\.\d MiB of memory, 60 MiB are available; --scale 1/32 would need 3\d\.\d MiB"
    with pytest.raises(InputError, match=expected):
        simulated.run(large)
    available(monkeypatch, 140)
    assert simulated.run(large).failure is None
    available(monkeypatch, 1)
    with pytest.raises(InputError, match=r"no --scale is small enough"):
        simulated.run(large)


def test_workers_that_were_asked_for_and_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    several = [specification(seed=seed) for seed in range(4)]
    available(monkeypatch, 40)
    with pytest.raises(InputError, match=r"4 runs at a time need 70.* 40 MiB are available; 2 at a time would need 3"):
        list(runs.run_many(several, workers=4))
    assert len(list(runs.run_many(several, workers=2))) == 4


def test_the_usual_number_of_workers_is_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    several = [specification(seed=seed) for seed in range(4)]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8))
    available(monkeypatch, 45)
    with pytest.warns(Note, match=r"^2 runs at a time, not 4: one takes up to 17.* of memory$"):
        assert runs.workers_for(several, None) == 2
    available(monkeypatch, 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert runs.workers_for(several, None) == 4


def test_drives_of_a_session_must_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    available(monkeypatch, 30)
    with pytest.raises(InputError, match=r"2 runs at a time need .*; --scale 1/128 would need"):
        Session([specification(), specification()])
    session = Session([specification()])
    session.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=256, pages=32, user_bytes=16 << 20))
    (tmp_path / "job.fio").write_text("[a]\nrw=randwrite\nbs=4k\nnorandommap\n")
    (tmp_path / "sweep.toml").write_text(
        'name = "small"\n[axes]\ndrive = ["small.toml"]\njob = ["job.fio"]\nop = ["120%"]\nseed = [1, 2]\n'
        '[run]\ntimed = false\nuntil = "job"\nprecondition = "none"\n'
    )
    write(tmp_path / "a.trace", np.random.default_rng(1).integers(0, 4000, 5000))
    yield tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "run job.fio --drive small.toml",
        "compare job.fio --drive small.toml --op 110%,120%",
        "study pny-over-provisioning",
        "replay a.trace --format mqsim --drive small.toml",
        "sweep sweep.toml --output kept",
        "advise job.fio --drive small.toml --waf 2",
        "fleet a.trace --format mqsim --drive small.toml --op 110%",
        "mount mounted --drive small.toml",
        "serve --drive small.toml --socket small.sock",
        "live --drive small.toml",
    ],
    ids=lambda command: command.split()[0],
)
def test_every_command_refuses(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 100_000)
    monkeypatch.setattr(sys, "argv", ["ssdlab", *command.split()])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert (ended.value.code, "of memory, 97.7 KiB are available" in said) == (2, True), said
    assert not (folder / "small.sock").exists()


_FULL_SIZE = "import sys; from ssdlab.cli import main; sys.argv[1:] = {arguments!r}; main()"


def _run_within(limit: str, drive: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the program in a process that first executes `limit`."""
    job = folder / "job.fio"
    code = limit + "\n" + _FULL_SIZE.format(arguments=["run", str(job), "--drive", drive, "--scale", "1", "--untimed"])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)


def test_a_limit_of_address_space_counts(folder: Path) -> None:
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({6 << 30}, {6 << 30}))"
    ended = _run_within(limit, "generic-nvme-dc-3840", folder)
    assert ended.returncode == 2, ended.stderr
    assert re.search(r"the run needs 7\.\d GiB of memory, (5\.\d|6) GiB are available; --scale 1/2 would", ended.stderr)


@pytest.fixture
def control_group() -> Iterator[Path]:
    """A control group of this test with a limit of 600 MiB, if one can be created."""
    root = Path("/sys/fs/cgroup")
    versions = ((root / "memory", "memory.limit_in_bytes"), (root, "memory.max"))
    folder = None
    for parent, limit in versions:
        try:
            folder = parent / f"ssdlab-test-{os.getpid()}"
            folder.mkdir()
            (folder / limit).write_text(str(600 * _MIB))
            break
        except OSError:
            if folder and folder.exists():
                folder.rmdir()
            folder = None
    if folder is None:
        pytest.skip("no control group for memory can be made here")
    yield folder
    folder.rmdir()


def test_the_limit_of_a_control_group_counts(control_group: Path, folder: Path) -> None:
    limit = f"import os; open({str(control_group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))"
    ended = _run_within(limit, "generic-tlc-480", folder)
    assert ended.returncode == 2, ended.stderr
    available_mib = float(ended.stderr.partition("of memory, ")[2].partition(" MiB are available")[0])
    assert 300 < available_mib < 600, ended.stderr
    assert re.search(r"the run needs 9\d\d\.\d MiB .*--scale 1/2 would need 47\d", ended.stderr), ended.stderr


def test_what_a_system_says_is_read_with_all_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With both versions of control groups, and all groups above the process's own."""
    proc, groups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "meminfo").write_text("MemTotal: 8000 kB\nMemAvailable: 5000 kB\n")
    monkeypatch.setattr(available_memory, "_PROC", proc)
    monkeypatch.setattr(available_memory, "_CONTROL_GROUPS", groups)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    (proc / "self/cgroup").write_text("0::/a/b\n")
    (groups / "a/b").mkdir(parents=True)
    assert available_memory.available_bytes() == 5000 * 1024
    (groups / "a/memory.max").write_text("4000000\n")
    (groups / "a/memory.current").write_text("3500000\n")
    (groups / "a/memory.stat").write_text("anon 5\ninactive_file 20000\nactive_file 10000\n")
    (groups / "a/b/memory.max").write_text("max\n")
    assert available_memory.available_bytes() == 530_000
    (proc / "self/cgroup").write_text("7:cpu,memory:/c\n0::/a/b\n")
    (groups / "memory/c").mkdir(parents=True)
    (groups / "memory/c/memory.limit_in_bytes").write_text("100000\n")
    (groups / "memory/c/memory.usage_in_bytes").write_text("90000\n")
    (groups / "memory/c/memory.stat").write_text("total_inactive_file 1000\ntotal_active_file 500\n")
    assert available_memory.available_bytes() == 11_500
    (proc / "meminfo").unlink()
    assert available_memory.available_bytes() is None, "nothing is known, so nothing is refused"


def test_less_than_nothing_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available_memory, "available_bytes", lambda: 0)
    run = engine.needed(specification().engine_json(), "1/64")
    assert memory.fitting([run, run]) == 0
