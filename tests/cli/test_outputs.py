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
NAMESPACES = '[[namespace]]\nname = "a"\nsize_bytes = "8 MiB"\n[[namespace]]\nname = "b"\nsize_bytes = "5 MiB"\n'
TENANTS = "[a]\nfilename=a\nrw=randwrite\nnumber_ios=9000\n[b]\nfilename=b\nrw=randwrite\nnumber_ios=6000\n"
TARGETS = ("--target", "simulated:small.toml", "--target", "simulated:tiny")

WRITING = {
    "advise": ["advise", "smart", MONDAY, FRIDAY],
    "advise refresh": ["advise", "refresh", "--drive", "small.toml", "--reads-per-day", "1TB", "--life", "1y"],
    "atlas": ["atlas"],
    "blame": ["blame", str(EXAMPLES / "commits.strace"), "--drive", "generic-tlc-480", "--rated-tbw", "150TB"],
    "check": ["check", "uniform.fio"],
    "compare": ["compare", "uniform.fio", "--drive", "small.toml", "--untimed"],
    "fit": ["fit", "points.csv", "--drive", "small.toml", "--free", "nand.program_us=100..5000", "--until", "job"],
    "fleet": ["fleet", "smart", MONDAY, FRIDAY],
    "health": ["health", MONDAY, FRIDAY],
    "lifetime": ["lifetime", "--before", MONDAY, "--after", FRIDAY, "--rated-tbw", "1PB"],
    "lifetime, simulated": [
        "lifetime",
        "uniform.fio",
        "--drive",
        "small.toml",
        "--writes-per-day",
        "1GB",
        "--op",
        "28%",
    ],
    "measure": ["measure", "--protocol", "trim-effect", "--drive", "generic-tlc-480", "--scale", "1/256", "--quick"],
    "model": ["model", "--op", "7%,28%"],
    "price": ["price", "--drive", "tiny", "--price", "1"],
    "run": ["run", "uniform.fio", "--drive", "small.toml"],
}
"""A short call of commands that write a folder."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "small.toml").write_text(drive_file("small", blocks=256, pages=16, user_bytes=13_631_488))
    (tmp_path / "uniform.fio").write_text("[uniform]\nrw=randwrite\nbs=4k\nnorandommap\n")
    (tmp_path / "points.csv").write_text(POINTS)
    tenants = drive_file("tenants", blocks=256, pages=16, user_bytes=13_631_488)
    (tmp_path / "tenants.toml").write_text(f"{tenants}\n{NAMESPACES}")
    (tmp_path / "tenants.fio").write_text(TENANTS)
    return program_in(tmp_path)


@pytest.mark.parametrize("name", WRITING)
def test_every_folder_has_a_page_and_is_kept_from_other_commands(name: str, program: Program, tmp_path: Path) -> None:
    """A regression: `health`, `atlas`, `fleet` and `measure --protocol` wrote their files among those of other
    commands, and replaced those of the same name."""
    ended = program(*WRITING[name], "--output", "out/")
    assert ended.returncode == 0, ended.stderr
    page = (tmp_path / "out/report.html").read_text()
    assert json.loads((tmp_path / "out/result.json").read_text())
    other = "health" if name != "health" else "atlas"
    refused = program(*WRITING[other], "--output", "out/")
    assert refused.returncode == 2
    assert f"has the report of `ssdlab {WRITING[name][0]}`" in refused.stderr
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


@pytest.mark.parametrize(
    "words",
    [
        ["advise", "tenants", "tenants.fio", "--drive", "tenants.toml", "--whole"],
        ["compare", "targets", "uniform.fio", *TARGETS, "--precondition", "fill"],
        ["measure", "--protocol", "trim-effect", "--drive", "generic-tlc-480", "--scale", "1/256", "--quick"],
        ["run", "tenants.fio", "--drive", "tenants.toml", "--alone"],
        ["lifetime", "uniform.fio", "--drive", "small.toml", "--writes-per-day", "1GB", "--op", "28%"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_workers_change_no_result_and_a_seed_does(words: list[str], program: Program) -> None:
    one, two, other = (
        program(*words, "--format", "json", *more) for more in (["--workers", "1"], ["--workers", "2"], ["--seed", "2"])
    )
    assert one.returncode == two.returncode == other.returncode == 0, one.stderr + two.stderr + other.stderr
    results = [json.loads(each.stdout) for each in (one, two, other)]
    for each in results:
        each.get("ssdlab", {}).pop("wall_seconds", None) if isinstance(each, dict) else None
    assert results[0] == results[1] != results[2]


def test_workers_of_a_single_run_are_refused(program: Program) -> None:
    ended = program("run", "uniform.fio", "--drive", "small.toml", "--workers", "2")
    assert ended.returncode == 2 and "allowed: with --alone" in ended.stderr


@pytest.mark.parametrize("name", ["answer.json", "report.html"])
def test_the_name_of_a_file_is_no_output_folder(program: Program, tmp_path: Path, name: str) -> None:
    """A folder called answer.json was written."""
    asked = program(*WRITING["compare"], "--output", name)
    assert asked.returncode == 2 and f"--output {name}: this writes a folder" in asked.stderr
    assert not (tmp_path / name).exists()
