"""Can programs that read fio's output read ours? Tested with the real ones, if installed."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ssdlab
from ssdlab.simulator.results import logs
from ssdlab.simulator.workloads.jobs import parse

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
    """Two depths with two numbers of jobs each, with the file names that fio-plot expects."""
    folder = tmp_path_factory.mktemp("readers")
    for depth in (1, 8):
        for clones in (1, 2):
            name = f"randwrite-iodepth-{depth}-numjobs-{clones}"
            text = (
                f"[test]\nrw=randwrite\nbs=4k\niodepth={depth}\nnumjobs={clones}\ngroup_reporting\ntime_based\n"
                f"runtime=128s\nlog_avg_msec=50\nwrite_bw_log={name}\nwrite_iops_log={name}\nwrite_lat_log={name}\n"
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


# Debian's package of fio contains it among its documents, compressed.
FIOLOGPARSER_PACKED = Path("/usr/share/doc/fio/fiologparser.py.gz")


@pytest.fixture(scope="module")
def fiologparser(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """The command that runs fiologparser."""
    if installed := shutil.which("fiologparser.py"):
        return [installed]
    if not FIOLOGPARSER_PACKED.exists():
        pytest.skip("fiologparser.py is neither on the path nor among fio's documents")
    script = tmp_path_factory.mktemp("fio") / "fiologparser.py"
    script.write_bytes(gzip.decompress(FIOLOGPARSER_PACKED.read_bytes()))
    return [sys.executable, script]


def first_four_columns(log: Path, folder: Path) -> Path:
    """The columns that fiologparser.py accepts: it fails on the fifth, which the logs of fio 3.33 and ours have."""
    kept = folder / log.name
    kept.write_text("".join(", ".join(line.split(", ")[:4]) + "\n" for line in log.read_text().splitlines()))
    return kept


def average_by_intervals(path: Path) -> float:
    """The average of a log weighted by time, according to fio's manual: lines of time in ms, value, direction, length
    and more; a value is valid since the line before."""
    total, before_ms = 0, 0
    for line in path.read_text().splitlines():
        time_ms, value, direction, length, *_ = (int(word, 0) for word in line.split(", "))
        assert time_ms >= before_ms and direction in (0, 1, 2) and length >= 0
        total += value * (time_ms - before_ms)
        before_ms = time_ms
    return total / before_ms


@pytest.mark.parametrize("kind", ["bw", "iops", "lat", "clat", "slat"])
def test_the_average_of_a_log_is_that_of_the_result(kind: str, folder: Path) -> None:
    name = f"randwrite-iodepth-8-numjobs-1_{kind}.1.log"
    (job,) = json.loads((folder / "randwrite-8-1.json").read_text())["jobs"]
    write = job["write"]
    averages = {"bw": write["bw"], "iops": write["iops"], "slat": 0} | {
        each: write[f"{each}_ns"]["mean"] for each in ("lat", "clat")
    }
    assert average_by_intervals(folder / name) == pytest.approx(averages[kind], rel=0.05)


@pytest.mark.parametrize("kind", ["bw", "iops", "lat", "clat", "slat"])
def test_fiologparser_finds_the_average_of_a_log(
    kind: str, folder: Path, fiologparser: list[str | Path], tmp_path: Path
) -> None:
    log = folder / f"randwrite-iodepth-8-numjobs-1_{kind}.1.log"
    command = [*fiologparser, "-i", "100", first_four_columns(log, tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(said.stdout) == pytest.approx(average_by_intervals(log), abs=0.01)


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fiologparser_takes_as_much_of_a_log_of_fio(
    fiologparser: list[str | Path], folder: Path, tmp_path: Path
) -> None:
    """It rejects our logs and fio's for the same reason: both have the same number of columns."""
    job = "--name=a --ioengine=null --size=1g --number_ios=300 --thinktime=1ms --log_avg_msec=50 --write_bw_log=fio"
    subprocess.run(["fio", *job.split()], capture_output=True, check=True, cwd=tmp_path)
    ours, of_fio = folder / "randwrite-iodepth-8-numjobs-1_bw.1.log", tmp_path / "fio_bw.1.log"
    columns = {len(line.split(", ")) for log in (ours, of_fio) for line in log.read_text().splitlines()}
    assert len(columns) == 1
    (tmp_path / "cut").mkdir()
    for log in (ours, of_fio):
        whole, cut = (
            subprocess.run([*fiologparser, "-i", "100", path], capture_output=True, text=True)
            for path in (log, first_four_columns(log, tmp_path / "cut"))
        )
        assert cut.returncode == 0 and (whole.returncode == 0) == (columns == {4})


def test_fiologparser_adds_the_logs_of_clones_up(folder: Path, fiologparser: list[str | Path], tmp_path: Path) -> None:
    logs_of_clones = sorted(folder.glob("randwrite-iodepth-8-numjobs-2_bw.*.log"))
    assert len(logs_of_clones) == 2
    cut = [first_four_columns(log, tmp_path) for log in logs_of_clones]
    for mode in ("-s", "-a", "-f"):
        command = [*fiologparser, mode, "-i", "100", *cut]
        rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        assert [int(row.split(", ")[0]) for row in rows] == [100, 200, 300, 400, 500]
        assert all(float(word) > 0 for row in rows for word in row.split(", ")[1:])
