"""What reading alone writes: by hand, in the engine, and as `ssdlab lifetime --reads-per-day` prints it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from small_drives import drive_file
from ssdlab.cli import app
from ssdlab.simulator.drives import ResolvedDrive, drive
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads.specifying import specify
from ssdlab.theory.read_disturb import ReadOnly, programmed_per_read_byte, reads_of

JOB = """[fill]
rw=write
bs=128k
size=100%
[reads]
stonewall
rw=randread
bs=4k
size=100%
loops=41
thinktime=1s
thinktime_blocks=64
"""


def _drive(folder: Path, reads: int) -> ResolvedDrive:
    path = folder / "small.toml"
    path.write_text(drive_file("small", blocks=128, pages=64, user_bytes=24 << 20))
    return drive(path, settings={"background.read_disturb_reads": str(reads), "background.idle_after_ms": "1"})


def test_the_law_by_hand() -> None:
    # 768 pages over 76,800 reads: 1 % of what is read in whole pages, and of a quarter of a page four times as much.
    assert programmed_per_read_byte(768, 16384, 16384, 76_800) == pytest.approx(0.01)
    assert programmed_per_read_byte(768, 16384, 131072, 76_800) == pytest.approx(0.01)
    assert programmed_per_read_byte(768, 16384, 4096, 76_800) == pytest.approx(0.04)
    assert reads_of(0.01, 768, 16384, 16384) == 76_800
    assert reads_of(0.04, 768, 16384, 4096) == 76_800


def test_the_engine_keeps_the_law(tmp_path: Path) -> None:
    resolved = _drive(tmp_path, 320)
    (tmp_path / "job.fio").write_text(JOB)
    ledger = simulated.run(specify(tmp_path / "job.fio", resolved)).last_stage_ledger
    assert ledger.host_written_bytes == 0 and ledger.programmed_units["wear_leveling"] == ledger.programmed_bytes / 4096
    # 41 passes are one more than 8 times the 5 passes after which a block of 64 pages has had 320 reads.
    expected = ReadOnly(resolved, 1e12, 4096).programmed_per_read_byte
    assert expected == pytest.approx(64 / 320)
    assert ledger.programmed_bytes / ledger.host_read_bytes == pytest.approx(expected, rel=0.1)


def test_life_and_cost_by_hand(tmp_path: Path) -> None:
    resolved = _drive(tmp_path, 6400)
    found = ReadOnly(resolved, 1e9, 4096)
    # 1 % of 1 GB; 3000 cycles of 32 MiB; 25 us and 200 us for each page of 4 KiB on one die.
    assert found.programmed_bytes_per_day == pytest.approx(1e7)
    assert found.years == pytest.approx(3000 * 32 * 2**20 / 1e7 / 365)
    assert found.days_between_refreshes == pytest.approx(24 * 2**20 / 1e7)
    assert found.share_of_time == pytest.approx(1e7 / 4096 * 225e-6 / 86_400)


def test_the_command_prints_life_and_cost(tmp_path: Path) -> None:
    _drive(tmp_path, 6400)
    arguments = ["lifetime", "--drive", str(tmp_path / "small.toml"), "--reads-per-day", "1GB", "--read-size", "4KiB"]
    told = CliRunner().invoke(app, [*arguments, "--set", "background.read_disturb_reads=6400"])
    assert told.exit_code == 0, told.output
    text = " ".join(told.stdout.split())
    assert "10 MB a day are rewritten, 1 % of what is read" in text
    assert f"3000 cycles of all flash, even wear: {3000 * 32 * 2**20 / 1e7 / 365:.3g} years" in " ".join(
        told.stdout.split()
    )
    assert "W on average" not in text
    power = ["--set", "power.idle_watts=1", "--set", "power.read_uj=5", "--set", "power.program_uj=30"]
    told = CliRunner().invoke(app, [*arguments, "--set", "background.read_disturb_reads=6400", *power])
    text = " ".join(told.stdout.split())
    assert f"{1e7 / 4096 * 35e-6 / 86_400:.3g} W on average" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--drive", "tiny", "--reads-per-day", "1TB"], "background.read_disturb_reads is 0"),
        (["--reads-per-day", "1TB"], "requires --drive"),
        (["--drive", "tiny", "--reads-per-day", "1TB", "--writes-per-day", "1TB"], "excludes a workload"),
        (["--drive", "tiny", "--reads-per-day", "0"], "--reads-per-day is 0"),
        (["--drive", "tiny", "--reads-per-day", "1TB", "--read-size", "0"], "--read-size is 0"),
    ],
)
def test_wrong_input_is_named(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["lifetime", *arguments])
    assert result.exit_code != 0
    assert message in str(result.exception)


def test_a_drive_without_the_number_is_no_drive_of_this_law() -> None:
    with pytest.raises(ValueError, match="read_disturb_reads is 0"):
        ReadOnly(drive("tiny"), 1e9, 4096)
