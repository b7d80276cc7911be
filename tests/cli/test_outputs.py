"""Has every output folder one layout, does no command overwrite another's, and are sizes without a unit asked about?"""

import json
import subprocess
from pathlib import Path

import pytest

from compared_results import variants_of
from program import Program, program_in
from small_drives import drive_file
from waiting import SECONDS_MAX

EXAMPLES = Path(__file__).parents[2] / "examples"
MONDAY, FRIDAY = (str(EXAMPLES / name) for name in ("monday.json", "friday.json"))
POINTS = "workload,space_in_use,metric,value\nuniform.fio,,write_mib_s,5\n"

WRITING = {
    "advise": ["advise", "smart", MONDAY, FRIDAY],
    "atlas": ["atlas"],
    "compare": ["compare", "uniform.fio", "--drive", "small.toml", "--untimed"],
    "fit": ["fit", "points.csv", "--drive", "small.toml", "--free", "nand.program_us=100..5000", "--until", "job"],
    "fleet": ["fleet", "smart", MONDAY, FRIDAY],
    "health": ["health", MONDAY, FRIDAY],
    "measure": ["measure", "--protocol", "trim-effect", "--drive", "generic-tlc-480", "--scale", "1/256", "--quick"],
    "run": ["run", "uniform.fio", "--drive", "small.toml"],
}
"""A short call of commands that write a folder."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=256, pages=16, user_bytes=13_631_488))
    (tmp_path / "uniform.fio").write_text("[uniform]\nrw=randwrite\nbs=4k\nnorandommap\n")
    (tmp_path / "points.csv").write_text(POINTS)
    return program_in(tmp_path)


@pytest.mark.parametrize("name", WRITING)
def test_every_folder_has_a_page_and_is_kept_from_other_commands(name: str, program: Program, tmp_path: Path) -> None:
    """A regression: `health`, `atlas`, `fleet` and `measure --protocol` wrote their files among those of other
    commands, and replaced those of the same name."""
    ended = program(*WRITING[name], "--output", "out/")
    assert ended.returncode == 0, ended.stderr
    page = (tmp_path / "out/report.html").read_text()
    other = "health" if name != "health" else "atlas"
    refused = program(*WRITING[other], "--output", "out/")
    assert refused.returncode == 2
    assert f"has the report of `ssdlab {name}`" in refused.stderr
    assert (tmp_path / "out/report.html").read_text() == page, "nothing was written"
    again = program(*WRITING[name], "--output", "out/")
    assert again.returncode == 0, again.stderr


def test_the_result_of_a_comparison_is_one_object(program: Program, tmp_path: Path) -> None:
    """A regression: it was a list, in which neither fio-plot nor `jq .jobs` found a job."""
    call = ["compare", "uniform.fio", "--drive", "small.toml", "--op", "20%,28%", "--untimed", "--output", "out"]
    assert program(*call).returncode == 0
    whole = json.loads((tmp_path / "out/result.json").read_text())
    assert whole["fio version"] and {"jobs", "ssdlab"} < set(whole)
    by_variant = {
        job["ssdlab"]["variant"]: job["ssdlab"]["waf"] for job in whole["jobs"] if job["jobname"] == "uniform"
    }
    assert list(by_variant) == ["20 %", "28 %"] and by_variant["20 %"] > by_variant["28 %"]
    alone = program("run", "uniform.fio", "--drive", "small.toml", "--op", "20%", "--scale", "1", "--format", "json")
    of_run, of_compare = json.loads(alone.stdout), variants_of(tmp_path / "out/result.json")[0]
    assert set(of_run["ssdlab"]) <= set(of_compare["ssdlab"]), "a variant has all that a run has"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["refresh", "points.csv", "--rate", "50"], "--rate: '50' has no unit; write 50MB/s"),
        (["check", "points.csv", "--best", "540"], "--best: '540' has no unit; write 540MB/s"),
        (["check", "points.csv", "--read-test", "4"], "--read-test: '4' has no unit; write 4GB, or 4B"),
        (["measure", "uniform.fio", "--on", ".", "--size", "64"], "--size: '64' has no unit; write 64GB, or 64B"),
        (["price", "--flash", "128", "--user", "100GB"], "--flash: '128' has no unit"),
        (["price", "--drive", "tiny", "--writes-per-day", "500"], "--writes-per-day: '500' has no unit"),
        (["advise", "space", "uniform.fio", "--drive", "small.toml", "--write-rate", "400"], "'400' has no unit"),
    ],
)
def test_sizes_and_rates_without_a_unit_are_asked_about(words: list[str], said: str, program: Program) -> None:
    ended = program(*words)
    assert ended.returncode == 2 and said in ended.stderr, ended.stderr
    assert "MiB" in ended.stderr, "the units are named"


def test_nothing_needs_no_unit(program: Program, tmp_path: Path) -> None:
    ended = program("check", "points.csv", "--read-test", "0", "--format", "json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["reads"] is None or not json.loads(ended.stdout)["reads"]["read_bytes"]
    assert not list(tmp_path.glob("out*"))


def test_jq_reads_the_jobs_of_a_comparison(program: Program, tmp_path: Path) -> None:
    call = ["compare", "uniform.fio", "--drive", "small.toml", "--op", "28%", "--untimed", "--output", "out"]
    assert program(*call).returncode == 0
    try:
        read = subprocess.run(
            ["jq", "-r", ".jobs[].jobname", "out/result.json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
        )
    except FileNotFoundError:
        pytest.skip("jq is not installed")
    assert read.stdout.split()[-1] == "uniform"
