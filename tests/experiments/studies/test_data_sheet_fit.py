"""A drive fitted to its data sheet: each row gives a value, the closed forms are near, and what is not met is said."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ssdlab.cli import app
from ssdlab.errors import InputError
from ssdlab.experiments.studies.data_sheets import fitting, simulating, starting
from ssdlab.experiments.studies.data_sheets.fitting import of_file, of_line
from ssdlab.simulator import engine
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.drives.data_sheet import Rated
from ssdlab.simulator.drives.schema import changed, drive_of
from ssdlab.simulator.runs import silent

SHEET = """[market]
sold_bytes = "960 GB"
[datasheet]
source = "the box"
rows = [
  { quantity = "sequential read", value = 530, unit = "MB/s" },
  { quantity = "sequential write", value = 360, unit = "MB/s" },
  { quantity = "random read", value = 50000, unit = "IOPS" },
  { quantity = "random write", value = 12000, unit = "IOPS", state = "steady" },
  { quantity = "random 70/30", value = 25000, unit = "IOPS" },
  { quantity = "random read latency", value = 130, unit = "us" },
  { quantity = "random write latency", value = 40, unit = "us" },
  { quantity = "power-loss protection", value = true },
  { quantity = "endurance", value = 1.3, unit = "DWPD" },
]
"""


def test_every_row_of_a_sata_drive_is_met_and_the_mixed_one_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated, simulate = [], engine.simulate

    def kept(work: engine.Work, *others: Any) -> tuple[str, float]:
        simulated.append(work)
        return simulate(work, *others)

    monkeypatch.setattr(engine, "simulate", kept)
    path = tmp_path / "mine.toml"
    path.write_text(SHEET)
    asked = of_file(str(path))
    assert asked.capacity.user_bytes == 960_000_000_000 and asked.host_link.interface == "sata-6g"
    found = fitting.fit(asked, workers=1)
    assert len(simulated) == len(set(simulated)) == found.simulations
    for row in found.rows:
        assert row.fitted is None or row.deviation == pytest.approx(0, abs=0.03), row.what
    assert [row.what.split(",")[0] for row in found.rows if row.fitted is None] == ["random 70/30"]
    assert set(found.fitted) == {
        "host_link.mb_s",
        "controller.command_us",
        "controller.commands_per_second_max",
        "nand.read_us",
        "nand.program_us",
        "ftl.reserved_bytes",
    }
    assert found.parameters == 6 and not found.at_bound
    assert found.drive.market.rated_dwpd == 1.3 and found.drive.write_buffer.power_loss_protection
    for key in found.fitted:
        assert found.drive.source_of(key).kind == "fitted" and "6 free, 6 rows" in found.drive.source_of(key).source


def test_the_closed_forms_alone_are_near() -> None:
    """The start of a fit is simulated first, so that its rounds are few."""
    drive = of_line("960 GB, 3200/1050 MB/s, 490k/38k IOPS, 85/20 us", load("generic-nvme-dc-3840"), "start")
    start = starting.start(drive)
    search = fitting._Search(drive.data_sheet, start, 1, 1, silent)
    off = search.deviations(search._simulated(search.at([each.start for each in start.free])))
    *others, steady = sorted(abs(each) for each in off)
    assert len(others) == 5 and max(others) < 0.05 and steady < 0.5


def test_a_client_drive_is_rated_within_its_slc_cache(tmp_path: Path) -> None:
    found = fitting.fit(of_line("3500/3000 MB/s, 500k/480k IOPS", load("generic-nvme-tlc-1000"), "client"), workers=1)
    assert [row.deviation for row in found.rows] == pytest.approx([0] * 4, abs=0.06)
    assert set(found.fitted) == {"host_link.mb_s", "controller.commands_per_second_max", "slc_cache.program_us"}


def test_a_row_that_no_flash_meets_is_said() -> None:
    found = fitting.fit(of_line("550/0.5 MB/s", load("generic-sata-dc-480"), "slow"), workers=1)
    assert found.at_bound == {"nand.program_us": "of what flash and controllers of the class have"}
    assert found.finding.startswith("1 of 2 rows")
    assert "2 of the rows were fitted to" in found.finding, "one of them is missed"


@pytest.mark.parametrize(
    ("line", "bound"),
    [
        ("14 TB, 3200/3000 MB/s, 490k/600k IOPS", "of the simulator, which has fewer than 2^32 mapping units of flash"),
        ("960 GB, 3200/3000 MB/s, 490k/800k IOPS", "of the fit, as much spare area as data"),
    ],
)
def test_the_bound_of_the_spare_area_is_named_for_what_it_is(line: str, bound: str) -> None:
    """The most flash that a simulated drive can have was called a bound of what flash and controllers have."""
    start = starting.start(of_line(line, load("generic-nvme-dc-3840"), "large"))
    (spare,) = (free for free in start.free if free.key == starting.EFFECTIVE_OP)
    assert spare.start == spare.high and spare.bound_at(spare.start) == bound
    assert spare.bound_at(math.sqrt(spare.low * spare.high)) is None
    assert "garbage collection" in str(spare.bound_at(spare.low))


def test_a_value_at_its_bound_that_meets_its_row_is_not_said_to_miss_it() -> None:
    found = fitting.fit(of_line("960 GB, 550/520 MB/s", load("generic-sata-tlc-500"), "slow-cache"), workers=1)
    assert found.drive.slc_cache.program_us == pytest.approx(starting._SLC_MODE_US[1], rel=0.001)
    assert found.rows[1].deviation == pytest.approx(0, abs=0.01) and not found.at_bound


def test_each_device_of_a_stripe_has_its_share_of_the_link_and_of_the_commands() -> None:
    """The drive's values were given to each of its two devices, so that it read twice what is rated."""
    found = fitting.fit(of_line("1.5 GB/s, 261k IOPS", load("iodrive-duo-320gb-slc"), "two"), workers=1)
    assert found.drive.stripe.devices == 2 and not found.at_bound
    assert [row.deviation for row in found.rows] == pytest.approx([0, 0], abs=0.02)


def test_a_drive_whose_sources_name_single_keys_is_fitted() -> None:
    """The start of the fit was refused: no source for host_link.mb_s."""
    found = fitting.fit(of_line("250/100 MB/s, 100 TBW", load("x25m-g2-160gb"), "old"), workers=1)
    assert found.drive.source_of("host_link.mb_s").kind == "fitted"
    assert found.drive.source_of("nand.erase_us").source == load("x25m-g2-160gb").source_of("nand.erase_us").source


def test_a_large_drive_is_simulated_as_small_as_it_can_be() -> None:
    """The default scale left too few erase units, and the error named a --scale that nobody had given."""
    drive = of_line("15.36 TB, 7.0/3.6 GB/s", load("generic-nvme-qlc-2000"), "large")
    assert simulating.resolved(drive).scale < 1 / 1000


def test_rates_of_millions_are_printed_in_full(tmp_path: Path) -> None:
    path = tmp_path / "fast.toml"
    line = "1 TB, 1.2M/1.55M IOPS"
    answer = CliRunner().invoke(
        app, ["drives", "new", "--like", "generic-nvme-tlc-1000", "--data-sheet", line, str(path)]
    )
    assert answer.exit_code == 0, answer.output
    assert "1,550,000" in answer.stdout and "e+06" not in answer.stdout
    assert "1,550,000  IOPS" in CliRunner().invoke(app, ["drives", str(path)]).stdout


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([Rated("sequential read", 550.0, "MB/s", ""), Rated("power-loss protection", True, "", "")], "sata-dc-480"),
        ([Rated("sequential read", 550.0, "MB/s", "")], "sata-tlc-500"),
        ([Rated("random read", 400_000.0, "IOPS", "")], "nvme-tlc-1000"),
        (
            [Rated("sequential read", 3000.0, "MB/s", ""), Rated("random write", 4e4, "IOPS", "", state="steady")],
            "nvme-dc-3840",
        ),
    ],
)
def test_the_rows_suggest_the_class(rows: list[Rated], name: str) -> None:
    assert starting.class_of(rows).name == f"generic-{name}"


@pytest.mark.parametrize("size", [240_000_000_000, 960_000_000_000, 3_840_000_000_000, 7_680_000_000_000])
def test_another_capacity_has_as_much_flash_for_each_byte(size: int) -> None:
    base = load("generic-sata-dc-480")
    drive = starting.of_capacity(base, size)
    assert drive.capacity.user_bytes == pytest.approx(size, abs=4096)
    assert drive.capacity.over_provisioning == pytest.approx(base.capacity.over_provisioning, abs=0.01)
    assert base.nand.blocks_per_plane / 2 <= drive.nand.blocks_per_plane <= 2 * base.nand.blocks_per_plane
    resolve(drive)


def test_a_steady_rate_sets_the_over_provisioning_also_beyond_the_flash() -> None:
    drive = load("generic-sata-dc-480")
    for op in (0.03, 0.2, 0.5):
        values = {key.partition(".")[2]: value for key, value in starting.at_effective_op(drive, op).items()}
        content = changed(drive.content, starting.at_effective_op(drive, op), {})
        assert drive_of(content, "changed").capacity.over_provisioning == pytest.approx(op, abs=0.02)
        assert bool(values["reserved_bytes"]) == (op < drive.capacity.over_provisioning)


def test_a_file_that_says_what_it_is_is_not_completed(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('based_on = "generic-sata-tlc-500"\n' + SHEET.replace("[market]\nsold_bytes", "# "))
    assert of_file(str(path)).capacity.user_bytes == load("generic-sata-tlc-500").capacity.user_bytes
    with pytest.raises(InputError, match="says itself what drive it is"):
        of_file(str(path), "tiny")
    path.write_text("[market]\nsold_bytes = 1000\n")
    with pytest.raises(InputError, match=r"has no \[datasheet\]"):
        of_file(str(path))
    path.write_text(SHEET.replace("960 GB", "960 G"))
    with pytest.raises(InputError, match=r"mine\.toml: market\.sold_bytes: the unit of '960 G' is ambiguous"):
        of_file(str(path))
    with pytest.raises(InputError, match=r"ends in \.toml"):
        of_file("samsung-pm883-1920gb")


def test_rows_without_a_speed_give_nothing_to_fit(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[datasheet]\nsource = "the box"\nrows = [{ quantity = "endurance", value = 1, unit = "DWPD" }]\n')
    with pytest.raises(InputError, match=r"no row of .* gives a value that can be fitted"):
        fitting.fit(of_file(str(path)))


def test_the_commands_write_a_drive_that_loads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    line = "550/520 MB/s, 98k IOPS"
    made = runner.invoke(app, ["drives", "new", "--like", "generic-sata-dc-480", "--data-sheet", line, "box.toml"])
    assert made.exit_code == 0, made.output
    assert "3 values fitted to 3 rows: that these agree is no evidence; 0 rows are predicted." in made.output
    box = load("box.toml")
    assert box.name == "box" and box.identity.model is None
    assert [row.fitted for row in box.data_sheet] == [
        ("host_link.mb_s",),
        ("nand.program_us",),
        ("controller.commands_per_second_max",),
    ]
    fitted = runner.invoke(app, ["fit", "--data-sheet", "box.toml", "--workers", "1", "--output", "out"])
    assert fitted.exit_code == 0, fitted.output
    whole = json.loads((tmp_path / "out" / "result.json").read_text())
    assert whole["parameters"] == 3 and [row["fitted_to_points"] for row in whole["rows"]] == [1, 1, 1]
    assert tomllib.loads((tmp_path / "out" / "fitted.toml").read_text())["datasheet"]["rows"][0]["value"] == 550


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit"], "fit needs POINTS and --drive and --free"),
        (["fit", "points.csv", "--data-sheet", "a.toml"], "--data-sheet takes only"),
        (["fit", "--data-sheet", "a.toml", "--scale", "1/2"], "whose rows choose their scale"),
        (["drives", "--data-sheet", "550 MB/s"], "belong to new"),
        (
            ["drives", "new", "--like", "generic-sata-dc-480", "--data-sheet", "3500 MB/s", "a.toml"],
            "more than its link, sata-6g, carries",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: list[str], said: str) -> None:
    ended = CliRunner().invoke(app, arguments)
    assert ended.exit_code != 0 and said in str(ended.exception or ended.output)


def test_a_capacity_that_the_drive_cannot_have_is_refused_as_a_capacity(tmp_path: Path) -> None:
    """99 TB were refused as nand.blocks_per_plane, which nobody had given."""
    like = load("generic-tlc-480")
    refused = (
        r"^data sheet '99 TB, 98k IOPS': a drive like generic-tlc-480 cannot have 99 TB: .* which is 16\.3 TB or less"
    )
    with pytest.raises(InputError, match=refused):
        of_line("99 TB, 98k IOPS", like, "large")
    # Its whole blocks are just too much, and it was refused as nand.blocks_per_plane.
    with pytest.raises(InputError, match=r"cannot have 15\.4 TB: .* which is 15\.3 TB or less for the host"):
        of_line("15.36 TB, 98k IOPS", load("generic-nvme-dc-3840"), "large")
    with pytest.raises(InputError, match=r"cannot have 1 GB with as much flash for each byte: .* spare area"):
        of_line("1 GB, 98k IOPS", like, "small")
    path = tmp_path / "mine.toml"
    path.write_text(SHEET.replace("960 GB", "99 TB"))
    with pytest.raises(InputError, match=r"mine\.toml: a drive like generic-sata-dc-480 cannot have 99 TB"):
        of_file(str(path))


def test_a_fit_adds_no_more_flash_than_a_drive_can_have() -> None:
    """Near the largest capacity the spare area for the steady writes was refused as nand.blocks_per_plane."""
    drive = of_line("16.35 TB, 98k/28k IOPS steady", load("generic-tlc-480"), "large")
    spare = next(free for free in starting.start(drive).free if free.key == starting.EFFECTIVE_OP)
    assert spare.high < 0.08
    with pytest.raises(InputError, match=r"nand\.blocks_per_plane .* fewer than 2\^32"):
        drive_of(changed(drive.content, starting.at_effective_op(drive, 0.09), {}), "beyond")
    drive_of(changed(drive.content, starting.at_effective_op(drive, starting._possible(drive)), {}), "at most")
