"""`ssdlab run` as a user calls it, on the real engine."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from program import program_in

RUN = ("run", "uniform.fio", "--drive", "small.toml")
USER_BYTES = 104857600


def test_text_as_fio_writes_it(ssdlab: Any) -> None:
    ended = ssdlab(*RUN, "--untimed")
    assert ended.returncode == 0, ended.stderr
    assert "uniform: (groupid=0, jobs=1): err= 0\n  write: io=100MiB (105MB), ios=25,600;" in ended.stdout
    assert "waf: 1." in ended.stdout
    assert "Drive small:\n  behind its name: a drive file of your own" in ended.stdout
    assert "\x1b" not in ended.stdout + ended.stderr, "no colours and no bar where there is no terminal"


def test_json_and_the_identities_in_it(ssdlab: Any) -> None:
    ended = ssdlab(*RUN, "--untimed", "--output-format", "json")
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    job, ours = result["jobs"][0], result["ssdlab"]
    assert job["write"]["io_bytes"] == job["write"]["total_ios"] * 4096 == USER_BYTES
    assert job["write"]["iops"] is None
    programmed = dict(ours["nand"]["programmed_bytes"])
    assert programmed.pop("total") == sum(programmed.values())
    assert programmed["host"] == USER_BYTES
    assert ours["waf"] == pytest.approx(sum(programmed.values()) / USER_BYTES)
    assert ours["seed"] == 1
    assert ours["capacity"]["over_provisioning"] == pytest.approx(0.28)
    assert "bins" not in job["write"]["clat_ns"]
    plus = json.loads(ssdlab(*RUN, "--untimed", "--output-format", "json+").stdout)
    assert plus["jobs"][0]["write"]["clat_ns"]["bins"] is None


def test_same_specification_same_bytes_whatever_the_file_name(ssdlab: Any, tmp_path: Path) -> None:
    fresh = program_in(tmp_path, fresh=True)
    (tmp_path / "other name.fio").write_bytes((tmp_path / "uniform.fio").read_bytes())
    for job, place in (("uniform.fio", "a/"), ("other name.fio", "deep/b/")):
        ended = fresh("run", job, "--drive", "small.toml", "--seed", "7", "--output", place)
        assert ended.returncode == 0, ended.stderr
    for name in ("result.json", "data/timeseries.parquet", "data/timeseries-time.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "deep" / "b" / name).read_bytes()
    ssdlab(*RUN, "--seed", "8", "--output", "c/")
    assert (tmp_path / "a" / "result.json").read_bytes() != (tmp_path / "c" / "result.json").read_bytes()
    series = pl.read_parquet(tmp_path / "a" / "data/timeseries.parquet")
    assert series["host_written_bytes"].is_sorted()
    assert series["host_written_bytes"][-1] == USER_BYTES
    timing = json.loads((tmp_path / "a" / "timing.json").read_text())
    assert timing["wall_seconds"] > 0
    page = (tmp_path / "a" / "report.html").read_text()
    assert re.search(
        r"<title>small writes [\d.]+ bytes to flash per host byte and serves [\d,]+ requests per second, in a run too "
        r"short to be steady<",
        page,
    )
    assert "ssdlab run uniform.fio --drive small.toml" in page
    assert 'data-figure="waf-over-host-writes"' in page and 'data-figure="iops-over-time"' in page


def test_pictures_are_files_of_their_own_on_demand(ssdlab: Any, tmp_path: Path) -> None:
    """By default the report contains its pictures, and there is no other file of them."""
    ended = ssdlab(*RUN, "--output", "none/")
    assert not (tmp_path / "none/pictures").exists() and "pictures/" not in ended.stderr
    ended = ssdlab(*RUN, "--output", "svg/", "--pictures", "svg")
    names = {path.name for path in (tmp_path / "svg/pictures").iterdir()}
    assert {"waf-over-host-writes-light.svg", "iops-over-time-dark.svg"} <= names and "and pictures/" in ended.stderr
    assert {Path(name).suffix for name in names} == {".svg"}
    refused = ssdlab(*RUN, "--output", "jpeg/", "--pictures", "jpeg")
    assert refused.returncode == 2
    assert "--pictures is 'jpeg'; allowed: all, svg, paper, none" in refused.stderr


def test_a_folder_of_another_command_is_refused(ssdlab: Any, tmp_path: Path) -> None:
    """A regression: files of two commands in one folder were taken for one result."""
    (tmp_path / "out").mkdir()
    page = '<pre class="command"><code>ssdlab compare uniform.fio --drive small.toml</code></pre>'
    (tmp_path / "out/report.html").write_text(page)
    ended = ssdlab(*RUN, "--output", "out/")
    assert (ended.returncode, [path.name for path in (tmp_path / "out").iterdir()]) == (2, ["report.html"])
    assert "out: has the report of `ssdlab compare`; choose another folder" in ended.stderr


def test_output_to_a_file_takes_the_place_of_printing(ssdlab: Any, tmp_path: Path) -> None:
    ended = ssdlab(*RUN, "--output", "out.json")
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    assert json.loads((tmp_path / "out.json").read_text())["ssdlab"]["waf"] >= 1
    ssdlab(*RUN, "--output", "out.txt")
    assert (tmp_path / "out.txt").read_text().startswith("ssdlab-")


def test_choices_arrive_in_the_specification(ssdlab: Any) -> None:
    choices = ("--op", "50%", "--set", "ftl.victim={name='d-choices', d=3}", "--output-format", "json")
    ended = ssdlab(*RUN, *choices)
    assert ended.returncode == 0, ended.stderr
    ours = json.loads(ended.stdout)["ssdlab"]
    assert ours["capacity"]["over_provisioning"] == pytest.approx(0.5, abs=1e-4)
    assert ours["specification"]["drive"]["ftl"]["victim"] == {"name": "d-choices", "d": 3}


def test_a_scaled_result_says_so(ssdlab: Any) -> None:
    ended = ssdlab("run", "uniform.fio", "--drive", "generic-tlc-480", "--scale", "1/256", "--output-format", "json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["ssdlab"]["scale"] == "1/256"


def test_what_is_ignored_is_said_once(ssdlab: Any, tmp_path: Path) -> None:
    (tmp_path / "ignored.fio").write_text("[global]\ndirect=1\nthread\n[a]\nrw=write\nbs=4k\n[b]\nrw=read\nbs=4k\n")
    ended = ssdlab("run", "ignored.fio", "--drive", "small.toml")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("thread") == 1


def test_a_worn_out_drive_is_reported_and_ends_with_1(ssdlab: Any, tmp_path: Path) -> None:
    (tmp_path / "long.fio").write_text("[long]\nrw=randwrite\nbs=4k\nloops=200\n")
    worn = ("--set", "nand.endurance_cycles=3", "--set", "faults.wear_out=true", "--output", "worn/")
    ended = ssdlab("run", "long.fio", "--drive", "small.toml", *worn)
    assert ended.returncode == 1, ended.stdout
    assert "READ-ONLY" in ended.stdout and "error: long.fio: " in ended.stderr
    result = json.loads((tmp_path / "worn" / "result.json").read_text())
    assert result["jobs"][0]["error"] == 30
    assert result["ssdlab"]["failure"]


def test_the_python_interface_gives_the_same(ssdlab: Any, tmp_path: Path) -> None:
    import ssdlab as package

    drive = package.drive(tmp_path / "small.toml", op=0.5)
    result = package.run(tmp_path / "uniform.fio", drive, seed=3)
    printed = ssdlab(*RUN, "--op", "50%", "--seed", "3", "--output-format", "json").stdout
    assert result.to_json() == printed
    assert result.waf is not None and result.waf >= 1
    assert result.jobs[0].write.iops is not None and result.jobs[0].write.iops > 0
    assert result.timeseries.height > 10
    assert result.timing_series is not None and result.timing_series.height > 10
    without = package.run(tmp_path / "uniform.fio", drive, seed=3, timed=False)
    assert (without.jobs[0].write.iops, without.timing_series) == (None, None)


def test_real_programs_read_the_json(ssdlab: Any, tmp_path: Path) -> None:
    """jq represents all readers that look up fio's keys."""
    ssdlab(*RUN, "--output", "out.json")
    wanted = '.jobs[0] | [.jobname, .write.total_ios, .read.total_ios, .write.clat_ns.percentile["99.000000"]]'
    read = subprocess.run(["jq", "-c", wanted, "out.json"], capture_output=True, text=True, cwd=tmp_path, check=True)
    name, writes, reads, percentile_ns = json.loads(read.stdout)
    assert (name, writes, reads) == ("uniform", 25600, 0)
    assert percentile_ns > 200_000, "a program alone takes 200 us"


DEPTHS = "[global]\nbs=4k\nrw=randwrite\nnorandommap\nrandrepeat=0\n[one]\niodepth=1\n[many]\nstonewall\niodepth=32\n"


def test_little_s_law_and_the_sums(ssdlab: Any, tmp_path: Path) -> None:
    """IOPS x mean latency = depth; requests and bytes of the series are those of the jobs; time only increases."""
    (tmp_path / "depths.fio").write_text(DEPTHS)
    ended = ssdlab("run", "depths.fio", "--drive", "small.toml", "--output", "out/")
    assert ended.returncode == 0, ended.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    for job, depth in zip(result["jobs"], (1, 32), strict=True):
        write = job["write"]
        assert write["iops"] * write["lat_ns"]["mean"] / 1e9 == pytest.approx(depth, rel=0.005)
        assert write["clat_ns"]["N"] == write["total_ios"]
        assert write["bw_bytes"] == pytest.approx(write["iops"] * 4096, abs=1)
        assert write["runtime"] == job["job_runtime"] == round(1000 * job["ssdlab"]["simulated_seconds"])
        assert sum(sum(job[f"latency_{unit}"].values()) for unit in ("ns", "us", "ms")) == pytest.approx(100, abs=0.1)
        assert write["iops_min"] <= write["iops_mean"] <= write["iops_max"]
    ours = result["ssdlab"]
    assert ours["simulated_seconds"] == pytest.approx(sum(job["ssdlab"]["simulated_seconds"] for job in result["jobs"]))
    # An operation that a die has started counts completely, even if the run ends before it completes.
    assert 0 < ours["die_utilization"] < 1.001
    series = pl.read_parquet(tmp_path / "out" / "data/timeseries-time.parquet")
    assert series["simulated_seconds"].is_sorted() and (series["interval_seconds"] > 0).all()
    assert series["simulated_seconds"][-1] == pytest.approx(ours["simulated_seconds"])
    assert series["write_ios"].sum() == sum(job["write"]["total_ios"] for job in result["jobs"])
    assert (series["write_iops"] * series["interval_seconds"]).sum() == pytest.approx(series["write_ios"].sum())
    assert series["programmed_bytes"][-1] == ours["nand"]["programmed_bytes"]["total"]


@pytest.mark.parametrize(
    ("precondition", "began", "offered"),
    [
        ("none", "fresh and ended not steady", True),
        ("fill", "filled once sequentially and ended near steady", True),
        ("steady", "in the steady state of a smaller drive and ended near steady", False),
    ],
)
def test_the_state_of_the_drive_is_said_at_the_end(
    ssdlab: Any, tmp_path: Path, precondition: str, began: str, offered: bool
) -> None:
    """A regression: `run` and `compare` gave 3.12 and 8.59 for the same job and drive without an explanation."""
    (tmp_path / "loops.fio").write_text((tmp_path / "uniform.fio").read_text() + "loops=4\n")
    run = ("run", "loops.fio", "--drive", "small.toml", "--op", "14%", "--untimed")
    ended = ssdlab(*run, "--precondition", precondition)
    assert (ended.returncode, f"state: the drive began {began}" in ended.stderr) == (0, True), ended.stderr
    assert re.search(r"WAF \d\.\d\d over the last fifth of that, \d\.\d\d over all", ended.stderr), ended.stderr
    assert ("or run ssdlab compare loops.fio --drive small.toml --op 14% --untimed\n" in ended.stderr) == offered


@pytest.mark.parametrize(
    ("precondition", "loops", "caveat"),
    [
        ("none", 4, ", on average of a run that is not steady"),
        ("none", 1, ", in a run too short to be steady"),
        ("steady", 4, ""),
    ],
)
def test_the_title_of_a_run_says_if_it_is_not_steady(
    ssdlab: Any, tmp_path: Path, precondition: str, loops: int, caveat: str
) -> None:
    """A regression: "writes 3.05 bytes to flash per host byte" was the mean of a transient that ended at 5.79."""
    (tmp_path / "loops.fio").write_text((tmp_path / "uniform.fio").read_text() + f"loops={loops}\n")
    run = ("run", "loops.fio", "--drive", "small.toml", "--untimed", "--precondition", precondition, "--output", "out")
    assert ssdlab(*run).returncode == 0
    title = re.search(r"<title>(.*?)</title>", (tmp_path / "out/report.html").read_text())
    assert title and re.fullmatch(
        rf"small writes [\d.]+ bytes to flash per host byte{caveat}", title[1].replace("\xa0", " ")
    )


def test_too_few_writes_say_nothing_of_the_end(ssdlab: Any, tmp_path: Path) -> None:
    (tmp_path / "short.fio").write_text((tmp_path / "uniform.fio").read_text() + "io_size=10m\n")
    ended = ssdlab("run", "short.fio", "--drive", "small.toml", "--untimed")
    assert "wrote 10 % of its capacity, too little to tell" in ended.stderr
    # A regression: "near steady" at a WAF of 1.27 where the steady state has 5.77, because both last fifths were level.
    (tmp_path / "short.fio").write_text((tmp_path / "uniform.fio").read_text() + "loops=2\n")
    ended = ssdlab("run", "short.fio", "--drive", "small.toml", "--untimed", "--precondition", "fill")
    assert "wrote 2 times its capacity, too little to tell" in ended.stderr
    (tmp_path / "read.fio").write_text("[r]\nrw=randread\nio_size=10m\n")
    ended = ssdlab("run", "read.fio", "--drive", "small.toml", "--untimed")
    assert (
        "began fresh; the last stage wrote nothing\n       for a written drive add --precondition fill" in ended.stderr
    )
    # A regression: beside reads of a drive that the job had written twice, "began fresh ... for a written drive".
    (tmp_path / "written.fio").write_text("[w]\nrw=write\nloops=2\n[r]\nstonewall\nrw=randread\nio_size=10m\n")
    ended = ssdlab("run", "written.fio", "--drive", "small.toml", "--untimed")
    assert "began fresh, was written 2 times by its earlier stages; the last stage wrote nothing" in ended.stderr
    assert "for a written drive" not in ended.stderr
    # fio 3.33 makes no request either: the zones of a drive without any begin empty.
    (tmp_path / "zones.fio").write_text("[r]\nrw=read\nzonemode=zbd\nzonesize=1m\nsize=4m\n")
    ended = ssdlab("run", "zones.fio", "--drive", "small.toml", "--untimed")
    assert "wrote nothing and read nothing: its zones are empty" in ended.stderr


def test_run_and_compare_name_states_and_options_in_one_order(ssdlab: Any) -> None:
    helps = [ssdlab(command, "--help").stdout for command in ("run", "compare")]
    assert all("none|fill|steady" in text for text in helps)
    options = [re.findall(r"^  (--[a-z-]+)", text, re.M) for text in helps]
    assert [o for o in options[0] if o in options[1]] == [o for o in options[1] if o in options[0]]


def test_the_page_says_which_writes_were_durable(ssdlab: Any, tmp_path: Path) -> None:
    job = tmp_path / "durable.fio"
    job.write_text("[journal]\nrw=write\nbs=4k\nsize=1m\nfsync=8\n")
    run = ("run", job, "--drive", "small.toml", "--scale", "1")
    ended = ssdlab(*run, "--host", "linux", "--output", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "journal: writes were durable when they completed" in page
    assert "latencies include 2.8\u00a0us of the host itself" in page
    refused = ssdlab(*run, "--host", "linux", "--untimed")
    assert refused.returncode == 2 and "--host linux needs the clock" in refused.stderr
