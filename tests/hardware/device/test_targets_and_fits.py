"""A job on several targets for comparison, and a drive file fitted to measurements."""

import json
import sys
from pathlib import Path

import pytest

import ssdlab as lab
from own_devices import needs
from running_drives import DRIVE
from served import Serve, serial_of, ssdlab
from ssdlab import cli
from ssdlab.cli import compare_targets
from ssdlab.hardware.device import jobtext
from ssdlab.simulator.workloads import jobs

JOB = """
[global]
iodepth=8
[fill]
rw=write
bs=128k
[random]
stonewall
rw=randwrite
bs=4k
io_size=50%
norandommap
[reads]
stonewall
rw=randread
bs=4k
number_ios=4000
norandommap
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    job, drive = tmp_path / "job.fio", tmp_path / "drive.toml"
    job.write_text(JOB)
    drive.write_text(DRIVE)
    return job, drive


@pytest.mark.fuse
@pytest.mark.loop
@needs("fio", "losetup")
def test_a_served_drive_stands_beside_the_simulated_one(serve: Serve, files: tuple[Path, Path], tmp_path: Path) -> None:
    job, drive = files
    mounted = serve()
    targets = ("--target", f"simulated:{drive}", "--target", f"device:{mounted.loop}")
    done = ssdlab(
        "compare", "targets", job, *targets, "--destroy-data-on", serial_of(mounted), "--output", tmp_path / "out"
    )
    content = json.loads((tmp_path / "out/comparison.json").read_text())
    rows = {(row["job"], row["what"]): row for row in content["rows"]}
    simulated, measured = rows["random", "WAF"]["values"]
    assert measured == pytest.approx(simulated, rel=0.03)
    assert rows["random", "WAF"]["ratio"] == pytest.approx(measured / simulated)
    # Values that reads do not have are null on both.
    assert rows["reads", "WAF"]["values"] == [None, None]
    assert rows["reads", "read latency, 99 %"]["values"][1] > 0
    page = (tmp_path / "out/report.html").read_text()
    assert f"device:{mounted.loop}" in page and "ssdlab compare" in page
    assert 'data-figure="job-1"' in page
    assert "report:" in done.stdout


@pytest.mark.parametrize("target", ["simulated", "usb:stick", "device:"])
def test_a_wrong_target_is_said(files: tuple[Path, Path], target: str, tmp_path: Path) -> None:
    done = ssdlab("compare", "targets", files[0], "--target", target, "--output", tmp_path / "out", code=2)
    assert "simulated:NAME" in done.stderr


def test_a_place_that_is_missing_is_said_before_anything_is_simulated(
    files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare_targets, "all_side_by_side", lambda *_: pytest.fail("it was simulated"))
    targets = ["--target", f"simulated:{files[1]}", "--target", f"device:{tmp_path}/missing/file"]
    output = ["--output", f"{tmp_path}/out"]
    monkeypatch.setattr(sys, "argv", ["ssdlab", "compare", "targets", str(files[0]), *targets, *output])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert "missing/file: No such file or directory" in capsys.readouterr().err


def measured_result(job: Path, drive: Path, program_us: float) -> dict[str, object]:
    """The output of `ssdlab measure` for a drive with this program time."""
    job_file = jobs.load(job)
    truth = lab.run(job_file, lab.drive(drive, settings={"nand.program_us": str(program_us)}))
    stages = jobtext.stages(job_file, lambda _: Path("/somewhere"))
    return {
        "jobs": [
            {
                "jobname": each.name,
                "read": {"total_ios": each.read.total_ios, "bw_bytes": each.read.bw_bytes},
                "write": {"total_ios": each.write.total_ios, "bw_bytes": each.write.bw_bytes},
                "ssdlab": {"waf": each.waf},
            }
            for each in truth.jobs
        ],
        "ssdlab": {
            "target": {"kind": "device", "size_bytes": 256 << 20},
            "failure": None,
            "stages": [{"job_text": stage.text} for stage in stages],
        },
    }


def test_a_fit_finds_the_drive_that_was_measured_and_predicts_a_job_it_has_not_seen(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    job, drive = files
    result = tmp_path / "result.json"
    result.write_text(json.dumps(measured_result(job, drive, program_us=1100)))
    options = ("--drive", drive, "--free", "nand.program_us=300..2000", "--held-out", "random")
    done = ssdlab("fit", result, *options, "--output", tmp_path / "fit")
    fitted = json.loads((tmp_path / "fit/result.json").read_text())
    assert fitted["parameters"][0]["fitted"] == pytest.approx(1100, rel=0.03)
    unseen = {entry["metric"]: entry for entry in fitted["held_out"]}
    assert set(unseen) == {"write_mb_s", "waf"}
    assert all(abs(entry["deviation"]) < 0.05 for entry in unseen.values())
    assert "not fitted to:" in done.stdout
    assert lab.drive(tmp_path / "fit/fitted.toml").file.nand.program_us == pytest.approx(1100, rel=0.03)


def test_what_is_no_whole_measurement_is_not_fitted_to(files: tuple[Path, Path], tmp_path: Path) -> None:
    job, drive = files
    result = tmp_path / "result.json"
    content = measured_result(job, drive, program_us=700)
    options = ("--drive", drive, "--free", "nand.program_us=300..2000")
    for change, said in (
        ({"jobs": []}, "no points are left to fit"),
        ({"ssdlab": {"target": {"kind": "simulated"}}}, "is not a result of `ssdlab measure"),
    ):
        result.write_text(json.dumps({**content, **change}))
        assert said in ssdlab("fit", result, *options, code=2).stderr
    result.write_text(json.dumps(content))
    assert (
        "no such job; did you mean 'random'" in ssdlab("fit", result, *options, "--held-out", "randon", code=2).stderr
    )
