"""The energy of a run: counters times the drive file's energies, by cause; unknown without them."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from small_drives import drive_file
from ssdlab.errors import InputError
from ssdlab.experiments.comparison.comparing import Comparison, compare
from ssdlab.simulator.drives import ResolvedDrive, drive
from ssdlab.simulator.results import Result, specification_of
from ssdlab.simulator.results.energy import CAUSES
from ssdlab.simulator.results.speed import speed
from ssdlab.simulator.results.text import normal
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads.specifying import specify

JOB = """[fill]
rw=write
bs=128k
size=100%
[mixed]
stonewall
rw=randrw
bs=4k
io_size=256m
thinktime=100
"""
POWER = {
    "power.idle_watts": "1.5",
    "power.read_uj": "10",
    "power.program_uj": "40",
    "power.erase_uj": "300",
    "power.transfer_nj_per_byte": "0.5",
    "power.command_uj": "7",
}


def _drive(folder: Path, settings: dict[str, str], scale: Fraction | None = None) -> ResolvedDrive:
    path = folder / "small.toml"
    path.write_text(drive_file("small", blocks=256, pages=256, user_bytes=200 << 20))
    return drive(path, settings=settings, scale=scale)


def _run(folder: Path, settings: dict[str, str], *, timed: bool = True) -> Result:
    job = folder / "job.fio"
    job.write_text(JOB)
    return simulated.run(specify(job, _drive(folder, settings), timed=timed))


def test_a_drive_that_begins_in_the_steady_state_spends_no_energy_of_before(tmp_path: Path) -> None:
    """A regression: what the smaller drive had programmed to become steady was counted over the time of the run."""
    job = tmp_path / "writes.fio"
    job.write_text("[writes]\nrw=randwrite\nbs=4k\nsize=100%\nnorandommap\niodepth=8\nioengine=libaio\n")
    on = _drive(tmp_path, POWER)
    filled, steady = (ssdlab.run(job, on, precondition=start).energy for start in ("fill", "steady"))
    assert filled is not None and steady is not None
    assert filled.watts_mean is not None and steady.watts_mean is not None
    assert steady.host_bytes == pytest.approx(on.capacity.user_bytes, rel=0.01)
    # The flash is always busy, with programs of the host or of garbage collection.
    assert steady.watts_mean == pytest.approx(filled.watts_mean, rel=0.2)


def test_joules_are_the_counters_times_the_energies(tmp_path: Path) -> None:
    result = _run(tmp_path, POWER)
    found, ledger, seconds = result.energy, result.ledger, result.simulated_seconds
    assert found is not None and seconds is not None
    programmed, read = ledger.programmed_units, ledger.read_units
    assert programmed["gc"] > 0 and read["host"] > 0
    # A page is a unit, and an erase unit a block.
    commands = sum(job.read.total_ios + job.write.total_ios for job in result.jobs)
    erases = 300 * ledger.erased_erase_units
    share = programmed["gc"] / sum(programmed.values())
    host_bytes = ledger.host_written_bytes + ledger.host_read_bytes
    by_hand = {
        "host": 10 * read["host"]
        + 40 * programmed["host"]
        + erases * programmed["host"] / sum(programmed.values())
        + 7 * commands
        + 0.5e-3 * host_bytes,
        "gc": 10 * read["gc"] + 40 * programmed["gc"] + erases * share,
        "other": 40 * programmed["padding"] + erases * programmed["padding"] / sum(programmed.values()),
        "idle": 1.5e6 * seconds,
    }
    assert {cause: found.joules[cause] for cause in CAUSES} == pytest.approx(
        {cause: value / 1e6 for cause, value in by_hand.items()}
    )
    total = sum(by_hand.values()) / 1e6
    assert found.watts_mean == pytest.approx(total / seconds)
    assert found.per_host_gib("total") == pytest.approx(total * 2**30 / host_bytes)


def test_every_erased_block_has_its_energy_on_a_drive_that_packs_data(tmp_path: Path) -> None:
    """A regression: an erase unit was taken to have the packing's 512 bytes in each slot: an eighth of its blocks."""
    settings = {**POWER, "data_reduction.compression": "true", "ftl.reserve_erase_units": "2"}
    few, many = (
        _run(tmp_path, {**settings, "power.erase_uj": erase_uj}, timed=False).energy for erase_uj in ("0", "300")
    )
    wear = _run(tmp_path, settings, timed=False).wear["erase_count"]
    assert few is not None and many is not None and wear["mean"] > 0.5
    erases = sum((many.joules[cause] or 0) - (few.joules[cause] or 0) for cause in ("host", "gc", "other"))
    assert erases * 1e6 / 300 == pytest.approx(wear["mean"] * 256)


def test_the_result_says_it_and_repeats_it(tmp_path: Path) -> None:
    result = _run(tmp_path, POWER)
    whole = json.loads(result.to_json())
    energy = whole["ssdlab"]["energy"]
    assert sum(energy["joules"].values()) == pytest.approx(energy["watts_mean"] * whole["ssdlab"]["simulated_seconds"])
    per_gib = energy["joules_per_host_gib"]
    assert per_gib["total"] == pytest.approx(sum(per_gib[cause] for cause in CAUSES))
    assert f"energy: {energy['watts_mean']:.3g} W on average" in normal(result)
    again = specification_of(whole)
    assert again.hash() == result.specification.hash()
    assert json.loads(simulated.run(again).to_json()) == whole


def test_the_last_stage_is_a_part_of_the_run(tmp_path: Path) -> None:
    result = _run(tmp_path, POWER)
    whole, last = result.energy, result.last_stage_energy
    assert whole is not None and last is not None and whole.seconds is not None and last.seconds is not None
    assert 0 < last.host_bytes < whole.host_bytes and 0 < last.seconds < whole.seconds
    assert (last.total_joules or 0) < (whole.total_joules or 0)


def test_jobs_that_run_one_after_the_other_in_a_stage_take_the_time_of_both(tmp_path: Path) -> None:
    """A regression: the requests and joules of both jobs were divided by the time of the longer one."""
    job = tmp_path / "late.fio"
    job.write_text("[global]\nrw=write\nbs=4k\nsize=8m\n[early]\n[late]\nstartdelay=10s\n")
    result = ssdlab.run(job, _drive(tmp_path, POWER))
    energy, found, whole = result.last_stage_energy, speed(result), result.simulated_seconds
    assert energy is not None and found is not None and whole is not None
    assert found.seconds == energy.seconds == pytest.approx(whole, rel=0.01)
    assert found.iops == pytest.approx(sum(each.write.total_ios for each in result.jobs) / whole, rel=0.01)
    assert energy.watts_mean == pytest.approx((energy.total_joules or 0) / whole, rel=0.01)


def test_requests_of_a_ramp_time_have_their_energy(tmp_path: Path) -> None:
    """A regression: their bytes and programs were counted, their commands were not."""
    job = tmp_path / "job.fio"
    found = []
    for ramp in ("", "ramp_time=50ms\n"):
        job.write_text(f"[w]\nrw=write\nbs=4k\nsize=8m\n{ramp}")
        result = ssdlab.run(job, _drive(tmp_path, POWER))
        assert result.energy is not None
        found.append((result.jobs[0].write.total_ios, result.energy.joules))
    (all_of_them, whole), (counted, ramped) = found
    assert 0 < counted < all_of_them and ramped == pytest.approx(whole)


def test_too_few_requests_tell_no_speed(tmp_path: Path) -> None:
    """A regression: one request of a job that was paced was 10,240 requests a second, and a page of trims said that the
    drive serves 0 a second."""
    job = tmp_path / "job.fio"
    for text in ("rw=write\nnumber_ios=9\n", "rw=randtrim\n"):
        job.write_text(f"[a]\nbs=4k\nsize=8m\n{text}")
        assert speed(ssdlab.run(job, ssdlab.drive("textbook"))) is None
    job.write_text("[a]\nbs=4k\nsize=8m\nrw=write\nnumber_ios=10\n")
    assert speed(ssdlab.run(job, ssdlab.drive("textbook"))) is not None


def test_without_energies_nothing_is_said(tmp_path: Path) -> None:
    """The engine's input is the same with and without them, so that a result does not depend on `[power]`."""
    result = _run(tmp_path, {})
    assert result.energy is None
    ours = json.loads(result.to_json())["ssdlab"]
    assert "energy" not in ours and "power" not in ours["specification"]
    assert "energy:" not in normal(result)
    with_power = _run(tmp_path, POWER)
    assert with_power.specification.engine_json() == result.specification.engine_json()
    assert with_power.specification.hash() != result.specification.hash()
    # Two of the three that are needed are too few.
    assert _drive(tmp_path, {"power.idle_watts": "1", "power.read_uj": "2"}).power is None


def test_without_a_clock_idle_energy_is_unknown(tmp_path: Path) -> None:
    found = _run(tmp_path, POWER, timed=False).energy
    assert found is not None
    assert found.joules["idle"] is None and found.watts_mean is None and found.per_host_gib("total") is None
    assert (found.per_host_gib("gc") or 0) > 0


def test_a_smaller_drive_erases_smaller_blocks(tmp_path: Path) -> None:
    quarter = _drive(tmp_path, POWER, Fraction(1, 4)).power
    assert quarter is not None
    assert (quarter["erase_uj"], quarter["program_uj"]) == (75.0, 40.0)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("power.idle_watts", "0", r"power\.idle_watts = 0 should be a number above 0"),
        ("power.program_uj", "-1", r"power\.program_uj = -1 should be a number from 0 to 100000"),
        ("power.watts", "3", "power.watts"),
    ],
)
def test_wrong_energies_are_refused(tmp_path: Path, key: str, value: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _drive(tmp_path, {key: value})


def test_a_comparison_says_what_the_energy_causes(tmp_path: Path) -> None:
    """36 MJ are 10 kWh: at 300 g a kWh, 3 kg."""
    (tmp_path / "job.fio").write_text(JOB)
    path = tmp_path / "small.toml"
    path.write_text(drive_file("small", blocks=256, pages=256, user_bytes=200 << 20))

    def compared(**chosen: Any) -> Comparison:
        return compare(tmp_path / "job.fio", path, until="job", precondition="none", scale=None, workers=1, **chosen)

    (variant,) = compared(settings=POWER, co2e_per_kwh=300)
    energy = variant.result.last_stage_energy
    assert energy is not None
    joules_a_tb = (energy.per_host_gib("total") or 0) * 1e12 / 2**30
    assert variant.co2e_g_per_host_tb == pytest.approx(joules_a_tb / 36e6 * 3000)
    own = variant.to_dict()["ssdlab"].get("variant")
    assert own and own["co2e_g_per_host_tb"] == variant.co2e_g_per_host_tb
    (variant,) = compared(settings=POWER)
    assert variant.co2e_g_per_host_tb is None
    with pytest.raises(InputError, match=r"requires a drive file with \[power\]; the energy of small is unknown"):
        compared(co2e_per_kwh=300)
    with pytest.raises(InputError, match="co2e-per-kwh is 0; allowed: a number above 0"):
        compared(settings=POWER, co2e_per_kwh=0)
