"""External input of a job file: included files, environment variables, fio's words for properties of the machine.

Compared with fio's own expansion (`fio --showcmd`, 3.33) if it is installed.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.simulator.workloads.jobs import load, parse
from ssdlab.simulator.workloads.jobs.access import IODEPTH
from ssdlab.simulator.workloads.jobs.table import NUMJOBS, SIZE
from ssdlab.simulator.workloads.jobs.values import Amount
from ssdlab.simulator.workloads.jobs.variables import machine, replace_keywords

FIO = shutil.which("fio") or ""
needs_fio = pytest.mark.skipif(not FIO, reason="fio is not installed")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the job file; the working folder is different."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (tmp_path / "depth.fio").write_text("iodepth=4\n# a comment\n")
    (tmp_path / "nested.fio").write_text("include depth.fio\nnumjobs=2\n")
    (tmp_path / "with space.fio").write_text("iodepth=7\n")
    (tmp_path / "section.fio").write_text("[b]\n")
    (tmp_path / "itself.fio").write_text("include itself.fio\n")
    (tmp_path / "wrong.fio").write_text("\nnumjobs=many\n")
    return tmp_path


def write(folder: Path, text: str) -> Path:
    (folder / "job.fio").write_text(text)
    return folder / "job.fio"


def test_included_options_are_those_of_the_section(folder: Path) -> None:
    (job,) = load(write(folder, "[a]\niodepth=9\ninclude nested.fio\nnumjobs=3\n")).sections
    assert (job.get(IODEPTH), job.get(NUMJOBS)) == (4, 3)
    (job,) = load(write(folder, "[a]\ninclude nested.fio\niodepth=9\n")).sections
    assert (job.get(IODEPTH), job.get(NUMJOBS)) == (9, 2)
    (job,) = load(write(folder, "[global]\ninclude=depth.fio\n[a]\n")).sections
    assert job.get(IODEPTH) == 4


def test_the_working_folder_goes_before_the_files(folder: Path) -> None:
    Path("depth.fio").write_text("iodepth=5\n")
    (job,) = load(write(folder, "[a]\ninclude depth.fio\n")).sections
    assert job.get(IODEPTH) == 5


@needs_fio
@pytest.mark.parametrize(
    "text",
    [
        "[a]\ninclude depth.fio\n",
        "[a]\niodepth=2\ninclude nested.fio # two files\n",
        "[global]\ninclude=nested.fio\n[a]\niodepth=3\n",
        "[a]\ninclude with space.fio\n",
        "[a]\nnumjobs=${CLONES}\niodepth=${CLONES}0\n",
        "[a]\nname=${CLONES}${NOT_SET}x\n${KEY}=6\n",
        "[a]\nsize=8*$pagesize\niodepth=$ncpus\n",
        "[a]\nsize=$pagesize*(2+3)-$pagesize\n",
        "[a]\nsize=$pagesize^2/$pagesize%$pagesize+2*$mb_memory\n",
        "[a]\nbs=$pagesize,8k\n",
    ],
)
def test_fio_expands_it_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("CLONES", "2")
    monkeypatch.setenv("KEY", "iodepth")
    path = write(folder, text)
    command = subprocess.run([FIO, "--showcmd", str(path)], capture_output=True, text=True, check=True).stdout
    # fio lists the options in order, with repetitions.
    fios: dict[str, str] = {}
    for word in command.split("--")[1:]:
        key, _, value = word.strip().partition("=")
        fios[key] = value.strip('"')
    file = load(path)
    (job,) = file.sections
    ours = {**file.global_options, "name": job.name, **job.options}
    assert ours == fios


def test_what_came_from_outside_is_noted(folder: Path) -> None:
    path = write(folder, "[a]\nsize=${SIZE}\ninclude count.fio\n[b]\nsize=${SIZE}\n")
    (folder / "count.fio").write_text("numjobs=$ncpus\n")
    file = load(path, environment={"SIZE": "4m"})
    assert file.sections[0].get(SIZE) == Amount(size_bytes=4 << 20)
    note = file.notes(timed=True)[-1]
    assert note.startswith("taken from the environment or this machine")
    assert "SIZE = '4m' (line 2)" in note
    assert f"$ncpus = {os.cpu_count()} ({folder}/count.fio, line 1)" in note


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[a]\ninclude missing.fio\n", ("job.fio, line 2", "missing.fio", "no such file")),
        ("[a]\ninclude\n", ("job.fio, line 2", "names no file")),
        ("[a]\ninclude section.fio\n", ("section.fio, line 1", "options only")),
        ("[a]\ninclude itself.fio\n", ("itself.fio, line 1", "is a circular include")),
        ("[a]\ninclude wrong.fio\n", ("wrong.fio, line 2", "numjobs=many")),
        ("include depth.fio\n[a]\n", ("job.fio, line 1", "before the first section")),
        ("[a]\nsize=${NOT_SET}\n", ("job.fio, line 2", "NOT_SET is not set")),
        ("[a]\nsize=2*$pagesize/\n", ("job.fio, line 2", "not a calculation")),
        ("[a]\nsize=$pagesize/0\n", ("job.fio, line 2", "not a calculation")),
        ("[a]\nsize=$pagesize^99\n", ("job.fio, line 2", "not a calculation")),
        ("[a]\nsize=$pagesize-2*$pagesize\n", ("job.fio, line 2", "not a calculation")),
    ],
)
def test_errors_name_the_file_and_the_line(folder: Path, text: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        load(write(folder, text))
    for part in parts:
        assert part in str(caught.value)


def test_a_deep_chain_of_files_ends(folder: Path) -> None:
    for number in range(30):
        (folder / f"{number}.fio").write_text(f"include {number + 1}.fio\n")
    with pytest.raises(InputError, match="is a circular include"):
        load(write(folder, "[a]\ninclude 0.fio\n"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$pagesize", "P"),
        ("2+3*4-$pagesize*0", "14"),
        ("2^3^2+0*$ncpus", "512"),
        ("(2+3)*4+$ncpus*0", "20"),
        ("-(2-9)%4+$ncpus*0", "3"),
        ("7/2*2+$ncpus*0", "6"),
        ("$pagesize,8k", "P,8k"),
    ],
)
def test_calculations(text: str, value: str) -> None:
    replaced, names = replace_keywords(text, "here")
    assert replaced == value.replace("P", str(machine()["pagesize"]))
    assert names


def test_text_without_the_words_is_left_alone() -> None:
    assert replace_keywords("8*4k", "here") == ("8*4k", {})
    assert parse("[a]\ndescription=2*3\n").sections[0].options == {"description": "2*3"}
