"""The points of a sweep: all combinations, or a sample with the properties of its method."""

from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.sweeps.file import load
from ssdlab.experiments.sweeps.points import Point, points


def _points(folder: Path, axes: str, sample: str = "") -> list[Point]:
    path = folder / "sweep.toml"
    head = 'name = "s"\n[axes]\ndrive = ["tiny"]\njob = ["j.fio"]\n'
    path.write_text(f"{head}{axes}\n{sample}")
    return points(load(path), path)


def test_a_grid_has_every_combination_once(tmp_path: Path) -> None:
    found = _points(tmp_path, 'op = ["7%", "28%"]\nseed = [1, 2, 3]')
    assert [(point["op"], point["seed"]) for point in found] == [(op, s) for op in (0.07, 0.28) for s in (1, 2, 3)]


def test_a_range_is_spaced_as_asked(tmp_path: Path) -> None:
    linear = _points(tmp_path, 'op = { from = "10%", to = "40%", count = 4 }')
    assert [point["op"] for point in linear] == pytest.approx([0.1, 0.2, 0.3, 0.4])
    log = _points(tmp_path, '"ftl.reserve_erase_units" = { from = 1, to = 64, count = 4, spacing = "log" }')
    assert [point["ftl.reserve_erase_units"] for point in log] == [1, 4, 16, 64]


def test_a_latin_hypercube_meets_every_slice_of_every_axis_once(tmp_path: Path) -> None:
    count = 20
    sample = f'[sample]\nmethod = "latin-hypercube"\ncount = {count}\nseed = 5\n'
    axes = 'op = { from = "0%", to = "100%" }\n"nand.read_us" = { from = 0.0, to = 1.0 }'
    found = _points(tmp_path, axes, sample)
    for axis in ("op", "nand.read_us"):
        assert sorted(int(float(point[axis]) * count) for point in found) == list(range(count))
    assert found == _points(tmp_path, axes, sample), "the same seed gives the same points"
    assert found != _points(tmp_path, axes, sample.replace("seed = 5", "seed = 6"))


def test_a_random_sample_stays_within_its_axes(tmp_path: Path) -> None:
    sample = '[sample]\nmethod = "random"\ncount = 50\n'
    found = _points(tmp_path, 'op = { from = "5%", to = "50%", spacing = "log" }\nseed = [1, 2]', sample)
    assert len(found) == 50
    assert all(0.05 <= float(point["op"]) <= 0.5 for point in found)
    assert {point["seed"] for point in found} == {1, 2}
    assert sum(float(point["op"]) < 0.158 for point in found) in range(15, 36), "half lie below the geometric mean"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('op = ["7%", "7%"]', "axes.op lists a value twice"),
        ("op = []", "axes.op is an empty list"),
        ('op = ["seven"]', "axes.op"),
        ('op = { from = "7%", to = "9%" }', "without `count`"),
        ("seed = { from = 9, to = 2, count = 3 }", "`from` must be below `to`"),
        ('op = { from = "7%", too = "9%" }', "axes.op.to"),
        ('[run]\nuntill = "job"', "unknown key run.untill; did you mean 'until'"),
        ('[sample]\nmethod = "random"', "sample.count is missing"),
        ("[sample]\ncount = 3", "a grid takes all combinations"),
        ('[run]\nuntil = "dawn"', "run.until = 'dawn'"),
    ],
)
def test_a_fault_in_the_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        _points(tmp_path, text)
    assert said in str(caught.value)
    assert "sweep.toml" in str(caught.value)
