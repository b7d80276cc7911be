"""Fits to latencies, with choices, and of several drives, recover the parameters behind the points."""

import csv
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shown_figures import parts_not_printed
from ssdlab.cli import app
from ssdlab.cli.fit import warnings
from ssdlab.errors import InputError, RunFailed
from ssdlab.experiments.advice import fit_drive
from ssdlab.experiments.advice.fit import Parameter
from ssdlab.experiments.advice.fit_choices import Choice, combinations, fit_choices
from ssdlab.experiments.advice.fitting import fit
from ssdlab.experiments.advice.free import parse
from ssdlab.simulator.drives import load
from ssdlab.simulator.drives import settings as drive_settings

SHARED = "rw=randrw\nrwmixread={reads}\nbs=4k\nnorandommap\nrandrepeat=0\nsize=${{SPACE}}\n"
SINGLE = "[fill]\nrw=write\nbs=64k\nsize=${{SPACE}}\n[one]\nstonewall\niodepth=1\n" + SHARED + "number_ios=3000\n"
FULL = "[fill]\nrw=write\nbs=64k\nsize=${{SPACE}}\n[full]\nstonewall\niodepth=32\n" + SHARED + "number_ios=6000\n"
COLUMNS = (*fit_drive.COLUMNS, *fit_drive.OPTIONAL_COLUMNS)
Rows = Sequence[tuple[str, str, str, str, str]]
"""Workload, metric, rate, job, drive."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "single.fio").write_text(SINGLE.format(reads=90))
    (tmp_path / "full.fio").write_text(FULL.format(reads=10))
    return tmp_path


def drive_file(folder: Path, name: str, settings: Mapping[str, str]) -> str:
    """A drive of four dies, with these settings, in a file."""
    from ssdlab.simulator.drives.writer import to_toml

    four_dies = {"nand.blocks_per_plane": "16", "nand.channels": "4", "ftl.user_bytes": "40MiB", "name": name}
    path = folder / f"{name}.toml"
    path.write_text(to_toml(drive_settings.apply(load("textbook"), four_dies | dict(settings))))
    return str(path)


def write_points(path: Path, rows: Rows, drives: Mapping[str, str]) -> None:
    """Writes the simulated values of these drives, by their names in the rows, to four digits."""
    path.write_text(",".join(COLUMNS) + "\n")
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        for workload, metric, rate, job, drive in rows:
            point = fit_drive.Point(
                path.parent / workload, "40MiB", metric, 1.0, "made", float(rate) if rate else None, job
            )
            runs = fit_drive.Runs(workers=1, steady=False)
            (value,) = fit_drive.simulate(load(drives[drive]), [point], runs)
            writer.writerow([workload, "40MiB", metric, f"{value:.4g}", rate, job, drive])


def test_the_documented_example_gives_the_truth_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Percentiles at two rates, single requests, a saturated rate and the WAF, as in docs/simulate/fitting.md."""
    text = (Path(__file__).parents[3] / "docs" / "simulate" / "fitting.md").read_text()
    for name, content in re.findall(r"`([a-z]+\.(?:fio|csv))`:\n\n```\w+\n(.*?)```", text, re.DOTALL):
        (folder / name).write_text(content)
    (line,) = re.findall(r"^ssdlab fit points.csv .*$", text, re.MULTILINE)
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, [*shlex.split(line)[1:], "--workers", "1"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    content = json.loads(Path("out/fit-textbook/result.json").read_text())
    read, program = content["parameters"]
    assert (read["fitted"], program["fitted"]) == pytest.approx((71, 430), rel=0.005)
    shown = text.partition(line)[2].split("```")[2]
    assert parts_not_printed(shown, result.output) == []
    assert sum(read["determined_by"]) == pytest.approx(1)
    true, false = content["choices"]
    assert (true["chosen"], true["excluded"]) == ({"nand.suspend": "true"}, False)
    assert (false["chosen"], false["excluded"]) == ({"nand.suspend": "false"}, True)
    fitted = load("out/fit-textbook/fitted.toml")
    assert fitted.nand.suspend and fitted.sources["nand.suspend"].kind == "fitted"
    assert "latency.fio at 800MiB, 200/s job load: read_us_p99" in fitted.sources["nand.suspend"].source


def test_two_drives_share_what_is_free(folder: Path) -> None:
    """Two drives with different channel rates: only the second one's points determine the program time, which both
    share."""
    times = {"nand.read_us": "71.0", "nand.program_us": "430.0"}
    drives = {
        "a": drive_file(folder, "a", times),
        "b": drive_file(folder, "b", times | {"nand.channel_mb_s": "160"}),
    }
    rows: Rows = [
        ("full.fio", "write_iops", "", "", "a"),
        ("single.fio", "read_us_p50", "", "one", "a"),
        ("single.fio", "read_us_p50", "", "one", "b"),
        ("single.fio", "read_us_mean", "", "one", "b"),
    ]
    write_points(folder / "points.csv", rows, drives)
    starts = [drive_file(folder, name, {}) for name in drives]
    free = ["nand.read_us=20..200", "nand.program_us=100..1500", "b:nand.channel_mb_s=100..800"]
    found = fit(folder / "points.csv", starts, free, until="job", workers=1)
    for drive in found.drives.values():
        assert drive.nand.program_us == pytest.approx(430, rel=0.02)
        assert drive.nand.read_us == pytest.approx(71, rel=0.02)
    assert found.drives["b"].nand.channel_mb_s == pytest.approx(160, rel=0.03)
    assert found.drives["a"].nand.channel_mb_s == 400
    assert found.write(folder / "out") == ["fitted-a.toml", "fitted-b.toml", "result.json", "report.html"]
    assert load(str(folder / "out" / "fitted-b.toml")).nand.program_us == pytest.approx(430, rel=0.02)


def test_a_bound_says_which_key_to_free(folder: Path) -> None:
    """The writes depend on the program time, which is fixed: the read time moves to its bound without effect."""
    truth = drive_file(folder, "truth", {"nand.program_us": "900.0"})
    rows: Rows = [("full.fio", "write_iops", "", "", ""), ("single.fio", "write_us_mean", "", "one", "")]
    write_points(folder / "points.csv", rows, {"": truth})
    found = fit(folder / "points.csv", drive_file(folder, "start", {}), "nand.read_us=40..60", until="job", workers=1)
    assert found.fit.at_bound == ("nand.read_us",)
    assert found.next_free[0].key == "nand.program_us"
    assert found.next_free[0].factor == pytest.approx(1.5, rel=0.15)
    said = "\n".join(warnings(found))
    assert "ended at its upper bound, 60" in said and "free what explains most of the rest" in said


def test_a_percentile_of_few_requests_is_refused(folder: Path) -> None:
    """The maximum of 300 writes would be reported as their 99.9th percentile."""
    point = fit_drive.Point(folder / "single.fio", "40MiB", "write_us_p99_9", 1.0, "points.csv:2", None, "one")
    with pytest.raises(RunFailed, match=r"points.csv:2: write_us_p99_9: 99.9 % of 3\d\d writes: too few.*10,000"):
        fit_drive.simulate(load(drive_file(folder, "a", {})), [point], fit_drive.Runs(workers=1, steady=False))


def test_choices_that_fit_alike_are_not_decided() -> None:
    measured = [1.0, 2.0, 3.1, 3.9]
    slopes = {"one": 1.0, "same": 1.001, "other": 1.0}
    curved = {"one": 1.0, "same": 1.0, "other": 2.0}

    def model_of(chosen: Mapping[str, str]):  # type: ignore[no-untyped-def]
        name = chosen["form"]
        return lambda values: [values[0] * slopes[name] * x ** curved[name] for x in (1, 2, 3, 4)]

    ranked = fit_choices(model_of, [Choice("form", tuple(slopes))], [Parameter("slope", 0.1, 10)], measured)
    assert {each.chosen["form"]: each.is_excluded for each in ranked} == {"one": False, "same": False, "other": True}


def test_a_combination_that_no_drive_can_have_is_last() -> None:
    def model_of(chosen: Mapping[str, str]):  # type: ignore[no-untyped-def]
        if chosen["a"] == "never":
            raise InputError("never is refused")
        return lambda values: list(values)

    ranked = fit_choices(model_of, [Choice("a", ("never", "is"))], [Parameter("x", 1, 9)], [3.0])
    assert [each.refused for each in ranked] == ["", "never is refused"]
    with pytest.raises(InputError, match="never is refused"):
        fit_choices(model_of, [Choice("a", ("never",))], [Parameter("x", 1, 9)], [3.0])


def test_too_many_combinations_are_refused() -> None:
    with pytest.raises(InputError, match="allowed are 64"):
        combinations([Choice("a", tuple("123456789")), Choice("b", tuple("123456789"))])


@pytest.mark.parametrize(
    ("free", "message"),
    [
        (["nand.suspend=true,true"], "should be there once"),
        (["nand.suspned=true,false"], "did you mean"),
        (["ftl.victim=greedi,fifoo"], "greedi"),
        (["c:nand.read_us=1..2"], "no drive 'c'.*drives: a"),
        (["nand.read_us=1..2", "a:nand.read_us=1..3"], "for all drives and for a alone"),
        (["nand.read_us=1..2", "nand.read_us=1..3"], "twice"),
    ],
)
def test_free_choices_are_read_strictly(free: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(free, {"a": load("textbook")})
