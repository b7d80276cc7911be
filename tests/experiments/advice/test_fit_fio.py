"""fio's own report as points of `ssdlab fit`: the jobs that ran, and their rates."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.advice import fit_measured
from ssdlab.simulator.workloads.jobs import parse

REPORT = Path(__file__).with_name("fio-result.json")
FIO = shutil.which("fio") or ""


def test_fios_own_report_gives_points() -> None:
    """A regression: it was refused, although it is what people have."""
    measured = fit_measured.read(REPORT)
    assert [(str(point.workload), point.metric, point.value) for point in measured.points] == [
        ("a", "write_mb_s", 8388.608)
    ]
    (section,) = parse(measured.job_text).sections
    assert (section.name, section.options["rw"], section.options["size"]) == ("a", "randwrite", "16m")
    assert measured.size_bytes is None


@pytest.mark.skipif(not FIO, reason="fio is not installed")
def test_stages_clones_and_runtimes_come_back(tmp_path: Path) -> None:
    (tmp_path / "two.fio").write_text(
        "[global]\nioengine=null\nsize=1m\nbs=4k\n[a]\nrw=write\nnumjobs=2\n[b]\nstonewall\nrw=randread\ntime_based\nruntime=1\n"
    )
    command = [FIO, "--output-format=json", "two.fio"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    report = tmp_path / "fio.json"
    report.write_text(f"note: some words\n{ran.stdout}")
    measured = fit_measured.read(report, ["b"])
    jobs = json.loads(ran.stdout)["jobs"]
    assert measured.points[0].value == pytest.approx(sum(job["write"]["bw_bytes"] for job in jobs[:2]) / 1e6)
    assert [str(point.workload) for point in measured.held_out] == ["b"]
    engine_jobs = parse(measured.job_text).resolve(1 << 30, seed=1)
    assert [(job["name"], job["stage"], job.get("time_based")) for job in engine_jobs] == [
        ("a", 0, False), ("a", 0, False), ("b", 1, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"error": 28}, r"job a failed: fio reports error 28 \(No space left on device\)"),
        ({"job options": None}, r"has no `job options`, as reports of old versions of fio"),
        ({"read": {}}, r"not a result of fio: 'runtime' is missing in its jobs"),
        ({"mixed": {}, "read": None}, r"job a has reads and writes in one sum \(unified_rw_reporting=mixed\)"),
    ],
)
def test_reports_without_what_a_fit_needs_are_refused(tmp_path: Path, change: dict[str, object], said: str) -> None:
    """Regressions: a sum of directions and a report of fio 2 ended in a traceback, and a failed job was fitted to."""
    report = json.loads(REPORT.read_text())
    job = {**report["jobs"][0], **change}
    report["jobs"] = [{key: value for key, value in job.items() if value is not None}]
    (tmp_path / "fio.json").write_text(json.dumps(report))
    with pytest.raises(InputError, match=said):
        fit_measured.read(tmp_path / "fio.json")


def test_the_rates_of_fio_2_are_in_kib_per_second(tmp_path: Path) -> None:
    report = json.loads(REPORT.read_text())
    for side, rate in (("read", 0), ("write", 3000)):
        report["jobs"][0][side] = {"bw": rate, "runtime": 1, "total_ios": rate}
    (tmp_path / "fio.json").write_text(f"fio: a note\n{json.dumps(report)}\nand more\n")
    (point,) = fit_measured.read(tmp_path / "fio.json").points
    assert point.value == pytest.approx(3000 * 1024 / 1e6)
