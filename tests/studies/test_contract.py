"""Rows: deviations of points, ranges and percentages, and how they are said in 80 columns."""

import io
import json

import pytest
from rich.console import Console

from ssdlab.errors import InputError
from ssdlab.studies import Range, Row, registry, wording
from ssdlab.studies.table import print_rows


def test_a_deviation_is_a_share_of_the_published_figure() -> None:
    row = Row("throughput", 933.6, 980.28, "MiB/s", tolerance=0.05)
    assert row.deviation == pytest.approx(0.05)
    assert row.holds
    assert wording.deviation(row) == "+5.0 %"


def test_past_its_tolerance_a_row_says_so() -> None:
    row = Row("throughput", 100.0, 94.0, "MiB/s", tolerance=0.05)
    assert row.holds is False
    assert wording.deviation(row) == "-6.0 % !"


@pytest.mark.parametrize(("simulated", "points"), [(84.0, 0.0), (79.5, -0.5), (103.0, 3.0)])
def test_a_range_counts_from_its_nearer_end(simulated: float, points: float) -> None:
    row = Row("gain", Range(80, 100), simulated, "%", in_points=True, tolerance=1)
    assert row.deviation == pytest.approx(points)
    assert row.holds is (abs(points) <= 1)


def test_an_open_range_has_no_upper_end() -> None:
    assert Row("gain", Range(80), 500.0, "%").deviation == 0
    assert Row("gain", Range(80), 40.0, "%").deviation == pytest.approx(-0.5)
    assert wording.published(Row("gain", Range(80), 84.0, "%")) == "over 80"


def test_what_was_not_measured_is_null() -> None:
    row = Row("NAND writes", 42112, None, "GB", tolerance=0.1, note="the target has no such counter")
    assert row.deviation is None and row.holds is None
    plain = json.loads(json.dumps(row.to_dict()))
    assert plain["simulated"] is None and plain["deviation"] is None
    assert plain["what"] == "NAND writes" and plain["unit"] == "GB" and plain["published"] == 42112


def test_the_unfitted_figure_has_its_own_deviation() -> None:
    plain = Row("at 150 GiB", 100.0, 101.0, "MiB/s", fitted_parameters=1, unfitted=120.0).to_dict()
    assert plain["unfitted_deviation"] == pytest.approx(0.2)
    assert plain["fitted_parameters"] == 1


@pytest.mark.parametrize("fitted", [0, 2])
def test_the_table_keeps_to_80_columns(fitted: int) -> None:
    rows = [
        Row(
            "a very long name of a row that has to be broken somewhere in its middle",
            Range(123456, 234567),
            345678.9,
            "MiB/s",
            tolerance=0.1,
            fitted_parameters=fitted,
            unfitted=12345.0 if fitted else None,
            group="A group with a long heading that takes more than one line of the terminal",
        ),
        Row("not measured", 5.0, None, "GB", note="why not"),
    ]
    stream = io.StringIO()
    print_rows(rows, Console(file=stream, width=200))
    printed = stream.getvalue()
    assert max(map(len, printed.splitlines())) <= 80
    assert "123456 to 234567" in printed and "345,679" in printed and "not measured: why not" in printed


def test_an_unknown_study_is_named_with_those_near() -> None:
    with pytest.raises(InputError, match="pny-over-provisioning"):
        registry.study("pny-overprovisioning")


def test_every_study_has_its_folder_with_its_steps() -> None:
    for study in registry.studies():
        folder = registry.folder(study)
        assert (folder / "README.md").is_file() and (folder / "figures.csv").is_file()
        assert study.assumptions and study.source
        for job in study.jobs:
            assert (folder / job).is_file(), f"{study.name}: {job}"
        assert {path.name for path in folder.iterdir() if path.suffix in (".fio", ".files")} == set(study.jobs)
