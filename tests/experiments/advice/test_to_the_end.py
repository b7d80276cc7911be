"""`ssdlab lifetime --to-the-end`: a life until the drive turns read-only, against a run that writes until then."""

from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssdlab.cli import app
from ssdlab.experiments.advice.described import of_job_file
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.to_the_end import whole_life
from ssdlab.experiments.studies.pny_over_provisioning.drives import FOLDER
from ssdlab.simulator.drives import load
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads.specifying import specify

SMALL = str(FOLDER / "small-drive.toml")
JOB = "[w]\nrw=randwrite\nbs=4k\nnorandommap\nsize=100%\nioengine=libaio\ndirect=1\niodepth=8\n"


def _setting(cycles: int, spread: float) -> Setting:
    settings = {"nand.endurance_cycles": str(cycles), "faults.endurance_spread": str(spread)}
    return Setting(load(SMALL), settings, SMALL)


def test_a_life_is_that_of_a_drive_that_is_written_to_death(tmp_path: Path) -> None:
    (tmp_path / "w.fio").write_text(JOB)
    (tmp_path / "until.fio").write_text(JOB + "loops=100000\n")
    setting = _setting(200, 0.1)
    life, scale = whole_life(of_job_file(str(tmp_path / "w.fio")), setting, 1, None, timed=False)
    assert scale in (None, Fraction(1)) and life.iops is None
    worn = setting.with_settings({"faults.wear_out": "true"}).at(None, None)
    dead = simulated.run(specify(tmp_path / "until.fio", worn, precondition="fill", timed=False))
    assert dead.failure is not None
    # The first drive writes, before the steady state, and few blocks.
    assert life.host_bytes[-1] == pytest.approx(dead.ledger.host_written_bytes, rel=0.06)


def test_a_life_of_a_data_centre_drive_is_within_some_percent_of_one_that_is_written_to_death(tmp_path: Path) -> None:
    """At 500 cycles, of three seeds, the life computed is 0.7 to 1.0 % too short."""
    (tmp_path / "w.fio").write_text(JOB)
    (tmp_path / "until.fio").write_text(JOB + "loops=100000\n")
    name = "generic-nvme-dc-3840"
    settings = {"nand.endurance_cycles": "300", "faults.endurance_spread": "0.1"}
    setting = Setting(load(name), settings, name)
    life, scale = whole_life(of_job_file(str(tmp_path / "w.fio")), setting, 1, None, timed=False)
    assert scale is not None and scale == Fraction(1, 1024)
    worn = setting.with_settings({"faults.wear_out": "true"}).at(None, scale)
    dead = simulated.run(specify(tmp_path / "until.fio", worn, precondition="fill", timed=False))
    assert dead.failure is not None
    assert life.host_bytes[-1] * float(scale) == pytest.approx(dead.ledger.host_written_bytes, rel=0.02)


def test_the_command_prints_the_last_months(tmp_path: Path) -> None:
    (tmp_path / "w.fio").write_text(JOB)
    arguments = ["lifetime", str(tmp_path / "w.fio"), "--drive", SMALL, "--writes-per-day", "1GB", "--to-the-end"]
    arguments += ["--set", "nand.endurance_cycles=3000", "--set", "faults.endurance_spread=0.1"]
    told = CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})
    assert told.exit_code == 0, told.output
    assert all(word in told.stdout for word in ("new", "half of its life", "a month before", "the end", "writes/s"))
    assert "blocks that differ by 10 %" in told.stdout


def test_a_drive_of_equal_blocks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.fio").write_text(JOB)
    arguments = ["lifetime", str(tmp_path / "w.fio"), "--drive", "tiny", "--writes-per-day", "1GB", "--to-the-end"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code != 0
    assert "tiny: faults.endurance_spread is 0" in str(result.exception)


def test_a_rating_has_no_last_months() -> None:
    arguments = ["lifetime", "--writes-per-day", "1GB", "--rated-tbw", "100TB", "--to-the-end"]
    assert "--to-the-end is a simulated life" in str(CliRunner().invoke(app, arguments).exception)


def test_a_workload_that_only_reads_is_sent_to_reads_per_day(tmp_path: Path) -> None:
    (tmp_path / "r.fio").write_text(JOB.replace("randwrite", "randread"))
    arguments = ["lifetime", str(tmp_path / "r.fio"), "--drive", SMALL, "--writes-per-day", "1GB"]
    result = CliRunner().invoke(app, arguments)
    assert "writes nothing, so that spare area has no effect" in str(result.exception)
    assert "--reads-per-day" in str(result.exception)
