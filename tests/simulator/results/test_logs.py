"""Do the log files and the terse lines have the layout of the real fio's for the same job?"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.simulator.results import Result, logs
from ssdlab.simulator.results.terse import terse
from ssdlab.simulator.results.text_rates import direction_lines
from ssdlab.simulator.workloads.jobs import parse

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

JOBS = """
[global]
size=8m
filename=data
[mixed]
rw=randrw
bs=4k
number_ios=400
rate_iops=500
write_bw_log=m
write_iops_log
write_lat_log=m
write_hist_log=m
log_avg_msec=200
log_hist_msec=200
[single]
stonewall
rw=randwrite
bs=8k
number_ios=20
numjobs=2
write_bw_log=s
write_lat_log=s
log_offset=1
[together]
stonewall
rw=randwrite
number_ios=20
numjobs=2
write_iops_log=t
per_job_logs=0
"""


def run(text: str, **how: Any) -> Result:
    return ssdlab.run(parse(text), ssdlab.drive("textbook", **how), seed=1)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> Result:
    return run(JOBS)


@pytest.fixture(scope="module")
def ours(result: Result) -> dict[str, str]:
    return logs.files(result)


@pytest.fixture(scope="module")
def fios(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("fio")
    (folder / "a.fio").write_text(JOBS)
    output = subprocess.run(
        ["fio", "--thread", "--output-format=terse", "--terse-version=3", "a.fio"],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return {"terse": output} | {path.name: path.read_text() for path in folder.glob("*.log")}


@needs_fio
def test_names_and_columns_are_fios(ours: dict[str, str], fios: dict[str, str]) -> None:
    assert set(ours) == set(fios) - {"terse"}
    for name, text in ours.items():
        columns = {len(line.split(", ")) for line in fios[name].splitlines()}
        assert {len(line.split(", ")) for line in text.splitlines()} == columns or not columns, name
        directions = {line.split(", ")[1 if "hist" in name else 2] for line in fios[name].splitlines()}
        assert {line.split(", ")[1 if "hist" in name else 2] for line in text.splitlines()} == directions or not columns


@needs_fio
def test_logs_of_single_requests_have_fios_lines(ours: dict[str, str], fios: dict[str, str]) -> None:
    for name in ("s_bw.2.log", "s_clat.2.log", "t_iops.log"):
        assert ours[name].count("\n") == fios[name].count("\n"), name
    for line in ours["s_bw.2.log"].splitlines():
        _, rate, direction, length, offset, priority = map(int, line.split(", "))
        assert rate > 0 and (direction, length, priority) == (1, 8192, 0) and offset % 8192 == 0
    lengths = [{line.split(", ")[3] for line in each["s_lat.3.log"].splitlines()} for each in (ours, fios)]
    assert lengths[0] == lengths[1] == {"8192"}


def test_windows_add_up_to_the_result(result: Result, ours: dict[str, str]) -> None:
    mixed = result.jobs[0]
    histograms = [[int(cell) for cell in line.split(", ")] for line in ours["m_clat_hist.1.log"].splitlines()]
    iops = [[int(cell) for cell in line.split(", ")] for line in ours["mixed_iops.1.log"].splitlines()]
    for direction, of_job in enumerate((mixed.read, mixed.write)):
        assert sum(sum(row[3:]) for row in histograms if row[1] == direction) == of_job.total_ios
        whole = [row for row in iops if row[2] == direction and row[0] % 200 == 0]
        assert len(whole) >= 2 and all(row[3:] == [0, 0] for row in whole)
        # The rate limit is 500 a second for each direction.
        assert sum(row[1] for row in whole) / len(whole) == pytest.approx(500, rel=0.1)
    assert {len(row) for row in histograms} == {3 + 1856}
    latencies = [int(line.split(", ")[1]) for line in ours["m_lat.1.log"].splitlines()]
    assert mixed.latency and mixed.latency.min_ns and mixed.latency.max_ns
    assert all(mixed.latency.min_ns <= latency <= mixed.latency.max_ns for latency in latencies)


def test_coarser_histograms_hold_the_same_requests() -> None:
    fine, coarse = (
        logs.files(
            run(f"[a]\nrw=randwrite\nsize=1m\nwrite_hist_log\nlog_hist_msec=1000\nlog_hist_coarseness={steps}\n")
        )
        for steps in (0, 3)
    )
    (fine_bins,), (coarse_bins,) = (
        [[int(cell) for cell in line.split(", ")[3:]] for line in each["a_clat_hist.1.log"].splitlines()]
        for each in (fine, coarse)
    )
    assert len(coarse_bins) == 232
    assert coarse_bins == [sum(fine_bins[at : at + 8]) for at in range(0, 1856, 8)]


@needs_fio
def test_terse_has_fios_columns(result: Result, fios: dict[str, str]) -> None:
    lines = [line.split(";") for line in fios["terse"].splitlines() if line.startswith("3;")]
    own = [line.split(";") for line in terse(result).splitlines()]
    assert [line[:5] for line in own] == [line[:5] for line in lines]
    for mine, its in zip(own, lines, strict=True):
        # fio adds nine columns if it finds a disk.
        assert len(its) - len(mine) in (0, 9)
        kind = [(cell.count("%"), cell.partition("%=")[0] if "%=" in cell else "", cell.count(".")) for cell in mine]
        its_kind = [(cell.count("%"), cell.partition("%=")[0] if "%=" in cell else "", cell.count(".")) for cell in its]
        assert kind == its_kind[: len(mine)]
        written = [int(line[46]) for line in (mine, its)]
        assert written[0] == pytest.approx(written[1], rel=0.2)


def test_percentiles_are_those_that_the_job_asks_for() -> None:
    (job,) = run("[a]\nrw=randwrite\nsize=1m\npercentile_list=99.9:50\nlat_percentiles=1\nclat_percentiles=0\n").jobs
    plain: Any = job.to_dict(bins=True)["write"]
    assert list(plain["lat_ns"]["percentile"]) == ["50.000000", "99.900000"]
    assert "bins" in plain["lat_ns"] and not {"percentile", "bins"} & set(plain["clat_ns"])
    lines = direction_lines("write", job.write)
    assert any("lat percentiles" in line and "clat" not in line for line in lines)
    assert any(line.strip().startswith("| 50.0th=[") for line in lines)
    assert any("lat percentiles 99.9: -, fewer than 10 of 256 requests" in line for line in lines)


@needs_fio
def test_a_steady_job_ends_as_in_fio(tmp_path: Path) -> None:
    """At a limited rate both settle as soon as the window is full, after the ramp."""
    options = "rw=randwrite\nrate_iops=1000\nsize=64m\nruntime=30\ntime_based\nss=iops:10%\nss_dur=3\nss_ramp=1\n"
    (tmp_path / "a.fio").write_text(f"[a]\nioengine=null\n{options}")
    said = subprocess.run(["fio", "--output-format=json", "a.fio"], cwd=tmp_path, capture_output=True, text=True).stdout
    its = json.loads(said)["jobs"][0]
    (job,) = run(f"[a]\n{options}".replace("64m", "100%")).jobs
    own: Any = job.to_dict(bins=False)
    assert list(own["steadystate"]) == list(its["steadystate"])
    assert list(own["steadystate"]["data"]) == list(its["steadystate"]["data"])
    for key in ("ss", "duration", "attained"):
        assert own["steadystate"][key] == its["steadystate"][key]
    assert len(own["steadystate"]["data"]["iops"]) == 3
    assert own["steadystate"]["data"]["iops_mean"] == pytest.approx(its["steadystate"]["data"]["iops_mean"], rel=0.02)
    # fio's checks come a tenth of a second early, so that a ramp of a second takes two of them.
    assert own["job_runtime"] == 4001 and its["job_runtime"] == pytest.approx(4900, abs=300)


def test_a_job_that_never_settles_says_so() -> None:
    text = "[a]\nrw=randwrite\nsize=100%\nruntime=4\ntime_based\nss=bw:0.01%\nss_dur=3\nbssplit=4k/50:64k/50\n"
    (job,) = run(text).jobs
    whole: Any = job.to_dict(bins=False)
    found = whole["steadystate"]
    assert not found["attained"] and len(found["data"]["bw"]) == 3
    assert job.seconds == pytest.approx(4, abs=0.01)
