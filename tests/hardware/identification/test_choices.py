"""Does the simulation of candidates find the spare area, the kind of SLC cache and times that nothing else shows?"""

from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

import blind
from ssdlab.hardware.identification import candidates, choices
from ssdlab.hardware.identification.bench import Limits
from ssdlab.hardware.identification.boxes.simulated import SimulatedBox
from ssdlab.hardware.identification.candidates import Candidate, Measured
from ssdlab.hardware.identification.drive import model_of
from ssdlab.hardware.identification.evidence import Inferred
from ssdlab.hardware.identification.experiments import overwrite
from ssdlab.hardware.identification.identify import Found, identify, plan
from ssdlab.simulator.drives import load, resolve
from ssdlab.simulator.drives.resolve import ResolvedDrive

SMALL = {
    "nand.channels": "2",
    "nand.dies_per_channel": "2",
    "nand.planes_per_die": "2",
    "nand.blocks_per_plane": "120",
    "nand.pages_per_block": "24",
    "nand.read_us": "45",
    "nand.program_us": "500",
    "write_buffer.bytes": "2097152",
    "host_link.interface": "pcie3x4",
}
SLC = {"slc_cache.static_bytes": "30000000", "slc_cache.program_us": "150", "slc_cache.read_us": "25"}


def small(op: float, settings: dict[str, str]) -> ResolvedDrive:
    return resolve(load("generic-tlc-480"), settings={**SMALL, **settings}, over_provisioning=op)


def found_of(drive: ResolvedDrive, folder: Path) -> Found:
    box = SimulatedBox(drive, folder)
    found = identify(box, plan(box.capacity_bytes, Limits(2 * box.capacity_bytes)), blind.Nowhere())
    found.add(choices.NAME, choices.choose(found))
    return found


def true_spare(drive: ResolvedDrive) -> float:
    return drive.capacity.physical_units / drive.capacity.user_units - 1


@pytest.mark.parametrize(
    ("op", "victim", "placement"), [(0.09, "cost-benefit", "single"), (0.2, "fifo", "host-gc-split")]
)
def test_the_spare_area_is_fitted_beyond_what_erases_show(
    op: float, victim: str, placement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many erase units a drive keeps free is not seen: the spare area was a point off, and the write amplification
    of a drive with little of it a fifth."""
    monkeypatch.setattr(choices, "_VICTIMS", ("greedy", victim))
    monkeypatch.setattr(choices, "_PLACEMENTS", (placement,))
    drive = small(op, {"ftl.victim": victim, "ftl.placement": placement})
    found = found_of(drive, tmp_path)
    spare = found.inferred["over_provisioning"]
    assert spare.experiment == choices.NAME
    assert spare.value == pytest.approx(true_spare(drive), abs=0.005)
    assert float(spare.low) <= true_spare(drive) <= float(spare.high)
    assert choices.nearest(found)["ftl.victim"] == victim


def test_blocks_of_an_slc_cache_are_told_from_erased_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cache was taken for one of erased blocks, which leaves several times the spare area."""
    monkeypatch.setattr(choices, "_VICTIMS", ("greedy", "fifo"))
    drive = small(0.12, SLC)
    found = found_of(drive, tmp_path)
    assert "slc_cache.static_bytes" in choices.nearest(found)
    spare = found.inferred["over_provisioning"]
    assert spare.value == pytest.approx(true_spare(drive), abs=0.015)
    assert found.inferred["slc_cache_bytes"].value == pytest.approx(30_000_000, rel=0.1)


def test_a_cache_seen_an_erase_unit_too_small_is_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spare area 5 points off replaced the erase unit that the cache lacked (blind drive 801)."""
    monkeypatch.setattr(choices, "_VICTIMS", ("greedy",))
    large = 60_000_000
    drive = small(0.12, {**SLC, "slc_cache.static_bytes": str(large)})
    box = SimulatedBox(drive, tmp_path)
    found = identify(box, plan(box.capacity_bytes, Limits(2 * box.capacity_bytes)), blind.Nowhere())
    less = large - drive.capacity.slc_bytes_per_erase_unit
    found.inferred["slc_cache_bytes"] = Inferred("slc_cache_bytes", less, 0.98 * less, 1.02 * large, "test")
    found.add(choices.NAME, choices.choose(found))
    assert choices.nearest(found)["slc_cache.static_bytes"] == pytest.approx(large, abs=1)


def test_blocks_of_an_slc_cache_are_no_spare_area() -> None:
    values = {"nand.pages_per_block": 24, "nand.page_bytes": 16384, "nand.channels": 2, "nand.dies_per_channel": 2}
    known = {key: Inferred(key, value, value, value, "test") for key, value in values.items()}
    changes = {"over_provisioning": 0.1, "slc_cache.static_bytes": 30_000_000}
    made = resolve(model_of(known, 1 << 30, "x", changes).file)
    assert true_spare(made) == pytest.approx(0.1, abs=0.005)


def test_an_erase_unit_that_nothing_showed_is_searched() -> None:
    """The assumed one replaced those that were tried, so that the search changed nothing."""
    made = model_of({}, 1 << 30, "x", {"nand.pages_per_block": 24})
    assert made.file.nand.pages_per_block == 24
    assert model_of({}, 1 << 30, "x").file.nand.pages_per_block != 24


@pytest.mark.parametrize("slope", [-0.8, 1.0])
@pytest.mark.parametrize("root", [0.05, 0.3, 0.9])
def test_a_root_is_found_in_a_few_tries(slope: float, root: float) -> None:
    tried: list[float] = []

    def excess(at: float) -> float:
        tried.append(at)
        return slope * 1.4 * (log(at + 1) - log(root + 1))

    assert candidates.root(excess, 0.0, 1.0, 0.5, slope, 1e-3, candidates.TRIES) == pytest.approx(root, abs=2e-3)
    assert len(tried) <= candidates.TRIES


def test_a_root_beyond_the_bounds_gives_the_closer_bound() -> None:
    assert candidates.root(lambda at: at - 3, 0.0, 1.0, 0.5, 1.0, 1e-3, 6) == pytest.approx(1.0, abs=0.05)
    assert candidates.root(lambda at: 3 + at, 0.0, 1.0, 0.5, 1.0, 1e-3, 6) == pytest.approx(0.0, abs=0.05)


def test_garbage_collection_begins_where_rows_take_longer() -> None:
    """Regular teeth were needed to see it; victims drawn at random make none."""
    draw = np.random.default_rng(5)
    spent = 1e-3 * (1 + 0.02 * draw.random(1000))
    late = draw.choice(np.arange(400, 1000), 60, replace=False)
    spent[[400, *late.tolist()]] += 4e-3
    # A host's delay is shorter.
    spent[120] += 3e-4
    sums, ends = np.arange(1.0, 1001.0) * (1 << 20), np.cumsum(spent)
    found = overwrite.begun_bytes(sums, ends, 1 << 20)
    assert found == pytest.approx(400 << 20, abs=3 << 20)
    assert overwrite.begun_bytes(sums[:400], ends[:400], 1 << 20) is None


@pytest.mark.parametrize("victim", ["greedy", "d-choices"])
def test_the_spare_area_is_found_from_the_beginning_of_garbage_collection(victim: str, tmp_path: Path) -> None:
    """Victims drawn at random: the write amplification of a run, off by a tenth by chance, was fitted instead."""
    drive = small(0.15, {"ftl.victim": victim})
    box = SimulatedBox(drive, tmp_path)
    found = identify(box, plan(box.capacity_bytes, Limits(2 * box.capacity_bytes)), blind.Nowhere())
    step = drive.capacity.units_per_erase_unit / drive.capacity.user_units
    points = found.facts["random-writes"]["points"]
    measured = Measured([waf for *_, waf in points], [rate for _, rate, _ in points], choices._overwrite(found))
    start = Candidate("greedy", "host-gc-split", 0.3, {})
    nearest, is_found = candidates.with_begin(found, start, (0.03, 0.6), step, measured)
    assert is_found
    assert nearest.spare == pytest.approx(true_spare(drive), abs=1.5 * step)


@pytest.mark.parametrize("settings", [{"ftl.placement": "single"}, SLC])
def test_the_right_model_repeats_every_step(settings: dict[str, str], tmp_path: Path) -> None:
    """It drew other random requests than the drive had been sent, because its jobs stood at other places of their file,
    and began each step without the pause that the drive had: the skewed steps were 5 % off, and the wrong placement
    came nearer (blind drive 715)."""
    drive = small(0.15, settings)
    box = SimulatedBox(drive, tmp_path)
    found = identify(box, plan(box.capacity_bytes, Limits(2 * box.capacity_bytes)), blind.Nowhere())
    points = found.facts["random-writes"]["points"]
    measured = Measured([waf for _, _, waf in points], [rate for _, rate, _ in points], None)
    nand = drive.file.nand
    others = {"nand.pages_per_block": nand.pages_per_block, "nand.erase_us": nand.erase_us}
    if settings is SLC:
        others["slc_cache.static_bytes"] = 30_000_000
    spare = true_spare(drive)
    own = candidates.run(found, Candidate("greedy", drive.file.ftl.placement.name, spare, others), measured)
    assert own.wafs[-5:] == pytest.approx(measured.wafs[-5:], rel=0.005)


def test_a_time_on_which_the_duration_depends_little_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try took a small step, as if the duration grew in proportion to the time: erase times came out 3 to 12 times
    too short."""

    def timed(_found: object, candidate: Candidate, _measured: Measured) -> Candidate:
        rate = 1 / (1 + 2e-5 * candidate.others["nand.erase_us"])
        return replace(candidate, wafs=[3.0], bytes_per_second=[rate])

    monkeypatch.setattr(candidates, "run", timed)
    start = Candidate("greedy", "single", 0.1, {})
    measured = Measured([3.0], [1 / (1 + 2e-5 * 5400)], None)
    found, steepness = candidates.with_time(Found(1 << 30), start, "nand.erase_us", (20.0, 20_000.0), measured)
    assert found.others["nand.erase_us"] == pytest.approx(5400, rel=0.05)
    assert steepness == pytest.approx(0.108 / 1.108, rel=0.1)


def test_totals_tell_the_placement_where_victims_are_drawn_at_random(tmp_path: Path) -> None:
    """Single steps, which differ from run to run by tens of per cent, hid that the wrong placement took a quarter more
    in total (blind drive 711)."""
    drive = small(0.2, {"ftl.victim": "d-choices", "ftl.placement": "host-gc-split"})
    box = SimulatedBox(drive, tmp_path, seed=11)
    found = identify(box, plan(box.capacity_bytes, Limits(2 * box.capacity_bytes)), blind.Nowhere())
    points = found.facts["random-writes"]["points"]
    measured = Measured([waf for _, _, waf in points], [rate for _, rate, _ in points], None)
    start = Candidate("d-choices", "host-gc-split", true_spare(drive), {"nand.pages_per_block": 24})
    right, wrong = (candidates.run(found, each, measured) for each in (start, start.but(placement="single")))
    # With the spare area that suits it best.
    wrong = candidates.with_spare(found, wrong, (0.05, 0.4), measured)
    assert wrong.score > 3 * right.score
