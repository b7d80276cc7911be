"""Do the programs that read fio's output read ours? The real ones, as they are installed."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ssdlab
from ssdlab.jobs import parse
from ssdlab.results import logs

FIO_PLOT = Path(sys.executable).with_name("fio-plot")
CHARTS = {
    "3D bars": "-L -t iops",
    "bars by depth": "-l -n 1 -d 1 8",
    "bars by jobs": "-N -d 8 -n 1 2",
    "histogram": "-H -d 8 -n 1",
    "logs": "-g -t bw iops lat -d 1 8 -n 1",
    "latency logs": "-g -t slat clat -d 1 -n 2",
    "comparison": "-C -d 8 -n 1 --xlabel-parent 0",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two depths by two numbers of jobs, named as fio-plot looks for them."""
    folder = tmp_path_factory.mktemp("readers")
    for depth in (1, 8):
        for clones in (1, 2):
            name = f"randwrite-iodepth-{depth}-numjobs-{clones}"
            text = (
                f"[test]\nrw=randwrite\nbs=4k\niodepth={depth}\nnumjobs={clones}\ngroup_reporting\ntime_based\n"
                f"runtime=500ms\nlog_avg_msec=50\nwrite_bw_log={name}\nwrite_iops_log={name}\nwrite_lat_log={name}\n"
            )
            result = ssdlab.run(parse(text), ssdlab.drive("generic-tlc-480", scale="1/256"), seed=1)
            (folder / f"randwrite-{depth}-{clones}.json").write_text(result.to_json(bins=True))
            logs.write(result, folder)
    return folder


@pytest.mark.skipif(not FIO_PLOT.exists(), reason="fio-plot is not installed")
@pytest.mark.parametrize("chart", CHARTS)
def test_fio_plot_draws(chart: str, folder: Path, tmp_path: Path) -> None:
    inputs = [folder, folder] if chart == "comparison" else [folder]
    picture = tmp_path / "picture.png"
    command = [FIO_PLOT, "-i", *inputs, "-T", "test", "-r", "randwrite", "-o", picture, *CHARTS[chart].split()]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert picture.stat().st_size > 10_000


@pytest.mark.skipif(shutil.which("fio_jsonplus_clat2csv") is None, reason="fio is not installed")
def test_fio_jsonplus_clat2csv_counts_every_request(folder: Path, tmp_path: Path) -> None:
    source = folder / "randwrite-8-2.json"
    ended = subprocess.run(["fio_jsonplus_clat2csv", source, "out.csv"], capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    head, *rows = [line.split(",") for line in (tmp_path / "out_job0.csv").read_text().splitlines()]
    column = [name.strip() for name in head].index("write_clat_ns_count")
    counted = sum(int(row[column]) for row in rows if row[column].strip())
    assert counted == json.loads(source.read_text())["jobs"][0]["write"]["total_ios"]


@pytest.mark.skipif(shutil.which("fio2gnuplot") is None, reason="fio is not installed")
def test_fio2gnuplot_averages_the_bandwidth(folder: Path, tmp_path: Path) -> None:
    name = "randwrite-iodepth-8-numjobs-1_bw.1.log"
    shutil.copy(folder / name, tmp_path)
    ended = subprocess.run(["fio2gnuplot", "-b", "-p", "*_bw.1.log"], capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    rates = [int(line.split(", ")[1]) for line in (tmp_path / name).read_text().splitlines()]
    said = (tmp_path / "randwrite-iodepth-8-numjobs-1_bw.1.log.average").exists() or ended.stdout
    assert said and f"{len(rates)}" and "Traceback" not in ended.stderr
    averages = [path for path in tmp_path.iterdir() if "average" in path.name]
    assert averages, sorted(path.name for path in tmp_path.iterdir())


# fio installs it; Debian's package leaves it out.
FIOLOGPARSER = shutil.which("fiologparser.py")


def average_by_intervals(path: Path) -> float:
    """What fio's manual says of a log: time in ms, value, direction, length, and perhaps more; a value holds since the
    line before. Averaged over the whole log, weighted by time."""
    total, before_ms = 0, 0
    for line in path.read_text().splitlines():
        time_ms, value, direction, length, *_ = (int(word, 0) for word in line.split(", "))
        assert time_ms >= before_ms and direction in (0, 1, 2) and length >= 0
        total += value * (time_ms - before_ms)
        before_ms = time_ms
    return total / before_ms


@pytest.mark.parametrize("kind", ["bw", "iops", "lat", "clat", "slat"])
def test_the_averages_of_fiologparser_are_those_of_the_result(kind: str, folder: Path) -> None:
    name = f"randwrite-iodepth-8-numjobs-1_{kind}.1.log"
    (job,) = json.loads((folder / "randwrite-8-1.json").read_text())["jobs"]
    write = job["write"]
    averages = {"bw": write["bw"], "iops": write["iops"], "slat": 0} | {
        each: write[f"{each}_ns"]["mean"] for each in ("lat", "clat")
    }
    assert average_by_intervals(folder / name) == pytest.approx(averages[kind], rel=0.05)
    if FIOLOGPARSER:
        said = subprocess.run([FIOLOGPARSER, "-i", "100", folder / name], capture_output=True, text=True, check=True)
        assert float(said.stdout) == pytest.approx(average_by_intervals(folder / name), abs=0.01)


@pytest.mark.skipif(FIOLOGPARSER is None, reason="fiologparser.py is not on the path")
def test_fiologparser_adds_the_logs_of_clones_up(folder: Path) -> None:
    logs_of_clones = sorted(folder.glob("randwrite-iodepth-8-numjobs-2_bw.*.log"))
    assert len(logs_of_clones) == 2
    for mode in ("-s", "-a", "-f"):
        command = [str(FIOLOGPARSER), mode, "-i", "100", *map(str, logs_of_clones)]
        rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        assert [int(row.split(", ")[0]) for row in rows] == [100, 200, 300, 400, 500]
        assert all(float(word) > 0 for row in rows for word in row.split(", ")[1:])
