"""Does `--scale auto` choose by the work of a run alone, and only scales that keep write amplification?"""

import json
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

import ssdlab
from in_process import call
from program import program_in
from small_drives import drive_file
from ssdlab.errors import Note
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import ResolvedDrive, names
from ssdlab.simulator.results.result import specification_of
from ssdlab.simulator.targets import auto_scale
from ssdlab.simulator.workloads.specifying import Until

LONG = "[w]\nrw=randwrite\nbs=4k\nnorandommap=1\ndirect=1\nloops=4\n"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "long.fio").write_text(LONG)
    return tmp_path / "long.fio"


def chosen(job: str | Path, *drives: ResolvedDrive, until: Until = "job", timed: bool = True) -> list[ResolvedDrive]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Note)
        return auto_scale.fitted(workloads.load(job), drives, until=until, precondition="none", timed=timed)


def test_the_largest_scale_within_the_time_is_chosen(job: Path) -> None:
    (drive,) = chosen(job, ssdlab.drive("generic-tlc-480"))
    assert drive.chosen
    assert drive.chosen["seconds"] <= auto_scale.SECONDS < 2 * drive.chosen["seconds"]
    assert drive.chosen["seconds_whole"] == pytest.approx(drive.chosen["seconds"] / float(drive.scale), rel=0.01)
    (untimed,) = chosen(job, ssdlab.drive("generic-tlc-480"), timed=False)
    assert untimed.scale >= 4 * drive.scale
    (steady,) = chosen(job, ssdlab.drive("generic-tlc-480"), until="steady")
    assert steady.scale < drive.scale


def test_a_short_job_keeps_the_whole_drive(job: Path) -> None:
    job.write_text(LONG + "size=1%\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", Note)
        (drive,) = auto_scale.fitted(
            workloads.load(job), [ssdlab.drive("generic-tlc-480")], until="job", precondition="none", timed=True
        )
    assert (drive.scale, drive.chosen) == (1, None)


def test_a_job_of_few_requests_keeps_them(job: Path) -> None:
    """A regression: of 22 requests after a fill, a scale for 30 s left 6, and a larger drive 3."""
    few = "[w]\nrw=randwrite\nbs=1m\ndirect=1\nnumber_ios={}\n"
    drive = ssdlab.drive("generic-tlc-480")

    def scale(number: int, name: ResolvedDrive, said: str) -> Fraction:
        job.write_text(few.format(number))
        with pytest.warns(Note, match=said):
            (found,) = auto_scale.fitted(workloads.load(job), [name], until="job", precondition="fill", timed=True)
        return found.scale

    # Two such drives are about 60 s of work.
    whole = "^the whole drive, about [0-9]+ s of work; a smaller drive would measure fewer than"
    assert scale(22, drive, f"{whole} 22 requests$") == 1
    assert scale(12_000, drive, f"{whole} 10,000 requests$") == 1
    assert scale(25_000, drive, "^scale 1/2, chosen.*; a smaller drive would") == Fraction(1, 2)
    assert scale(200_000, drive, "^scale 1/4, chosen.* 2 min$") == Fraction(1, 4)
    # For a drive of eight times that size, the whole would be four minutes.
    large = scale(22, ssdlab.drive("generic-nvme-dc-3840"), "; the smallest job has about [0-9]+ of its 22 requests$")
    assert large < 1


def test_a_runtime_limits_the_work(job: Path) -> None:
    job.write_text(LONG + "runtime=5\ntime_based\n")
    assert chosen(job, ssdlab.drive("generic-tlc-480"))[0].scale == 1
    job.write_text(LONG + "runtime=3600\ntime_based\n")
    assert chosen(job, ssdlab.drive("generic-tlc-480"))[0].scale < 1
    job.write_text(LONG + "runtime=3600\ntime_based\nrate=1m\n")
    assert chosen(job, ssdlab.drive("generic-tlc-480"))[0].scale == 1


@pytest.mark.parametrize("name", names())
def test_no_drive_loses_the_ratios_that_its_write_amplification_depends_on(name: str, job: Path) -> None:
    whole = ssdlab.drive(name)
    if whole.file.zones.zone_bytes or whole.file.namespaces:
        job.write_text("[w]\nrw=write\nbs=64k\ndirect=1\nloops=40\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", Note)
        halvings = auto_scale.halvings_most(whole)
        smallest = whole.at(Fraction(1, 2**halvings))
    assert smallest.scale == Fraction(1, 2**halvings)
    assert halvings == 0 or smallest.capacity.units_per_erase_unit >= 2048
    assert smallest.capacity.erase_units == whole.capacity.erase_units
    assert chosen(job, whole, until="steady")[0].scale >= smallest.scale


def test_drives_of_a_comparison_share_the_time_and_small_ones_stay_whole(job: Path) -> None:
    large, small = chosen(job, ssdlab.drive("generic-tlc-480"), ssdlab.drive("textbook"), until="steady")
    assert large.scale < 1 == small.scale
    drives = [ssdlab.drive("generic-tlc-480", op=op) for op in (0.07, 0.14, 0.28)]
    (alone,) = chosen(job, drives[0], until="steady", timed=False)
    three = chosen(job, *drives, until="steady", timed=False)
    assert {drive.scale for drive in three} == {alone.scale / 4}
    # With a clock, 30 s would take a scale that changes write amplification: it takes longer instead, and says why.
    with pytest.warns(Note, match="about 72 s of work; .*; a smaller drive could change write amplification"):
        auto_scale.fitted(workloads.load(job), drives, until="steady", precondition="none", timed=True)


def test_traces_databases_and_states_keep_the_whole_drive(tmp_path: Path) -> None:
    assert chosen("lsm-tree", ssdlab.drive("generic-tlc-480"))[0].scale == 1


def test_a_job_that_does_not_fit_the_smaller_drive_takes_a_larger_one(job: Path) -> None:
    # A request of 1 GiB does not shrink: a hundredth of 1/8 of the drive has no room for it.
    job.write_text("[w]\nrw=write\nbs=1g\nsize=1%\ndirect=1\nloops=10000\n")
    (drive,) = chosen(job, ssdlab.drive("generic-tlc-480"))
    assert drive.scale == Fraction(1, 4)
    with pytest.raises(ssdlab.InputError):
        ssdlab.specify(job, drive.at(drive.scale / 2))


def test_the_choice_is_in_the_note_the_result_and_the_page(
    tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto_scale, "SECONDS", 0.3)
    monkeypatch.chdir(tmp_path)
    job.write_text(LONG + "size=2%\n")
    with pytest.warns(
        Note, match="^scale 1/16, chosen: about 0.2 s of work; `--scale 1` is the whole drive, about 3 s$"
    ):
        call("run", "long.fio", "--drive", "generic-tlc-480", "--untimed", "--output", "out")
    found = json.loads(Path("out/result.json").read_text())
    assert found["ssdlab"]["scaled"]["chosen"]["seconds"] < found["ssdlab"]["scaled"]["chosen"]["seconds_whole"]
    assert "Scale 1/16, chosen: about" in Path("out/report.html").read_text()
    # The specification of a result repeats it to the byte, and so does the drive by its name.
    assert [result.to_dict() for _, result in ssdlab.run_many([specification_of(found)], workers=1)] == [found]
    with pytest.warns(Note, match="chosen"):
        assert ssdlab.run(job, "generic-tlc-480", timed=False).to_dict() == found


def test_a_given_scale_and_a_saved_state_choose_nothing(
    tmp_path: Path, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto_scale, "SECONDS", 0.001)
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(drive_file("small", blocks=256, pages=8192, user_bytes=5_999_996_928))
    job.write_text(LONG + "size=1%\n")
    own = ("run", "long.fio", "--drive", "small.toml", "--untimed", "--output")
    call(*own, "given", "--scale", "1/2")
    assert "chosen" not in json.loads(Path("given/result.json").read_text())["ssdlab"]["scaled"]
    call(*own, "saved", "--save-state", "state")
    assert json.loads(Path("saved/result.json").read_text())["ssdlab"]["scale"] == "1"
    with pytest.warns(Note, match="^scale 1/4, chosen"):
        call(*own, "chosen")


def test_a_wrong_scale_names_what_is_allowed(tmp_path: Path, job: Path) -> None:
    ended = program_in(tmp_path)("run", "long.fio", "--drive", "textbook", "--scale", "automatic")
    assert ended.returncode == 2
    assert "--scale: 'automatic' is not a scale above 0 and at most 1, such as 1/16, or auto" in ended.stderr
