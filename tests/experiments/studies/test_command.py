"""`ssdlab study` as a user calls it: the list, a run with all its files, wrong names; with a study made for the
test."""

import json
from pathlib import Path

import polars as pl
import pytest

from in_process import call
from ssdlab.errors import InputError
from ssdlab.experiments.studies import Assumption, Context, Row, Study, StudyResult, Table, registry
from ssdlab.presentation.report.charts.published import Bar, Line, Marks, published_bars, published_lines

JOB = "[writes]\nrw=randwrite\nbs=4k\nnorandommap\nrandrepeat=0\n"


def run(context: Context) -> StudyResult:
    import ssdlab
    from ssdlab.simulator.workloads import jobs
    from ssdlab.simulator.workloads.specifying import specify

    specifications = {
        f"seed {seed}": specify(jobs.parse(JOB), ssdlab.drive("tiny"), seed=seed) for seed in context.seeds(2)
    }
    results = context.simulate(specifications)
    wafs = [result.waf or 0.0 for result in results.values()]
    return StudyResult(
        finding="A tiny drive writes more than it is told.",
        rows=[Row("WAF", 2.0, wafs[0], "", tolerance=5.0, spread=(min(wafs), max(wafs)), group="Writes")],
        figures=[
            published_lines(
                name="lines",
                title="More is written",
                caption="WAF.",
                lines=[Line("tiny", [(0, wafs[0]), (1, wafs[1])], [(0, 1.0, 2.0), (1, 1.5, 2.5)])],
                marks=[Marks("tiny", [(1, 2.0)])],
                x_title="share of the run",
                y_title="WAF",
            ),
            published_bars(
                name="bars",
                title="More is written",
                caption="WAF.",
                bars=[Bar("tiny", "simulated", wafs[0], published=2.0, spread=(min(wafs), max(wafs)))],
                x_title="WAF",
            ),
        ],
        series={"waf": pl.DataFrame({"waf": wafs})},
        tables=[Table("All seeds", ("seed", "WAF"), [(str(seed), waf) for seed, waf in enumerate(wafs)])],
    )


STUDY = Study("made-up", "Does it run?", "nobody", (Assumption("nothing", "it is a test"),), (), run)


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "study", lambda name: STUDY)
    monkeypatch.setattr(registry, "studies", lambda: [STUDY])


@pytest.mark.usefixtures("made_up")
def test_a_run_writes_rows_page_pictures_and_series(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call("study", *["made-up", "--seed", "3", "--workers", "1", "--pictures", "all", "--output"], tmp_path / "out")
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")}
    pictures = {
        f"pictures/{name}-{theme}.{ending}"
        for name in ("lines", "bars")
        for theme in ("light", "dark")
        for ending in ("svg", "png")
    }
    assert written == {"result.json", "report.html", "data/series-waf.parquet"} | pictures
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    (row,) = result["rows"]
    assert {"what", "published", "simulated", "unit", "deviation"} <= row.keys()
    assert row["deviation"] == pytest.approx(row["simulated"] / 2 - 1)
    assert [each["engine"]["seed"] for each in result["specifications"].values()] == [3, 4]
    frame = pl.read_parquet(tmp_path / "out" / "data/series-waf.parquet")
    assert frame["waf"][0] == pytest.approx(row["simulated"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Does it run?" in page and "All seeds" in page and "it is a test" in page
    printed = capsys.readouterr().out
    assert "1 published figures: 1 met" in printed and "report:" in printed


@pytest.mark.usefixtures("made_up")
def test_all_ends_with_one_page(tmp_path: Path) -> None:
    call("study", *["--all", "--workers", "1", "--output"], tmp_path / "out")
    assert (tmp_path / "out" / "made-up" / "report.html").is_file()
    page = (tmp_path / "out" / "report.html").read_text()
    assert "made-up/report.html" in page and "made-up-lines" in page
    assert json.loads((tmp_path / "out" / "result.json").read_text())[0]["study"] == "made-up"


def test_the_list_names_every_study(capsys: pytest.CaptureFixture[str]) -> None:
    call("study")
    printed = " ".join(capsys.readouterr().out.split())
    assert all(study.name in printed and study.title in printed for study in registry.studies())


def test_a_name_and_all_exclude_each_other() -> None:
    with pytest.raises(InputError, match="not both"):
        call("study", "pny-over-provisioning", "--all")
