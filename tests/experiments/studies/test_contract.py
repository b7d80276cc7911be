"""Rows: deviations of points, ranges and percentages, and their text in 80 columns."""

import io
import json
import re
from html import escape

import pytest
from rich.console import Console

from ssdlab.errors import InputError
from ssdlab.experiments.studies import Fitted, Range, Row, StudyResult, registry, wording
from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.page import all_page, rows_html, study_page
from ssdlab.experiments.studies.table import print_rows

COPY_COST = Fitted(("what a copy costs",), 3)


def test_a_published_figure_without_a_tolerance_is_refused() -> None:
    """A regression: rows of variants were next to published figures without a tolerance, so they could not fail and
    were not counted."""
    with pytest.raises(ValueError, match="needs a tolerance"):
        Row("throughput", 933.6, 980.28, "MiB/s")
    assert Row("throughput", None, 980.28, "MiB/s").verdict is None


def test_as_many_parameters_as_points_are_no_evidence() -> None:
    saturated = Fitted(("read time", "rate", "window"), 3)
    assert Row("fresh", 2.8, 2.8, "s", 0.05, fitted=saturated).verdict is Verdict.SATURATED
    assert Row("fresh", 2.8, 2.8, "s", 0.05, fitted=COPY_COST).verdict is Verdict.MET
    assert Row("fresh", 2.8, 2.8, "s", 0.05, fitted=saturated, is_left_out=True).verdict is Verdict.MET
    assert Row("fresh", 2.8, 4.8, "s", 0.05, fitted=saturated).verdict is Verdict.MISSED


def test_every_published_figure_is_counted() -> None:
    rows = [
        Row("met", 1.0, 1.01, "s", 0.05),
        Row("missed", 1.0, 1.2, "s", 0.05, printed="ours"),
        Row("price", 3.0, 3.0, "USD", 0.0, is_input=True),
        Row("nothing published", None, 1.0, "s"),
    ]
    assert wording.verdict(rows) == "3 published figures: 1 met, 1 missed, 1 input"
    assert wording.published(rows[1]) == "1*" and wording.deviation(rows[1]) == "+20.0 % !"
    assert wording.deviation(rows[2]) == "+0.0 % ="


def test_what_is_not_explained_is_missed_however_near_it_is() -> None:
    near = Row("after 50 MiB", 3.6, 3.45, "s", 0.05, fitted=COPY_COST, is_unexplained=True)
    assert near.is_within_tolerance and near.verdict is Verdict.MISSED
    assert wording.deviation(near) == "-4.2 % ?" and wording.verdict_of(near) == "missed, not explained"
    assert near.to_dict()["unexplained"] is True


def test_a_deviation_is_a_share_of_the_published_figure() -> None:
    row = Row("throughput", 933.6, 980.28, "MiB/s", tolerance=0.05)
    assert row.deviation == pytest.approx(0.05)
    assert row.verdict is Verdict.MET
    assert wording.deviation(row) == "+5.0 %"


def test_past_its_tolerance_a_row_says_so() -> None:
    row = Row("throughput", 100.0, 94.0, "MiB/s", tolerance=0.05)
    assert row.verdict is Verdict.MISSED
    assert wording.deviation(row) == "-6.0 % !"


@pytest.mark.parametrize(("simulated", "points"), [(84.0, 0.0), (79.5, -0.5), (103.0, 3.0)])
def test_a_range_counts_from_its_nearer_end(simulated: float, points: float) -> None:
    row = Row("gain", Range(80, 100), simulated, "%", in_points=True, tolerance=1)
    assert row.deviation == pytest.approx(points)
    assert row.verdict is (Verdict.MET if abs(points) <= 1 else Verdict.MISSED)


def test_an_open_range_has_no_upper_end() -> None:
    assert Row("gain", Range(80), 500.0, "%", 0.05).deviation == 0
    assert Row("gain", Range(80), 40.0, "%", 0.05).deviation == pytest.approx(-0.5)
    assert wording.published(Row("gain", Range(80), 84.0, "%", 0.05)) == "over 80"


def test_what_was_not_measured_is_null() -> None:
    row = Row("NAND writes", 42112, None, "GB", tolerance=0.1, note="the target has no such counter")
    assert row.deviation is None and row.verdict is Verdict.NOT_MEASURED
    plain = json.loads(json.dumps(row.to_dict()))
    assert plain["simulated"] is None and plain["deviation"] is None
    assert plain["what"] == "NAND writes" and plain["unit"] == "GB" and plain["published"] == 42112


def test_the_unfitted_figure_has_its_own_deviation() -> None:
    plain = Row("at 150 GiB", 100.0, 101.0, "MiB/s", 0.05, fitted=COPY_COST, unfitted=120.0).to_dict()
    assert plain["unfitted_deviation"] == pytest.approx(0.2)
    assert plain["fitted_parameters"] == ["what a copy costs"] and plain["fitted_to_points"] == 3


@pytest.mark.parametrize("fitted", [None, COPY_COST])
def test_the_table_keeps_to_80_columns(fitted: Fitted | None) -> None:
    rows = [
        Row(
            "a very long name of a row that has to be broken somewhere in its middle",
            Range(123456, 234567),
            345678.9,
            "MiB/s",
            tolerance=0.1,
            fitted=fitted,
            unfitted=12345.0 if fitted else None,
            group="A group with a long heading that takes more than one line of the terminal",
        ),
        Row("not measured", 5.0, None, "GB", 0.05, note="why not"),
    ]
    stream = io.StringIO()
    print_rows(rows, Console(file=stream, width=200))
    printed = stream.getvalue()
    assert max(map(len, printed.splitlines())) <= 80
    assert "123,456 to 234,567" in printed and "345,679" in printed and "not measured: why not" in printed


@pytest.mark.parametrize(
    ("asked", "meant"), [("pny-overprovisioning", "pny-over-provisioning"), ("snadforce", "spare-area-sandforce")]
)
def test_an_unknown_study_is_named_with_those_near(asked: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{meant}'"):
        registry.study(asked)


def test_every_study_has_its_folder_with_its_steps() -> None:
    for study in registry.studies():
        folder = registry.folder(study)
        assert (folder / "README.md").is_file()
        # The published figures of any one drive are in its own file.
        assert study.takes_drive or (folder / "figures.csv").is_file()
        assert study.assumptions and study.source
        for job in study.jobs:
            assert (folder / job).is_file(), f"{study.name}: {job}"
        assert {path.name for path in folder.iterdir() if path.suffix in (".fio", ".files")} == set(study.jobs)


def test_a_figure_has_the_decimals_of_the_published_one() -> None:
    """A regression: "1.02" was printed next to "1.01587", which suggested a difference of 0.4 %."""
    parity = Row("WAF", 64 / 63, 1.015873, "", 0.001)
    assert (wording.published(parity), wording.simulated(parity)) == ("1.01587", "1.01587")
    assert wording.simulated(Row("WAF", 1.034, 0.99987, "", 0.05)) == "1.000"
    assert wording.simulated(Row("throughput", 933.6, 13980.28, "MiB/s", 0.05)) == "13,980.3"
    assert wording.simulated(Row("throughput", 900.0, 980.28, "MiB/s", 0.05)) == "980"
    assert wording.simulated(Row("gain", Range(1.25, 2), 1.3, "", 0.05)) == "1.30"
    assert wording.simulated(Row("gain", Range(1.255, None), 1.3, "", 0.05)) == "1.300"
    assert wording.simulated(Row("gain", 1.3, None, "", 0.05)) == wording.MISSING


@pytest.mark.parametrize(
    ("finding", "title", "rest"),
    [
        ("It halves. With 7 % it is 1.5. So it goes.", "It halves", "With 7 % it is 1.5. So it goes."),
        ("One of U.2 drives is 1.5 times as fast.", "One of U.2 drives is 1.5 times as fast", ""),
        ("It " + "very " * 25 + "much: of ten, two. More.", "It " + "very " * 25 + "much", "Of ten, two. More."),
        ("It " + "very " * 25 + "much. More.", "It " + "very " * 25 + "much", "More."),
    ],
)
def test_the_headline_is_what_came_out(finding: str, title: str, rest: str) -> None:
    assert wording.headline(finding) == (title, rest)


def test_a_row_says_its_unit_once_and_what_counts_as_met() -> None:
    """Regressions: "depth 1: iops, IOPS"; +50 % counted as met without a word of the tolerance."""
    rows = [
        Row("depth 1: iops", 1.0, 1.5, "IOPS", 0.5),
        Row("fresh", 1.0, 1.0, "s", 1 / 3),
        Row("Kingston A2000", 1.0, 1.0, "GB", 0.5, group="Second drop, simulated, GB"),
    ]
    assert [wording.figure(row) for row in rows] == ["depth 1: iops", "fresh, s", "Kingston A2000"]
    assert wording.tolerances(rows) == "met: within 33 % to 50 %"
    assert wording.tolerances([Row("x", 1.0, 1.0, "%", 3, in_points=True)]) == "met: within 3 points"
    assert wording.tolerances([Row("x", None, 1.0, "%")]) == ""
    stream = io.StringIO()
    print_rows(rows, Console(file=stream, width=80))
    assert "met: within 33 % to 50 %" in stream.getvalue()


def test_what_a_page_says_of_a_study_is_plain_text() -> None:
    """A regression: backticks and names of keys appeared unformatted in "What is assumed"."""
    for study in registry.studies():
        texts = [study.title, study.source, *(f"{each.what} {each.why}" for each in study.assumptions)]
        assert not [text for text in texts if re.search(r"`|[a-z]_[a-z]", text)], study.name


def test_a_page_begins_with_the_finding_and_has_no_empty_column() -> None:
    study = registry.study("zones")
    result = StudyResult("It halves. Not always.", [Row("WAF", 1.5, 1.6, "", 0.1)])
    html = study_page(study, result, {}, "ssdlab study").html()
    assert "<title>It halves</title>" in html and "<h1>It halves</h1>" in html
    assert escape(study.title) in html and '<p class="summary">Not always.</p>' in html
    unpublished = study_page(study, StudyResult("x y z w.", [Row("WAF", None, 1.4, "")]), {}, "ssdlab study").html()
    assert "published" not in unpublished.split("</h1>")[1].split("What is assumed")[0]
    rows = rows_html([*result.rows, Row("speed", 1.0, 1.0, "MB/s", 0.1, spread=(1.0, 1.0))])
    assert "speed, MB/s" in rows and "1.00 (" not in rows
    together = all_page([(study, result)], [], "ssdlab study --all").html()
    assert "<title>1 of 1 published figures are met</title>" in together and "<h2>It halves</h2>" in together
