"""[stripe]: several devices as one drive, whose capacities are those of the whole."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import ssdlab
from ssdlab.cli.drives import drives
from ssdlab.cli.groups import flat
from ssdlab.errors import InputError
from ssdlab.simulator.drives import load, resolve

DUO = "iodrive-duo-320gb-slc"
TWO = {"stripe.devices": "2", "stripe.chunk_bytes": "16KiB"}
JOB = """
[fill]
rw=write
bs=4k
iodepth=8

[random]
stonewall
rw=randwrite
bs=4k
norandommap
loops=2
iodepth=8
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.fio"
    path.write_text(JOB)
    return path


def test_the_catalogue_has_two_devices_as_one_drive() -> None:
    whole = resolve(load(DUO)).capacity
    one = resolve(load(DUO), settings={"stripe.devices": "1", "ftl.user_bytes": "154999996416"}).capacity
    assert (whole.devices, one.devices) == (2, 1)
    for size in ("flash_bytes", "physical_bytes", "user_bytes", "erase_units", "planes", "blocks", "data_units"):
        assert getattr(whole, size) == 2 * getattr(one, size)
    assert whole.reserve_erase_units + whole.open_erase_units == 2 * (one.reserve_erase_units + one.open_erase_units)
    assert whole.units_per_erase_unit == one.units_per_erase_unit
    assert whole.over_provisioning == one.over_provisioning
    assert whole.user_units_max == pytest.approx(2 * one.user_units_max, rel=1e-4)
    assert whole.sold_bytes == 320 * 10**9
    assert {load(DUO).source_of(key).kind for key in ("stripe.devices", "nand.copy_read_us")} == {"datasheet", "fitted"}


def test_what_ssdlab_drives_prints_is_the_whole() -> None:
    app = typer.Typer()
    app.command("drives")(flat(drives))
    output = CliRunner(env={"COLUMNS": "80"}).invoke(app, [DUO], catch_exceptions=False).output
    for words in ("one of 2 such devices:", "2 devices in turn, in chunks of 64 KiB", "320 GB", "stripe.chunk_bytes"):
        assert words in output
    assert max(map(len, output.splitlines())) <= 80
    plain = CliRunner().invoke(app, ["tiny"], catch_exceptions=False).output
    assert "such devices" not in plain
    summary = json.loads(CliRunner().invoke(app, [DUO, "--op", "25%", "--json"], catch_exceptions=False).output)
    capacity = summary["capacity"]
    assert capacity["physical_bytes"] == 2 * 20 * 2 * 1907 * 512 * 4096
    assert capacity["user_bytes"] == capacity["physical_bytes"] * 4 // 5 // 4096 * 4096


def test_scale_and_op_are_of_the_whole() -> None:
    full = resolve(load(DUO), over_provisioning=0.25)
    small = resolve(load(DUO), over_provisioning=0.25, scale=Fraction(1, 32))
    assert small.capacity.erase_units == full.capacity.erase_units
    assert small.capacity.physical_bytes * 32 == full.capacity.physical_bytes
    assert small.capacity.over_provisioning == pytest.approx(0.25, abs=1e-5)
    assert small.specification()["stripe"] == {"devices": 2, "chunk_bytes": 65536}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stripe.devices": "0"}, "stripe.devices"),
        (TWO | {"stripe.chunk_bytes": "6000"}, "stripe.chunk_bytes = 6000 should be a multiple of ftl.mapping_unit"),
        (TWO | {"stripe.chunk_bytes": "1TiB"}, "so small that each of 2 devices"),
        (
            TWO | {"background.erased_pool_bytes": "8MiB"},
            "should be 1 with background.erased_pool_bytes",
        ),
        (
            TWO | {"background.retention_days": "1.0"},
            "should be 1 with background.retention_days",
        ),
        (TWO | {"slc_cache.static_bytes": "1GiB"}, "should be 1 with slc_cache.static_bytes"),
        (TWO | {"stripe.chunk": "1"}, "stripe.chunk_bytes"),
    ],
)
def test_what_does_not_go_with_a_stripe_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(load("generic-tlc-480"), settings=settings)


@pytest.mark.parametrize("timed", [True, False])
def test_a_stripe_of_one_device_is_the_drive(timed: bool, job: Path) -> None:
    plain = ssdlab.run(job, ssdlab.drive("tiny"), timed=timed)
    one = ssdlab.run(job, ssdlab.drive("tiny", settings={"stripe.devices": "1"}), timed=timed)
    assert one.specification.hash() == plain.specification.hash()
    assert one.timeseries.equals(plain.timeseries)
    assert (one.ledger, one.wear) == (plain.ledger, plain.wear)


@pytest.mark.parametrize("timed", [True, False])
def test_results_are_of_the_whole(timed: bool, job: Path) -> None:
    one = ssdlab.run(job, ssdlab.drive("tiny", op=0.6), timed=timed)
    two = ssdlab.run(job, ssdlab.drive("tiny", op=0.6, settings=TWO), timed=timed)
    assert two.capacity.user_bytes == pytest.approx(2 * one.capacity.user_bytes, abs=4096)
    assert two.capacity.physical_bytes == 2 * one.capacity.physical_bytes
    assert two.ledger.host_written_bytes == pytest.approx(2 * one.ledger.host_written_bytes, rel=0.01)
    assert two.waf == pytest.approx(one.waf, rel=0.1)
    assert (one.failure, two.failure) == (None, None)


def test_the_engine_takes_what_is_least_here(job: Path) -> None:
    for devices, chunk in ((2, "16KiB"), (3, "20KiB")):
        settings = {"stripe.devices": str(devices), "stripe.chunk_bytes": chunk}
        least = resolve(load("tiny"), over_provisioning=1.0, settings=settings).over_provisioning_min
        drive = ssdlab.drive("tiny", op=least, settings=settings)
        assert ssdlab.run(job, drive, timed=False).failure is None


def test_a_served_stripe_with_background_operations_is_refused() -> None:
    from ssdlab.simulator.engine import open_device

    drive = ssdlab.drive("tiny", op=0.6, settings=TWO)
    open_device(json.dumps(drive.specification()), "{}")
    specification = drive.specification()
    specification["background"]["defragment"] = True
    with pytest.raises(InputError, match=r"stripe\.devices"):
        open_device(json.dumps(specification), "{}")
