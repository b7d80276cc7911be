"""Measurements on a block device: a served simulated drive, whose write amplification the simulation reports."""

import subprocess
import sys
from pathlib import Path

import pytest

import ssdlab as lab
from own_devices import needs
from running_drives import DRIVE
from served import Serve, on, result_in, serial_of, ssdlab
from waiting import SECONDS_MAX, wait_for

pytestmark = [pytest.mark.fuse, pytest.mark.loop, needs("fio", "losetup")]

RANDOM = """
[global]
iodepth=32
[fill]
rw=write
bs=128k
[random]
stonewall
rw=randwrite
bs=4k
loops=2
norandommap
"""


def test_a_served_drive_tells_the_write_amplification_that_is_simulated(serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    assert mounted.loop
    job, drive = tmp_path / "job.fio", tmp_path / "drive.toml"
    job.write_text(RANDOM)
    drive.write_text(DRIVE)
    refused = ssdlab("measure", job, "--on", mounted.loop, code=2)
    assert serial_of(mounted) in refused.stderr
    assert mounted.statistics()["ssdlab"]["host"]["written_bytes"] == 0
    ssdlab("measure", job, *on(mounted), "--output", f"{tmp_path}/out/")
    result = result_in(tmp_path / "out")
    simulated = lab.run(job, drive)
    fill, random = result["jobs"]
    assert fill["ssdlab"]["waf"] == pytest.approx(1, rel=0.01)
    assert random["ssdlab"]["waf"] == pytest.approx(simulated.jobs[1].waf, rel=0.03)
    assert result["ssdlab"]["waf"] == pytest.approx(simulated.waf, rel=0.03)
    assert result["ssdlab"]["smart"]["resolution"]


def test_too_few_steps_of_the_counters_are_no_write_amplification(serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    assert mounted.loop
    job = tmp_path / "job.fio"
    job.write_text("[a]\nrw=write\nbs=128k\nsize=16m\n")
    ssdlab("measure", job, *on(mounted), "--output", f"{tmp_path}/out/")
    job_result = result_in(tmp_path / "out")["jobs"][0]["ssdlab"]
    assert job_result["waf"] is None
    assert "100 are needed" in job_result["waf_reason"]


def test_a_drive_that_goes_away_is_a_failed_run(serve: Serve, tmp_path: Path) -> None:
    mounted = serve()
    assert mounted.loop
    job = tmp_path / "job.fio"
    job.write_text(RANDOM.replace("loops=2", "loops=50"))
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", "measure", str(job), *on(mounted), "--output", f"{tmp_path}/out/"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for("it is at work", lambda: mounted.statistics()["ssdlab"]["host"]["written_bytes"] > 300 << 20)
    mounted.process.kill()
    _, said = process.communicate(timeout=SECONDS_MAX)
    assert process.returncode == 1, said
    mounted.wait_until_gone()
    assert (tmp_path / "out").exists(), said
    assert result_in(tmp_path / "out")["ssdlab"]["failure"]
