"""Does the program start without heavy imports, explain itself, and end with the documented exit codes?"""

import subprocess
import sys
from typing import Any

import pytest

from ssdlab.simulator.results.fio_schema import FIO_VERSION
from waiting import SECONDS_MAX

HEAVY = ("polars", "altair", "scipy", "pydantic", "numpy", "ssdlab._engine")
COMMANDS = ("run", "compare", "drives", "policies", "model")


def test_help_has_examples(ssdlab: Any) -> None:
    help_text = ssdlab("--help")
    assert help_text.returncode == 0
    assert all(f"ssdlab {command} " in help_text.stdout for command in COMMANDS), "an example for each command"


@pytest.mark.parametrize("module", ["ssdlab", "ssdlab.cli", "ssdlab.simulator.runs", "ssdlab.simulator.engine.worker"])
def test_light_imports(module: str) -> None:
    program = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_a_run_without_a_terminal_loads_no_library_that_it_does_not_need() -> None:
    """Half of the time of a short command is that of loading modules."""
    program = (
        "import atexit, sys; from ssdlab.cli import main\n"
        "loaded = {'rich', 'pydantic', 'tomlkit', 'polars'}.intersection\n"
        "atexit.register(lambda: print(sorted(loaded(sys.modules))))\n"
        "main()"
    )
    arguments = ["run", "jobs/randwrite.fio", "--drive", "tiny"]
    ended = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_pages_are_made_without_loading_altair() -> None:
    modules = "ssdlab.cli.compare, ssdlab.presentation.report.comparison, ssdlab.experiments.sweeps.pictures"
    program = f"import sys, {modules}; print('altair' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=SECONDS_MAX
    )
    assert found.stdout.strip() == "False"


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_its_help_with_an_example(command: str, ssdlab: Any) -> None:
    help_text = ssdlab(command, "--help")
    assert help_text.returncode == 0
    assert "Example:" in help_text.stdout and f"  ssdlab {command} " in help_text.stdout


RUN = ("run", "uniform.fio", "--drive", "small.toml")
COMPARE = ("compare", "uniform.fio", "--drive", "small.toml")
WRONG = {
    "no command": ([], "Usage"),
    "unknown command": (["rum"], "rum"),
    "unknown option": ([*RUN, "--opp", "7%"], "--opp"),
    "no drive": (["run", "uniform.fio"], "--drive"),
    "a part of a study's name": (["study", "pny"], "did you mean 'pny-over-provisioning'"),
    "a part of a drive's name": (["drives", "pm9a3"], "did you mean 'samsung-pm9a3-960gb'"),
    "no such job": (["run", "none.fio", "--drive", "small.toml"], "none.fio"),
    "no such drive": (["run", "uniform.fio", "--drive", "genric-tlc-480"], "generic-tlc-480"),
    "spare area of nothing": ([*RUN, "--op", "0%"], "--op 0 %"),
    "a list of spare areas": ([*RUN, "--op", "7%,28%"], "ssdlab compare"),
    "a share that is none": ([*COMPARE, "--op", "7%,x"], "--op"),
    "a share twice": ([*COMPARE, "--op", "7%,0.07"], "listed twice"),
    "unknown key": ([*RUN, "--set", "ftl.victm=fifo"], "ftl.victim"),
    "unknown policy": ([*COMPARE, "--set", "ftl.victim=greedy,fofo"], "fifo"),
    "a key twice": ([*COMPARE, "--set", "ftl.victim=greedy", "--set", "ftl.victim=fifo"], "already set to greedy"),
    "a scale too small": ([*RUN, "--scale", "1/16"], "--scale 1/16"),
    "a scale that is none": ([*RUN, "--scale", "16"], "--scale"),
    "a wrong format": ([*RUN, "--output-format", "jsn"], "'json'"),
    "a wrong end": ([*COMPARE, "--until", "steddy"], "'steady'"),
    "no drive writes": ([*COMPARE, "--dwpd", "0"], "--dwpd"),
    "a negative seed": ([*RUN, "--seed", "-1"], "--seed"),
    "output below a file": ([*COMPARE, "--output", "small.toml/x"], "small.toml is a file"),
    "output where nothing can be made": ([*RUN, "--output", "/proc/nope"], "/proc/nope"),
    "files where nothing can be made": ([*COMPARE, "--output", "/proc/nope"], "/proc/nope"),
    "a missing trace in a job": (
        ["run", "iolog.fio", "--drive", "small.toml"],
        "line 2: read_iolog=x.log: no such file",
    ),
    "a trace in a job that is compared": (["compare", "iolog.fio", "--drive", "small.toml"], "ssdlab replay"),
    "a job too large": (["run", "large.fio", "--drive", "small.toml"], "large.fio, line 4"),
    "an unknown job option": (["run", "wrong.fio", "--drive", "small.toml"], "wrong.fio, line 2"),
    "a steady state of reads": (["compare", "reads.fio", "--drive", "small.toml"], "--until job"),
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.values(), ids=WRONG)
def test_wrong_input_ends_with_2_one_message_and_no_file(
    arguments: list[str], said: str, ssdlab: Any, tmp_path: Any
) -> None:
    (tmp_path / "large.fio").write_text("[large]\nrw=write\nbs=4k\nsize=1g\n")
    (tmp_path / "wrong.fio").write_text("[wrong]\nrw_typo=write\n")
    (tmp_path / "reads.fio").write_text("[reads]\nrw=read\nbs=4k\n")
    before = sorted(tmp_path.rglob("*"))
    ended = ssdlab(*arguments)
    # Without any command the help itself is the message.
    printed = ended.stdout + ended.stderr if not arguments else ended.stderr
    assert ended.returncode == 2, printed
    assert said in printed
    assert "Traceback" not in printed
    assert sorted(tmp_path.rglob("*")) == before


def test_a_reader_that_leaves_early_is_no_fault(ssdlab: Any, tmp_path: Any) -> None:
    command = [sys.executable, "-m", "ssdlab", *RUN, "--output-format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert not [line for line in process.stderr if not line.startswith("note: ")]
    process.wait(SECONDS_MAX)


def test_version(ssdlab: Any) -> None:
    ended = ssdlab("--version")
    assert ended.returncode == 0
    assert ended.stdout.startswith("ssdlab ")
    assert ended.stdout.endswith(f"results in the JSON schema of {FIO_VERSION}\n")
