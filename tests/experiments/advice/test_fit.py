"""Fits recover the parameters behind the points, and report parameters that the points cannot distinguish."""

import csv
import json
import math
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

import ssdlab
from in_process import call
from ssdlab.errors import InputError
from ssdlab.experiments.advice import fit_drive
from ssdlab.experiments.advice.fit import RESOLVED, Fit, Parameter, fit, leave_one_out, left_out_to_first_order
from ssdlab.experiments.advice.fit_choices import rms_max
from ssdlab.simulator.drives import load
from ssdlab.theory import closed_forms

WRITES = (
    "[writes]\nrw=randwrite\nbs=4k\niodepth={depth}\nnorandommap\nrandrepeat=0\nsize=${{SPACE}}\nio_size={amount}\n"
)


def copying(values: list[float], spaces: list[float]) -> list[float]:
    """The speed of a drive with greedy garbage collection, from its flash size, fresh speed, and cost of a copy."""
    physical, fresh, copy = values
    return [fresh / (1 + (closed_forms.greedy(physical / space - 1, 512) - 1) * copy) for space in spaces]


def test_known_parameters_come_back_from_points_made_with_them() -> None:
    spaces = [80.0, 120.0, 160.0, 200.0, 240.0, 270.0]
    points = copying([300.0, 1000.0, 2.5], spaces)
    parameters = [Parameter("T", 280, 400), Parameter("fresh", 300, 3000), Parameter("copy", 0.5, 10)]
    found = fit(lambda values: copying(list(values), spaces), parameters, points)
    assert found.values == pytest.approx((300, 1000, 2.5), rel=0.01)
    assert found.deviation_max < 0.003 and not found.confounded and not found.at_bound
    predicted = leave_one_out(lambda values: copying(list(values), spaces), parameters, points)
    assert predicted == pytest.approx(points, rel=0.05)


def test_confidence_holds_the_truth_when_points_scatter() -> None:
    spaces = [80.0, 100.0, 120.0, 160.0, 200.0, 220.0, 240.0]
    off = [1.02, 0.98, 1.01, 0.99, 1.02, 0.99, 0.985]
    points = [value * factor for value, factor in zip(copying([300.0, 1000.0, 2.5], spaces), off, strict=True)]
    parameters = [Parameter("fresh", 300, 3000), Parameter("copy", 0.5, 10)]
    found = fit(lambda values: copying([300.0, *values], spaces), parameters, points)
    for interval, truth in zip(found.intervals, (1000.0, 2.5), strict=True):
        assert interval is not None and interval[0] < truth < interval[1]


def test_an_interval_is_never_narrower_than_seeds_differ() -> None:
    """A regression: points that lay on the model by chance gave intervals of width 0."""
    found = fit(lambda values: [values[0] * at for at in (1, 2, 3)], [Parameter("a", 1, 100)], [5.0, 10.0, 15.0])
    assert found.deviation_max < 1e-3
    (interval,) = found.intervals
    assert interval is not None and interval[1] / interval[0] > 1 + 2 * RESOLVED


def test_a_model_that_does_not_reproduce_the_points_determines_nothing() -> None:
    """A regression: a constant through 5 and 20 was "10, 1.3 to 79", as if the points scattered around it."""
    parameters = [Parameter("a", 1, 100), Parameter("b", 1, 100)]
    found = fit(lambda values: [values[0], values[0], values[1], values[1]], parameters, [5.0, 20.0, 4.0, 4.0])
    assert found.is_misfit and found.intervals == (None, None)
    near = fit(lambda values: [values[0], values[0], values[1], values[1]], parameters, [5.0, 5.5, 4.0, 4.0])
    assert not near.is_misfit and None not in near.intervals
    assert rms_max(found.rms, 2) == math.inf, "nor does it exclude a choice"


def test_a_product_of_two_is_not_told_apart() -> None:
    spaces = [80.0, 160.0, 240.0]
    points = copying([300.0, 1000.0, 2.5], spaces)
    parameters = [Parameter("a", 1, 100), Parameter("b", 1, 1000), Parameter("copy", 0.5, 10)]
    found = fit(lambda values: copying([300.0, values[0] * values[1], values[2]], spaces), parameters, points)
    assert found.confounded == (("a", "b"),)
    assert found.intervals[0] is None and found.intervals[1] is None
    assert found.deviation_max < 0.01, "the product is found all the same"


def test_a_parameter_that_moves_nothing_is_named() -> None:
    found = fit(
        lambda values: [values[0], 2 * values[0]], [Parameter("a", 1, 100), Parameter("idle", 1, 9)], [5.0, 10.0]
    )
    assert found.confounded == (("idle",),)


def test_an_interval_wider_than_the_bounds_is_none() -> None:
    """A regression: a parameter that moves next to nothing was given as "1.0e-05 to 3.9e+09"."""
    found = fit(lambda values: [values[0] ** 0.01, values[0] ** 0.01], [Parameter("a", 10, 1000)], [1.0, 1.1])
    assert found.intervals == (None,) and found.cells(0)[1] == "not determined"


def test_a_value_has_the_digits_that_its_interval_allows() -> None:
    found = fit(lambda values: [values[0]] * 3, [Parameter("a", 10, 1000)], [400.0, 410.0, 415.0])
    assert found.cells(0) == ("410", "390 to 428")


def test_a_bound_that_is_hit_is_named() -> None:
    found = fit(lambda values: [values[0]], [Parameter("a", 1, 4)], [9.0])
    assert found.at_bound == ("a",)


def test_the_first_order_of_leaving_out_is_what_fitting_again_gives() -> None:
    """The model is a line in logarithms, so higher orders vanish. The only point that determines the slope has no
    prediction."""
    places = [1.0, 1.0, 1.0, 2.0]

    def model(values: Sequence[float]) -> list[float]:
        return [values[0] * place ** values[1] for place in places]

    free = [Parameter("factor", 0.1, 10), Parameter("power", 0.1, 10)]
    points = [1.0, 1.1, 0.95, 3.0]
    found = fit(model, free, points)
    *first, last = left_out_to_first_order(found.residuals, found.sensitivities)
    again = leave_one_out(model, free, points)
    assert last is None
    assert first == pytest.approx([again[index] / points[index] - 1 for index in range(3)], abs=0.002)


def test_a_search_that_begins_at_a_bound_leaves_it() -> None:
    """A regression: a value that started at a bound of `--free` was returned as the fitted one."""
    found = fit(lambda values: [70 + values[0], 140 + values[0]], [Parameter("a", 1, 100, 1.0)], [82.0, 152.0])
    assert found.values == pytest.approx((12,), rel=0.01)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (2.0, 1.0)])
def test_bounds_are_checked(bounds: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="bounds"):
        fit(lambda values: list(values), [Parameter("a", *bounds)], [1.0])


@pytest.fixture
def points(tmp_path: Path) -> Path:
    """Points simulated on the drive `tiny` with a different program time than its file states, at two queue depths."""
    (tmp_path / "deep.fio").write_text(WRITES.format(depth=32, amount="8m"))
    (tmp_path / "single.fio").write_text(WRITES.format(depth=1, amount="2m"))
    return tmp_path / "points.csv"


def write_points(path: Path, workloads: list[str], settings: dict[str, float]) -> None:
    drive = fit_drive.changed(load("textbook"), list(settings), list(settings.values()))
    made = [fit_drive.Point(path.parent / f"{name}.fio", "40MiB", "write_iops", 1.0, "made") for name in workloads]
    values = fit_drive.simulate(drive, made, fit_drive.Runs(workers=1, steady=False))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(fit_drive.COLUMNS)
        writer.writerows(
            (point.workload.name, point.space_in_use, point.metric, value)
            for point, value in zip(made, values, strict=True)
        )


def test_the_command_recovers_a_program_time(points: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_points(points, ["deep", "single"], {"nand.program_us": 333.0})
    output = points.parent / "out"
    free = "nand.program_us=100..1000"
    call("fit", points, *f"--drive textbook --free {free} --until job --workers 1 --output".split(), output)
    fitted = tomllib.loads((output / "fitted.toml").read_text())
    assert fitted["nand"]["program_us"] == pytest.approx(333, rel=0.01)
    source = fitted["sources"]["nand.program_us"]
    assert source["kind"] == "fitted" and "deep.fio at 40MiB: write_iops" in source["source"]
    assert load(str(output / "fitted.toml")).nand.program_us == fitted["nand"]["program_us"]
    content = json.loads((output / "result.json").read_text())
    assert content["confounded"] == [] and abs(content["points"][0]["deviation"]) < 0.01
    assert "95 % confidence" in capsys.readouterr().out


def test_the_command_says_what_the_points_cannot_tell(points: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a buffer a write of one unit takes the command time and the program time: only their sum is visible."""
    write_points(points, ["single"], {"nand.program_us": 300.0})
    free = "--free nand.program_us=100..1000 --free controller.command_us=1..100"
    call("fit", points, *f"--drive textbook {free} --until job --workers 1 --output".split(), points.parent / "out")
    printed = capsys.readouterr().out
    assert "An exact fit is no evidence" in printed
    assert "hardly constrain" in printed or "do not separate" in printed
    assert "not determined" in printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workload,space_in_use,metric\n", "lacks value"),
        ("workload,space_in_use,metric,value\n", "no points"),
        ("workload,space_in_use,metric,value\ndeep.fio,40MiB,iops,5\n", "points.csv:2.*did you mean"),
        ("workload,space_in_use,metric,value\ndeep.fio,40MiB,waf,-5\n", "above 0"),
        ("workload,space_in_use,metric,value\ndeep.fio,forty,waf,5\n", "space_in_use"),
        ("workload,space_in_use,metric,value\n# a comment\nnone.fio,,waf,5\n", "points.csv:3.*no such job file"),
    ],
)
def test_points_are_read_strictly(points: Path, text: str, message: str) -> None:
    points.write_text(text)
    with pytest.raises(InputError, match=message):
        fit_drive.read_points(points)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nand.read_us", "low..high"),
        ("nand.raed_us=1..2", "did you mean"),
        ("nand.read_us=2..1", "lower one first"),
        ("nand.read_us=a..b", "numbers"),
        ("nand.cell=1..2", "not a number"),
    ],
)
def test_free_keys_are_read_strictly(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit_drive.parameter(text, load("textbook"))


@pytest.mark.parametrize(
    "content",
    [b"\x7fELF\x02\x01\xff\xfe", b"workload\x00,metric\n"],
)
def test_a_file_that_is_no_table_is_the_users_error(content: bytes, tmp_path: Path) -> None:
    """A regression: `ssdlab fit` on a binary file ended in a traceback of the decoder."""
    path = tmp_path / "points.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"points\.csv: .*expected is a CSV file with the columns workload"):
        fit_drive.read_points(path)


@pytest.mark.parametrize(("residual", "said"), [(0.05, "5 %"), (math.log(0.08127), "a factor of 12")])
def test_a_misfit_is_a_factor(residual: float, said: str) -> None:
    """A regression: a point at 8 % of its measurement was "251 % off", its logarithm, beside a deviation of -91.9 %."""
    found = Fit((1.0,), (1.0,), (math.exp(residual) - 1,), (None,), 1.0, (), (), 9, ((-0.9,),))
    assert found.off == said
    assert found.is_misfit == (said != "5 %")


def test_the_seconds_of_a_stage_are_from_its_first_start_to_its_last_end(tmp_path: Path) -> None:
    """A regression: those of the longest of its jobs, which is half as long if one begins when the other has ended."""
    job = tmp_path / "late.fio"
    job.write_text("[global]\nrw=write\nbs=4k\nsize=8m\n[early]\n[late]\nstartdelay=20s\n")
    result = ssdlab.run(job, ssdlab.drive("textbook"))
    seconds = fit_drive.METRICS["seconds"]
    assert seconds(result, "") == result.simulated_seconds
    assert seconds(result, "late") == result.jobs[-1].seconds
    assert seconds(result, "late") < 10 < seconds(result, "")
