"""The depth of jobs with synchronous engines. Compared with fio 3.33."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ssdlab.simulator.workloads.jobs import load, parse
from ssdlab.simulator.workloads.jobs.access import SYNCHRONOUS
from ssdlab.simulator.workloads.jobs.jobfile import JobFile

CASES = Path(__file__).parent / "cases"
FIO = shutil.which("fio") or ""
USER_BYTES = 1 << 30


def depths(file: JobFile) -> list[int]:
    return [job["iodepth"] for job in file.resolve(USER_BYTES, seed=1)]


def test_a_synchronous_engine_has_one_request_outstanding() -> None:
    """A regression: `ioengine=psync` with `iodepth=32` ran 32 deep, 17 times as fast as fio on the same drive."""
    file = load(CASES / "psync-depth.fio")
    assert depths(file) == [1]
    assert file.notes(timed=True)[-1] == (
        "ioengine=psync (line 3) is a synchronous engine, so iodepth=32 (line 7) is capped at 1, as in fio"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ioengine=libaio", 8),
        ("ioengine=posixaio", 8),
        ("ioengine=io_uring", 8),
        ("ioengine=mmap", 1),
        ("ioengine=pvsync2\nhipri=1", 1),
        ("ioengine=sync\nio_submit_mode=offload", 8),
    ],
)
def test_depths_by_engine(text: str, expected: int) -> None:
    assert depths(parse(f"[a]\nrw=write\niodepth=8\n{text}\n")) == [expected]


def test_a_depth_for_all_is_capped_for_the_synchronous_jobs_only() -> None:
    file = parse("[global]\ndirect=1\niodepth=8\nioengine=libaio\n[a]\n[b]\nioengine=pvsync\n")
    assert depths(file) == [8, 1]
    assert file.notes(timed=True) == (
        "ioengine=pvsync (line 7) is a synchronous engine, so iodepth=8 (line 3) is capped at 1, as in fio",
    )


@pytest.mark.parametrize("engine", ["aio", "linuxaio"])
def test_other_names_of_libaio(tmp_path: Path, engine: str) -> None:
    """A regression: these were said to be no engines of fio, which would refuse them."""
    text = f"[a]\nrw=write\niodepth=8\nioengine={engine}\nsize=4k\n"
    assert depths(parse(text)) == [8]
    assert parse(f"{text}direct=1\n").notes(timed=True) == ()
    (note,) = parse(text).notes(timed=True)
    assert note.startswith("without direct=1")
    if FIO:
        (tmp_path / "a.fio").write_text(text)
        done = subprocess.run([FIO, "a.fio"], capture_output=True, text=True, check=True, cwd=tmp_path)
        assert "ioengine=libaio, iodepth=8" in done.stdout


def test_without_an_engine_the_depth_is_kept_and_noted() -> None:
    file = parse("[a]\ndirect=1\niodepth=8\n")
    assert depths(file) == [8]
    (note,) = file.notes(timed=True)
    assert "iodepth=8 (line 3) acts as with an asynchronous engine" in note
    assert "fio on Linux uses psync" in note


@pytest.mark.skipif(not FIO, reason="fio is not installed")
@pytest.mark.parametrize("engine", ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "posixaio", "null"])
def test_fio_caps_the_same_engines(tmp_path: Path, engine: str) -> None:
    command = [FIO, "--name=a", f"--ioengine={engine}", "--iodepth=8", "--rw=write", "--bs=4k", "--size=4k", "--thread"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ("depth will be capped at 1" in said.stdout + said.stderr) == (engine in SYNCHRONOUS)
