"""The fast lifetime model compared with a simple reference model, and with drives that the engine writes until they
fail."""

import re
from pathlib import Path

import numpy as np
import pytest

import ssdlab
from ssdlab.experiments.studies.pny_over_provisioning.drives import FOLDER
from ssdlab.simulator.workloads import jobs
from ssdlab.theory.lifetime import Calibration, Wear, course, lives

SMALL = str(FOLDER / "small-drive.toml")
FLAT = Calibration((0.05, 0.2), (2.0, 2.0), (1000.0, 1000.0))


def test_equal_blocks_live_as_long_as_arithmetic_says() -> None:
    drive = ssdlab.drive(SMALL)
    found = lives(drive, FLAT, Wear(block_spread=0.0), drives=3, seed=1)
    expected = drive.endurance_cycles * drive.capacity.physical_bytes / 2.0
    assert found.host_bytes == pytest.approx([expected] * 3, rel=1e-9)


def test_parity_is_part_of_the_flash_that_wears() -> None:
    """A regression: with parity, the life was that of the data's share of the flash, and write amplification was taken
    at a smaller spare area than that of the drive."""
    drive = ssdlab.drive(SMALL, settings={"parity.units_per_stripe": "16"})
    (life,) = lives(drive, FLAT, Wear(0.0), drives=1, seed=1).host_bytes
    assert life == pytest.approx(drive.endurance_cycles * drive.capacity.physical_bytes / 2.0, rel=1e-9)
    assert course(drive, FLAT, Wear(0.0), seed=1).over_provisioning[0] == pytest.approx(
        drive.capacity.over_provisioning, rel=1e-6
    )


def test_the_course_of_a_life_ends_with_it_and_slows_down() -> None:
    drive = ssdlab.drive(SMALL)
    falling = Calibration((0.05, 0.143), (6.0, 4.0), (500.0, 1000.0))
    found = course(drive, falling, Wear(0.1), seed=3)
    (life,) = lives(drive, falling, Wear(0.1), drives=1, seed=3).host_bytes
    assert found.host_bytes[-1] == pytest.approx(life)
    assert found.iops is not None
    assert (np.diff(found.host_bytes) >= 0).all() and (np.diff(found.waf) > 0).all() and (np.diff(found.iops) < 0).all()
    assert found.at(0.0) == 0 and found.at(life * 2) == len(found.host_bytes) - 1
    assert course(drive, Calibration((0.05, 0.143), (6.0, 4.0)), Wear(0.1), seed=3).iops is None


def test_losses_are_those_of_a_drive_that_swaps_blocks_one_by_one() -> None:
    """The reference model keeps planes of blocks and retires a superblock when a plane has no spare block left."""
    from ssdlab.theory import lifetime

    generator = np.random.default_rng(7)
    cycles = generator.normal(100, 20, (4, 50))
    found = lifetime._losses(cycles, 12)
    spares, superblocks, expected = [0] * 4, 50, []
    for at, plane in sorted((at, row) for row in range(4) for at in cycles[row]):
        if spares[plane]:
            spares[plane] -= 1
            continue
        superblocks -= 1
        expected.append(at)
        for other in range(4):
            spares[other] += other != plane
        if len(expected) == 12:
            break
    assert found == pytest.approx(expected)


def test_a_slow_drive_counts_as_slow_from_its_loss_on() -> None:
    drive = ssdlab.drive(SMALL)
    falling = Calibration((0.05, 0.143), (6.0, 4.0), (500.0, 1000.0))
    found = lives(drive, falling, Wear(0.1), drives=5, seed=1, iops_min=800.0)
    assert (found.fast_host_bytes < found.host_bytes).all()
    assert found.share_reaching(0.0) == 1.0 and found.share_reaching(1e18) == 0.0
    assert (lives(drive, falling, Wear(0.1), drives=5, seed=1).fast_host_bytes == found.host_bytes).all()


def test_calibrations_go_through_their_points_and_on_along_their_ends() -> None:
    calibration = Calibration((0.05, 0.1, 0.2), (11.0, 6.0, 3.5))
    assert calibration.waf_at(np.array([0.05, 0.1, 0.2])) == pytest.approx([11.0, 6.0, 3.5])
    assert calibration.waf_at(np.array([0.025, 0.4])) == pytest.approx([21.0, 2.25])
    reduced = Calibration((0.05, 0.1, 0.2), (5.5, 3.0, 1.75), host=0.5)
    assert reduced.waf_at(np.array([0.025, 0.2, 0.4])) == pytest.approx([10.5, 1.75, 1.125])


@pytest.mark.parametrize("placement", ["single", "host-gc-split"])
def test_the_engine_writes_a_drive_until_all_its_spare_blocks_are_used_up(placement: str) -> None:
    """A regression: with one frontier for all, a drive failed after as many losses as its reserve had erase units."""
    settings = {"ftl.placement": placement, "nand.endurance_cycles": "60"}
    dead = ssdlab.run(
        jobs.load(FOLDER / "until-worn-out.fio"),
        ssdlab.drive(SMALL, settings=settings),
        precondition="fill",
        timed=False,
    )
    assert dead.failure is not None and "out of spare blocks" in dead.failure
    left, needed = (int(number) for number in re.findall(r"\d+", dead.failure))
    # At the end, losses can come faster than garbage collection refills the reserve.
    assert needed - 1 <= left <= needed + 2


def test_the_fast_model_is_near_full_simulations_until_death() -> None:
    cycles = {"nand.endurance_cycles": "80"}
    drive = ssdlab.drive(SMALL, settings=cycles)
    dead = [
        ssdlab.run(jobs.load(FOLDER / "until-worn-out.fio"), drive, seed=seed, precondition="fill", timed=False)
        for seed in (1, 2, 3)
    ]
    shares = (0.03, 0.05, 0.08, 0.143)
    steady = [
        ssdlab.run(
            Path(FOLDER / "steady-writes.fio"),
            ssdlab.drive(SMALL, op=share, settings={"faults.wear_out": "false"}),
            until="steady",
            precondition="fill",
            timed=False,
        ).settled_waf
        for share in shares
    ]
    calibration = Calibration(shares, [waf for waf in steady if waf is not None])
    modelled = lives(drive, calibration, Wear(0.1), drives=50, seed=1).host_bytes.mean()
    simulated = np.mean([result.ledger.host_written_bytes for result in dead])
    assert modelled == pytest.approx(simulated, rel=0.05)
