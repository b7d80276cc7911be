"""`ssdlab lifetime --to-the-end`: a life until the drive turns read-only, against a run that writes until then."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ssdlab.cli import app
from ssdlab.experiments.advice.described import of_job_file
from ssdlab.experiments.advice.setting import Setting
from ssdlab.experiments.advice.to_the_end import bound, digits, whole_life
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
    life = whole_life(of_job_file(str(tmp_path / "w.fio")), setting, 1, None, timed=False)
    assert life.scale in (None, Fraction(1)) and life.course.iops is None
    worn = setting.with_settings({"faults.wear_out": "true"}).at(None, None)
    dead = simulated.run(specify(tmp_path / "until.fio", worn, precondition="fill", timed=False))
    assert dead.failure is not None
    # The first drive writes, before the steady state, and few blocks.
    assert life.host_bytes == pytest.approx(dead.ledger.host_written_bytes, rel=0.06)


def test_a_drive_that_reduces_data_lives_longer(tmp_path: Path) -> None:
    """A regression: its write amplification of 0.5 was taken for 1, which halved its life."""
    (tmp_path / "w.fio").write_text(JOB + "buffer_compress_percentage=60\n")
    settings = {"data_reduction.compression": "true", "ftl.reserve_erase_units": "2"}
    setting = _setting(200, 0.1).with_settings(settings)
    life = whole_life(of_job_file(str(tmp_path / "w.fio")), setting, 1, None, timed=False)
    flash_bytes = 200 * life.drive.capacity.physical_bytes
    assert 0.4 < life.course.waf[0] < 0.7
    assert life.host_bytes == pytest.approx(flash_bytes / 0.5, rel=0.3)


def test_a_life_of_a_data_centre_drive_is_within_some_percent_of_one_that_is_written_to_death(tmp_path: Path) -> None:
    """At 500 cycles, of three seeds, the life computed is 0.7 to 1.0 % too short."""
    (tmp_path / "w.fio").write_text(JOB)
    (tmp_path / "until.fio").write_text(JOB + "loops=100000\n")
    name = "generic-nvme-dc-3840"
    settings = {"nand.endurance_cycles": "300", "faults.endurance_spread": "0.1"}
    setting = Setting(load(name), settings, name)
    life = whole_life(of_job_file(str(tmp_path / "w.fio")), setting, 1, None, timed=False)
    assert life.scale is not None and life.scale == Fraction(1, 1024)
    worn = setting.with_settings({"faults.wear_out": "true"}).at(None, life.scale)
    dead = simulated.run(specify(tmp_path / "until.fio", worn, precondition="fill", timed=False))
    assert dead.failure is not None
    assert life.host_bytes * float(life.scale) == pytest.approx(dead.ledger.host_written_bytes, rel=0.02)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the command prints, and the folder that it writes."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "w.fio").write_text(JOB)
    arguments = ["lifetime", str(folder / "w.fio"), "--drive", SMALL, "--writes-per-day", "1GB", "--to-the-end"]
    arguments += ["--set", "nand.endurance_cycles=3000", "--set", "faults.endurance_spread=0.1"]
    ended = CliRunner().invoke(app, [*arguments, "--output", str(folder / "end")], env={"COLUMNS": "120"})
    assert ended.exit_code == 0, ended.output
    return ended.stdout, folder / "end"


def test_the_command_prints_the_last_months(told: tuple[str, Path]) -> None:
    stdout, _ = told
    assert all(word in stdout for word in ("new", "half of its life", "a month before", "the end", "writes/s"))
    assert "blocks that differ by 10 %" in stdout


def test_the_page_shows_the_last_year(told: tuple[str, Path]) -> None:
    _, folder = told
    page = (folder / "report.html").read_text(encoding="utf-8")
    moments = json.loads((folder / "result.json").read_text(encoding="utf-8"))["moments"]
    assert [each["when"] for each in moments[-2:]] == ["a month before", "the end"]
    assert [each["is_extrapolated"] for each in moments[-2:]] == [False, True]
    assert moments[-1]["waf"] > moments[-2]["waf"] and f"to {bound(moments[-1]['waf'], 'over')}" in page
    assert moments[-1]["erase_units_lost"] == moments[-1]["erase_units_spare"]
    assert f"Read-only after {digits(moments[-1]['years'], 2)} years" in page
    assert all(word in page for word in ("In its life spare area falls", "1,000 writes/s", "there are no runs"))


def test_a_life_shorter_than_a_year_is_drawn_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "w.fio").write_text(JOB)
    life = whole_life(of_job_file(str(tmp_path / "w.fio")), _setting(200, 0.1), 1, None, timed=False)
    low, high = life.host_bytes_of_others
    assert low <= life.host_bytes <= high < 1.2 * low
    years = [each["years"] for each in life.moments(life.host_bytes / 300)]
    assert len(years) > 4 and years == sorted(years), "a regression: 6 months before stood behind half of its life"
    year = life.last_year(life.host_bytes / 73, 5)
    assert [months for months, _ in year] == pytest.approx([0, 0.6, 1.2, 1.8, 2.4])
    assert year[0][1]["erase_units_lost"] == 0 and year[-1][1]["years"] == pytest.approx(0.2)
    assert [each["over_provisioning"] for _, each in year] == sorted(
        (each["over_provisioning"] for _, each in year), reverse=True
    )


def test_a_bound_is_not_crossed_by_the_scatter_of_a_run() -> None:
    """A regression: a life's last WAF was given as 100, extrapolated from 23."""
    assert [bound(23.1, "over"), bound(23.9, "over"), bound(11_900, "below")] == ["over 22", "over 23", "below 13,000"]


def test_digits_before_the_point_are_rounded_too() -> None:
    assert [digits(7192, 2), digits(31583, 1), digits(2.534, 3)] == ["7,200", "30,000", "2.53"]


def test_a_life_by_the_rating_has_a_page_too(tmp_path: Path) -> None:
    arguments = ["lifetime", "--writes-per-day", "1GB", "--rated-tbw", "100TB", "--output", str(tmp_path / "page")]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert "lasts 274 years" in (tmp_path / "page/report.html").read_text()


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


@pytest.mark.parametrize("spare", [("--op", "7%"), ("--left-empty", "10%")])
def test_other_spare_areas_are_refused(spare: tuple[str, str], tmp_path: Path) -> None:
    """A regression: they were ignored, and stood in the page's command."""
    (tmp_path / "w.fio").write_text("[a]\nrw=randwrite\nbs=4k\n")
    arguments = ["lifetime", str(tmp_path / "w.fio"), "--drive", "tiny", "--writes-per-day", "1GB", "--to-the-end"]
    assert "give a file of your own" in str(CliRunner().invoke(app, [*arguments, *spare]).exception)
