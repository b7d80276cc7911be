"""A search over all that is free finds what least squares misses, and says where the points do not decide."""

import csv
import importlib.util
import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from in_process import call
from ssdlab.errors import InputError
from ssdlab.experiments.advice import fit_drive
from ssdlab.experiments.advice.fit import Model, Parameter, fit
from ssdlab.experiments.advice.fit_choices import Choice, Chosen
from ssdlab.experiments.advice.fit_search import search
from ssdlab.simulator.drives import load

ROOT = Path(__file__).parents[3]
JOB = "[writes]\nrw=randwrite\nbs=4k\niodepth={depth}\nnorandommap\nrandrepeat=0\nsize=100%\nio_size={amount}\n"


def latency(buffer: float, arriving: float) -> float:
    """10 until a buffer overflows, then 1000: no slope leads from one side to the other."""
    return 10.0 if arriving <= buffer else 1000.0


def test_a_jump_that_least_squares_cannot_cross_is_found() -> None:
    parameters = [Parameter("buffer", 1, 100, 2.0), Parameter("program", 100, 3000, 300.0)]

    def model(values: Sequence[float]) -> list[float]:
        return [latency(values[0], 20), latency(values[0], 60), values[1]]

    measured = [10.0, 1000.0, 700.0]
    assert fit(model, parameters, measured).rms > 1
    found = search(lambda _: model, [], parameters, measured, samples=64)
    best = found.combinations[0].fit
    assert best is not None and best.rms < 0.01 and best.values[1] == pytest.approx(700, rel=0.01)
    buffers = [each.values[0] for each in found.alike]
    assert min(buffers) < 25 and max(buffers) > 45, "the points leave the buffer open from 20 to 60"
    assert all(20 <= each <= 60 for each in buffers)


def test_drives_alike_differ_only_in_what_the_points_leave_open() -> None:
    """Only the product of a and b is measured, and one choice of three is none that a drive can have."""
    parameters = [Parameter("a", 1, 10), Parameter("b", 1, 10)]

    def model_of(chosen: Chosen) -> Model:
        if chosen["mode"] == "impossible":
            raise InputError("no such drive")
        factor = 1.0 if chosen["mode"] == "near" else 5.0
        scatter = (1.03, 0.97, 1.02, 0.98, 1.0, 1.0)
        return lambda values: [factor * values[0] * values[1] * each for each in scatter]

    choices = [Choice("mode", ("far", "near", "impossible"))]
    found = search(model_of, choices, parameters, [4.0] * 6, samples=64)
    assert found.combinations[0].chosen == {"mode": "near"}
    products = [each.values[0] * each.values[1] for each in found.alike]
    assert len(products) > 5 and products == pytest.approx([4.0] * len(products), rel=0.1)
    firsts = [each.values[0] for each in found.alike]
    assert max(firsts) > 2 * min(firsts)
    with pytest.raises(InputError, match="no such drive"):
        search(model_of, [Choice("mode", ("impossible",))], parameters, [4.0] * 6, samples=8)


def test_the_command_predicts_with_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Writes of one unit at a time do not decide what many at a time gain from a second die."""
    (tmp_path / "single.fio").write_text(JOB.format(depth=1, amount="1m"))
    (tmp_path / "deep.fio").write_text(JOB.format(depth=32, amount="4m"))
    settings = ("nand.channels=4", "nand.blocks_per_plane=16", "ftl.user_bytes=40MiB", "nand.program_us=333")
    given = [part for each in settings for part in ("--set", each)]
    rows = [("single.fio", "write_us_mean", 342.0, ""), ("deep.fio", "write_iops", 5000.0, "predict")]
    with (tmp_path / "points.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("workload", "space_in_use", "metric", "value", "use"))
        writer.writerows((job, "", metric, value, use) for job, metric, value, use in rows)
    free = "--free nand.program_us=100..1000 --free controller.command_us=1..300 --samples 16"
    output = tmp_path / "out"
    runs = "--until job --precondition steady --workers 1 --output"
    call("fit", tmp_path / "points.csv", "--drive", "textbook", *given, *f"{free} {runs}".split(), output)
    content = json.loads((output / "result.json").read_text())
    assert content["points"][0]["deviation"] == pytest.approx(0, abs=0.02)
    (predicted,) = content["held_out"]
    assert predicted["interval"]["min"] < predicted["predicted"] < predicted["interval"]["max"]
    assert predicted["decided"] is False and len(content["alike"]) > 2
    assert "differ by more than a factor of 1.5" in capsys.readouterr().out
    assert (
        "write_us_mean" in tomllib.loads((output / "fitted.toml").read_text())["sources"]["nand.program_us"]["source"]
    )


@pytest.mark.parametrize(
    ("use", "message"), [("pedict", "use.*pedict.*predict"), ("predict", "every point is predicted")]
)
def test_the_use_of_a_point_is_checked(use: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "single.fio").write_text(JOB.format(depth=1, amount="1m"))
    (tmp_path / "points.csv").write_text(f"workload,space_in_use,metric,value,use\nsingle.fio,,waf,2,{use}\n")
    with pytest.raises(InputError, match=message):
        call("fit", tmp_path / "points.csv", *["--drive", "textbook", "--free", "nand.program_us=100..1000"])


def _three_rates() -> ModuleType:
    """The tool, which is no module of the package."""
    specification = importlib.util.spec_from_file_location("three_rates", ROOT / "tools/three_rates.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_three_rates_start_from_nothing_that_was_fitted(tmp_path: Path) -> None:
    tool = _three_rates()
    for name, scale in tool.SCALES.items():
        of = tool.ladder(name)
        start, catalogue = tool.start(of), load(name)
        fitted = [key for key, source in catalogue.content["sources"].items() if source["kind"] == "fitted"]
        assert len(fitted) > 5
        assert all(start.source_of(key).kind != "fitted" for key in fitted)
        assert len(set(of.fitted_rates)) == 3 and set(of.fitted_rates) < set(of.us)
        tool.write_points(of, tmp_path, scale)
        points = fit_drive.read_points(tmp_path / "points.csv")
        assert {point.rate for point in points if not point.is_predicted} == set(of.fitted_rates)
        assert {point.rate for point in points if point.is_predicted} == set(of.us) - set(of.fitted_rates)
