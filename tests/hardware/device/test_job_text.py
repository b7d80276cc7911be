"""The job text given to fio: the job as written, at the chosen place, without access to other files."""

from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.hardware.device import jobtext, plan
from ssdlab.simulator.workloads import jobs


def stages(text: str, seed: int = 1) -> list[jobtext.Stage]:
    return jobtext.stages(jobs.parse(text), lambda name: Path("/measured") / (name or "whole"), seed=seed)


def options(stage: jobtext.Stage) -> dict[str, str]:
    """The options of the last section."""
    lines = stage.text.rsplit("[", 1)[1].splitlines()[1:]
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


def test_a_file_of_the_job_is_never_the_file_of_its_name() -> None:
    (stage,) = stages("[global]\nfilename=sda\ndirectory=/dev\n[a]\nrw=write\n")
    assert options(stage)["filename"] == "/measured/sda"
    assert "directory" not in stage.text


@pytest.mark.parametrize(
    "line", ["exec_prerun=reboot", "exec_postrun=rm -r x", "uid=0", "unlink=1", "allow_mounted_write=1", "ioengine=net"]
)
def test_what_reaches_beside_the_place_is_refused_by_its_line(line: str) -> None:
    with pytest.raises(InputError, match="line 2: "):
        stages(f"[a]\n{line}\nrw=write\n")


def test_stages_are_split_at_stonewalls_and_draw_different_places() -> None:
    first, second, third = stages(
        "[global]\nbs=4k\n[a]\nrw=randwrite\n[b]\nrw=randwrite\n[c]\nstonewall\nrw=randwrite\n[d]\nstonewall\nrw=read\n"
    )
    assert [first.name, second.name, third.name] == ["a+b", "c", "d"]
    assert "stonewall" not in first.text + second.text
    seeds = [options(stage)["randseed"] for stage in (first, second, third)]
    assert len(set(seeds)) == 3
    assert all(0 <= int(seed) < 1 << 63 for seed in seeds)
    assert seeds != [options(stage)["randseed"] for stage in stages("[a]\nrw=write\n", seed=2)]


def test_what_global_and_section_say_by_direction_is_joined() -> None:
    (stage,) = stages("[global]\nbs=8k,16k\n[a]\nrw=randrw\nbs=,64k\nrwmixread=70\n")
    assert options(stage)["bs"].startswith("8192,65536,")
    assert options(stage)["rwmixread"] == "70"


def test_a_job_goes_past_the_page_cache_unless_it_says_otherwise() -> None:
    (plain,), (cached,), (own,) = (
        stages("[a]\n"),
        stages("[a]\nbuffered=1\n"),
        stages("[a]\nioengine=psync\ndirect=0\n"),
    )
    assert options(plain) | {"direct": "1", "ioengine": "libaio"} == options(plain)
    assert "direct" not in options(cached)
    assert options(own)["direct"] == "0"


def test_the_size_that_a_job_wants_is_told_from_the_job() -> None:
    assert plan.size_wanted(jobs.parse("[a]\nsize=64m\n[b]\noffset=32m\nsize=64m\n")) == 96 << 20
    assert plan.size_wanted(jobs.parse("[a]\nrw=write\n")) is None
    assert plan.size_wanted(jobs.parse("[a]\nsize=50%\n")) is None


FDP = "[a]\nioengine=io_uring_cmd\ncmd_type=nvme\nfdp=1\nplids=1,3\nrw=randwrite\n"


def passed_through(text: str) -> jobtext.Stage:
    (stage,) = jobtext.stages(jobs.parse(text), lambda name: Path("/dev/nvme0n1"), lambda: Path("/dev/ng0n1"))
    return stage


def test_nvme_commands_go_to_the_generic_device() -> None:
    """fio cannot open a character device with O_DIRECT."""
    stage = passed_through(FDP + "direct=1\n")
    wanted = {"ioengine": "io_uring_cmd", "cmd_type": "nvme", "fdp": "1", "plids": "1,3", "filename": "/dev/ng0n1"}
    assert options(stage) | wanted == options(stage)
    assert stage.files == (Path("/dev/ng0n1"),)
    assert "direct" not in stage.text
    both = passed_through(FDP + "[b]\nioengine=libaio\n")
    assert both.files == (Path("/dev/ng0n1"), Path("/dev/nvme0n1"))
    assert options(both)["filename"] == "/dev/nvme0n1"
    assert options(both)["direct"] == "1"


def test_nvme_commands_are_refused_where_there_is_no_generic_device() -> None:
    with pytest.raises(InputError, match="line 2: ioengine=io_uring_cmd: allowed here: libaio, "):
        stages(FDP)

    def none() -> Path:
        raise InputError("a folder")

    with pytest.raises(InputError, match="line 2: a folder"):
        jobtext.stages(jobs.parse(FDP), lambda name: Path("/measured"), none)


@pytest.mark.parametrize("line", ["cmd_type=bsg", "ioengine=xnvme"])
def test_other_commands_are_refused(line: str) -> None:
    with pytest.raises(InputError, match=f"line 2: {line}: allowed on a real drive: "):
        passed_through(f"[a]\n{line}\n")


def test_the_file_of_a_scheme_is_found_from_the_folder_of_fio(tmp_path: Path) -> None:
    """A regression: fio runs in a folder of its own, where a relative name leads to no file."""
    (tmp_path / "ranges").write_text("0,1048576,2\n")
    (tmp_path / "a.fio").write_text(f"{FDP}plid_select=scheme\ndp_scheme=ranges\n")
    job_file = jobs.load(tmp_path / "a.fio")
    (stage,) = jobtext.stages(job_file, lambda name: Path("/dev/nvme0n1"), lambda: Path("/dev/ng0n1"))
    assert options(stage)["dp_scheme"] == str(tmp_path / "ranges")
